/* SPDX-License-Identifier: Apache-2.0 */
/* prune - taking away the fields that a kind does not have, as a real server drops what it does not know.
 *
 *   From:     defaults (silently), requests with fieldValidation=Strict or Warn (which want to know)
 *   To:       the object without them
 *   Locks:    none
 *   Not here: types and values (apiserver/validate/validate.h)
 */
#ifndef KI_APISERVER_KIND_PRUNE_H
#define KI_APISERVER_KIND_PRUNE_H

#include "apiserver/kind/resource.h"

/* Changes `tree`: unknown fields go, and so do nulls in built-in kinds and in metadata, where amounts are
 * then written as Kubernetes writes them. `unknown` is an
 * array to which 'unknown field "spec.nodNme"' is added for each of the first hundred, or NULL. A Strict
 * request with any is 400 'strict decoding error: …', joined by ", ". Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_prune(const struct ki_as_resource *resource, json_t *tree, json_t *unknown);
/* There, empty lists and maps go, too, but where Kubernetes writes them. Not so in what is applied, whose
 * manager owns them: the same without. */
KI_NODISCARD int ki_as_prune_applied(const struct ki_as_resource *resource, json_t *tree);
/* As ki_as_prune(), and each object of a built-in type gets the defaults of that type (defaults.txt). */
KI_NODISCARD int ki_as_prune_and_fill(const struct ki_as_resource *resource, json_t *tree);

#endif
