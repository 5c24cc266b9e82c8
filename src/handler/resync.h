/* SPDX-License-Identifier: Apache-2.0 */
/* resync - which handlers are to be reminded of every object, and when.
 *
 *   From:     informer/informer.c   (dispatch, at each check)
 *   To:       handler/fanout.h     (KI_TO_RESYNCING)
 *   Locks:    none; dispatch's.
 *   Not here: clocks and timers; the reminding.
 *
 * As client-go has it: the informer looks every check period who is due, so a handler's period is rounded up
 * to a multiple of that. The check period is the informer's own; a handler that comes before the start and
 * asks for a shorter one shortens it, one that comes later waits for as long as everyone. An informer without
 * a check period reminds nobody.
 */
#ifndef KI_HANDLER_RESYNC_H
#define KI_HANDLER_RESYNC_H

#include <stdbool.h>
#include <stdint.h>

/* A shorter period becomes this one. */
#define KI_RESYNC_MIN_MS 1000

/* What is asked for, as far as a clock can count: a century at the most. */
uint64_t ki_resync_period_ms(uint64_t asked_ms);

/* Of one handler. */
typedef struct ki_resync_turn {
    uint64_t period_ms; /* 0: never */
    uint64_t due_ms;    /* of the clock */
    bool is_due;        /* is being reminded, or about to be */
} ki_resync_turn;

/* What a handler asks for becomes its turn; may shorten *check_ms before the start. */
void ki_resync_turn_init(ki_resync_turn *turn, uint64_t asked_ms, uint64_t *check_ms, bool is_started);

/* It comes: counts from now on. */
void ki_resync_turn_begin(ki_resync_turn *turn, uint64_t now_ms);

/* At a check: whether it is due; then its next turn is a period from now. */
bool ki_resync_turn_check(ki_resync_turn *turn, uint64_t now_ms);

#endif
