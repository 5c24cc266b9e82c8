/* SPDX-License-Identifier: Apache-2.0 */
/* resources_table - data about the built-in resources beyond ki_resource itself.
 *
 *   From:     api/resource/resource_find.c, api/object/object_plan.c
 *   To:       api/resource/resources_table.c, generated from api/resource/resources.tsv
 *   Not here: the resources themselves (<kinformer/resource.h>); custom resources.
 */
#ifndef KI_API_RESOURCE_RESOURCES_TABLE_H
#define KI_API_RESOURCE_RESOURCES_TABLE_H

#include <kinformer/resource.h>

/* Element i belongs to ki_resources[i]: its short names, ended by NULL. */
extern const char *const *const ki_resource_short_name_lists[];

/* Contains every index of ki_resources once, in kubectl's order of preference: groups in the order in which
 * a server lists them; in a group, stable versions before beta before alpha, and newest first. */
extern const uint16_t ki_resource_preference[];

/* Whether the resource equals one of ki_resources. Defined in api/resource/resource_find.c. */
int ki_resource_is_built_in(const ki_resource *resource);

#endif
