/* SPDX-License-Identifier: Apache-2.0 */
/* fanout - one notification to every handler of an informer.
 *
 *   From:     informer/apply.c    (dispatch)
 *   To:       handler/listener.c (each handler's backlog)
 *   Locks:    none of its own; all is dispatch's. A listener's is taken when its events are handed over.
 *   Not here: calling handlers; who may register when.
 *
 * Places in the backlogs are reserved before a change is made, so that telling of it cannot fail. What a
 * batch has to tell is gathered and handed over at its end: one lock and one wake for each handler.
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
    bool is_resyncing;                       /* also when all who are to be reminded have left */
    void (*wake)(ki_subscriber *subscriber); /* it has something to deliver */
} ki_fanout;

void ki_fanout_init(ki_fanout *fanout, void (*wake)(ki_subscriber *subscriber));

/* A subscriber joins: it gets everything in the store as adds and, if the store is synced, the marker SYNCED.
 * Returns 0 or KI_ERR_NO_MEMORY: then it has not joined. */
KI_NODISCARD int ki_fanout_join(ki_fanout *fanout, ki_subscriber *subscriber, ki_store *store,
                                bool is_synced);

/* It leaves; takes one that has not joined. */
void ki_fanout_leave(ki_subscriber *subscriber);

/* Whom a notification is for. */
typedef enum ki_audience { KI_TO_ALL = 0, KI_TO_RESYNCING } ki_audience;

/* Makes room for one notification. Returns 0 or KI_ERR_NO_MEMORY. What was reserved and not used is used
 * next time. */
KI_NODISCARD int ki_fanout_reserve(ki_fanout *fanout, ki_audience audience);

/* Tells of something, after a reserve for the same audience. Borrows the objects. */
void ki_fanout_tell(ki_fanout *fanout, ki_audience audience, const ki_notification *notification);

/* Tells everyone who has not been told that the store is synced. Returns 0 or KI_ERR_NO_MEMORY, to be called
 * again. */
KI_NODISCARD int ki_fanout_tell_synced(ki_fanout *fanout);

/* Looks who is to be reminded of every object now. Returns how many; 0 also while the last time is not over:
 * who joined it then would hear of the rest only. */
size_t ki_fanout_begin_resync(ki_fanout *fanout, uint64_t now_ms);

/* Everyone who was to be reminded has been. */
void ki_fanout_end_resync(ki_fanout *fanout);

/* Hands over what was gathered. */
void ki_fanout_flush(ki_fanout *fanout);

/* A handler with KI_OVERFLOW_BLOCK is past its limit: do not go on before it has caught up. */
bool ki_fanout_is_blocked(ki_fanout *fanout);

#endif
