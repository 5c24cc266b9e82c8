/* SPDX-License-Identifier: Apache-2.0 */
/* resync - which handlers are due for a resync, and when.
 *
 *   From:     handler/fanout.c   (dispatch, at each check), informer/registration.c (a handler's turn),
 *             informer/informer.c (the check period)
 *   To:       handler/fanout.h     (KI_TO_RESYNCING)
 *   Locks:    none; dispatch's.
 *   Not here: clocks and timers; delivering the resync.
 *
 * As in client-go, the informer checks once per check period which handlers are due, so a handler's period is
 * in effect rounded up to a multiple of the check period. The check period is the resync period of the
 * informer. A handler that is added before the start with a shorter period shortens the check period; a
 * handler that is added later does not. An informer without a check period does no resyncs.
 */
#ifndef KI_HANDLER_RESYNC_H
#define KI_HANDLER_RESYNC_H

#include <stdbool.h>
#include <stdint.h>

/* A shorter period of a handler is raised to this one. */
#define KI_RESYNC_MIN_MS 1000

/* The requested period, limited so that sums do not overflow. */
uint64_t ki_resync_period_ms(uint64_t asked_ms);

/* The resyncs of one handler. */
typedef struct ki_resync_turn {
    uint64_t period_ms; /* 0: never */
    uint64_t due_ms;    /* when the next resync is due */
    bool is_due;        /* the handler takes part in the current resync, or the next */
} ki_resync_turn;

/* Sets the period that a handler asks for; may shorten *check_ms before the start. */
void ki_resync_turn_init(ki_resync_turn *turn, uint64_t asked_ms, uint64_t *check_ms, bool is_started);

/* The handler was added: its period begins now. */
void ki_resync_turn_begin(ki_resync_turn *turn, uint64_t now_ms);

/* At a check: returns whether the handler is due. If so, its next resync is due one period from now. */
bool ki_resync_turn_check(ki_resync_turn *turn, uint64_t now_ms);

#endif
