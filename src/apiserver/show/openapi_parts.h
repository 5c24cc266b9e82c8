/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_parts - the schemas of kinds in OpenAPI's format.
 *
 *   From:     apiserver/show/openapi.c
 *   To:       apiserver/kind/schema.h
 *   Locks:    none
 *   Not here: paths
 */
#ifndef KI_APISERVER_SHOW_OPENAPI_PARTS_H
#define KI_APISERVER_SHOW_OPENAPI_PARTS_H

#include "apiserver/kind/resource.h"

/* {"group":…,"version":…,"kind":…}; NULL if out of memory. */
json_t *ki_as_openapi_kind(const struct ki_as_resource *resource);

/* Adds the schema of a kind, and all schemas that it refers to, to components.schemas.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_openapi_add(json_t *schemas, const struct ki_as_resource *resource);

#endif
