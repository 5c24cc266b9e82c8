/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_parts - functions shared by the verbs: check the body, set metadata, store, remove.
 *
 *   From:     apiserver/verbs/create.c, apiserver/verbs/update.c, apiserver/verbs/patch_verb.c,
 *             apiserver/verbs/delete.c, …
 *   To:       apiserver/verbs/check_body.c, apiserver/verbs/metadata.c, apiserver/verbs/managed.c,
 *             apiserver/verbs/commit.c (which stores and removes: apiserver/storage/storage.h)
 *   Locks:    the caller holds the storage's
 *   Not here: the functions that others call (apiserver/verbs/verbs.h)
 *
 * Functions that return an int return 0, or -1 with the failure of the verb.
 */
#ifndef KI_APISERVER_VERBS_VERBS_PARTS_H
#define KI_APISERVER_VERBS_VERBS_PARTS_H

#include "apiserver/verbs/verbs.h"
#include "util/buf.h"

/* One change in progress. */
struct ki_as_verb {
    const struct ki_as_call *call;
    struct ki_as_storage *storage;
    struct ki_as_resource *resource; /* as served now */
    struct ki_as_collection *collection;
    struct ki_as_failure *failure;
    ki_str managed; /* text that replaces the managedFields of the tree; "" keeps them */
};

/* ---- commit.c: the beginning and the end of a change --------------------------------------------------- */

KI_NODISCARD int ki_as_verb_begin(struct ki_as_verb *verb, const struct ki_as_call *call,
                                  struct ki_as_failure *failure);
/* Locks the storage, calls ki_as_verb_begin() and finds the object of the call: a new reference, or NULL.
 * Always call ki_as_verb_close() afterwards, also after a failure. */
KI_NODISCARD int ki_as_verb_open(struct ki_as_verb *verb, const struct ki_as_call *call,
                                 struct ki_as_object **out_current, struct ki_as_failure *failure);
void ki_as_verb_close(const struct ki_as_verb *verb, struct ki_as_object *current);
/* Like ki_as_verb_begin(), for a change of another built-in resource that the change `of` causes. */
KI_NODISCARD int ki_as_verb_begin_other(struct ki_as_verb *verb, const struct ki_as_verb *of,
                                        const char *group, const char *plural);

/* ---- check_body.c: whether the body fits the request --------------------------------------------------- */

/* Checks kind, version, namespace and name, and sets a missing namespace or name from the path.
 * Afterwards metadata is an object. */
KI_NODISCARD int ki_as_body_check(const struct ki_as_verb *verb, json_t *body);

/* ---- metadata.c ---------------------------------------------------------------------------------------- */

json_t *ki_as_metadata(const json_t *tree);
ki_str ki_as_metadata_text(const json_t *tree, const char *name);
/* Sets uid, creationTimestamp and generation of a new object. */
KI_NODISCARD int ki_as_metadata_set_new(const struct ki_as_verb *verb, json_t *tree);
/* Copies the fields that clients may not change from `before`, the previous version. */
KI_NODISCARD int ki_as_metadata_carry(const struct ki_as_verb *verb, json_t *tree, const json_t *before);
/* If the resource has a generation, increments it if anything but metadata and status differs, or if the
 * annotations of a Deployment differ. In custom kinds without a status subresource, the status counts. */
KI_NODISCARD int ki_as_metadata_increment_generation(const struct ki_as_verb *verb, json_t *tree,
                                                     const json_t *before);
/* Removes empty and unknown fields of metadata, so that the tree equals the object that clients will read. */
void ki_as_metadata_tidy(json_t *tree);
/* Sets deletionTimestamp to now and, except for namespaces, deletionGracePeriodSeconds and the next
 * generation. */
KI_NODISCARD int ki_as_metadata_mark_deleted(const struct ki_as_verb *verb, json_t *tree);
/* Sets the name to generateName and five random characters. */
KI_NODISCARD int ki_as_metadata_generate_name(const struct ki_as_verb *verb, json_t *tree);

/* ---- job.c --------------------------------------------------------------------------------------------- */

/* Sets the selector of a new Job and the labels of its pods. The uid must be set. */
KI_NODISCARD int ki_as_job_begin(const struct ki_as_verb *verb, json_t *tree);

/* ---- managed.c: metadata.managedFields ----------------------------------------------------------------- */

/* Makes the manager of the call the owner of all fields that differ from `before` (NULL: of all fields). Does
 * nothing if the call has no manager. */
KI_NODISCARD int ki_as_managed_update(const struct ki_as_verb *verb, json_t *tree, const json_t *before);

/* Like ki_as_managed_update(), for a new object without managedFields.
 * Writes a text for `managed` of the verb. */
KI_NODISCARD int ki_as_managed_text(const struct ki_as_verb *verb, const json_t *tree, ki_buf *out);

/* ---- namespace.c --------------------------------------------------------------------------------------- */

