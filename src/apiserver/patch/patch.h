/* SPDX-License-Identifier: Apache-2.0 */
/* patch - applies the four kinds of patches to an object.
 *
 *   From:     apiserver/verbs/patch_verb.c, with the current object
 *   To:       verbs, which validate and store the result as an update
 *   Locks:    none
 *   Not here: versions, uid, validation
 */
#ifndef KI_APISERVER_PATCH_PATCH_H
#define KI_APISERVER_PATCH_PATCH_H

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"

/* Each function below sets `*out` to a new tree; `current` and `patch` are not modified. A patch that cannot
 * be applied fails with 400 or 422 and Kubernetes' message. */

/* RFC 6902: an array of add, remove, replace, move, copy, test. */
KI_NODISCARD int ki_as_patch_json(const json_t *current, const json_t *patch, json_t **out,
                                  struct ki_as_failure *failure);
/* RFC 7386. */
KI_NODISCARD int ki_as_patch_merge(const json_t *current, const json_t *patch, json_t **out,
                                   struct ki_as_failure *failure);
/* Lists are merged by the keys in schema.h (containers by name, env by name, ports by containerPort or
 * port+protocol, volumes by name, tolerations atomic, …). Supports `$patch: delete|replace|merge`,
 * `$deleteFromPrimitiveList/…`, `$setElementOrder/…`, `$retainKeys`. Custom resources fail with 415, as on a
 * real server. */
KI_NODISCARD int ki_as_patch_strategic(const json_t *current, const json_t *patch, json_t **out,
                                       struct ki_as_failure *failure);

struct ki_as_apply {
    const struct ki_as_resource *resource;
    const json_t *current;   /* NULL if the apply creates the object */
    const json_t *config;    /* the applied configuration */
    const char *manager;     /* the field manager */
    const char *subresource; /* "" or "status" */
    bool is_forced;
};

/* Server-side apply: merges lists by their keys, removes fields that this manager owned and no longer
 * applies, and records the owned fields in metadata.managedFields (fieldsV1). If another manager owns a field
 * with a different value, fails with 409 and the cause FieldManagerConflict, unless the apply is forced. */
KI_NODISCARD int ki_as_patch_apply(const struct ki_as_apply *apply, json_t **out,
                                   struct ki_as_failure *failure);

#endif
