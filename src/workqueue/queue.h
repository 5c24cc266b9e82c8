/* SPDX-License-Identifier: Apache-2.0 */
/* queue - the state of a work queue, and the steps of which each public call consists.
 *
 *   From:     workqueue/workqueue.c (making, freeing, looking), workqueue/delays.c, workqueue/shut_down.c;
 *             controller/controller_work.c
 *   To:       workqueue/keys.h, workqueue/order.h, workqueue/waiters.h
 *   Locks:    one mutex, a leaf. Limiters and metrics' writers are never called under it.
 *   Not here: rate limits, which only choose a delay (workqueue/rate_limited.c).
 *
 * The states of a key, and what leads from one to the other; a delay is independent of them:
 *
 *     unknown --add--> waiting --get--> processing --done--> unknown
 *                         ^                |  ^
 *                         |               add |
 *                         |                v  |
 *                         +--done-- processing and dirty
 */
#ifndef KI_WORKQUEUE_QUEUE_H
#define KI_WORKQUEUE_QUEUE_H

#include "util/clock.h"
#include "util/fork.h"
#include "util/hash.h"
#include "util/thread.h"
#include "workqueue/keys.h"
#include "workqueue/order.h"
#include "workqueue/queue_metrics.h"
#include "workqueue/waiters.h"

/* A worker nearly always finishes a key with the text that it got; then the address finds the entry. */
enum { KI_WORK_AT_HAND = 16 };

struct ki_workqueue {
    const ki_clock *clock;
    ki_hash_key secret;
    ki_limiter *limiter;
    ki_work_metrics metrics;
    unsigned generation; /* of the process that made it */
    ki_fork_hook fork_hook;
    ki_mutex mu;
    ki_work_keys keys;   /* guarded by mu, as all below */
    ki_work_order order; /* dirty, not being processed */
    ki_work_spares spares;
    ki_list processing; /* oldest first; with metrics only: linking reads cache lines of others */
    ki_work_entry *at_hand[KI_WORK_AT_HAND]; /* some of these, by the address of their text */
    size_t processing_count;
    size_t depth; /* dirty keys */
    ki_heap delayed;
    uint64_t dropped;
    bool is_stopping;
    uint64_t shut_downs; /* shut downs without a drain; each ends the drains that were begun before it */
    ki_work_waiters waiters;
};

/* As ki_workqueue_new(), with a clock, which is borrowed. Under a virtual clock, calls that would wait return
 * at once. Takes the reference to the limiter. */
KI_NODISCARD ki_workqueue *ki_workqueue_new_simulated(const ki_workqueue_options *options,
                                                      const ki_clock *clock, ki_error *err);

/* Checks the arguments of a public call. Returns 0, KI_ERR_INVALID or KI_ERR_FORKED; the second one also
 * checks the key, and may return KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_workqueue_check(const ki_workqueue *queue);
KI_NODISCARD int ki_workqueue_check_key(const ki_workqueue *queue, ki_str key, ki_priority priority);

static inline uint32_t ki_workqueue_hash(const ki_workqueue *queue, ki_str key)
{
    return (uint32_t)ki_hash(&queue->secret, key);
}

/* Every call first queues keys whose delays have ended: so such a key comes before one that is added later,
 * even if there was no call in between. */
void ki_workqueue_lock(ki_workqueue *queue) KI_ACQUIRE(queue->mu);

/* Unlocks the mutex, and wakes the threads that have something to do. */
void ki_workqueue_unlock(ki_workqueue *queue) KI_RELEASE(queue->mu);

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* The entry of a key, made if necessary. A new entry is in no state: the caller puts it into one, or drops it
 * with the next function. NULL when out of memory. */
KI_NODISCARD ki_work_entry *ki_workqueue_intern_locked(ki_workqueue *queue, ki_str key, uint32_t hash)
    KI_REQUIRES(queue->mu);

/* Drops the entry if it is in no state. */
void ki_workqueue_release_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu);

/* The entry of a key that a worker has; NULL when none has it. */
ki_work_entry *ki_workqueue_find_processing_locked(ki_workqueue *queue, ki_str key) KI_REQUIRES(queue->mu);

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Needs no memory. */
void ki_workqueue_make_dirty_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
    KI_REQUIRES(queue->mu);

/* Hands out the next key; NULL when none waits. */
ki_work_entry *ki_workqueue_take_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* Ends the processing of an entry, which may be gone afterwards. */
void ki_workqueue_finish_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu);

static inline bool ki_workqueue_is_drained_locked(const ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    return ki_work_order_count(&queue->order) == 0 && queue->processing_count == 0;
}

/* ---- delays (workqueue/delays.c) ----------------------------------------------------------------------- */

void ki_workqueue_delays_init(ki_workqueue *queue);

/* Delays a key, or moves its delay earlier. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_workqueue_delay_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority,
                                           uint64_t due_ns) KI_REQUIRES(queue->mu);

/* Makes keys dirty whose delays have ended. Reads the clock only when there are delays. */
void ki_workqueue_ripen_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* When the next delay ends; UINT64_MAX: there is none. */
uint64_t ki_workqueue_next_due_locked(const ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* When ki_workqueue_get() has a key: 0: now; UINT64_MAX: not before one is added. */
uint64_t ki_workqueue_next_ns(ki_workqueue *queue) KI_EXCLUDES(queue->mu);

/* Drops all delays and counts those of keys that are not dirty. */
void ki_workqueue_drop_delays_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* ki_workqueue_add_after() to the nanosecond. */
KI_NODISCARD int ki_workqueue_add_after_ns(ki_workqueue *queue, ki_str key, ki_priority priority,
                                           uint64_t delay_ns);

/* The same for a key that was handed out and has to wait: it does not count as a retry. */
KI_NODISCARD int ki_workqueue_postpone_ns(ki_workqueue *queue, ki_str key, ki_priority priority,
                                          uint64_t delay_ns);

#endif
