/* SPDX-License-Identifier: Apache-2.0 */
/* demo_followers - the informers of the demo, their handlers, and whether they are up to date.
 *
 *   From:     cli/demo/demo.c, cli/demo/demo_trouble.c, cli/demo/demo_end.c, cli/demo/demo_show.c
 *   To:       informers of a client in KI_MODE_HANDLERS_ON_LOOP
 *   Locks:    none: handlers run inside ki_client_dispatch(); counters of `io` are atomic.
 *   Not here: faults; the display.
 */
#ifndef KI_CLI_DEMO_DEMO_FOLLOWERS_H
#define KI_CLI_DEMO_DEMO_FOLLOWERS_H

#include <kinformer/client.h>
#include <kinformer/informer.h>
#include <stdatomic.h>

#include "cli/demo/demo_cluster.h"
#include "cli/demo/demo_view.h"

/* Indexes of the pods. */
#define CLI_DEMO_INDEX_NODE "node"
#define CLI_DEMO_INDEX_STATE "state"

typedef struct cli_demo_follower {
    const char *name;
    const ki_resource *resource;
    ki_informer *informer;
    ki_registration *registration;
    cli_demo_lines *heard;
    uint64_t objects;   /* reported to the handler, minus deleted ones */
    uint64_t version;   /* of the last write to this resource */
    uint64_t delivered; /* events delivered to the handler when the rate was last computed */
    double events_per_second;
    atomic_uint_fast64_t expired;
} cli_demo_follower;

/* In the order of cli_demo_kind, which has one more kind without an informer. */
typedef struct cli_demo_followers {
    cli_demo_follower items[CLI_DEMO_FOLLOWED];
} cli_demo_followers;

/* Creates and starts the informers. `heard` gets a line for each event after the initial ones. Returns 0 or
 * an error; even then cli_demo_followers_fini() must be called. */
KI_NODISCARD int cli_demo_followers_start(cli_demo_followers *followers, ki_client *client,
                                          cli_demo_lines *heard, ki_error *err);

void cli_demo_followers_fini(cli_demo_followers *followers);

/* 1 when the first list of each informer was delivered to its handler. */
int cli_demo_followers_have_synced(const cli_demo_followers *followers);

/* 1 when the store is complete up to `version` of its resource, and the handler has been called for it. */
int cli_demo_follower_is_at(const cli_demo_follower *follower, uint64_t version);

/* 1 when all informers have everything that was written. */
int cli_demo_followers_are_current(const cli_demo_followers *followers);

/* Computes events per second over the `elapsed_ms` since the last call. */
void cli_demo_followers_measure(cli_demo_followers *followers, uint64_t elapsed_ms);

/* Fills in the current state of the informers. `out_node` holds the text of out->busiest_node. */
enum { CLI_DEMO_NODE_BYTES = 64 };
void cli_demo_followers_show(const cli_demo_followers *followers, cli_demo_view *out,
                             char out_node[CLI_DEMO_NODE_BYTES]);

#endif
