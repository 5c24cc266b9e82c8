/* SPDX-License-Identifier: Apache-2.0 */
/* demo - the embedded server, a simulated cluster in it, and informers that follow it: run, shown, and
 * compared.
 *
 *   From:     cli/demo/cmd_demo.c
 *   To:       cli/demo/demo_cluster.c (what is written), cli/demo/demo_followers.c (who hears of it),
 *             cli/demo/demo_trouble.c (what goes wrong), cli/demo/demo_view.c and cli/demo/demo_terminal.c
 *             (what is shown), cli/demo/demo_end.c (whether all was well)
 *   Locks:    none: writes, handlers and the picture share one thread; network and stores have their own.
 */
#ifndef KI_CLI_DEMO_DEMO_H
#define KI_CLI_DEMO_DEMO_H

#include "cli/demo/demo_flags.h"
#include "cli/demo/demo_trouble.h"
#include "cli/output.h"

typedef struct cli_demo {
    const cli_demo_flags *flags; /* borrowed, as the next */
    cli_output *output;
    int stop_fd;   /* readable when it is to end */
    int is_screen; /* a picture, not lines */

    ki_apiserver *server;
    ki_client *client;
    cli_demo_cluster *cluster;
    cli_demo_followers followers;
    cli_demo_trouble trouble;
    cli_demo_view view;

    int resize_fd;
    uint64_t began_ms;
    uint64_t ends_ms;  /* UINT64_MAX: at a signal */
    uint64_t frame_ms; /* when the next one is due */
    uint64_t measured_ms;
    uint64_t measured_writes;
    uint64_t pace_ms; /* since when … */
    uint64_t paced;   /* … there were so many writes */
    int has_synced;   /* and that was said */
    uint32_t said;    /* happenings since the last line of status */
    char next[64];
    char node[CLI_DEMO_NODE_BYTES];
} cli_demo;

/* All of it. The members of the first part have been set. Returns what the program ends with. */
int cli_demo_run(cli_demo *demo);

/* ---- demo_show.c --------------------------------------------------------------------------------------- */

/* One line, with the time before it, among the latest lines if `kept`, and written unless there is a
 * picture. */
void cli_demo_say(cli_demo *demo, cli_demo_lines *kept, const char *line);

/* A line that is always written; with a picture after that has gone. */
void cli_demo_write(cli_demo *demo, const char *line);

/* Shows how things stand, if it is time. */
void cli_demo_show(cli_demo *demo, uint64_t now_ms);

/* ---- demo_end.c ---------------------------------------------------------------------------------------- */

/* Waits for the informers, compares, and says what came of it. Returns what the program ends with. */
int cli_demo_finish(cli_demo *demo);

#endif
