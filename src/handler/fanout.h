/* SPDX-License-Identifier: Apache-2.0 */
/* fanout - one notification to every handler of an informer.
 *
 *   From:     informer/apply.c    (dispatch)
 *   To:       handler/listener.c (each handler's backlog)
 *   Locks:    none of its own; everything runs on dispatch. A listener's is taken when its events are handed
 *             over.
 *   Not here: calling handlers; registering them.
 *
 * Entries for the backlogs are allocated before a change is made, so that notifying cannot fail. The events
 * of a batch are collected and handed over at its end: one lock and one wake for each handler.
 */
#ifndef KI_HANDLER_FANOUT_H
#define KI_HANDLER_FANOUT_H

#include <stdbool.h>

#include "handler/listener.h"
#include "handler/resync.h"
#include "store/store.h"

/* One handler among the others; embedded in its registration. */
typedef struct ki_subscriber {
    ki_list_node node;
    ki_listener listener;
    ki_resync_turn resync;
    ki_list staged;             /* events of this batch */
    ki_backlog_entry *reserved; /* for the next event */
    bool is_told_synced;
} ki_subscriber;

typedef struct ki_fanout {
    ki_list subscribers;
    bool is_resyncing;                       /* also when all handlers that take part have been removed */
    void (*wake)(ki_subscriber *subscriber); /* it has something to deliver */
} ki_fanout;

void ki_fanout_init(ki_fanout *fanout, void (*wake)(ki_subscriber *subscriber));

/* Adds a subscriber: it gets every object in the store as an add and, if the store is synced, the marker
 * SYNCED. Returns 0, or KI_ERR_NO_MEMORY: then it was not added. */
KI_NODISCARD int ki_fanout_join(ki_fanout *fanout, ki_subscriber *subscriber, ki_store *store,
                                bool is_synced);

/* Removes a subscriber; one that was not added is allowed. */
void ki_fanout_leave(ki_subscriber *subscriber);

/* The receivers of a notification. */
typedef enum ki_audience { KI_TO_ALL = 0, KI_TO_RESYNCING } ki_audience;

/* Reserves memory for one notification. Returns 0 or KI_ERR_NO_MEMORY. Unused reservations are used next
 * time. */
KI_NODISCARD int ki_fanout_reserve(ki_fanout *fanout, ki_audience audience);

/* Notifies, after a reserve for the same audience. Borrows the objects. */
void ki_fanout_tell(ki_fanout *fanout, ki_audience audience, const ki_notification *notification);

/* Sends SYNCED to every subscriber that has not received it. Returns 0, or KI_ERR_NO_MEMORY: call it
 * again. */
KI_NODISCARD int ki_fanout_tell_synced(ki_fanout *fanout);

/* Finds the handlers that are due for a resync. Returns how many; 0 also while the last resync has not ended:
 * a handler that joined it would get only the rest. */
size_t ki_fanout_begin_resync(ki_fanout *fanout, uint64_t now_ms);

/* The resync has ended. */
void ki_fanout_end_resync(ki_fanout *fanout);

/* Hands over the collected events. */
void ki_fanout_flush(ki_fanout *fanout);

/* Whether a handler with KI_OVERFLOW_BLOCK is past its limit: do not continue before it has caught up. */
bool ki_fanout_is_blocked(ki_fanout *fanout);

#endif
