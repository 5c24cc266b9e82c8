/* SPDX-License-Identifier: Apache-2.0 */
/* patch_parts - functions shared by the kinds of patches.
 *
 *   From:     apiserver/patch/patch_json.c, apiserver/patch/patch_strategic.c, apiserver/patch/patch_lists.c
 *   To:       apiserver/patch/patch_strategic.c, apiserver/patch/patch_lists.c
 *   Locks:    none
 *   Not here: the functions that verbs call (apiserver/patch/patch.h)
 */
#ifndef KI_APISERVER_PATCH_PATCH_PARTS_H
#define KI_APISERVER_PATCH_PATCH_PARTS_H

#include "apiserver/kind/failure.h"
#include "apiserver/kind/schema.h"

/* 422 "the server rejected our request due to an error in our request"; the cause contains the details. */
int ki_as_patch_refuse(struct ki_as_failure *failure, const char *format, ...) KI_PRINTF(2, 3);

/* ---- lists of strategic patches ------------------------------------------------------------------------ */

/* Merges the object `patch` into `original`, which is modified and may be replaced. After a failure its
 * content is undefined. */
KI_NODISCARD int ki_as_strategic_merge(json_t **original, const json_t *patch, struct ki_as_shape shape,
                                       struct ki_as_failure *failure);
/* Sets *out to a copy of the value without directives and nulls. *out is NULL if nothing is left, because the
 * value itself is a directive. */
KI_NODISCARD int ki_as_strategic_strip(const json_t *value, json_t **out, struct ki_as_failure *failure);

struct ki_as_list_merge {
    const json_t *original; /* an array, like `patch`; NULL if absent */
    const json_t *patch;
    const json_t *order;      /* of $setElementOrder; NULL: the order of the patch */
    const char *key;          /* identifies elements; "" for scalars */
    struct ki_as_shape shape; /* of the elements */
    struct ki_as_failure *failure;
};

/* Removes from `list` the elements with the same key as an element of `gone`, or with the same value if `key`
 * is "". Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_strategic_delete(json_t *list, const json_t *gone, const char *key);

/* Returns a new array in `*out`. */
KI_NODISCARD int ki_as_strategic_merge_list(const struct ki_as_list_merge *merge, json_t **out);

#endif
