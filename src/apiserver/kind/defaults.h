/* SPDX-License-Identifier: Apache-2.0 */
/* defaults - sets the defaults that a real server sets, for fields that users and kubectl look at.
 *
 *   From:     apiserver/verbs/create.c, apiserver/verbs/update.c   (before validation),
 *             apiserver/object/convert.c
 *   To:       apiserver/kind/prune.h (ki_as_prune_and_fill())
 *   Locks:    none
 *   Not here: controllers; a deployment gets no pods from here
 */
#ifndef KI_APISERVER_KIND_DEFAULTS_H
#define KI_APISERVER_KIND_DEFAULTS_H

#include "apiserver/kind/resource.h"

/* Called on create and update; idempotent. Removes unknown fields. The defaults of built-in kinds are rows of
 * defaults.txt, one group per type; those of custom kinds are in their schema. Moves the stringData of a
 * secret to its data. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_defaults_apply(const struct ki_as_resource *resource, json_t *tree);

#endif
