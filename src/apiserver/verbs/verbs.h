/* SPDX-License-Identifier: Apache-2.0 */
/* verbs - create, update, patch, delete: turn a client's request into a change of the storage.
 *
 *   From:     apiserver/serve/ (requests); apiserver/serve/direct.c: ki_apiserver_put(), ki_apiserver_load()
 *   To:       apiserver/verbs/create.c, apiserver/verbs/update.c, apiserver/verbs/patch_verb.c,
 *             apiserver/verbs/delete.c; apiserver/storage/storage.h
 *   Locks:    each takes the storage's lock for the whole change: read, decide, write
 *   Not here: paths, headers, the text of responses
 *
 * One file per verb. Each returns the stored object (a new reference) or a failure. Creating or changing a
 * CustomResourceDefinition serves it at once and sets its status. Deleting a namespace deletes its content.
 * Deleting an object with finalizers sets deletionTimestamp; removing the last finalizer deletes the object.
 */
#ifndef KI_APISERVER_VERBS_VERBS_H
#define KI_APISERVER_VERBS_VERBS_H

#include "apiserver/storage/storage.h"

/* What happens with unknown fields. They are always removed; the client may be warned or get an error. */
enum ki_as_strictness { KI_AS_FIELDS_WARN, KI_AS_FIELDS_STRICT, KI_AS_FIELDS_IGNORE };

/* The parameters of all verbs. */
struct ki_as_call {
    struct ki_as_storage *storage;
    struct ki_as_resource *resource;
    ki_str ns;            /* of the path; "" for cluster scope */
    ki_str name;          /* of the path; "" for create */
    ki_str subresource;   /* "", "status", "scale", "finalize" */
    ki_str field_manager; /* ?fieldManager= or the User-Agent up to '/'; "" leaves managedFields unchanged */
    bool is_dry_run;
    bool is_forced; /* ?force=true of an apply */
    /* For loading whole objects: the status is stored as sent; version and uid of an update are not checked;
     * a create keeps a sent uid; an update creates a missing object. */
    bool is_whole;
    bool is_sketch; /* the rules of rules.txt and selectors are not checked (ki_as_validate_sketch()) */
    enum ki_as_strictness strictness;
    json_t *warnings; /* an array that gets a message per unknown field; NULL for no warnings */
    uint64_t limit;   /* of objects deleted by a deletecollection; 0 for all */
    bool is_purge;    /* a delete ignores finalizers, also of the content of a namespace or definition */
};

enum ki_as_patch_type { KI_AS_PATCH_JSON, KI_AS_PATCH_MERGE, KI_AS_PATCH_STRATEGIC, KI_AS_PATCH_APPLY };

/* Checks that the body has a name, and that it is `wanted`. */
KI_NODISCARD int ki_as_body_check_name(const json_t *body, ki_str wanted, struct ki_as_failure *failure);

/* These functions borrow `body` and may modify it. `*out_is_created` (may be NULL) is set if the response is
 * 201 rather than 200. */
KI_NODISCARD int ki_as_create(const struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                              struct ki_as_failure *failure);
KI_NODISCARD int ki_as_update(const struct ki_as_call *call, json_t *body, struct ki_as_object **out,
                              bool *out_is_created, struct ki_as_failure *failure);
KI_NODISCARD int ki_as_patch(const struct ki_as_call *call, enum ki_as_patch_type type, json_t *body,
                             struct ki_as_object **out, bool *out_is_created, struct ki_as_failure *failure);
/* `options` is a DeleteOptions or NULL. `*out_is_gone` is false if the object was only marked for
 * deletion. */
KI_NODISCARD int ki_as_delete(const struct ki_as_call *call, const json_t *options, struct ki_as_object **out,
                              bool *out_is_gone, struct ki_as_failure *failure);
/* Deletes all objects that match, or the first ones up to the limit. `out_page` gets the deleted objects. */
KI_NODISCARD int ki_as_delete_collection(const struct ki_as_call *call, const struct ki_as_selector *selector,
                                         const json_t *options, struct ki_as_page *out_page,
                                         struct ki_as_failure *failure);

/* The Scale of an object whose resource has that subresource: for GET, and for responses to PUT and PATCH,
 * whose `*out` is the object itself. NULL if out of memory. */
json_t *ki_as_scale_of(const struct ki_as_resource *resource, const struct ki_as_object *object);

/* Creates the four standard namespaces and the service "kubernetes". */
KI_NODISCARD int ki_as_seed(struct ki_as_storage *storage, struct ki_as_failure *failure);

#endif
