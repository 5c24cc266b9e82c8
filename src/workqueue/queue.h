/* SPDX-License-Identifier: Apache-2.0 */
/* queue - the state of a work queue, and the steps that make up each public call.
 *
 *   From:     workqueue/queue_life.c (making, freeing, looking), workqueue/delays.c,
 *             workqueue/rate_limited.c, workqueue/shut_down.c; controller/controller.c (with the client's
 *             clock), controller/controller_run.c, controller/controller_work.c (keys that are put off).
 *             Programs and controllers add keys by <kinformer/workqueue.h>; ki_workqueue_add(), _get() and
 *             _done() are in workqueue/queue.c
 *   To:       workqueue/arrivals.h, workqueue/keys.h, workqueue/order.h, workqueue/waiters.h
 *   Locks:    one mutex, a leaf. Neither limiters nor the writers of metrics are called under it.
 *   Not here: rate limits, which only choose a delay (workqueue/rate_limited.c).
 *
 * The states of a key, and the calls that lead from one to another. A delay is independent of them.
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
#include "workqueue/arrivals.h"
#include "workqueue/keys.h"
#include "workqueue/order.h"
#include "workqueue/queue_metrics.h"
#include "workqueue/waiters.h"

/* The size of a cache of entries in processing. A worker nearly always finishes a key with the text that it
 * got, so the address of the text finds the entry. */
enum { KI_WORK_AT_HAND = 16 };

struct ki_workqueue {
    const ki_clock *clock;
    ki_hash_key secret;
    ki_limiter *limiter;
    ki_work_metrics metrics;
    bool is_inherited; /* this process is a child of the one that made the queue */
    ki_fork_hook fork_hook;
    ki_mutex mu;
    ki_work_keys keys;         /* guarded by mu, as all below */
    ki_work_arrivals arrivals; /* `keys` has a free slot, and `spares` memory, for each */
    ki_work_order order;       /* keys that are dirty and not being processed */
    ki_work_spares spares;
    ki_list processing; /* oldest first; only with metrics, since linking reads other cache lines */
    ki_work_entry *at_hand[KI_WORK_AT_HAND]; /* some entries in processing, by the address of their text */
    size_t processing_count;
    size_t depth; /* the number of dirty keys */
    ki_heap delayed;
    uint64_t dropped;
    bool is_stopping;
    uint64_t shut_downs; /* shut-downs without a drain; each ends the drains that began before it */
    ki_work_waiters waiters;
};

/* Like ki_workqueue_new(), with a clock, which is borrowed. Under a virtual clock, calls that would wait
 * return at once. Takes the reference to the limiter. */
KI_NODISCARD ki_workqueue *ki_workqueue_new_with_clock(const ki_workqueue_options *options,
                                                       const ki_clock *clock, ki_error *err);

/* Check the arguments of a public call. Both return 0, KI_ERR_INVALID or KI_ERR_FORKED;
 * ki_workqueue_check_key() also checks the key, and may return KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_workqueue_check(const ki_workqueue *queue);
KI_NODISCARD int ki_workqueue_check_key(const ki_workqueue *queue, ki_str key, ki_priority priority);

static inline uint32_t ki_workqueue_hash(const ki_workqueue *queue, ki_str key)
{
    return (uint32_t)ki_hash(&queue->secret, key);
}

/* Locks the mutex, then queues the keys that have arrived, then those whose delays have ended, so that such a
 * key precedes a key that is added later, even if there was no call in between. ki_workqueue_add() does this
 * only while there are delays, or if its key does not become an arrival. */
void ki_workqueue_lock(ki_workqueue *queue) KI_ACQUIRE(queue->mu);

/* Unlocks the mutex, and wakes the threads that have something to do. */
void ki_workqueue_unlock(ki_workqueue *queue) KI_RELEASE(queue->mu);

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* The entry of a key, which is made if necessary. A new entry has no state: the caller gives it one, or drops
 * it with ki_workqueue_release_locked(). NULL when out of memory. */
KI_NODISCARD ki_work_entry *ki_workqueue_intern_locked(ki_workqueue *queue, ki_str key, uint32_t hash)
    KI_REQUIRES(queue->mu);

/* Drops the entry if it is neither dirty, nor being processed, nor delayed, nor put off. */
void ki_workqueue_release_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu);

/* The entry of a key that a worker is processing; NULL if no worker is. */
ki_work_entry *ki_workqueue_find_processing_locked(ki_workqueue *queue, ki_str key) KI_REQUIRES(queue->mu);

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Marks a key as dirty. Needs no memory, like ki_workqueue_resume_locked(). */
void ki_workqueue_make_dirty_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
    KI_REQUIRES(queue->mu);

/* The same for work that was put off, which was already counted when it was added. */
void ki_workqueue_resume_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
    KI_REQUIRES(queue->mu);

/* Ends the processing of an entry, which may be freed by this. */
void ki_workqueue_finish_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu);

static inline bool ki_workqueue_is_drained_locked(const ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    return ki_work_order_count(&queue->order) == 0 && queue->processing_count == 0;
}

/* ---- delays (workqueue/delays.c) ----------------------------------------------------------------------- */

void ki_workqueue_delays_init(ki_workqueue *queue);

/* Marks the keys whose time has come as dirty. Reads the clock only when there are such times. */
void ki_workqueue_ripen_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* When the next delay or put-off ends; UINT64_MAX: there is none. */
uint64_t ki_workqueue_next_due_locked(const ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* The time from which ki_workqueue_get() has a key; 0: now; UINT64_MAX: not before a key is added. */
uint64_t ki_workqueue_next_ns(ki_workqueue *queue) KI_EXCLUDES(queue->mu);

/* Drops all delays and all work that is put off, and counts the keys that are not dirty. */
void ki_workqueue_drop_delays_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu);

/* Like ki_workqueue_add_after(), in nanoseconds. */
KI_NODISCARD int ki_workqueue_add_after_ns(ki_workqueue *queue, ki_str key, ki_priority priority,
                                           uint64_t delay_ns);

/* Called instead of ki_workqueue_done(), when the work on a key that was handed out has to wait for
 * `delay_ns`, which must not be 0. If the key is added earlier, it is handed out then, and not once more for
 * the work that was put off. A delay of the key is not affected. However often that happens, the metrics
 * count the work once. Returns 0; or KI_ERR_NO_MEMORY, KI_ERR_STOPPED or KI_ERR_NOT_FOUND with nothing
 * changed. */
KI_NODISCARD int ki_workqueue_put_off_ns(ki_workqueue *queue, const ki_work_item *item, uint64_t delay_ns);

/* An entry that is put off becomes dirty with this priority. Returns the higher one of both priorities. */
ki_priority ki_workqueue_end_put_off_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
    KI_REQUIRES(queue->mu);

#endif
