/* SPDX-License-Identifier: Apache-2.0 */
/* handler - what a program is told about the objects of a collection, and how.
 *
 * What a handler may count on:
 *   - for one object: add, any number of updates, delete, in this order; versions never go back;
 *   - the store is at least as new as the event;
 *   - callbacks of one registration never overlap, and none comes after on_release;
 *   - objects are borrowed for the call; ki_object_ref() keeps one;
 *   - any call of the library is allowed inside, and none deadlocks; docs/threading.md says which are refused
 *     there.
 *
 * A slow handler delays nobody else. Past its limit its backlog holds one entry per object: what happened
 * in between is left out, the final state never is.
 */
#ifndef KI_HANDLER_H
#define KI_HANDLER_H

#include <kinformer/change.h>
#include <kinformer/common.h>
#include <kinformer/object.h>

KI_EXTERN_C_BEGIN

/** Flags of an event. */
#define KI_EVENT_INITIAL (1U << 0)  /* the object was there when the handler came, or in the first list */
#define KI_EVENT_RESYNC (1U << 1)   /* nothing has changed: the periodic reminder that was asked for */
#define KI_EVENT_REPLACED (1U << 2) /* an update to another object of the same name: the UID differs */
#define KI_EVENT_FINAL_STATE_UNKNOWN                                                                         \
    (1U << 3)                        /* nobody saw the delete: `object` is the last that was known */
#define KI_EVENT_COALESCED (1U << 4) /* events before this one were left out; `old` may be missing */

typedef struct ki_event {
    ki_change_type type; /* KI_CHANGE_ADDED, KI_CHANGE_UPDATED or KI_CHANGE_DELETED */
    uint32_t flags;
    const ki_object *object; /* the new state; for a delete the final, or last known, one */
    const ki_object *old;    /* updates only; NULL when it was let go, see KI_EVENT_COALESCED */
} ki_event;

typedef void (*ki_event_cb)(const ki_event *event, void *user);
typedef void (*ki_handler_cb)(void *user);

/** Whether a handler wants to hear of an object. Called on its thread; depends on the object alone. */
typedef int (*ki_filter_cb)(const ki_object *object, void *user);

/** What happens past the limits of a backlog. */
typedef enum ki_overflow {
    KI_OVERFLOW_COALESCE = 0, /* one entry per object */
    /* The informer waits for this handler, and reads no further meanwhile. The limit may be passed by one
     * batch of 256; while it blocks, the store grows old. */
    KI_OVERFLOW_BLOCK,
    KI_OVERFLOW_UNBOUNDED /* the backlog grows, as client-go's does */
} ki_overflow;

/** Every callback may be NULL. Zero means default. */
typedef struct ki_handler {
    ki_event_cb on_add;
    ki_event_cb on_update;
    ki_event_cb on_delete;
    ki_handler_cb on_synced;    /* once, after the last initial add; the informer has synced by then */
    ki_handler_cb on_batch_end; /* after the last of a run of events: commit, reload once */
    ki_handler_cb on_release;   /* once, after the last callback of all: free `user` here */
    ki_filter_cb filter;        /* an object that starts or stops to pass becomes an add or a delete */
    void *user;                 /* handed to every callback */
    const char *name;           /* in metrics; borrowed for the registering. NULL: its number */
    uint64_t resync_ms;         /* how often to be reminded of every object, if the informer has a
                                 * resync_ms; 0: never */
    int overflow;               /* a ki_overflow */
    int split_replaced;         /* 1: a delete and an add instead of an update with KI_EVENT_REPLACED */
    size_t backlog_items_max;   /* 0: 100,000 */
    size_t backlog_bytes_max;   /* 0: 64 MiB, of objects that only the backlog still holds or may hold */
    uint64_t reserved[4];
} ki_handler;

KI_EXTERN_C_END

#endif
