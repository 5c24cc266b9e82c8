/* SPDX-License-Identifier: Apache-2.0 */
/* notices - what is going on, on stderr, at a pace that a human can read.
 *
 *   From:     cli/watch.c
 *   To:       cli/failure.c
 *   Locks:    none.
 *
 * A few lines at once, then one every few seconds. The newest of those that were left out is said as soon
 * as it may, so the last thing that is said is how things stand. Who was told that something is lost is told
 * at once that it is back; who was not yet told need not hear of either. A cause that was not said for a
 * minute is said at once, whatever else was: there are not many.
 */
#ifndef KI_CLI_NOTICES_H
#define KI_CLI_NOTICES_H

#include <kinformer/common.h>

enum { CLI_NOTICES_AT_ONCE = 6, CLI_NOTICES_PACE_MS = 10 * 1000, CLI_NOTICE_BYTES = 640 };

/* Causes of losses are told apart up to here. */
enum { CLI_NOTICE_CAUSES = 64, CLI_NOTICE_CAUSE_MS = 60 * 1000 };

/* Zeroed: nothing was said yet. */
typedef struct cli_notices {
    void (*say)(const char *line, void *user); /* NULL: to stderr */
    void *user;
    uint64_t spent;                      /* lines that were said and have not been earned back */
    uint64_t earned_ms;                  /* up to when that was reckoned */
    uint64_t left_out;                   /* lines since the last that was said, without the one that waits */
    int is_lost_said;                    /* and not that it is back */
    uint64_t free_ms[CLI_NOTICE_CAUSES]; /* when a cause may be said at once again */
    unsigned lost_cause;                 /* of the line that waits */
    char lost[CLI_NOTICE_BYTES];         /* not said yet, as the next */
    char waiting[CLI_NOTICE_BYTES];
} cli_notices;

/* Says a line now, or later, or never when there is a newer one. */
void cli_notices_add(cli_notices *notices, uint64_t now_ms, const char *line);

/* The same for a line that something is lost, or why it still is: no other line takes its place, but that of
 * another loss. */
void cli_notices_lost(cli_notices *notices, uint64_t now_ms, unsigned cause, const char *line);

/* It is back: said now if anything of the loss was, else neither is. */
void cli_notices_back(cli_notices *notices, uint64_t now_ms, const char *line);

/* Says what waits, if it may. */
void cli_notices_tick(cli_notices *notices, uint64_t now_ms);

/* When cli_notices_tick() has something to do; UINT64_MAX: never. */
uint64_t cli_notices_due_ms(const cli_notices *notices);

#endif
