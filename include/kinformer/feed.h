/* SPDX-License-Identifier: Apache-2.0 */
/* feed - lists and watches a collection for a store or a queue of your own: client-go's Reflector and its
 * low-level Controller in one.
 *
 * A feed lists and watches a collection while it is started, and passes the changes to one destination:
 *
 *   on_change   a function, called with each change as it arrives.
 *   store       a ki_store: each list replaces its content, each event updates it.
 *   queue       a ki_delta_queue, for programs that process each change. With `process` the feed also pops
 *               from it, one key at a time; without, the program does.
 *
 * Most programs want an informer instead (<kinformer/informer.h>): it has a store, a queue and handlers. With
 * a feed into a store or a queue, a relist temporarily needs memory for a second copy of the collection; with
 * an informer it does not.
 *
 * Threads: any, for all calls. In a callback or a read section, stops and frees return at once, and the rest
 *          is done soon after; waits return KI_ERR_WOULD_DEADLOCK.
 */
#ifndef KI_FEED_H
#define KI_FEED_H

#include <kinformer/change.h>
#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/delta_queue.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>
#include <kinformer/resource.h>
#include <kinformer/store.h>

KI_EXTERN_C_BEGIN

typedef struct ki_feed ki_feed;

/** Called for each error, on `io`; must be quick. */
typedef void (*ki_feed_error_cb)(const ki_informer_error *error, void *user);

/**
 * Zero means default; exactly one of `on_change`, `store` and `queue` must be set. The destination is
 * borrowed and must outlive the feed. Only the feed writes to it; the consumer of a queue pops from it.
 */
typedef struct ki_feed_options {
    /** What to list and watch, and how. The options for an informer's store and handlers must not be set:
     * resync_ms, deliver_unchanged, mutations, queue_items_max, queue_bytes_max. */
    ki_informer_options informer;

    /** Called on `io` with every change, in order; must be quick. After it has returned 1, nothing is read
     * from the server until ki_feed_resume(). A LIST_END with an older version than one received since the
     * last RESET means that the server lags behind: then ignore the list: remove nothing, and remove again
     * the objects that only this list has added. Another list follows. */
    ki_change_cb on_change;

    /** Written on `io`, where its index functions run as well. An object without a usable key is refused and
     * counted. The end of a list replaces the whole content in one step. */
    ki_store *store;

    /** Pushed to on `io`. The end of a list is a ki_delta_queue_replace(). While the queue is full, nothing
     * is read from the server. The queue needs a store of known objects (`known`) to report deletes. */
    ki_delta_queue *queue;

    /** Only with `queue`. Called on `dispatch`, while the feed is started, with one key of the queue at a
     * time. A change that the program itself has pushed is processed when the next change from the server
     * arrives. A negative code is logged. A key that is put back is tried again after a short pause if no
     * other key waits. NULL: the program pops. */
    ki_delta_queue_cb process;

    ki_feed_error_cb on_error;
    void (*on_release)(void *user); /* once, after the last callback and the last use of the destination; not
                                     * if ki_feed_new() fails */
    void *user;                     /* for on_change, process, on_error and on_release */
    /* Only with `queue`: the period of ki_delta_queue_resync(); 0: never; less than a second counts as a
     * second. A lost connection does not restart the period, a stop and start does. */
    uint64_t resync_ms;
    uint64_t reserved[8];
} ki_feed_options;

/**
 * Makes a feed that is not started.
 *
 * Returns:   a feed to free, or NULL with KI_ERR_INVALID (a bad option, or the store of an informer),
 *            KI_ERR_NO_MEMORY, KI_ERR_SYSTEM, KI_ERR_STOPPED (the client has been freed), KI_ERR_FORKED.
 * Ownership: the caller frees it with ki_feed_free().
 */
KI_API KI_NODISCARD ki_feed *ki_feed_new(ki_client *client, const ki_resource *resource,
                                         const ki_feed_options *options, ki_error *err);

/** Stops and frees it; the pointer must not be used afterwards. When this returns, on_release has been
 * called, and the destination may be freed. From a callback it returns at once, and the work is done soon
 * after. NULL is allowed. */
KI_API void ki_feed_free(ki_feed *feed);

/**
 * Begins to follow the server; after a stop it continues from the version received last. Does nothing when
 * already started.
 *
 * Returns: 0; KI_ERR_INVALID without a feed; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY when a thread cannot be started;
 *          KI_ERR_STOPPED when the client has been freed; KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_feed_start(ki_feed *feed, ki_error *err);

/** Ends requests and callbacks; the destination stays as it is. Returns when nothing is running any more.
 * From a callback it returns at once: no further callback with changes begins, and the rest is done soon
 * after. Idempotent. */
KI_API void ki_feed_stop(ki_feed *feed);

/** Continues reading after on_change has returned 1. Call it also after popping from a full queue: otherwise
 * the feed notices up to 100 ms later. Never waits. */
KI_API void ki_feed_resume(ki_feed *feed);

/** Retries now instead of waiting for the end of the back-off. Does nothing when it is not backing off. */
KI_API void ki_feed_retry_now(ki_feed *feed);

/** 1 when the first list has reached its destination: on_change has received its end, its objects are in the
 * store, or everything that it queued has been processed. Once 1, it stays 1. */
KI_API int ki_feed_has_synced(const ki_feed *feed);

/**
 * Waits until ki_feed_has_synced() is 1, for at most `timeout_ms`, as ki_informer_wait_for_sync() does. When
 * the program itself pops, the wait ends up to a second late.
 *
 * Returns: 0; KI_ERR_INVALID without a feed; KI_ERR_TIMEOUT, with the phase and the reason in `err`;
 *          KI_ERR_STOPPED, at once, when it has not synced and was never started or has been stopped;
 *          KI_ERR_WOULD_DEADLOCK from a callback or a read section; KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_feed_wait_for_sync(ki_feed *feed, uint64_t timeout_ms, ki_error *err);

/**
 * The version up to which everything has been passed to the destination; "" before the first list has ended,
 * and in a child of fork().
 *
 * Returns: the length, like snprintf.
 */
KI_API size_t ki_feed_last_resource_version(const ki_feed *feed, char *buffer, size_t buffer_bytes);

/** Reads the current status, as ki_informer_read_status() does. `objects` and `bytes` are those of `store`,
 * `queued` is that of `queue`; otherwise they are 0. `success_age_ms` is the time since the last complete
 * list began, or since an event or a bookmark arrived; while keys wait in `queue`, since the next one to be
 * popped was queued. It is UINT64_MAX until the feed has synced. */
KI_API void ki_feed_read_status(const ki_feed *feed, ki_informer_status *out_status);

KI_EXTERN_C_END

#endif
