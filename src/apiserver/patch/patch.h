/* SPDX-License-Identifier: Apache-2.0 */
/* patch - what an object looks like after a patch of each of the four kinds.
 *
 *   From:     verbs, with the current object
 *   To:       verbs, which validate and store the result as an update
 *   Locks:    none
 *   Not here: versions, uid, validation
 */
#ifndef KI_APISERVER_PATCH_PATCH_H
#define KI_APISERVER_PATCH_PATCH_H

#include "apiserver/kind/failure.h"
#include "apiserver/kind/resource.h"

/* Each returns a new tree in `*out`; `current` and `patch` stay as they are. What cannot be applied is 400
 * or 422 with the message that Kubernetes has for it. */

/* RFC 6902: an array of add, remove, replace, move, copy, test. */
KI_NODISCARD int ki_as_patch_json(const json_t *current, const json_t *patch, json_t **out,
                                  struct ki_as_failure *failure);
/* RFC 7386. */
KI_NODISCARD int ki_as_patch_merge(const json_t *current, const json_t *patch, json_t **out,
                                   struct ki_as_failure *failure);
/* Lists merged by their keys as schema.h has them (containers by name, env by name, ports by containerPort
 * or port+protocol, volumes by name, tolerations atomic, …), `$patch: delete|replace|merge`,
 * `$deleteFromPrimitiveList/…`, `$setElementOrder/…`, `$retainKeys`. Custom resources: 415, as a real
 * server says. */
KI_NODISCARD int ki_as_patch_strategic(const json_t *current, const json_t *patch, json_t **out,
                                       struct ki_as_failure *failure);

struct ki_as_apply {
    const struct ki_as_resource *resource;
    const json_t *current;   /* NULL: create */
    const json_t *config;    /* what the manager wants */
    const char *manager;     /* the field manager */
    const char *subresource; /* "" or "status" */
    bool is_forced;
};

/* Server-side apply: merges by the same keys, removes fields that this manager owned and no longer names,
 * records the owned fields in metadata.managedFields (fieldsV1), refuses fields that another manager owns
 * with a different value (409 with causes FieldManagerConflict) unless forced. */
KI_NODISCARD int ki_as_patch_apply(const struct ki_as_apply *apply, json_t **out,
                                   struct ki_as_failure *failure);

#endif
