/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue - a queue of keys, each handed to one worker at a time, with delays, rate limits and priorities.
 *
 * Event handlers add the keys of changed objects; a worker gets a key, does its work, and ends it with
 * ki_workqueue_done() or ki_workqueue_next(). A key that is added while it waits is queued only once. A key
 * that is added while a worker has it is handed out again when that worker is done. So no two workers ever
 * have the same key, and no change is missed: the last run of a key begins after the last add. This is
 * client-go's work queue, with its names:
 *
 *     ki_work_item item = {0};
 *     while (ki_workqueue_next(queue, UINT64_MAX, &item) == 0) { // ends the work on the previous key, too
 *         if (reconcile(item.key) == 0)
 *             ki_workqueue_forget(queue, item.key);
 *         else if (ki_workqueue_add_rate_limited(queue, item.key, item.priority) < 0)
 *             …                                                  // out of memory: try again, or log it
 *     }
 *
 * The queue has no thread of its own. A wait in ki_workqueue_get() also covers delayed keys; an event loop
 * polls ki_workqueue_fd() and calls ki_workqueue_get() with a timeout of 0.
 *
 * Priorities. A key waits at high or at low priority: high for recent changes, low for keys from the first
 * list or a resync. Keys of one priority leave in the order in which they were added. High priority goes
 * first, but low priority does not starve: while keys of both priorities wait, every 16th key that is handed
 * out (KI_WORKQUEUE_LOW_EVERY) is of low priority. A key that waits at low priority and is added at high
 * priority moves to the end of the high ones; it never moves down.
 *
 * Threads: any, for all calls. In a callback of the library, get keys with a timeout of 0: a wait is not
 *          refused there, and blocks the thread. In a child of fork() a queue that the parent made can only
 *          be freed.
 */
#ifndef KI_WORKQUEUE_H
#define KI_WORKQUEUE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/limiter.h>
#include <kinformer/metrics.h>

KI_EXTERN_C_BEGIN

typedef struct ki_workqueue ki_workqueue;

typedef enum ki_priority {
    KI_PRIORITY_HIGH = 0, /* the default */
    KI_PRIORITY_LOW = 1
} ki_priority;

/** While keys of both priorities wait, one of this many keys handed out is of low priority. */
#define KI_WORKQUEUE_LOW_EVERY 16

/** The longest key. It may hold any bytes. */
#define KI_WORK_KEY_BYTES_MAX 65535

/* ---- making one -------------------------------------------------------------------------------------- */

/** Zero means default. */
typedef struct ki_workqueue_options {
    const char *name;    /* the label `name` of its metrics; copied. NULL: no metrics */
    ki_metrics *metrics; /* the queue counts here, and keeps a reference of its own. NULL: no metrics */
    ki_limiter *limiter; /* for ki_workqueue_add_rate_limited(). NULL, also from a limiter that could not be
                          * made: ki_limiter_new_default() */
    uint64_t reserved[8];
} ki_workqueue_options;

/**
 * Makes an empty queue.
 *
 * Returns:   a queue to free, or NULL with KI_ERR_NO_MEMORY, KI_ERR_SYSTEM (no random bytes), or
 *            KI_ERR_WOULD_DEADLOCK in an index function. `options` may be NULL.
 * Ownership: takes over your reference to the limiter, even if it fails; ki_limiter_ref() keeps one.
 */
KI_API KI_NODISCARD ki_workqueue *ki_workqueue_new(const ki_workqueue_options *options, ki_error *err);

/** Drops every key and frees the queue. No other call may be in progress or follow. NULL is allowed. */
KI_API void ki_workqueue_free(ki_workqueue *queue);

/* ---- adding ------------------------------------------------------------------------------------------ */

/**
 * Adds a key. The queue keeps a copy of it.
 *
 * Returns: 0, also when the key is already waiting; KI_ERR_STOPPED after a shut-down; KI_ERR_INVALID for an
 *          empty key or an unknown priority; KI_ERR_TOO_LARGE above KI_WORK_KEY_BYTES_MAX; KI_ERR_NO_MEMORY,
 *          but not for a key that waits, is delayed or is being worked on; KI_ERR_FORKED. Nothing changes on
 *          failure.
 */
KI_API KI_NODISCARD int ki_workqueue_add(ki_workqueue *queue, ki_str key, ki_priority priority);

/**
 * Adds a key after a delay; at once when the delay is 0. A key has at most one delay: another call can
 * shorten it and raise its priority, not the reverse. ki_workqueue_add() of the same key does not end the
 * delay: the key is added once more when the time comes. Keys that become due at the same moment are added in
 * any order.
 *
 * Returns: as ki_workqueue_add(), but the delay of a known key may need memory, too.
 */
KI_API KI_NODISCARD int ki_workqueue_add_after(ki_workqueue *queue, ki_str key, ki_priority priority,
                                               uint64_t delay_ms);

/* ---- working ----------------------------------------------------------------------------------------- */

/** A key that a worker has taken. */
typedef struct ki_work_item {
    ki_str key;           /* borrowed until ki_workqueue_done() or ki_workqueue_next() */
    ki_priority priority; /* the priority at which the key waited; use it to add the key again */
    uint64_t reserved[4];
} ki_work_item;

