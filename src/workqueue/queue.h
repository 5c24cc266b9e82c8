/* SPDX-License-Identifier: Apache-2.0 */
/* queue - the state of a work queue, and the steps that change it; each public call is made of these.
 *
 *   From:     workqueue/workqueue.c (the public calls), workqueue/delays.c, workqueue/shut_down.c
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

/* A worker nearly always finishes a key with the text that it got: then the entry is found by its address. */
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
    ki_list processing; /* oldest first; with metrics only, as other processors have the neighbours */
    ki_work_entry *at_hand[KI_WORK_AT_HAND]; /* some of these, by the address of their text */
    size_t processing_count;
    size_t depth; /* dirty keys */
    ki_heap delayed;
    uint64_t dropped;
    bool is_stopping;
    uint64_t shut_downs; /* without a drain: each ends the drains that were begun before it */
    ki_work_waiters waiters;
};

/* As ki_workqueue_new(); under a virtual clock nobody waits: calls that would return at once. Takes the
 * limiter, borrows the clock. */
KI_NODISCARD ki_workqueue *ki_workqueue_new_simulated(const ki_workqueue_options *options,
                                                      const ki_clock *clock, ki_error *err);

/* Whether a public call may go on: 0, KI_ERR_INVALID or KI_ERR_FORKED; the second one also looks at what was
 * given, and may return KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_workqueue_check(const ki_workqueue *queue);
KI_NODISCARD int ki_workqueue_check_key(const ki_workqueue *queue, ki_str key, ki_priority priority);

static inline uint32_t ki_workqueue_hash(const ki_workqueue *queue, ki_str key)
{
    return (uint32_t)ki_hash(&queue->secret, key);
}

/* Every call begins with what has become due: so a key whose delay has ended waits before one that is added
 * later, although nobody has looked in between. */
void ki_workqueue_lock(ki_workqueue *queue) KI_ACQUIRE(queue->mu);

/* Gives the mutex back and wakes those for whom there is something. */
void ki_workqueue_unlock(ki_workqueue *queue) KI_RELEASE(queue->mu);

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* The entry of a key, made if need be: in no state, so that the caller brings it into one or lets it go with
 * the next. NULL when memory is out. */
KI_NODISCARD ki_work_entry *ki_workqueue_intern_locked(ki_workqueue *queue, ki_str key, uint32_t hash)
    KI_REQUIRES(queue->mu);

/* Lets go of an entry that is in no state; others stay. */
void ki_workqueue_release_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu);

/* The entry of a key that a worker has; NULL when none has it. */
ki_work_entry *ki_workqueue_find_processing_locked(ki_workqueue *queue, ki_str key) KI_REQUIRES(queue->mu);

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Needs no memory. `now_ns` is looked at with metrics only. */
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

/* Delays a key, or moves its delay earlier. Returns 0 or KI_ERR_NO_MEMORY; nothing has changed then. */
KI_NODISCARD int ki_workqueue_delay_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority,
                                           uint64_t due_ns) KI_REQUIRES(queue->mu);

/* Makes those dirty whose time has come. Asks for the time only when there are delays. */
void ki_workqueue_ripen_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* When the next delay ends; UINT64_MAX: there is none. */
uint64_t ki_workqueue_next_due_locked(const ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* When ki_workqueue_get() has something: 0: now; UINT64_MAX: not before something is added. */
uint64_t ki_workqueue_next_ns(ki_workqueue *queue) KI_EXCLUDES(queue->mu);

/* Drops all delays and counts those of keys that are not dirty. */
void ki_workqueue_drop_delays_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* ki_workqueue_add_after() to the nanosecond. */
KI_NODISCARD int ki_workqueue_add_after_ns(ki_workqueue *queue, ki_str key, ki_priority priority,
                                           uint64_t delay_ns);

/* The same for a key that was handed out too early and has to wait: this does not count as a retry. */
KI_NODISCARD int ki_workqueue_postpone_ns(ki_workqueue *queue, ki_str key, ki_priority priority,
                                          uint64_t delay_ns);

#endif
