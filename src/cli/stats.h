/* SPDX-License-Identifier: Apache-2.0 */
/* stats - the output of `--stats`: one line of JSON on stderr, at the end.
 *
 *   From:     cli/watch.c, cli/cmd_watch.c
 *   To:       cli/output.c
 *   Locks:    none.
 */
#ifndef KI_CLI_STATS_H
#define KI_CLI_STATS_H

#include <kinformer/informer.h>

#include "cli/output.h"

typedef struct cli_stats {
    uint64_t objects; /* summed over all resources, like the next four */
    uint64_t lists;
    uint64_t watches;
    uint64_t events; /* received in watches */
    uint64_t bytes_read;
    unsigned wires;   /* the wire formats in use, as bits 1 << ki_wire */
    uint64_t sync_ms; /* from the start until all have synced; UINT64_MAX if not all have */
    uint64_t peak_rss_bytes;
} cli_stats;

void cli_stats_add(cli_stats *stats, const ki_informer_status *status);

/* The peak memory of this process; 0 if unknown. */
uint64_t cli_stats_peak_rss_bytes(void);

/* Writes the line and flushes. */
void cli_stats_write(const cli_stats *stats, cli_output *output);

#endif