/* Fails with 404 if the namespace does not exist, with 403 if it is being deleted. */
KI_NODISCARD int ki_as_namespace_check(const struct ki_as_verb *verb, ki_str ns, ki_str name);
/* Deletes the content of a namespace. Objects with finalizers are removed with their last finalizer. */
KI_NODISCARD int ki_as_namespace_empty(const struct ki_as_verb *verb, ki_str ns);
bool ki_as_namespace_is_empty(struct ki_as_storage *storage, ki_str ns);

/* ---- definition.c: CustomResourceDefinitions ----------------------------------------------------------- */

/* Sets missing names and the status of a served definition. `before` may be NULL. */
KI_NODISCARD int ki_as_definition_prepare(const struct ki_as_verb *verb, json_t *tree, const json_t *before);
/* Sets the condition Terminating. */
KI_NODISCARD int ki_as_definition_terminate(const struct ki_as_verb *verb, json_t *tree);
/* For a new custom object: fails with 405, or 403 for an apply, if its definition is being deleted. */
KI_NODISCARD int ki_as_definition_check(const struct ki_as_verb *verb, ki_str name, bool is_apply);
/* Serves the definition; called before it is stored. */
KI_NODISCARD int ki_as_definition_serve(const struct ki_as_verb *verb, const json_t *tree);
/* Deletes all objects of a definition. Objects with finalizers are removed with their last finalizer. */
KI_NODISCARD int ki_as_definition_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition);
/* Like ki_as_definition_empty(), for a collection whose resource has no served version,
 * in one namespace ("": in all). */
KI_NODISCARD int ki_as_definition_empty_unserved(const struct ki_as_verb *verb,
                                                 struct ki_as_collection *collection, ki_str ns);
bool ki_as_definition_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition);
/* Ends the watches of versions that are no longer served. */
void ki_as_definition_changed(const struct ki_as_verb *verb, const struct ki_as_object *definition);
/* Stops serving the definition, and ends its watches. */
void ki_as_definition_end(const struct ki_as_verb *verb, const struct ki_as_object *definition);

/* ---- commit.c: storing and removing -------------------------------------------------------------------- */

/* Encodes the tree with the next version and stores it; a dry run only encodes. `*out` is a new reference. */
KI_NODISCARD int ki_as_verb_store(const struct ki_as_verb *verb, json_t *tree, struct ki_as_object **out);
/* Removes an object from the storage. Its last event shows `last` (NULL: the object itself). Then removes the
 * namespace or the definition that waited for the object to go. */
KI_NODISCARD int ki_as_verb_remove(const struct ki_as_verb *verb, struct ki_as_object *object, json_t *last,
                                   struct ki_as_object **out);
/* Whether the object has no content that must be deleted first: objects in a namespace, objects of a
 * definition. */
bool ki_as_verb_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *object);
/* Deletes the object, or only marks it if finalizers or its content hold it back. */
KI_NODISCARD int ki_as_verb_delete(const struct ki_as_verb *verb, struct ki_as_object *object,
                                   struct ki_as_object **out, bool *out_is_gone);
/* Deletes all objects of the collection in a namespace ("": in all). */
KI_NODISCARD int ki_as_verb_delete_all(const struct ki_as_verb *verb, ki_str ns);
/* The tree of an object. NULL if out of memory, with the failure set. */
json_t *ki_as_verb_tree(const struct ki_as_verb *verb, const struct ki_as_object *object);

/* ---- create.c ------------------------------------------------------------------------------------------ */

/* `body` must have passed ki_as_body_check(). */
KI_NODISCARD int ki_as_create_locked(const struct ki_as_verb *verb, json_t *body, struct ki_as_object **out);
/* Like ki_as_create_locked(), for a body whose managedFields an apply has set. */
KI_NODISCARD int ki_as_create_applied_locked(const struct ki_as_verb *verb, json_t *body,
                                             struct ki_as_object **out);

/* ---- update.c ------------------------------------------------------------------------------------------ */

/* A stored object, and the tree that an update stores instead. */
struct ki_as_update_input {
    struct ki_as_object *current; /* the stored object */
    json_t *before;               /* its tree */
    json_t *tree;                 /* the tree to store, after ki_as_body_check(); modified */
    bool is_status; /* only status, managedFields and, in most kinds, other metadata are updated */
    bool is_apply;  /* an apply has already set managedFields */
};

KI_NODISCARD int ki_as_update_locked(const struct ki_as_verb *verb, const struct ki_as_update_input *update,
                                     struct ki_as_object **out);

/* ---- scale.c ------------------------------------------------------------------------------------------- */

/* Sets *out to a copy of `before` with the replicas and, if it has one, the resourceVersion of the Scale. */
KI_NODISCARD int ki_as_scale_apply(const struct ki_as_verb *verb, const json_t *before, const json_t *scale,
                                   json_t **out);

#endif
