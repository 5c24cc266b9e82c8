/* SPDX-License-Identifier: Apache-2.0 */
/* verbs - create, update, patch, delete: from what a client sent to a change in the storage.
 *
 *   From:     the HTTP request, ki_apiserver_put(), load
 *   To:       storage
 *   Locks:    take the storage's for the whole change: read, decide, write
 *   Not here: paths, headers, text of answers
 *
 * One file per verb. Each gives the object as stored (a counted reference) or a failure. Creating or changing
 * a CustomResourceDefinition serves it at once and gives it its status; deleting a namespace deletes its
 * content; a delete with finalizers sets deletionTimestamp, and removing the last finalizer deletes.
 */
#ifndef KI_APISERVER_VERBS_VERBS_H
#define KI_APISERVER_VERBS_VERBS_H

#include "apiserver/storage/storage.h"

/* What becomes of fields that a kind does not have: they always go, but who sent them may be told. */
enum ki_as_strictness { KI_AS_FIELDS_WARN, KI_AS_FIELDS_STRICT, KI_AS_FIELDS_IGNORE };

/* What all of them need. */
struct ki_as_call {
    struct ki_as_storage *storage;
    struct ki_as_resource *resource;
    ki_str ns;            /* of the path; "" for cluster scope */
    ki_str name;          /* of the path; "" for create */
    ki_str subresource;   /* "", "status", "scale" */
    ki_str field_manager; /* ?fieldManager=, else the User-Agent up to '/'; "" keeps managedFields */
    bool is_dry_run;
    bool is_forced; /* ?force=true of an apply */
    bool is_whole;  /* status is stored as it comes, as for who loads whole objects */
    bool is_sketch; /* a spec may lack what its kind demands */
    enum ki_as_strictness strictness;
    json_t *warnings; /* an array that gets a message for each such field; NULL: nobody is warned */
    uint64_t limit;   /* of objects that a delete of a collection takes; 0: all */
    bool is_purge;    /* a delete does not ask finalizers: neither the object's nor those of what is in it */
};

enum ki_as_patch_type { KI_AS_PATCH_JSON, KI_AS_PATCH_MERGE, KI_AS_PATCH_STRATEGIC, KI_AS_PATCH_APPLY };

/* Whether what is sent in place of an object says its name, and the right one. */
KI_NODISCARD int ki_as_body_check_name(const json_t *body, ki_str wanted, struct ki_as_failure *failure);

/* `body` is borrowed and may be changed. `*out_is_created` (may be NULL): 201 rather than 200. */
KI_NODISCARD int ki_as_create(const struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                              struct ki_as_failure *failure);
KI_NODISCARD int ki_as_update(const struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                              bool *out_is_created, struct ki_as_failure *failure);
KI_NODISCARD int ki_as_patch(const struct ki_as_call *call, enum ki_as_patch_type type, json_t *body,
                             struct ki_as_object **out, bool *out_is_created, struct ki_as_failure *failure);
/* `options` is a DeleteOptions or NULL. `*out_is_gone`: deleted, and not only marked. */
KI_NODISCARD int ki_as_delete(const struct ki_as_call *call, const json_t *options, struct ki_as_object **out,
                              bool *out_is_gone, struct ki_as_failure *failure);
/* All that match, or the first of them up to the limit; `out_page` holds them as they were deleted. */
KI_NODISCARD int ki_as_delete_collection(const struct ki_as_call *call, const struct ki_as_selector *selector,
                                         const json_t *options, struct ki_as_page *out_page,
                                         struct ki_as_failure *failure);

/* The Scale of an object whose resource has that subresource: for GET, and for what its PUT and PATCH answer,
 * whose `*out` is the object itself. NULL without memory. */
json_t *ki_as_scale_of(const struct ki_as_resource *resource, const struct ki_as_object *object);

/* The four standard namespaces (and the service "kubernetes"). */
KI_NODISCARD int ki_as_seed(struct ki_as_storage *storage, struct ki_as_failure *failure);

#endif
