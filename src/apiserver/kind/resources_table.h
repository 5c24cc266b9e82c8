/* SPDX-License-Identifier: Apache-2.0 */
/* resources_table - the built-in resources, generated.
 *
 *   From:     scripts/generate_apiserver_resources.py
 *   To:       apiserver/kind/resource.c, which copies them
 *   Not here: custom resources
 */
#ifndef KI_APISERVER_KIND_RESOURCES_TABLE_H
#define KI_APISERVER_KIND_RESOURCES_TABLE_H

#include "apiserver/kind/resource.h"

/* Ordered by group, version, plural. */
extern const struct ki_as_resource ki_as_builtin_resources[];
extern const size_t ki_as_builtin_resource_count;

#endif
