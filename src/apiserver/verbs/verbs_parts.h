/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_parts - what the verbs have in common: checking what was sent, filling in metadata, storing,
 * removing.
 *
 *   From:     apiserver/verbs/create.c, apiserver/verbs/update.c, apiserver/verbs/patch_verb.c,
 *             apiserver/verbs/delete.c, …
 *   To:       storage
 *   Locks:    the caller holds the storage's
 *   Not here: what others call (apiserver/verbs/verbs.h)
 *
 * Each function returns 0, or -1 with the failure of the verb.
 */
#ifndef KI_APISERVER_VERBS_VERBS_PARTS_H
#define KI_APISERVER_VERBS_VERBS_PARTS_H

#include "apiserver/verbs/verbs.h"
#include "util/buf.h"

/* One change under way. */
struct ki_as_verb {
    const struct ki_as_call *call;
    struct ki_as_storage *storage;
    struct ki_as_resource *resource; /* as it is served now */
    struct ki_as_collection *collection;
    struct ki_as_failure *failure;
    ki_str managed; /* text of managedFields that takes the place of the tree's; "": the tree's */
};

KI_NODISCARD int ki_as_verb_begin(struct ki_as_verb *verb, const struct ki_as_call *call,
                                  struct ki_as_failure *failure);
/* The same for another resource, by its built-in names. */
KI_NODISCARD int ki_as_verb_begin_other(struct ki_as_verb *verb, const struct ki_as_verb *of,
                                        const char *group, const char *plural);
bool ki_as_verb_is_for(const struct ki_as_verb *verb, const char *group, const char *plural);

/* ---- body.c: whether what was sent fits the request ---------------------------------------------------- */

/* Kind, version, namespace and name; the latter are filled in. Afterwards metadata is an object. */
KI_NODISCARD int ki_as_body_check(const struct ki_as_verb *verb, json_t *body);

/* ---- metadata.c ---------------------------------------------------------------------------------------- */

enum { KI_AS_TIME_BYTES = 32 };

void ki_as_time_now(char out[KI_AS_TIME_BYTES]);
json_t *ki_as_metadata(const json_t *tree);
ki_str ki_as_metadata_text(const json_t *tree, const char *name);
/* A new object: uid, creationTimestamp, generation. */
KI_NODISCARD int ki_as_metadata_begin(const struct ki_as_verb *verb, json_t *tree);
/* A new version of an object keeps what nobody may change. */
KI_NODISCARD int ki_as_metadata_carry(const struct ki_as_verb *verb, json_t *tree, const json_t *before);
/* Counts generation on when more than metadata and status differ, or annotations of a Deployment. */
KI_NODISCARD int ki_as_metadata_count(const struct ki_as_verb *verb, json_t *tree, const json_t *before);
/* Without fields that are empty or unknown, so that it is as it will be read. */
void ki_as_metadata_tidy(json_t *tree);
/* deletionTimestamp, from now on. */
KI_NODISCARD int ki_as_metadata_end(const struct ki_as_verb *verb, json_t *tree);
/* generateName and five characters. */
KI_NODISCARD int ki_as_metadata_generate_name(const struct ki_as_verb *verb, json_t *tree);

/* ---- job.c --------------------------------------------------------------------------------------------- */

/* A new Job, whose uid is known: its selector, and the labels of its pods. */
KI_NODISCARD int ki_as_job_begin(const struct ki_as_verb *verb, json_t *tree);

/* ---- managed.c: metadata.managedFields ----------------------------------------------------------------- */

/* The manager of the call owns what differs from `before` (NULL: everything).
 * Does nothing without a manager. */
KI_NODISCARD int ki_as_managed_update(const struct ki_as_verb *verb, json_t *tree, const json_t *before);

/* The same for a new object that has no managedFields, as their text: for the verb's `managed`. */
KI_NODISCARD int ki_as_managed_text(const struct ki_as_verb *verb, const json_t *tree, ki_buf *out);

/* ---- namespace.c --------------------------------------------------------------------------------------- */

/* 404 when the namespace is not there, 403 when it is about to go. */
KI_NODISCARD int ki_as_namespace_check(const struct ki_as_verb *verb, ki_str ns, ki_str name);
/* Deletes what is in a namespace; what has finalizers goes when the last of them is taken away. */
KI_NODISCARD int ki_as_namespace_empty(const struct ki_as_verb *verb, ki_str ns);
bool ki_as_namespace_is_empty(struct ki_as_storage *storage, ki_str ns);

