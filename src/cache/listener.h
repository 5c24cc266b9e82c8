/* SPDX-License-Identifier: Apache-2.0 */
/* listener - the bounded backlog of one handler, and the calling of it.
 *
 *   From:     cache/fanout.c    (dispatch pushes)
 *   To:       the user's callbacks  (handler runs them)
 *   Locks:    one mutex, a leaf; no callback runs while it is held.
 *   Not here: threads; which events there are.
 *
 * Below its limits the backlog is a plain queue. Past them, and until it has shrunk to half, there is one
 * entry per key: an event joins the entry that its key already has, in that entry's place, and what comes
 * of the two is decided by whether the handler knows the object and by how things stand in the end
 * (ki_notification_merge).
 */
#ifndef KI_CACHE_LISTENER_H
#define KI_CACHE_LISTENER_H

#include <kinformer/handler.h>

#include "metrics/metrics.h"
#include "util/annotations.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"
#include "util/thread.h"

/* One event on its way, with its references. */
typedef struct ki_notification {
    ki_event_type type; /* 0: the marker SYNCED */
    uint32_t flags;     /* KI_EVENT_REPLACED at a delete: the object that the handler knows was another one */
    ki_object *object;
    ki_object
        *old; /* what the handler knows before the event: of updates and deletes; NULL when it was let go */
} ki_notification;

/* Joins two notifications of one key, in order. Takes both and returns what is left of them; type 0:
 * nothing. */
ki_notification ki_notification_merge(ki_notification first, ki_notification second);

/* Drops the references. */
void ki_notification_fini(ki_notification *notification);

/* A place in a backlog. Made before a change is applied, so that delivering it cannot fail afterwards. */
typedef struct ki_backlog_entry {
    ki_list_node node;
    ki_map_node by_key; /* while the backlog coalesces */
    ki_notification what;
    size_t bytes;
} ki_backlog_entry;

/* NULL when memory is out. */
KI_NODISCARD ki_backlog_entry *ki_backlog_entry_new(void);

/* Drops what is in it. Takes NULL. */
void ki_backlog_entry_free(ki_backlog_entry *entry);

/* Frees a list of them, and leaves it empty. */
void ki_backlog_entries_free(ki_list *entries);

/* A snapshot for status and metrics. */
typedef struct ki_listener_stats {
    size_t items;
    size_t bytes;
    size_t items_high_water;
    uint64_t coalesced;  /* notifications that joined another */
    uint64_t delivered;  /* events that were dealt with, also those that a filter did not let through */
    uint64_t handler_ns; /* spent in them */
} ki_listener_stats;

typedef struct ki_listener {
    ki_handler handler;     /* constant */
    const ki_clock *clock;  /* constant */
    ki_histogram *duration; /* of callbacks; constant; NULL: not measured */
    ki_hash_key hash_key;   /* constant */
    ki_mutex mu;
    ki_list queue; /* guarded by mu, as all below */
    ki_map by_key; /* of the entries, while is_coalescing */
    int is_coalescing;
    int is_closed; /* removed: nothing more is delivered */
    int is_synced;
    ki_listener_stats stats;
    int in_batch; /* an event was delivered since the last on_batch_end; of the thread that delivers */
} ki_listener;

/* Returns 0 or KI_ERR_SYSTEM. `hash_seed` 0: random. */
KI_NODISCARD int ki_listener_init(ki_listener *listener, const ki_handler *handler, const ki_clock *clock,
                                  uint64_t hash_seed);

/* Drops the backlog; calls nobody. */
void ki_listener_fini(ki_listener *listener);

/* Queues entry->what, or the marker SYNCED (type 0). Takes the entry. */
void ki_listener_push(ki_listener *listener, ki_backlog_entry *entry) KI_EXCLUDES(listener->mu);

/* Queues what the handler begins with, before anything else is: at most one entry per key, and the marker. Takes
 * the entries. */
void ki_listener_begin(ki_listener *listener, ki_list *entries) KI_EXCLUDES(listener->mu);

/* Queues all of a list, in order. Takes the entries. */
void ki_listener_push_all(ki_listener *listener, ki_list *entries) KI_EXCLUDES(listener->mu);

/* Whether a BLOCK handler is past its limit, so that nothing more should be pushed now. */
int ki_listener_blocks(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Delivers up to `max` entries, on the calling thread, which is the only one to deliver for this listener.
 * Returns how many were taken off the backlog. When it is empty then, on_batch_end is called. */
size_t ki_listener_deliver(ki_listener *listener, size_t max) KI_EXCLUDES(listener->mu);

/* Whether there is something to deliver. */
int ki_listener_is_waiting(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Nothing more is delivered, what waits is dropped; a callback that runs goes on. */
void ki_listener_close(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Calls on_batch_end if an event was delivered since the last: on the thread that delivers. */
void ki_listener_end_batch(ki_listener *listener) KI_EXCLUDES(listener->mu);

int ki_listener_has_synced(ki_listener *listener) KI_EXCLUDES(listener->mu);
ki_listener_stats ki_listener_read_stats(ki_listener *listener) KI_EXCLUDES(listener->mu);

#endif
