/* SPDX-License-Identifier: Apache-2.0 */
/* resource_set - inserts the resources of definitions into the set.
 *
 *   From:     apiserver/kind/resource_define.c
 *   To:       apiserver/kind/resource.c
 *   Locks:    the storage's
 *   Not here: lookups (apiserver/kind/resource.h)
 */
#ifndef KI_APISERVER_KIND_RESOURCE_SET_H
#define KI_APISERVER_KIND_RESOURCE_SET_H

#include "apiserver/kind/resource.h"

/* Reserves space for `more` resources. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_resources_reserve(struct ki_as_resources *resources, size_t more);

/* Takes a reference. Replaces a resource with the same group, version and plural. Space must be reserved. */
void ki_as_resources_insert(struct ki_as_resources *resources, struct ki_as_resource *resource);

#endif
