/* SPDX-License-Identifier: Apache-2.0 */
/* loop_parts - what loop.c (jobs, queue, timers) and loop_run.c (runners) share.
 *
 *   From:     util/loop/loop.c, util/loop/loop_run.c only
 *   Locks:    the loop's.
 */
#ifndef KI_UTIL_LOOP_LOOP_PARTS_H
#define KI_UTIL_LOOP_LOOP_PARTS_H

#include "util/loop/loop.h"

/* What this thread runs, and when the budget ends. `job` is NULL after the job has ended itself; `deferred`
 * is NULL if the thread runs no job. */
typedef struct ki_running {
    ki_loop *loop;
    ki_job *job;
    ki_list *deferred;
    uint64_t until_ns;
} ki_running;

extern _Thread_local ki_running ki_loop_current;

/* The time of the first timer; UINT64_MAX if there is none. */
uint64_t ki_loop_first_due_locked(const ki_loop *loop);

/* Like ki_loop_next_ns(). */
uint64_t ki_loop_next_locked(const ki_loop *loop);

/* Call this when a thread stops running jobs. Makes the descriptor readable if there is work. */
void ki_loop_settle_fd_locked(ki_loop *loop);

void ki_loop_enqueue_locked(ki_loop *loop, ki_job *job);

/* Wakes the jobs whose timers are due. */
void ki_loop_wake_due_locked(ki_loop *loop);

#endif
