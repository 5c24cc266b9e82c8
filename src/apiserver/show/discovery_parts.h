/* SPDX-License-Identifier: Apache-2.0 */
/* discovery_parts - groups and versions in the order in which clients prefer them.
 *
 *   From:     apiserver/show/discovery_documents.c, apiserver/show/discovery_aggregated.c,
 *             apiserver/show/openapi.c
 *   To:       apiserver/kind/resource.h, whose set is sorted by name
 *   Locks:    the caller holds the storage's
 *   Not here: the documents (apiserver/show/discovery_documents.h)
 */
#ifndef KI_APISERVER_SHOW_DISCOVERY_PARTS_H
#define KI_APISERVER_SHOW_DISCOVERY_PARTS_H

#include "apiserver/kind/resource.h"

/* One (group, version) and its resources: entries[first] up to entries[first + count]. */
struct ki_as_group_version {
    const char *group;
    const char *version;
    size_t first;
    size_t count;
};

/* All groups in the order of a real server, with the best version of each group first. A new array of
 * *out_count elements, to be freed with ki_free(); NULL if out of memory, or if there are no groups. */
struct ki_as_group_version *ki_as_group_versions(const struct ki_as_resources *resources, size_t *out_count);

/* The verbs of a resource, as a new array; NULL if out of memory. */
json_t *ki_as_resource_verbs(const struct ki_as_resource *resource);
json_t *ki_as_resource_short_names(const struct ki_as_resource *resource);
json_t *ki_as_resource_categories(const struct ki_as_resource *resource);
json_t *ki_as_subresource_verbs(void);

#endif
