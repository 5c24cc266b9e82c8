/* SPDX-License-Identifier: Apache-2.0 */
/* demo_followers - the informers of the demonstration, what their handlers hear, and whether they are up to
 * date.
 *
 *   From:     cli/demo/demo.c, cli/demo/demo_trouble.c
 *   To:       informers of a client in KI_MODE_HANDLERS_ON_LOOP
 *   Locks:    none: handlers run inside ki_client_dispatch(); what `io` counts is atomic.
 *   Not here: what goes wrong; what is shown.
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
    uint64_t objects;   /* that the handler has been told of and not told gone */
    uint64_t version;   /* of the last write to this resource */
    uint64_t delivered; /* to the handler, when the rate was last reckoned */
    double events_per_second;
    atomic_uint_fast64_t expired;
} cli_demo_follower;

/* In the order of cli_demo_kind, which has one more kind that nobody follows. */
typedef struct cli_demo_followers {
    cli_demo_follower items[CLI_DEMO_FOLLOWED];
} cli_demo_followers;

/* Makes and starts them. `heard` gets a line for each event but the first. Returns 0; on failure the code,
 * and cli_demo_followers_fini() is to be called all the same. */
KI_NODISCARD int cli_demo_followers_start(cli_demo_followers *followers, ki_client *client,
                                          cli_demo_lines *heard, ki_error *err);

void cli_demo_followers_fini(cli_demo_followers *followers);

/* 1 when the first list of each has been handed to its handler. */
int cli_demo_followers_have_synced(const cli_demo_followers *followers);

/* 1 when the store has all up to `version` of its resource, and the handler has heard of it. */
int cli_demo_follower_is_at(const cli_demo_follower *follower, uint64_t version);

/* 1 when all have all that was written. */
int cli_demo_followers_are_current(const cli_demo_followers *followers);

/* Reckons events per second over the `elapsed_ms` since the last time. */
void cli_demo_followers_measure(cli_demo_followers *followers, uint64_t elapsed_ms);

/* What they hold and do. `out_node` is where the text of out->busiest_node is kept. */
enum { CLI_DEMO_NODE_BYTES = 64 };
void cli_demo_followers_show(const cli_demo_followers *followers, cli_demo_view *out,
                             char out_node[CLI_DEMO_NODE_BYTES]);

#endif
