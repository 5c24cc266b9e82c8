/* SPDX-License-Identifier: Apache-2.0 */
/* feed - what an informer is made of, for who builds one of their own: client-go's Reflector and its
 * low-level Controller in one.
 *
 * A feed lists and watches a collection for as long as it is started, and brings what it learns to one
 * destination of the program's:
 *
 *   on_change   a function, which is told each single thing as it comes: any queue of the program's.
 *   store       a ki_store: made equal to the collection by each list, and kept so by each event.
 *   queue       a ki_delta_queue: the same for who wants to process each change. With `process` the feed also
 *               pops, one key at a time; without, the program does.
 *
 * Most programs want an informer instead (<kinformer/informer.h>): it has store, queue and handlers, and a
 * relist takes no second copy of the collection, which a store or a queue that is fed from here does.
 *
 * Threads: any, for all calls, as with an informer: inside a callback those that would wait become
 *          requests that are carried out soon, or return KI_ERR_WOULD_DEADLOCK where each says so.
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

/** What went wrong, each time. Called on `io`; to be quick. */
typedef void (*ki_feed_error_cb)(const ki_watch_error *error, void *user);

/**
 * Zero means default; exactly one of `on_change`, `store` and `queue` is set. The destination is borrowed and
 * outlives the feed. Nobody else writes to it, but for the consumer of a queue.
 */
typedef struct ki_feed_options {
    /** What is asked for and how. What concerns stores and handlers of an informer has no meaning: resync_ms,
     * deliver_unchanged, mutations, queue_items_max, queue_bytes_max. */
    ki_informer_options informer;

    /** On `io`; to be quick. Told everything, in order. After it has returned 1 nothing is read from the
     * server until ki_feed_room(). A LIST_END whose version is older than one that came before, without a
     * RESET between, is of a list that was too old: nothing is removed because of it, and what its items have
     * added is not to be trusted; another list follows. */
    ki_change_cb on_change;

    /** Written on `io`, where index functions run then; an object without a usable key is left out and
     * counted as refused. The end of a list makes it equal to the list as one change. */
    ki_store *store;

    /** Pushed to on `io`. The end of a list is a ki_delta_queue_replace(). While it is full nothing is read
     * from the server. It needs a store of known objects to tell of deletes. */
    ki_delta_queue *queue;

    /** Processes what the queue holds, on `dispatch`, while the feed is started. What others push is
     * processed when next something happens here. A negative code is logged; what is put back rests for a
     * moment when nothing else waits. NULL: the program pops. */
    ki_delta_queue_cb process;

    ki_feed_error_cb on_error;
    void (*on_release)(void *user); /* once, after the last callback and the last use of the destination */
    void *user;                     /* of these four callbacks */
    /* How often ki_delta_queue_resync() is called; 0: never; less than a second counts as one. A lost
     * connection does not begin it anew, a stop and start does. */
    uint64_t resync_ms;
    uint64_t reserved[8];
} ki_feed_options;

/**
 * Makes a feed that is not started.
 *
 * Returns:   a feed to free, or NULL with KI_ERR_INVALID (a bad option, a store that is an informer's),
 *            KI_ERR_NO_MEMORY, KI_ERR_SYSTEM.
 * Ownership: the caller frees it with ki_feed_free().
 */
KI_API KI_NODISCARD ki_feed *ki_feed_new(ki_client *client, const ki_resource *resource,
                                         const ki_feed_options *options, ki_error *err);

/** Stops and frees it; the handle is not used any more. From a callback: carried out when that has returned,
 * and on_release tells when the destination is free. NULL is allowed. */
KI_API void ki_feed_free(ki_feed *feed);

/**
 * Begins to follow the server, or goes on after a stop: from the version that was received last. Started
 * already: nothing happens.
 *
 * Returns: 0; KI_ERR_INVALID without a feed; KI_ERR_SYSTEM, KI_ERR_NO_MEMORY when a thread cannot be started;
 *          KI_ERR_STOPPED when the client has been freed; KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_feed_start(ki_feed *feed, ki_error *err);

/** Ends requests and callbacks; the destination stays as it is. Returns when nothing runs any more; from a
 * callback: at once, no other callback with changes begins, and the rest is carried out soon. Idempotent. */
KI_API void ki_feed_stop(ki_feed *feed);

/** There is room again, after on_change has returned 1. Also for a queue that the program pops: it is looked
 * at anyway, but only every now and then. */
KI_API void ki_feed_room(ki_feed *feed);

/** Tries again now instead of when the back-off ends. */
KI_API void ki_feed_retry_now(ki_feed *feed);

/** 1 when the first list has reached its destination: its end was taken by on_change; it is in the store; all
 * of it that was queued is processed. */
KI_API int ki_feed_has_synced(const ki_feed *feed);

/**
 * Waits for that, `timeout_ms` at the most. What the program itself pops is noticed within a second.
 *
 * Returns: 0; KI_ERR_INVALID without a feed; KI_ERR_TIMEOUT with what it is doing and why; KI_ERR_STOPPED:
 *          it was stopped, and not started since; KI_ERR_WOULD_DEADLOCK from a callback or a read section;
 *          KI_ERR_FORKED in a child.
 */
KI_API KI_NODISCARD int ki_feed_wait_for_sync(ki_feed *feed, uint64_t timeout_ms, ki_error *err);

/**
 * The version up to which everything was brought to the destination; "" before the first list.
 *
 * Returns: the length as snprintf does.
 */
KI_API size_t ki_feed_last_resource_version(const ki_feed *feed, char *buffer, size_t buffer_bytes);

/** As of an informer; `objects` and `bytes` are those of `store`, `queued` those of `queue`, else 0;
 * `success_age_ms` is the time since the destination took the end of a list, an event or a bookmark, or,
 * while keys wait in `queue`, since the one whose turn is next was queued. */
KI_API void ki_feed_read_status(const ki_feed *feed, ki_informer_status *out_status);

KI_EXTERN_C_END

#endif
