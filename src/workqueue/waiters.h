/* SPDX-License-Identifier: Apache-2.0 */
/* waiters - the threads that wait for a work queue: workers for a key, an event loop for its descriptor,
 * drains.
 *
 *   From:     workqueue/queue.c (workers wait, and are told what there is), workqueue/shut_down.c (drains
 *             wait), workqueue/workqueue.c (the descriptor)
 *   To:       util/thread.h, util/loop/wake_fd.h
 *   Locks:    the queue's mutex; signals to workers are sent after it was unlocked.
 *   Not here: deciding what there is to wait for.
 *
 * When there are delays, one of the waiting workers, the timekeeper, sleeps only until the next delay ends.
 * The others sleep until they are woken, one at a time: a worker that was woken takes a key and, if more keys
 * wait, wakes the next worker. So many adds in a row wake one thread, not one each, and a thread that is
 * awake anyway may take the key first.
 *
 * Invariant: while a key waits and a worker sleeps, a worker has been woken to take a key (`is_waking`, or
 * the timekeeper), or the signal to wake one is about to be sent. A worker that wakes up clears `is_waking`
 * and takes a key if there is one; a worker that takes a key and leaves others wakes the next sleeper.
 * So it holds.
 */
#ifndef KI_WORKQUEUE_WAITERS_H
#define KI_WORKQUEUE_WAITERS_H

#include <assert.h>
#include <stdbool.h>

#include "util/loop/wake_fd.h"
#include "util/thread.h"

typedef struct ki_work_waiters {
    ki_cond ready; /* the sleepers */
    ki_cond timer; /* the timekeeper */
    ki_cond drained;
    ki_wake_fd fd; /* closed until it is requested */
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

/* In a child of fork(): the waiting threads do not exist there. */
void ki_work_waiters_forget(ki_work_waiters *waiters);

static inline void ki_work_waiters_signal_sleeper(ki_work_waiters *waiters)
{
    assert(waiters->sleepers > 0 && !waiters->is_waking);
    waiters->is_waking = true;
    waiters->signal_sleeper = true;
}

static inline void ki_work_waiters_signal_keeper(ki_work_waiters *waiters)
{
    assert(waiters->has_keeper && !waiters->is_keeper_waking);
    waiters->is_keeper_waking = true;
    waiters->signal_keeper = true;
}

/* A key waits: wakes a worker if one sleeps and none is being woken. */
static inline void ki_work_waiters_wake_one(ki_work_waiters *waiters)
{
    if (waiters->is_waking || waiters->is_keeper_waking)
        return;
    if (waiters->sleepers > 0)
        ki_work_waiters_signal_sleeper(waiters);
    else if (waiters->has_keeper)
        ki_work_waiters_signal_keeper(waiters);
}

/* Wakes all: the queue is shut down. */
void ki_work_waiters_wake_all(ki_work_waiters *waiters);

/* The next delay ends at another time than before, or the timekeeper has left: wakes a worker that becomes
 * the timekeeper. */
void ki_work_waiters_wake_keeper(ki_work_waiters *waiters);

/* Takes the pending signals; the caller sends them without the lock. */
static inline ki_work_signals ki_work_waiters_take_signals(ki_work_waiters *waiters)
{
    ki_work_signals signals = {waiters->signal_sleeper, waiters->signal_keeper};
    waiters->signal_sleeper = false;
    waiters->signal_keeper = false;
    return signals;
}

void ki_work_waiters_send(ki_work_waiters *waiters, ki_work_signals signals);

/* Sleeps until woken, at most for `timeout_ms`; may also wake up spuriously. `due_ms` is the time until the
 * next delay ends (UINT64_MAX: none, for both). Pending signals are sent first. */
void ki_work_waiters_sleep(ki_work_waiters *waiters, ki_mutex *mu, uint64_t timeout_ms, uint64_t due_ms)
    KI_REQUIRES(*mu);

#endif
