/* SPDX-License-Identifier: Apache-2.0 */
/* resource_set - how definitions put resources into the set.
 *
 *   From:     apiserver/kind/resource_define.c
 *   To:       apiserver/kind/resource.c
 *   Locks:    the storage's
 *   Not here: finding them (apiserver/kind/resource.h)
 */
#ifndef KI_APISERVER_KIND_RESOURCE_SET_H
#define KI_APISERVER_KIND_RESOURCE_SET_H

#include "apiserver/kind/resource.h"

/* Room for so many more. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_resources_reserve(struct ki_as_resources *resources, size_t more);

/* Takes over a reference; in place of one with the same group, version and plural. There must be room. */
void ki_as_resources_insert(struct ki_as_resources *resources, struct ki_as_resource *resource);

#endif
