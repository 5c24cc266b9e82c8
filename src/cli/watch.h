/* SPDX-License-Identifier: Apache-2.0 */
/* watch - follows some resources on one thread, writes what happens to them, and says on stderr how it goes.
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

/* How long there has been trouble without a break. */
typedef struct cli_outage {
    uint64_t began_ms;
    uint64_t failures;
    uint64_t lists;     /* that had been begun before */
    uint64_t remind_ms; /* when it is said again; 0: not until the next failure */
    uint64_t pause_ms;  /* until the time after that */
    char why[KI_ERROR_MESSAGE_BYTES + 64];
} cli_outage;

/* One resource. */
typedef struct cli_follower {
    cli_watch *watch;
    const cli_resource *resource;
    ki_informer *informer;
    uint64_t objects; /* that the reader has been told of and not told gone */
    int was_watching;
    int is_polled;     /* that lists make up for watches was said */
    ki_reason trouble; /* what was last said to be wrong */
    int is_delay_said; /* and how long that is waited for, with what to do about it */
    cli_outage outage; /* while there is trouble */
    cli_notices notices;
} cli_follower;

struct cli_watch {
    const cli_watch_flags *flags; /* borrowed, as all up to the next line */
    const cli_resource_list *resources;
    ki_client *client; /* in KI_MODE_EVENT_LOOP */
    cli_output *output;
    int (*is_stopped)(void); /* NULL: never */
    int stop_fd;             /* readable when it is; -1: none */

    cli_event_writer writer;
    cli_follower *followers;
    size_t synced_count;
    uint64_t began_ms;
    uint64_t sync_ms; /* UINT64_MAX: not all have synced */
};

/* Makes the informers and starts them; the borrowed members have been set. Returns 0; on failure the code,
 * and cli_watch_fini() is to be called all the same. */
KI_NODISCARD int cli_watch_start(cli_watch *watch, ki_error *err);

/* Runs until it is stopped, has done what it was to do, or nobody reads what it writes. Returns 0, or what
 * the client said. */
KI_NODISCARD int cli_watch_run(cli_watch *watch);

/* Ends the informers, which is the last that is written. */
void cli_watch_stop(cli_watch *watch);

cli_stats cli_watch_stats(const cli_watch *watch);

/* Takes one that could not be started. */
void cli_watch_fini(cli_watch *watch);

#endif
