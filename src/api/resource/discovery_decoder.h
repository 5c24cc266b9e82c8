/* SPDX-License-Identifier: Apache-2.0 */
/* discovery_decoder - looks for one resource in what a server says of itself.
 *
 *   From:     rest/discovery.c   (answers to /apis and /apis/GROUP/VERSION)
 *   To:       <kinformer/discovery.h>
 *   Locks:    none; one owner.
 *   Not here: asking.
 *
 * Servers of today answer /apis with all of it (APIGroupDiscoveryList). Older ones know groups and versions
 * there (APIGroupList), and the resources of each under a path of its own (APIResourceList).
 */
#ifndef KI_API_RESOURCE_DISCOVERY_DECODER_H
#define KI_API_RESOURCE_DISCOVERY_DECODER_H

#include <kinformer/json.h>
#include <kinformer/resource.h>
#include <stdbool.h>

#include "api/resource/resource_query.h"
#include "util/buf.h"

/* What is looked for, and the best that was found so far. */
typedef struct ki_discovery_search {
    ki_resource_query queries[KI_RESOURCE_QUERIES_MAX]; /* point into the name, which is the caller's */
    size_t query_count;
    ki_resource *best; /* NULL: none */
    int rank;          /* of the best; 0: there is none better */
    bool is_unwatched; /* there is one of this name that cannot be listed and watched */
} ki_discovery_search;

void ki_discovery_search_init(ki_discovery_search *search, ki_str name);
void ki_discovery_search_fini(ki_discovery_search *search);

typedef enum ki_discovery_kind {
    KI_DISCOVERY_RESOURCES = 0, /* it was all about resources */
    KI_DISCOVERY_GROUPS         /* it names groups, whose resources are to be asked for one by one */
} ki_discovery_kind;

/* Takes an answer. Of groups, the paths where to ask for those that come into question are added to `paths`,
 * each with its NUL. Returns a ki_discovery_kind; KI_ERR_TYPE: it is something else;
 * KI_ERR_NO_MEMORY, KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_discovery_search_take(ki_discovery_search *search, ki_str text, ki_buf *paths);

#endif
