/* SPDX-License-Identifier: Apache-2.0 */
/* resync - which handlers are due for a resync, and when.
 *
 *   From:     informer/informer.c   (dispatch, at each check)
 *   To:       handler/fanout.h     (KI_TO_RESYNCING)
 *   Locks:    none; dispatch's.
 *   Not here: clocks and timers; delivering the resync.
 *
 * As in client-go: the informer checks once per check period which handlers are due, so a handler's period is
 * rounded up to a multiple of that. The check period is that of the informer; a handler that is added before
 * the start and asks for a shorter one shortens it, a later one does not. An informer without a check period
 * does no resyncs.
 */
#ifndef KI_HANDLER_RESYNC_H
#define KI_HANDLER_RESYNC_H

#include <stdbool.h>
#include <stdint.h>

/* A shorter period becomes this one. */
#define KI_RESYNC_MIN_MS 1000

/* Longer periods become this one, so that sums do not overflow: a century. */
uint64_t ki_resync_period_ms(uint64_t asked_ms);

/* Of one handler. */
typedef struct ki_resync_turn {
    uint64_t period_ms; /* 0: never */
    uint64_t due_ms;    /* of the clock */
    bool is_due;        /* takes part in the current resync, or the next */
} ki_resync_turn;

/* Sets the period that a handler asks for; may shorten *check_ms before the start. */
void ki_resync_turn_init(ki_resync_turn *turn, uint64_t asked_ms, uint64_t *check_ms, bool is_started);

/* It was added: the period begins now. */
void ki_resync_turn_begin(ki_resync_turn *turn, uint64_t now_ms);

/* At a check: whether it is due; then the next resync is a period from now. */
bool ki_resync_turn_check(ki_resync_turn *turn, uint64_t now_ms);

#endif
