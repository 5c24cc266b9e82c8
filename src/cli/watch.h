/* SPDX-License-Identifier: Apache-2.0 */
/* watch - follows some resources on one thread, writes their events, and reports the status on stderr.
 *
 *   From:     cli/cmd_watch.c
 *   To:       informers; cli/event_writer.c, cli/notices.c
 *   Locks:    none: everything runs inside ki_client_dispatch().
 *   Not here: flags, signals, the client.
 */
#ifndef KI_CLI_WATCH_H
#define KI_CLI_WATCH_H

#include <kinformer/client.h>

#include "cli/notices.h"
#include "cli/stats.h"
#include "cli/watch_flags.h"

typedef struct cli_watch cli_watch;

/* A period of uninterrupted failure. */
typedef struct cli_outage {
    uint64_t began_ms;
    uint64_t failures;
    uint64_t lists;     /* lists begun before it */
    uint64_t remind_ms; /* time of the next reminder; 0 if not before the next failure */
    uint64_t pause_ms;  /* between reminders */
    char why[KI_ERROR_MESSAGE_BYTES + 64];
} cli_outage;

/* One resource. */
typedef struct cli_follower {
    cli_watch *watch;
    const cli_resource *resource;
    ki_informer *informer;
    uint64_t objects; /* reported to the reader, minus deleted ones */
    ki_phase phase;   /* the last that was reported, like the next */
    ki_reason reason;
    int is_synced;
    int was_watching;
    int is_polled;     /* it was reported that lists replace watches */
    ki_reason trouble; /* the last reported problem */
    int is_delay_said; /* and its delay, with advice */
    cli_outage outage; /* while there is a problem */
    cli_notices notices;
} cli_follower;

struct cli_watch {
    const cli_watch_flags *flags; /* borrowed, like all up to the blank line */
    const cli_resource_list *resources;
    ki_client *client; /* in KI_MODE_EVENT_LOOP */
    cli_output *output;
    int (*is_stopped)(void); /* NULL for never */
    int stop_fd;             /* readable when stopped; -1 if none */

    cli_event_writer writer;
    cli_follower *followers;
    size_t synced_count;
    uint64_t began_ms;
    uint64_t sync_ms; /* UINT64_MAX if not all are synced */
};

/* Creates and starts the informers; the borrowed members must be set. Returns 0; on failure the code, and
 * cli_watch_fini() must still be called. */
KI_NODISCARD int cli_watch_start(cli_watch *watch, ki_error *err);

/* Runs until it is stopped, is done, or its output is closed. Returns 0, or the client's error. */
KI_NODISCARD int cli_watch_run(cli_watch *watch);

/* Ends the informers, which writes the last output. */
void cli_watch_stop(cli_watch *watch);

/* 1 if all resources have synced. */
int cli_watch_is_synced(const cli_watch *watch);

cli_stats cli_watch_stats(const cli_watch *watch);

/* One that could not be started is allowed. */
void cli_watch_fini(cli_watch *watch);

#endif
