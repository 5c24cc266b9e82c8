/* SPDX-License-Identifier: Apache-2.0 */
/* field_set - sets of fields as metadata.managedFields has them: {"f:spec":{"f:replicas":{}}}.
 *
 *   From:     apiserver/verbs/managed.c, apply
 *   To:       fieldsV1 trees
 *   Locks:    none
 *   Not here: who owns which set
 *
 * "f:name" is a member, "k:{…}" the element of a list with these keys, "v:…" an element of a list of scalars,
 * "." the thing itself. Each function returns 0 or KI_ERR_NO_MEMORY.
 */
#ifndef KI_APISERVER_PATCH_FIELD_SET_H
#define KI_APISERVER_PATCH_FIELD_SET_H

#include "apiserver/kind/schema.h"

/* Whether a member belongs to nobody: it is in every object, and the server writes it. At `depth` 0 are
 * the members of the object itself, at 1 those of its member `parent`. */
bool ki_as_field_is_nobodys(unsigned depth, const char *parent, const char *name);

/* What of an object differs from `before` (NULL: everything is new); without what belongs to nobody, as
 * metadata.resourceVersion. */
KI_NODISCARD int ki_as_field_set_of(struct ki_as_shape shape, const json_t *before, const json_t *tree,
                                    json_t **out);

/* All of `more` is in `set`, too. */
KI_NODISCARD int ki_as_field_set_add(json_t *set, const json_t *more);

/* Nothing of `less` is in `set` any more. */
void ki_as_field_set_subtract(json_t *set, const json_t *less);
/* Nor what `tree`, which has this shape, does not have. */
KI_NODISCARD int ki_as_field_set_prune(json_t *set, const json_t *tree, struct ki_as_shape shape);

#endif
