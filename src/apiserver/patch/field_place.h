/* SPDX-License-Identifier: Apache-2.0 */
/* field_place - resolves the entries of a field set ("f:spec", "k:{…}", "v:1") in a tree.
 *
 *   From:     apiserver/patch/field_set.c, apiserver/patch/apply_merge.c, apiserver/patch/apply_contest.c
 *   To:       apiserver/kind/keyed_list.h, so that a list is scanned once and not for each entry
 *   Locks:    none
 *   Not here: changing sets or trees
 */
#ifndef KI_APISERVER_PATCH_FIELD_PLACE_H
#define KI_APISERVER_PATCH_FIELD_PLACE_H

#include "apiserver/kind/keyed_list.h"

/* An object or a list in which entries are resolved. Its elements must not move or change their keys while
 * the struct is in use. */
struct ki_as_places {
    const json_t *tree;
    struct ki_as_shape shape;
    struct ki_as_keyed_list *elements; /* NULL until the first lookup of an element */
};

struct ki_as_place {
    json_t *value; /* borrowed; NULL if absent */
    size_t at;     /* index of a list element */
    struct ki_as_shape shape;
};

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_places_find(struct ki_as_places *places, const char *entry, struct ki_as_place *out);
void ki_as_places_fini(struct ki_as_places *places);

#endif
