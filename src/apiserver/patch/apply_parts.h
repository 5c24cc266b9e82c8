/* SPDX-License-Identifier: Apache-2.0 */
/* apply_parts - the steps of a server-side apply on trees and sets of fields.
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

/* Puts all of `config` into `target`: objects member by member, keyed lists element by element, the rest
 * as a whole. 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_merge(json_t *target, const json_t *config, struct ki_as_shape shape);

/* Takes out of `tree`, which has this shape, what is in `had` and not in `keep` (may be NULL). 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_remove(json_t *tree, const json_t *had, const json_t *keep,
                                    struct ki_as_shape shape);

/* Two trees and two sets at the same place. */
struct ki_as_contest {
    const json_t *wanted; /* the set of who applies */
    const json_t *owned;  /* that of another manager */
    const json_t *config;
    const json_t *current;
    struct ki_as_shape shape; /* of both trees */
};

/* Where both want the same field and not the same value: adds such fields to `out_set`, and their paths
 * (".spec.replicas") to the array `out_paths`. `path` is scratch that ends as it began. 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_contest(const struct ki_as_contest *contest, ki_buf *path, json_t *out_set,
                                     json_t *out_paths);

/* ---- apply_last.c: what kubectl has applied without the server's help ---------------------------------- */

/* *out: the fields that kubectl applied last by itself, if it is who applies now; NULL: none. 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_last_fields(const struct ki_as_apply *apply, struct ki_as_shape shape,
                                         json_t **out);
/* Has the annotation about it in `result` say what is applied now. 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_apply_last_write(const struct ki_as_apply *apply, json_t *result);

#endif
