/* SPDX-License-Identifier: Apache-2.0 */
/* demo_cluster - a simulated cluster: nodes, deployments, and pods that start, crash, roll out and scale.
 *
 *   From:     cli/demo/demo.c
 *   To:       changes, each of them one write to an API server
 *   Locks:    none.
 *   Not here: the API server; when a change is made.
 *
 * One seed always gives the same sequence of changes: only the timestamps in objects depend on time. The
 * first changes create the initial objects, with every pod running; then the simulation begins.
 */
#ifndef KI_CLI_DEMO_DEMO_CLUSTER_H
#define KI_CLI_DEMO_DEMO_CLUSTER_H

#include <kinformer/common.h>
#include <kinformer/error.h>

typedef struct cli_demo_cluster cli_demo_cluster;

typedef enum cli_demo_kind {
    CLI_DEMO_PODS,
    CLI_DEMO_NODES,
    CLI_DEMO_DEPLOYMENTS,
    CLI_DEMO_REPLICA_SETS,
    CLI_DEMO_NAMESPACES
} cli_demo_kind;

enum { CLI_DEMO_PODS_MAX = 500 * 1000 };

/* All strings are borrowed until the next change. */
typedef struct cli_demo_change {
    cli_demo_kind kind;
    int is_delete;
    const char *ns; /* "" if it has none */
    const char *name;
    const char *json;      /* the whole object; NULL for a delete */
    const char *happening; /* an event that begins with this change: "shop/cart scales from 8 to 11"; or "" */
} cli_demo_change;

typedef struct cli_demo_cluster_options {
    uint64_t seed;
    uint32_t pods; /* the initial number, 1 to CLI_DEMO_PODS_MAX; later there are about as many */
} cli_demo_cluster_options;

/* Returns a cluster to free, or NULL with KI_ERR_NO_MEMORY. */
KI_NODISCARD cli_demo_cluster *cli_demo_cluster_new(const cli_demo_cluster_options *options, ki_error *err);

void cli_demo_cluster_free(cli_demo_cluster *cluster);

/* How many of the next changes create the initial objects. */
size_t cli_demo_cluster_to_load(const cli_demo_cluster *cluster);

/* Makes the next change; there is always one. `now_s` is the time in seconds since 1970 for timestamps.
 * Returns 0, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_demo_cluster_next(cli_demo_cluster *cluster, int64_t now_s, cli_demo_change *out,
                                       ki_error *err);

#endif
