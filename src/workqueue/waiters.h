/* SPDX-License-Identifier: Apache-2.0 */
/* waiters - who waits for a work queue: workers for a key, an event loop for its descriptor, drains.
 *
 *   From:     workqueue/queue.c says what there is; workqueue/workqueue.c and shut_down.c wait
 *   To:       util/thread.h, util/loop/wake_fd.h
 *   Locks:    the queue's mutex; signals to workers are sent after it was given back.
 *   Not here: deciding what there is to wait for.
 *
 * Of the workers that wait, one keeps the time when there are delays: it sleeps until the next one ends. The
 * others sleep until they are woken. So an add wakes one thread, and the end of a delay one as well.
 *
 * Invariant: of the sleepers, at least `woken` are on their way to look at the queue again, or a signal for
 * them is about to be sent; each takes one off `woken` when it arrives. So whoever adds a key while `woken`
 * equals the number of sleepers need not send another signal: all of them will look.
 */
#ifndef KI_WORKQUEUE_WAITERS_H
#define KI_WORKQUEUE_WAITERS_H

#include <stdbool.h>

#include "util/loop/wake_fd.h"
#include "util/thread.h"

typedef struct ki_work_waiters {
    ki_cond ready; /* the sleepers */
    ki_cond timer; /* the one that keeps the time */
    ki_cond drained;
    ki_wake_fd fd; /* closed until it is asked for */
    size_t sleepers;
    size_t woken;
    bool has_keeper;
    bool is_keeper_woken;
    size_t signals;     /* for sleepers, to be sent */
    bool signal_keeper; /* likewise */
} ki_work_waiters;

/* The signals that an unlock sends. */
typedef struct ki_work_signals {
    size_t sleepers;
    bool keeper;
} ki_work_signals;

void ki_work_waiters_init(ki_work_waiters *waiters);
void ki_work_waiters_fini(ki_work_waiters *waiters);

/* In a child of fork(): the threads that waited are not there. */
void ki_work_waiters_forget(ki_work_waiters *waiters);

/* One more key waits: somebody wakes up, if anybody sleeps. */
void ki_work_waiters_wake_one(ki_work_waiters *waiters);

/* All look again: the queue is shut down. */
void ki_work_waiters_wake_all(ki_work_waiters *waiters);

/* The next delay ends at another time than before, or the one that kept the time has left: somebody has to
 * keep it. */
void ki_work_waiters_wake_keeper(ki_work_waiters *waiters);

/* Takes the signals that are to be sent; to be sent without the lock. */
ki_work_signals ki_work_waiters_take_signals(ki_work_waiters *waiters);
void ki_work_waiters_send(ki_work_waiters *waiters, ki_work_signals signals);

/* Sleeps until woken, or for no reason, or `timeout_ms` at the most; `due_ms` is how long the next delay
 * lasts (UINT64_MAX for none of either). Signals that are due are sent before. */
void ki_work_waiters_sleep(ki_work_waiters *waiters, ki_mutex *mu, uint64_t timeout_ms, uint64_t due_ms)
    KI_REQUIRES(*mu);

#endif