/* ---- definition.c: CustomResourceDefinitions ----------------------------------------------------------- */

/* Names that were left out, and the status that says that it is served. `before` may be NULL. */
KI_NODISCARD int ki_as_definition_prepare(const struct ki_as_verb *verb, json_t *tree, const json_t *before);
/* The condition that says that it is about to go. */
KI_NODISCARD int ki_as_definition_terminate(const struct ki_as_verb *verb, json_t *tree);
/* Of a new custom object: 405, or 403 of an apply, when its definition is about to go. */
KI_NODISCARD int ki_as_definition_check(const struct ki_as_verb *verb, ki_str name, bool is_apply);
/* Serves it, before it is stored. */
KI_NODISCARD int ki_as_definition_serve(const struct ki_as_verb *verb, const json_t *tree);
/* Deletes all objects of a definition; those with finalizers go when the last of them is taken away. */
KI_NODISCARD int ki_as_definition_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition);
/* The same for the objects of a collection in one namespace ("": in all) of which no version is served. */
KI_NODISCARD int ki_as_definition_empty_unserved(const struct ki_as_verb *verb,
                                                 struct ki_as_collection *collection, ki_str ns);
bool ki_as_definition_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition);
/* Ends the watches of versions that it serves no more. */
void ki_as_definition_changed(const struct ki_as_verb *verb, const struct ki_as_object *definition);
/* Serves it no more, and ends its watches. */
void ki_as_definition_end(const struct ki_as_verb *verb, const struct ki_as_object *definition);

/* ---- store.c ------------------------------------------------------------------------------------------- */

/* Encodes the tree with the next version and puts it in; with a dry run only the former.
 * `*out` is a new reference. */
KI_NODISCARD int ki_as_verb_store(const struct ki_as_verb *verb, json_t *tree, struct ki_as_object **out);
/* Takes an object out for good; `last` (NULL: as it is) is how its last event shows it. Then whatever waited
 * for that goes as well: a namespace, a definition. */
KI_NODISCARD int ki_as_verb_remove(const struct ki_as_verb *verb, struct ki_as_object *object, json_t *last,
                                   struct ki_as_object **out);
/* Whether nothing is in the object that must go first: content of a namespace, objects of a definition. */
bool ki_as_verb_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *object);
/* The same, and no finalizer holds it. */
bool ki_as_verb_may_go(const struct ki_as_verb *verb, const struct ki_as_object *object);
/* Deletes, or marks when something holds it back. */
KI_NODISCARD int ki_as_verb_delete(const struct ki_as_verb *verb, struct ki_as_object *object,
                                   struct ki_as_object **out, bool *out_is_gone);
/* All objects of the collection in a namespace ("": of all). */
KI_NODISCARD int ki_as_verb_delete_all(const struct ki_as_verb *verb, ki_str ns);
/* NULL without memory, which the failure says. */
json_t *ki_as_verb_tree(const struct ki_as_verb *verb, const struct ki_as_object *object);

/* ---- create.c ------------------------------------------------------------------------------------------ */

/* A body that passed ki_as_body_check(). */
KI_NODISCARD int ki_as_create_locked(const struct ki_as_verb *verb, json_t *body, struct ki_as_object **out);
/* The same with managedFields as they should be. */
KI_NODISCARD int ki_as_create_applied_locked(const struct ki_as_verb *verb, json_t *body,
                                             struct ki_as_object **out);

/* ---- update.c ------------------------------------------------------------------------------------------ */

/* From one version to the next. */
struct ki_as_update {
    struct ki_as_object *current; /* what is stored */
    json_t *before;               /* its tree */
    json_t *tree;                 /* what is to be stored, after ki_as_body_check(); is changed */
    bool is_status;               /* only its status and managedFields count */
    bool is_apply;                /* managedFields are as they should be */
};

KI_NODISCARD int ki_as_update_locked(const struct ki_as_verb *verb, const struct ki_as_update *update,
                                     struct ki_as_object **out);

/* ---- scale.c ------------------------------------------------------------------------------------------- */

/* The object with the replicas that a Scale wants; a new tree. */
KI_NODISCARD int ki_as_scale_apply(const struct ki_as_verb *verb, const json_t *before, const json_t *scale,
                                   json_t **out);

#endif