/**
 * Takes the next key. Waits for one for up to `timeout_ms` (0: does not wait; UINT64_MAX: no limit). Every
 * key that was taken needs a ki_workqueue_done() or ki_workqueue_next().
 *
 * Returns: 0; KI_ERR_TIMEOUT: no key came in time; KI_ERR_STOPPED: the queue is shut down and empty, so the
 *          worker may end; KI_ERR_INVALID; KI_ERR_FORKED.
 */
KI_API KI_NODISCARD int ki_workqueue_get(ki_workqueue *queue, uint64_t timeout_ms, ki_work_item *out_item);

/**
 * Ends the work on a key. If it was added meanwhile, it is queued again, after the others of its priority.
 *
 * Returns:   0; KI_ERR_NOT_FOUND: no worker has this key, nothing changes; KI_ERR_INVALID; KI_ERR_FORKED.
 * Ownership: the key from ki_workqueue_get() is no longer valid.
 */
KI_API int ki_workqueue_done(ki_workqueue *queue, ki_str key);

/**
 * ki_workqueue_done() for the key in `item`, if it has one, and ki_workqueue_get(), in one step: cheaper for
 * a worker that takes one key after the other. Zero `item` before the first call, and after a call of
 * ki_workqueue_done() with its key, which is not valid any more.
 *
 * Returns: as ki_workqueue_get(). After KI_ERR_TIMEOUT and KI_ERR_STOPPED the work on the previous key has
 *          ended nevertheless, and item->key is empty.
 */
KI_API KI_NODISCARD int ki_workqueue_next(ki_workqueue *queue, uint64_t timeout_ms, ki_work_item *item);

/**
 * A descriptor for poll(), epoll and so on: readable (level-triggered) while ki_workqueue_get() would not
 * return KI_ERR_TIMEOUT, also when a delay ends. The first call makes it; it stays the same and belongs to
 * the queue.
 *
 * Returns: the descriptor; KI_ERR_SYSTEM; KI_ERR_INVALID; KI_ERR_FORKED.
 */
KI_API KI_NODISCARD int ki_workqueue_fd(ki_workqueue *queue, ki_error *err);

/* ---- rate limits ------------------------------------------------------------------------------------- */

/**
 * ki_workqueue_add_after() with the delay that the limiter has for this key.
 *
 * Returns: as ki_workqueue_add_after(); or the code of a custom limiter. The limiter may have counted the
 *          attempt even then.
 */
KI_API KI_NODISCARD int ki_workqueue_add_rate_limited(ki_workqueue *queue, ki_str key, ki_priority priority);

/** Resets the failures that the limiter has counted for a key: call it after a success, or when the program
 * gives up. It ends neither a delay nor the work on the key. */
KI_API void ki_workqueue_forget(ki_workqueue *queue, ki_str key);

/** How many times a key was added with ki_workqueue_add_rate_limited() since the last ki_workqueue_forget(),
 * as counted by the limiter: see ki_limiter_num_requeues(). */
KI_API uint32_t ki_workqueue_num_requeues(const ki_workqueue *queue, ki_str key);

/* ---- the end ----------------------------------------------------------------------------------------- */

/**
 * Accepts no more keys. Waiting keys are still handed out; then workers get KI_ERR_STOPPED. Keys that are
 * only delayed are dropped, and counted in the stats. A ki_workqueue_drain() in progress returns
 * KI_ERR_STOPPED. Does not wait.
 */
KI_API void ki_workqueue_shut_down(ki_workqueue *queue);

/**
 * Shuts the queue down like ki_workqueue_shut_down(), then waits for up to `timeout_ms` (UINT64_MAX: no
 * limit) until no key waits and no worker has one; workers must keep getting and finishing keys. With a
 * timeout of 0 it does not wait: call it again to see whether the queue is empty.
 *
 * Returns: 0: nothing is left; KI_ERR_TIMEOUT; KI_ERR_STOPPED: ki_workqueue_shut_down() was called meanwhile;
 *          KI_ERR_INVALID; KI_ERR_FORKED.
 */
KI_API int ki_workqueue_drain(ki_workqueue *queue, uint64_t timeout_ms);

/** 1 after a shut-down. */
KI_API int ki_workqueue_shutting_down(const ki_workqueue *queue);

/* ---- looking at it ----------------------------------------------------------------------------------- */

/** The number of keys that ki_workqueue_get() could take now. */
KI_API size_t ki_workqueue_len(const ki_workqueue *queue);

typedef struct ki_workqueue_stats {
    size_t waiting;    /* as ki_workqueue_len() */
    size_t low;        /* of these, at low priority */
    size_t depth;      /* waiting keys, and keys added while a worker has them */
    size_t processing; /* keys that workers have */
    size_t delayed;    /* keys with a delay */
    uint64_t dropped;  /* keys dropped by a shut-down: they were delayed and not also waiting */
    uint64_t reserved[8];
} ki_workqueue_stats;

/** All values are from the same moment. All zero without a queue, and in a child of fork(). */
KI_API void ki_workqueue_read_stats(const ki_workqueue *queue, ki_workqueue_stats *out_stats);

KI_EXTERN_C_END

#endif
