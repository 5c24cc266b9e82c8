/* SPDX-License-Identifier: Apache-2.0 */
/* waiters - the threads that wait for a work queue: workers for a key, an event loop for its descriptor,
 * drains.
 *
 *   From:     workqueue/queue.c (workers wait, and are woken), workqueue/shut_down.c (drains wait),
 *             workqueue/queue_life.c (the descriptor); also workqueue/delays.c
 *   To:       util/thread.h, util/loop/wake_fd.h
 *   Locks:    the queue's mutex; signals to workers are sent after it was unlocked.
 *   Not here: deciding whether to wait.
 *
 * When there are delays, one of the waiting workers, the timekeeper, sleeps only until the next delay ends.
 * The others sleep until they are woken, one at a time: a worker that was woken takes a key and, if more keys
 * wait, wakes the next worker. So many adds in a row wake one thread, not one thread each, and a thread that
 * is awake anyway may take the key first.
 *
 * A worker that finds no key lingers before it sleeps: it checks once more a moment later. While keys arrive
 * in quick succession, no thread is put to sleep or woken, and the thread that adds keys has the mutex to
 * itself meanwhile. Only one worker lingers at a time, since a lingering worker keeps a processor busy.
 *
 * Invariant: while a key waits and a worker sleeps, a worker lingers (`is_lingering`), or a worker has been
 * woken to take a key (`is_waking`, or the timekeeper), or the signal to wake one is about to be sent. A
 * worker that wakes up or stops lingering clears the flag and takes a key if there is one. A worker that
 * takes a key and leaves others wakes the next sleeper. So the invariant is kept.
 */
#ifndef KI_WORKQUEUE_WAITERS_H
#define KI_WORKQUEUE_WAITERS_H

#include <assert.h>
#include <stdbool.h>

#include "util/loop/wake_fd.h"
#include "util/thread.h"

typedef struct ki_work_waiters {
    ki_cond ready; /* of the sleepers */
    ki_cond timer; /* of the timekeeper */
    ki_cond drained;
    ki_wake_fd fd; /* closed until it is requested */
    size_t sleepers;
    bool is_waking;
    bool is_lingering; /* a worker checks once more before it sleeps */
    bool has_keeper;
    bool is_keeper_waking;
    bool signal_sleeper; /* the signal is pending */
    bool signal_keeper;  /* the signal is pending */
} ki_work_waiters;

/* The signals to send after an unlock. */
typedef struct ki_work_signals {
    bool sleeper;
    bool keeper;
} ki_work_signals;

void ki_work_waiters_init(ki_work_waiters *waiters);
void ki_work_waiters_fini(ki_work_waiters *waiters);

/* For a forked child, in which the waiting threads do not exist. */
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

/* Whether a worker sleeps and no other is about to check. */
static inline bool ki_work_waiters_has_idle(const ki_work_waiters *waiters)
{
    return (waiters->sleepers > 0 || waiters->has_keeper) && !waiters->is_waking &&
           !waiters->is_keeper_waking && !waiters->is_lingering;
}

/* A key waits: wakes a worker if one is idle. */
static inline void ki_work_waiters_wake_one(ki_work_waiters *waiters)
{
    if (!ki_work_waiters_has_idle(waiters))
        return;
    if (waiters->sleepers > 0)
        ki_work_waiters_signal_sleeper(waiters);
    else
        ki_work_waiters_signal_keeper(waiters);
}

/* Wakes all threads, because the queue is shut down. */
void ki_work_waiters_wake_all(ki_work_waiters *waiters);

/* Wakes a worker, which becomes the timekeeper. Called when the next delay ends at another time than before,
 * or when the timekeeper has left. */
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
 * next delay ends. UINT64_MAX: no timeout, or no delay. Pending signals are sent first. */
void ki_work_waiters_sleep(ki_work_waiters *waiters, ki_mutex *mu, uint64_t timeout_ms, uint64_t due_ms)
    KI_REQUIRES(*mu);

#endif
