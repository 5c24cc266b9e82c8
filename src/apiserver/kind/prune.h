/* SPDX-License-Identifier: Apache-2.0 */
/* prune - removes fields that a kind does not have, as a real server does; on the same walk, writes
 * quantities in their shortest form and sets the defaults of defaults.txt.
 *
 *   From:     apiserver/kind/defaults.c (silently), apiserver/verbs/strict.c (fieldValidation=Strict or Warn,
 *             with messages), apiserver/patch/
 *   To:       apiserver/kind/defaults_rows.c (defaults), apiserver/value/quantity.h
 *   Locks:    none
 *   Not here: types and values (apiserver/validate/validate.h); defaults of custom kinds
 *             (apiserver/kind/defaults.c)
 */
#ifndef KI_APISERVER_KIND_PRUNE_H
#define KI_APISERVER_KIND_PRUNE_H

#include "apiserver/kind/resource.h"

/* Removes unknown fields from `tree`. In built-in kinds and in metadata, also removes nulls, empty lists and
 * empty maps, except where Kubernetes writes them, and writes quantities in Kubernetes' form. `unknown` is
 * NULL, or an array that gets 'unknown field "spec.nodNme"' for each of the first hundred. If there are any,
 * a Strict request fails with 400 'strict decoding error: …', with these texts joined by ", ".
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_prune(const struct ki_as_resource *resource, json_t *tree, json_t *unknown);
/* Like ki_as_prune(), but keeps empty lists and maps, because in an applied configuration they have an
 * owner. */
KI_NODISCARD int ki_as_prune_applied(const struct ki_as_resource *resource, json_t *tree);
/* Like ki_as_prune(), but also sets the defaults of each object of a built-in type (defaults.txt). */
KI_NODISCARD int ki_as_prune_and_fill(const struct ki_as_resource *resource, json_t *tree);

#endif
