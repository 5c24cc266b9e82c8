/* SPDX-License-Identifier: Apache-2.0 */
/* notices - rate-limited status messages on stderr.
 *
 *   From:     cli/watch_notes.c
 *   To:       cli/failure.c
 *   Locks:    none.
 *
 * A few lines are printed at once, then one every few seconds. The newest line that had to wait is printed as
 * soon as possible, so the last line always shows the current state. If a loss was printed, its recovery is
 * printed at once; if the loss was not, neither is the recovery. A cause that was not printed for a minute is
 * printed at once, whatever the rate: there are only a few causes.
 */
#ifndef KI_CLI_NOTICES_H
#define KI_CLI_NOTICES_H

#include <kinformer/common.h>

enum { CLI_NOTICES_AT_ONCE = 6, CLI_NOTICES_PACE_MS = 10 * 1000, CLI_NOTICE_BYTES = 640 };

/* CLI_NOTICE_CAUSES: the number of distinct causes of losses. CLI_NOTICE_CAUSE_MS: how long after it was
 * printed a cause is rate-limited. */
enum { CLI_NOTICE_CAUSES = 64, CLI_NOTICE_CAUSE_MS = 60 * 1000 };

/* A zeroed struct has printed nothing. */
typedef struct cli_notices {
    void (*say)(const char *line, void *user); /* NULL for stderr */
    void *user;
    uint64_t spent;      /* lines printed that still count towards the limit */
    uint64_t earned_ms;  /* the time up to which `spent` was computed */
    uint64_t left_out;   /* lines dropped since the last printed one, without the waiting ones */
    int is_loss_printed; /* a loss was printed, and its recovery was not yet */
    uint64_t free_ms[CLI_NOTICE_CAUSES]; /* when a cause may be printed at once again */
    unsigned lost_cause;                 /* the cause of the line in `lost` */
    char lost[CLI_NOTICE_BYTES];         /* a line that is not printed yet, like the next one */
    char waiting[CLI_NOTICE_BYTES];
} cli_notices;

/* Prints a line now or later, or never if there is a newer one. */
void cli_notices_add(cli_notices *notices, uint64_t now_ms, const char *line);

/* The same for a line about a loss, or about its current cause: only another loss or the recovery replaces
 * it. */
void cli_notices_lost(cli_notices *notices, uint64_t now_ms, unsigned cause, const char *line);

/* The recovery from a loss: printed now if the loss was printed; otherwise neither is ever printed. */
void cli_notices_back(cli_notices *notices, uint64_t now_ms, const char *line);

/* Prints the waiting lines, if the rate allows it. */
void cli_notices_tick(cli_notices *notices, uint64_t now_ms);

/* When cli_notices_tick() has something to do; UINT64_MAX for never. */
uint64_t cli_notices_due_ms(const cli_notices *notices);

#endif
