/* SPDX-License-Identifier: Apache-2.0 */
/* discovery_decoder - looks for one resource in a server's discovery documents.
 *
 *   From:     rest/discovery.c   (responses to /apis and /apis/GROUP/VERSION)
 *   To:       <kinformer/discovery.h>
 *   Locks:    none; one owner.
 *   Not here: requests.
 *
 * Current servers return everything under /apis (APIGroupDiscoveryList). Older ones return groups and
 * versions there (APIGroupList), and the resources of each version under its own path (APIResourceList).
 */
#ifndef KI_API_RESOURCE_DISCOVERY_DECODER_H
#define KI_API_RESOURCE_DISCOVERY_DECODER_H

#include <kinformer/json.h>
#include <kinformer/resource.h>
#include <stdbool.h>

#include "api/resource/resource_query.h"
#include "util/buf.h"

/* The name to find, and the best match so far. */
typedef struct ki_discovery_search {
    ki_resource_query queries[KI_RESOURCE_QUERIES_MAX]; /* point into the name, which belongs to the caller */
    size_t query_count;
    ki_resource *best; /* NULL if none */
    int rank;          /* the rank of `best`; nothing is better than 0 */
    bool is_unwatched; /* a resource with this name was found that cannot be listed and watched */
} ki_discovery_search;

void ki_discovery_search_init(ki_discovery_search *search, ki_str name);
void ki_discovery_search_fini(ki_discovery_search *search);

typedef enum ki_discovery_kind {
    KI_DISCOVERY_RESOURCES = 0, /* only resources */
    KI_DISCOVERY_GROUPS         /* groups, whose resources must be requested from one path per version */
} ki_discovery_kind;

/* Processes a response. If it contains groups, appends the paths of those that may have the resource to
 * `paths`, each followed by a NUL. Returns a ki_discovery_kind, KI_ERR_NOT_A_LIST for anything else,
 * KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_discovery_search_take(ki_discovery_search *search, ki_str text, ki_buf *paths);

#endif
