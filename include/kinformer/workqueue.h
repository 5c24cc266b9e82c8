/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue - keys to be worked on, each on one worker at a time; with delays, rate limits and priorities.
 *
 * Event handlers add the key of what has changed; workers get a key, do their work, and say that they are
 * done. A key that is added while it waits is there once. A key that is added while a worker has it waits
 * until that worker is done, and is handed out again then. So no two workers ever have the same key, and no
 * change is missed: the last run of a key begins after the last add. This is client-go's work queue, with its
 * names:
 *
 *     ki_work_item item;
 *     while (ki_workqueue_get(queue, UINT64_MAX, &item) == 0) {
 *         if (reconcile(item.key) == 0)
 *             ki_workqueue_forget(queue, item.key);
 *         else if (ki_workqueue_add_rate_limited(queue, item.key, item.priority) < 0)
 *             …                                      // out of memory: try again, or log it
 *         ki_workqueue_done(queue, item.key);        // always, and last: the key is gone afterwards
 *     }
 *
 * The queue has no thread of its own. Whoever waits in ki_workqueue_get() also waits for the delayed keys;
 * an event loop polls ki_workqueue_fd() and gets with a timeout of 0.
 *
 * Priorities. A key waits at high or at low priority: what a user has just changed at the high one, what the
 * first list or a resync has brought at the low one. Keys of one priority leave in the order in which they
 * came. High ones leave first, but the low ones do not starve: as long as keys of both priorities wait, every
 * 16th key that is handed out (KI_WORKQUEUE_LOW_EVERY) is the first of the low ones. A key that waits at low
 * priority and is added at the high one moves to the end of the high ones; it never moves down.
 *
 * Threads: any, for all calls, also from callbacks of the library. In a child of fork() a queue that was made
 *          by the parent can only be freed.
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
    KI_PRIORITY_HIGH = 0, /* the usual one */
    KI_PRIORITY_LOW = 1
} ki_priority;

/** While keys of both priorities wait, one of so many that are handed out is a low one. */
#define KI_WORKQUEUE_LOW_EVERY 16

/** The longest key. It may hold any bytes. */
#define KI_WORK_KEY_BYTES_MAX 65535

/* ---- making one -------------------------------------------------------------------------------------- */

/** Zero means default. */
typedef struct ki_workqueue_options {
    const char *name;    /* the label `name` of its metrics. NULL: it has no metrics */
    ki_metrics *metrics; /* where they are counted. NULL: it has none */
    ki_limiter *limiter; /* for ki_workqueue_add_rate_limited(). NULL: ki_limiter_new_default() */
    uint64_t reserved[8];
} ki_workqueue_options;

/**
 * Returns:   a queue to free, or NULL with KI_ERR_NO_MEMORY or KI_ERR_SYSTEM (no random bytes). `options` may
 *            be NULL.
 * Ownership: takes the reference to the limiter, also on failure: make it in the same expression, or use
 *            ki_limiter_ref() to keep one.
 */
KI_API KI_NODISCARD ki_workqueue *ki_workqueue_new(const ki_workqueue_options *options, ki_error *err);

/** Drops every key. No call may be under way, and none may follow. NULL is allowed. */
KI_API void ki_workqueue_free(ki_workqueue *queue);

/* ---- adding ------------------------------------------------------------------------------------------ */

/**
 * Has a key worked on. The queue keeps a copy of it.
 *
 * Returns: 0, also when the key waits already; KI_ERR_STOPPED after a shut down; KI_ERR_INVALID for an empty
 *          key or an unknown priority; KI_ERR_TOO_LARGE above KI_WORK_KEY_BYTES_MAX; KI_ERR_NO_MEMORY;
 *          KI_ERR_FORKED. Nothing changes on failure. A key that the queue knows (it waits, is delayed or is
 *          being worked on) needs no memory.
 */
KI_API KI_NODISCARD int ki_workqueue_add(ki_workqueue *queue, ki_str key, ki_priority priority);

/**
 * Adds a key when so much time has passed; at once without a delay. A key has one delay: a second call moves
 * it earlier or changes nothing, and raises the priority or leaves it. An ki_workqueue_add() of the same key
 * does not end the delay, so that the key is added once more when the time comes. Keys that become due at the
 * same moment are added in any order.
 *
 * Returns: as ki_workqueue_add(); a key that the queue knows may need memory for its delay.
 */
KI_API KI_NODISCARD int ki_workqueue_add_after(ki_workqueue *queue, ki_str key, ki_priority priority,
                                               uint64_t delay_ms);

