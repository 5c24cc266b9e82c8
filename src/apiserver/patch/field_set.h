/* SPDX-License-Identifier: Apache-2.0 */
/* field_set - field sets in the format of metadata.managedFields: {"f:spec":{"f:replicas":{}}}.
 *
 *   From:     apiserver/verbs/managed.c, apiserver/patch/ (apply)
 *   To:       fieldsV1 trees
 *   Locks:    none
 *   Not here: which manager owns which set
 *
 * "f:name" is a member, "k:{…}" the element of a list with these keys, "v:…" an element of a list of scalars,
 * "." the value itself. Each function returns 0 or KI_ERR_NO_MEMORY.
 */
#ifndef KI_APISERVER_PATCH_FIELD_SET_H
#define KI_APISERVER_PATCH_FIELD_SET_H

#include "apiserver/kind/schema.h"

/* Whether a member has no owner, because it is in every object or the server writes it. Members of the object
 * itself are at `depth` 0, those of its member `parent` at `depth` 1. */
bool ki_as_field_is_unowned(unsigned depth, const char *parent, const char *name);

/* The fields of an object that differ from `before` (NULL: all fields), except those without an owner such as
 * metadata.resourceVersion. */
KI_NODISCARD int ki_as_field_set_of(struct ki_as_shape shape, const json_t *before, const json_t *tree,
                                    json_t **out);

/* Adds all of `more` to `set`. */
KI_NODISCARD int ki_as_field_set_add(json_t *set, const json_t *more);

/* Removes all of `less` from `set`. */
void ki_as_field_set_subtract(json_t *set, const json_t *less);
/* Removes the fields from `set` that `tree`, which has this shape, does not contain. */
KI_NODISCARD int ki_as_field_set_prune(json_t *set, const json_t *tree, struct ki_as_shape shape);

#endif
