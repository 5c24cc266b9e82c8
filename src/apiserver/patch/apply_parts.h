/* SPDX-License-Identifier: Apache-2.0 */
/* apply_parts - the steps of a server-side apply on trees and field sets.
 *
 *   From:     apiserver/patch/patch_apply.c
 *   To:       apiserver/patch/field_set.h, apiserver/kind/schema.h
 *   Locks:    none
 *   Not here: entries of managedFields
 */
#ifndef KI_APISERVER_PATCH_APPLY_PARTS_H
#define KI_APISERVER_PATCH_APPLY_PARTS_H

#include "apiserver/kind/schema.h"
#include "util/buf.h"

struct ki_as_apply;

/* Merges `config` into `target`: objects member by member, keyed lists element by element, other values as a
 * whole. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_merge(json_t *target, const json_t *config, struct ki_as_shape shape);

/* Removes from `tree`, which has this shape, the fields that are in `had` but not in `keep` (may be NULL).
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_remove(json_t *tree, const json_t *had, const json_t *keep,
                                    struct ki_as_shape shape);

/* Two trees and two sets of fields, all at the same path. */
struct ki_as_contest {
    const json_t *wanted; /* the applying manager's set */
    const json_t *owned;  /* another manager's set */
    const json_t *config;
    const json_t *current;
    struct ki_as_shape shape; /* of both trees */
};

/* Finds conflicts: fields that are in both sets and differ between the trees. Adds them to `out_set`, and
 * their paths (".spec.replicas") to the array `out_paths`. `path` is scratch space, restored on return.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_contest(const struct ki_as_contest *contest, ki_buf *path, json_t *out_set,
                                     json_t *out_paths);

/* ---- apply_last.c: the configuration that kubectl applied client-side -------------------------------- */

/* *out gets the fields that kubectl last applied client-side; NULL if there are none, or if the manager that
 * applies now is not kubectl. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_last_fields(const struct ki_as_apply *apply, struct ki_as_shape shape,
                                         json_t **out);
/* Sets the annotation in `result` to the configuration that is applied now, if kubectl applies it and the
 * object has the annotation. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_last_write(const struct ki_as_apply *apply, json_t *result);

#endif
