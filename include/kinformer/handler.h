/* SPDX-License-Identifier: Apache-2.0 */
/* handler - callbacks for the changes of a collection.
 *
 * Guarantees:
 *   - for one object: add, any number of updates, delete, in this order; versions never go back;
 *   - the store is at least as new as the event;
 *   - callbacks of one registration never overlap, and none is called after on_release;
 *   - a handler begins with its initial adds, followed by on_synced, followed by on_batch_end. on_batch_end
 *     is also called between initial adds, when there are more than fit into a batch.
 *     ki_registration_has_synced() becomes 1 right before on_synced; ki_informer_has_synced() is 1 by then;
 *   - objects are borrowed for the call; ki_object_ref() keeps one;
 *   - every function of the library may be called from a callback:
 *       - stops and frees return at once, and the work is done after the callback has returned. Two of them
 *         wait, for other threads: ki_controller_stop() with KI_MODE_THREADS, and ki_store_free();
 *       - functions that would have to wait for this thread change nothing and return KI_ERR_WOULD_DEADLOCK:
 *         ki_rest_run(), ki_retry_on_conflict(), ki_discovery_run(), ki_recorder_flush(),
 *         ki_controller_run(), ki_client_dispatch(), ki_delta_queue_pop() with a timeout,
 *         ki_registration_remove_and_wait() for another handler, and every function whose name ends with
 *         wait_for_sync or wait_for_version. To call the server, use ki_rest_begin();
 *       - these wait in a callback too, and can deadlock: ki_workqueue_get(), ki_workqueue_next() and
 *         ki_workqueue_drain() with a timeout, ki_parallelize_until(), ki_client_set_write_gate() and
 *         ki_leader_guard();
 *       - all others work as elsewhere. docs/threading.md has a table of all functions.
 *
 * A slow handler does not delay the others. When its backlog exceeds the limit, the backlog keeps one entry
 * per object from then on: intermediate states are left out, but never the final state. ki_overflow has other
 * choices.
 */
#ifndef KI_HANDLER_H
#define KI_HANDLER_H

#include <kinformer/change.h>
#include <kinformer/common.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

/** Flags of an event. */
#define KI_EVENT_INITIAL (1U << 0)  /* in the store when the handler was added, or in the first list */
#define KI_EVENT_RESYNC (1U << 1)   /* a periodic resync: nothing has changed */
#define KI_EVENT_REPLACED (1U << 2) /* an update to another object with the same name: the UID differs */
#define KI_EVENT_FINAL_STATE_UNKNOWN (1U << 3) /* the delete was missed: `object` is the last known state */
#define KI_EVENT_COALESCED (1U << 4)           /* merged with events before it; `old` may be missing */

typedef struct ki_event {
    ki_change_type change_type; /* KI_CHANGE_ADDED, KI_CHANGE_UPDATED or KI_CHANGE_DELETED */
    uint32_t flags;
    const ki_object *object; /* the new state; for a delete the final, or last known, one; for a delete that
                              * replaces an update (see `filter`), the old object */
    const ki_object *old;    /* updates only; may be NULL with KI_EVENT_COALESCED */
    uint64_t reserved[2];
} ki_event;

/** Called on a handler thread, or inside ki_client_dispatch(): see ki_mode. After ki_client_free(),
 * on_release runs inside ki_informer_free() or ki_registration_remove_and_wait(). */
typedef void (*ki_event_cb)(const ki_event *event, void *user);
typedef void (*ki_handler_cb)(void *user);

/** Returns whether the handler gets the events of this object: 0 for no. Called like the handler. The result
 * must depend on the object alone. */
typedef int (*ki_filter_cb)(const ki_object *object, void *user);

/** What to do when a backlog exceeds its limits. */
typedef enum ki_overflow {
    KI_OVERFLOW_COALESCE = 0, /* one entry per object */
    /* The informer waits for this handler, and stops reading meanwhile, so the store is not updated. The
     * limit may be exceeded by 256 events. */
    KI_OVERFLOW_BLOCK,
    KI_OVERFLOW_UNBOUNDED /* the backlog grows without limit, as in client-go */
} ki_overflow;

/** Every callback may be NULL. Zero means default. */
typedef struct ki_handler {
    ki_event_cb on_add;
    ki_event_cb on_update;
    ki_event_cb on_delete;
    ki_handler_cb on_synced; /* once, after the last initial add; the informer has synced by then */
    /* After the last event of a batch: commit, reload once. A batch is what is delivered without a pause: it
     * ends when no event waits, when the budget of ki_client_dispatch() is used up, and after 64 events at
     * the latest. on_synced counts as an event, so on_batch_end follows it even if there were no objects. */
    ki_handler_cb on_batch_end;
    ki_handler_cb on_release; /* once, after the last callback: free `user` here */
    ki_filter_cb filter;      /* an update that makes an object pass is delivered as an add; one that makes it
                               * fail, as a delete of the old object. NULL: all objects pass */
    void *user;               /* passed to every callback */
    const char *name;         /* in metrics; copied. NULL: a number, counted from 1 for each informer */
    uint64_t resync_ms;       /* period of resyncs; refused if the informer has no resync_ms. 0: no resyncs */
    ki_overflow overflow;
    int split_replaced;       /* 1: an update with KI_EVENT_REPLACED becomes a delete of the old object, with
                               * KI_EVENT_FINAL_STATE_UNKNOWN, and an add */
    size_t backlog_items_max; /* 0: 100,000 */
    /* Total size of `object` and `old` in all waiting events, including objects the store still holds.
     * 0: 64 MiB */
    size_t backlog_bytes_max;
    uint64_t reserved[4];
} ki_handler;

KI_EXTERN_C_END

#endif
