/* SPDX-License-Identifier: Apache-2.0 */
/* fanout - sends one notification to every handler of an informer.
 *
 *   From:     informer/apply.c, informer/apply_held.c and informer/apply_markers.c (dispatch: notifications),
 *             informer/informer_run.c (resyncs), informer/informer.c, informer/registration.c (handlers join
 *             and leave)
 *   To:       informer/registration.c (queues the events of a handler, and wakes the job that delivers them),
 *             handler/listener.c (initial adds; whether it is past its limit)
 *   Locks:    none of its own; everything runs on dispatch. A listener's is taken when its events are handed
 *             over, and by ki_fanout_is_blocked().
 *   Not here: calling handlers; registering them.
 *
 * Entries for the backlogs are allocated before a change is applied, so that notifying cannot fail. The
 * events of a batch are collected and handed over at its end, so that each handler's lock is taken once and
 * its job is woken once.
 */
#ifndef KI_HANDLER_FANOUT_H
#define KI_HANDLER_FANOUT_H

#include <stdbool.h>

#include "handler/listener.h"
#include "handler/resync.h"
#include "store/store.h"

/* One handler of the informer; embedded in its registration. */
typedef struct ki_subscriber {
    ki_list_node node;
    ki_listener listener;
    ki_resync_turn resync;
    ki_list staged;             /* events of this batch */
    ki_backlog_entry *reserved; /* the entry for the next event */
    bool is_told_synced;
} ki_subscriber;

typedef struct ki_fanout {
    ki_list subscribers;
    bool is_resyncing; /* until the resync ends, even if all handlers that take part have been removed */
    void (*push)(ki_subscriber *subscriber, ki_list *entries); /* queues the entries and wakes the handler's
                                                                * job */
} ki_fanout;

/* `push` takes the entries. After a join the list may be empty; it still wakes the job, since there may be
 * initial adds to deliver. */
void ki_fanout_init(ki_fanout *fanout, void (*push)(ki_subscriber *subscriber, ki_list *entries));

/* Adds a subscriber. It gets every object in the store as an add and, if the store is synced, the marker
 * SYNCED. Returns 0, or KI_ERR_NO_MEMORY; then it was not added. */
KI_NODISCARD int ki_fanout_join(ki_fanout *fanout, ki_subscriber *subscriber, ki_store *store,
                                bool is_synced);

/* Removes a subscriber. A subscriber that was not added is allowed. */
void ki_fanout_leave(ki_subscriber *subscriber);

/* The receivers of a notification. */
typedef enum ki_audience { KI_TO_ALL = 0, KI_TO_RESYNCING } ki_audience;

/* Reserves memory for one notification. Returns 0 or KI_ERR_NO_MEMORY. A reservation that is not used is kept
 * for the next notification. */
KI_NODISCARD int ki_fanout_reserve(ki_fanout *fanout, ki_audience audience);

/* Notifies the audience, for which ki_fanout_reserve() was called. Borrows the objects. */
void ki_fanout_tell(ki_fanout *fanout, ki_audience audience, const ki_notification *notification);

/* Sends SYNCED to every subscriber to which it was not sent yet.
 * Returns 0, or KI_ERR_NO_MEMORY; then call it again. */
KI_NODISCARD int ki_fanout_tell_synced(ki_fanout *fanout);

/* Finds the handlers that are due for a resync, and returns their number. Returns 0 while the last resync has
 * not ended, since a handler that joined it would get only the rest of the objects. */
size_t ki_fanout_begin_resync(ki_fanout *fanout, uint64_t now_ms);

/* The resync has ended. */
void ki_fanout_end_resync(ki_fanout *fanout);

/* Hands the collected events over to the handlers' backlogs. */
void ki_fanout_flush(ki_fanout *fanout);

/* Whether a handler with KI_OVERFLOW_BLOCK is past its limit.
 * Then do not continue before it has caught up. */
bool ki_fanout_is_blocked(ki_fanout *fanout);

#endif