/* ---- working ----------------------------------------------------------------------------------------- */

/** What a worker gets. */
typedef struct ki_work_item {
    ki_str key;           /* borrowed until ki_workqueue_done() */
    ki_priority priority; /* at which it waited: the one to add it with again */
    uint64_t reserved[4];
} ki_work_item;

/**
 * Waits for up to `timeout_ms` (0: not at all; UINT64_MAX: for ever) until there is a key, and takes it.
 * Every key that was taken needs a ki_workqueue_done().
 *
 * Returns: 0; KI_ERR_TIMEOUT: no key came; KI_ERR_STOPPED: the queue is shut down and no key waits any more,
 *          the worker may end; KI_ERR_INVALID; KI_ERR_FORKED.
 */
KI_API KI_NODISCARD int ki_workqueue_get(ki_workqueue *queue, uint64_t timeout_ms, ki_work_item *out_item);

/**
 * Ends the work on a key. If it was added meanwhile, it waits again, behind the others of its priority.
 *
 * Returns:   0; KI_ERR_NOT_FOUND: no worker has this key, nothing changes; KI_ERR_FORKED.
 * Ownership: the text of the key that ki_workqueue_get() gave ends here.
 */
KI_API int ki_workqueue_done(ki_workqueue *queue, ki_str key);

/**
 * A descriptor for poll() and its kind: readable, level-triggered, while ki_workqueue_get() would not return
 * KI_ERR_TIMEOUT. It knows the delays as well. It is made with the first call, stays the same and belongs to
 * the queue.
 *
 * Returns: the descriptor; KI_ERR_SYSTEM; KI_ERR_INVALID; KI_ERR_FORKED.
 */
KI_API KI_NODISCARD int ki_workqueue_fd(ki_workqueue *queue, ki_error *err);

/* ---- rate limits ------------------------------------------------------------------------------------- */

/**
 * ki_workqueue_add_after() with the delay that the limiter has for this key.
 *
 * Returns: as that; or what a limiter of the program's own has failed with. The limiter may have counted the
 *          attempt all the same.
 */
KI_API KI_NODISCARD int ki_workqueue_add_rate_limited(ki_workqueue *queue, ki_str key, ki_priority priority);

/** The limiter forgets the failures of a key: after a success, or when the program gives up. It ends neither
 * a delay nor the work on the key. */
KI_API void ki_workqueue_forget(ki_workqueue *queue, ki_str key);

/** How often a key was added with ki_workqueue_add_rate_limited() since it was forgotten last. */
KI_API uint32_t ki_workqueue_num_requeues(ki_workqueue *queue, ki_str key);

/* ---- the end ----------------------------------------------------------------------------------------- */

/**
 * Accepts no more keys. Those that wait are still handed out, then workers get KI_ERR_STOPPED. Keys that are
 * only delayed are dropped, and counted in the stats. Ends every drain that is under way. Does not wait.
 */
KI_API void ki_workqueue_shut_down(ki_workqueue *queue);

/**
 * The same, but then waits for up to `timeout_ms` (UINT64_MAX: for ever) until no key waits and no worker has
 * one; somebody has to get and finish them. With a timeout of 0 it begins the drain and says how it stands:
 * call it again.
 *
 * Returns: 0: nothing is left; KI_ERR_TIMEOUT; KI_ERR_STOPPED: ki_workqueue_shut_down() was called meanwhile;
 *          KI_ERR_INVALID; KI_ERR_FORKED.
 */
KI_API int ki_workqueue_shut_down_with_drain(ki_workqueue *queue, uint64_t timeout_ms);

/** 1 from a shut down on. */
KI_API int ki_workqueue_shutting_down(ki_workqueue *queue);

/* ---- looking at it ----------------------------------------------------------------------------------- */

/** How many keys a ki_workqueue_get() would find. */
KI_API size_t ki_workqueue_len(ki_workqueue *queue);

typedef struct ki_workqueue_stats {
    size_t waiting;    /* as ki_workqueue_len() */
    size_t low;        /* of these, at low priority */
    size_t depth;      /* keys that need work: those that wait, and those added while a worker has them */
    size_t processing; /* keys that workers have */
    size_t delayed;    /* keys with a delay */
    uint64_t dropped;  /* delays that a shut down has dropped, of keys that did not wait */
    uint64_t reserved[8];
} ki_workqueue_stats;

/** All of one moment. Zeroes without a queue. */
KI_API void ki_workqueue_read_stats(ki_workqueue *queue, ki_workqueue_stats *out_stats);

KI_EXTERN_C_END

#endif
