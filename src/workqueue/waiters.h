/* SPDX-License-Identifier: Apache-2.0 */
/* waiters - who waits for a work queue: workers for a key, an event loop for its descriptor, drains.
 *
 *   From:     workqueue/queue.c says what there is; workqueue/workqueue.c and workqueue/shut_down.c wait
 *   To:       util/thread.h, util/loop/wake_fd.h
 *   Locks:    the queue's mutex; signals to workers are sent after it was given back.
 *   Not here: deciding what there is to wait for.
 *
 * Of the workers that wait, one keeps the time when there are delays: it sleeps until the next one ends. The
 * others sleep until they are woken. One at a time is woken: when it has arrived and taken a key, and more of
 * them wait, it wakes the next. So many adds in a row wake one thread and not one each, and a thread that is
 * awake anyway may take the key first.
 *
 * Invariant: while a key waits and somebody sleeps, a thread is on its way to take a key (`is_waking`, or the
 * one that keeps the time is), or a signal for it is about to be sent. It keeps that: whoever arrives clears
 * `is_waking` and takes a key if there is one; whoever takes a key and leaves others wakes the next sleeper.
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
    bool is_waking;
    bool has_keeper;
    bool is_keeper_waking;
    bool signal_sleeper; /* to be sent */
    bool signal_keeper;  /* likewise */
} ki_work_waiters;

/* The signals that an unlock sends. */
typedef struct ki_work_signals {
    bool sleeper;
    bool keeper;
} ki_work_signals;

void ki_work_waiters_init(ki_work_waiters *waiters);
void ki_work_waiters_fini(ki_work_waiters *waiters);

/* In a child of fork(): the threads that waited are not there. */
void ki_work_waiters_forget(ki_work_waiters *waiters);

/* A key waits: somebody wakes up, if anybody sleeps and nobody is on the way. */
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
