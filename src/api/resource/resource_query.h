/* SPDX-License-Identifier: Apache-2.0 */
/* resource_query - the possible meanings of a resource name; "a.b.c" has several.
 *
 *   From:     api/resource/resource_find.c (built-in resources), api/resource/discovery_decoder.c (resources
 *             of a server)
 *   Locks:    none; plain data.
 *   Not here: the resources.
 */
#ifndef KI_API_RESOURCE_RESOURCE_QUERY_H
#define KI_API_RESOURCE_RESOURCE_QUERY_H

#include <kinformer/common.h>

typedef enum ki_group_rule { KI_GROUP_ANY, KI_GROUP_EXACT, KI_GROUP_PREFIX } ki_group_rule;

typedef struct ki_resource_query {
    ki_str name;    /* plural, singular, kind or short name */
    ki_str version; /* empty: any */
    ki_str group;
    ki_group_rule rule;
} ki_resource_query;

#define KI_RESOURCE_QUERIES_MAX 3

/* Writes the interpretations of a name, which point into `text`, and returns their number. The first one
 * that finds something counts. */
size_t ki_resource_queries_of(ki_str text, ki_resource_query *out_queries);

int ki_resource_query_has_group(const ki_resource_query *query, ki_str group);

/* Splits the text at the first dot. Returns 1; or 0 if there is no dot: then `before` is the whole text,
 * and `after` is empty. */
int ki_str_cut_at_dot(ki_str text, ki_str *before, ki_str *after);

#endif
