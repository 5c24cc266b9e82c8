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
    uint64_t lists;     /* how many lists began before it */
    uint64_t remind_ms; /* time of the next reminder; 0: none before the next failure */
    uint64_t pause_ms;  /* time between reminders */
    int had_synced;     /* the informer had synced when the outage began */
    int was_forbidden;  /* the server has refused permission during the outage */
    int is_watching;    /* the watch runs, but its events cannot be stored */
    char why[KI_ERROR_MESSAGE_BYTES + 64];
} cli_outage;

/* The state of one resource. */
typedef struct cli_follower {
    cli_watch *watch;
    const cli_resource *resource;
    ki_informer *informer;
    uint64_t objects; /* objects written to the output, minus deleted ones */
    ki_phase phase;   /* the last phase that was reported, like the reason */
    ki_reason reason;
    int is_synced;
    int was_watching;
    int is_polled;     /* it was reported that lists replace the watch */
    ki_reason trouble; /* the last reported problem */
    int is_delay_said; /* its delay was reported as well, with advice */
    cli_outage outage; /* while there is a problem */
    cli_notices notices;
} cli_follower;

struct cli_watch {
    const cli_watch_flags *flags; /* borrowed, like all members up to the blank line */
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

/* Creates and starts the informers; the borrowed members must be set. Returns 0 or an error; even then
 * cli_watch_fini() must be called. */
KI_NODISCARD int cli_watch_start(cli_watch *watch, ki_error *err);

/* Runs until the program is stopped, everything is done, or the output is closed. Returns 0, or the client's
 * error. */
KI_NODISCARD int cli_watch_run(cli_watch *watch);

/* Ends the informers, which writes the last output. */
void cli_watch_stop(cli_watch *watch);

/* 1 if all resources have synced. */
int cli_watch_is_synced(const cli_watch *watch);

cli_stats cli_watch_stats(const cli_watch *watch);

/* A watch that could not be started is allowed. */
void cli_watch_fini(cli_watch *watch);

#endif
