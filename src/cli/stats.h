/* SPDX-License-Identifier: Apache-2.0 */
/* stats - the numbers of `--stats`: one line of JSON on stderr, at the end.
 *
 *   From:     cli/watch.c
 *   To:       cli/output.c
 *   Locks:    none.
 */
#ifndef KI_CLI_STATS_H
#define KI_CLI_STATS_H

#include <kinformer/informer.h>

#include "cli/output.h"

typedef struct cli_stats {
    uint64_t objects; /* all of these over all resources */
    uint64_t lists;
    uint64_t watches;
    uint64_t events; /* that came in watches */
    uint64_t bytes_read;
    uint64_t sync_ms; /* from the start until all had synced; UINT64_MAX: not all have */
    uint64_t peak_rss_bytes;
} cli_stats;

void cli_stats_add(cli_stats *stats, const ki_informer_status *status);

/* The most memory that this process has had; 0 when the system does not tell. */
uint64_t cli_stats_peak_rss_bytes(void);

/* Writes the line and flushes. */
void cli_stats_write(const cli_stats *stats, cli_output *output);

#endif
