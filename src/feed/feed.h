/* SPDX-License-Identifier: Apache-2.0 */
/* feed - a reflector with a destination of the user's, and the jobs that drive it.
 *
 *   From:     the user's calls (any thread), in feed/
 *   To:       reflector/reflector.c (io); the user's callback, store or queue
 *   Locks:    its life's mu. Taken under it, beside what that says: a delta queue's.
 *   Not here: handlers, and a store of its own: informer/informer.h; starting, stopping and freeing:
 *             reflector/life.h.
 *
 * feed.c makes it; feed_run.c has what dispatch does; feed_take.c brings each change to the destination.
 */
#ifndef KI_FEED_FEED_H
#define KI_FEED_FEED_H

#include <kinformer/feed.h>

#include "feed/list_buffer.h"
#include "reflector/life.h"

/* When dispatch has something to do by the clock, in milliseconds; UINT64_MAX: never. */
typedef struct ki_feed_timers {
    uint64_t resync_ms;
    uint64_t look_ms;  /* whether there is room; or pop again what was put back */
    uint64_t flush_ms; /* let go of what readers of the store may have looked at */
} ki_feed_timers;

/* What is counted of its destination; lists and watches are the reflector's. NULL counts nothing. */
typedef struct ki_feed_metrics {
    ki_gauge *queued_items;
    ki_gauge *store_objects;
    ki_gauge *store_bytes;
} ki_feed_metrics;

struct ki_feed {
    ki_life life;
    ki_feed_options options; /* constant; but for `informer`, which is in life.setup */
    ki_list_buffer buffer;   /* io's: of a store and a queue */
    ki_feed_timers timers;   /* dispatch's, as the next three */
    ki_feed_metrics metrics;
    size_t put_back;           /* keys that `process` has put back, one after the other */
    bool was_synced;           /* and who waits for that was told */
    _Atomic uint64_t left_out; /* objects that the destination cannot take */
    _Atomic bool is_full;      /* io has stopped reading until there is room */
    _Atomic bool has_room;     /* someone has said so since the last change */
};

static inline ki_feed *ki_feed_of(const ki_life *life)
{
    return KI_CONTAINER_OF(life, ki_feed, life);
}

/* Whether a store or a queue takes more; who has a callback of its own says so by itself. */
bool ki_feed_destination_has_room(ki_feed *feed);

/* What the stages are to it, and the run of dispatch. */
extern const ki_life_kind ki_feed_kind;

/* What the reflector calls; `user` is its life. */
int ki_feed_take_change(const ki_change *change, void *user);
void ki_feed_report(const ki_watch_error *error, void *user);
void ki_feed_report_status(void *user);

/* Frees it; on dispatch, from its own job. */
void ki_feed_destroy(ki_feed *feed);

#endif
