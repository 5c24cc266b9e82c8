/* SPDX-License-Identifier: Apache-2.0 */
/* demo - runs an API server with a simulated cluster and informers, shows them, and compares the results.
 *
 *   From:     cli/demo/cmd_demo.c
 *   To:       cli/demo/demo_cluster.c (writes), cli/demo/demo_followers.c (informers),
 *             cli/demo/demo_trouble.c (faults), cli/demo/demo_view.c and cli/demo/demo_terminal.c (display),
 *             cli/demo/demo_end.c (the final comparison)
 *   Locks:    none: writes, handlers and display share one thread; network and stores have their own.
 */
#ifndef KI_CLI_DEMO_DEMO_H
#define KI_CLI_DEMO_DEMO_H

#include "cli/demo/demo_flags.h"
#include "cli/demo/demo_trouble.h"
#include "cli/output.h"

typedef struct cli_demo {
    const cli_demo_flags *flags; /* borrowed, like the next */
    cli_output *output;
    int stop_fd;   /* readable when the demo should end */
    int is_screen; /* draws a live view instead of lines */

    ki_apiserver *server;
    ki_client *client;
    cli_demo_cluster *cluster;
    cli_demo_followers followers;
    cli_demo_trouble trouble;
    cli_demo_view view;

    int resize_fd;
    uint64_t began_ms;
    uint64_t ends_ms;  /* UINT64_MAX if only a signal ends it */
    uint64_t frame_ms; /* when the next frame is due */
    uint64_t measured_ms;
    uint64_t measured_writes;
    uint64_t pace_ms; /* start of the current pace … */
    uint64_t paced;   /* … and the writes since then */
    int has_synced;   /* the first sync was reported */
    uint32_t said;    /* changes reported since the last status line */
    char next[64];
    char node[CLI_DEMO_NODE_BYTES];
} cli_demo;

/* Runs the whole demo. The members before the first blank line must be set. Returns the exit status. */
int cli_demo_run(cli_demo *demo);

/* ---- demo_show.c --------------------------------------------------------------------------------------- */

/* Adds a line with a time stamp to the latest lines `kept`, unless it is NULL, and writes it unless there is
 * a live view. */
void cli_demo_say(cli_demo *demo, cli_demo_lines *kept, const char *line);

/* Always writes a line; with a live view, after it has ended. */
void cli_demo_write(cli_demo *demo, const char *line);

/* Updates the display, if it is time. */
void cli_demo_show(cli_demo *demo, uint64_t now_ms);

/* ---- demo_end.c ---------------------------------------------------------------------------------------- */

/* Waits for the informers, compares them with the server, and reports the result. Returns the exit status. */
int cli_demo_finish(cli_demo *demo);

#endif
