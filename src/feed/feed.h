/* SPDX-License-Identifier: Apache-2.0 */
/* feed - a reflector with a destination of the user, and the jobs that drive it.
 *
 *   From:     the user's calls (any thread), in feed/
 *   To:       reflector/reflector.c (io); the user's callback, store or queue
 *   Locks:    its life's mu. Taken under it, beside what that says: a delta queue's.
 *   Not here: handlers, and a store of its own: informer/informer.h; starting, stopping and freeing:
 *             reflector/life.h.
 *
 * feed.c makes it; feed_run.c has the work of dispatch; feed_apply.c passes each change to the destination.
 */
#ifndef KI_FEED_FEED_H
#define KI_FEED_FEED_H

#include <kinformer/feed.h>

#include "feed/list_buffer.h"
#include "reflector/life.h"

/* Times at which dispatch has work to do, in milliseconds; UINT64_MAX: never. */
typedef struct ki_feed_timers {
    uint64_t resync_ms;
    uint64_t look_ms;  /* check for room; or pop again what was put back */
    uint64_t flush_ms; /* free what readers of the store may have used */
} ki_feed_timers;

/* Counters for its destination; the reflector counts lists and watches. NULL counts nothing. */
typedef struct ki_feed_metrics {
    ki_gauge *queued_items;
    ki_gauge *store_objects;
    ki_gauge *store_bytes;
} ki_feed_metrics;

struct ki_feed {
    ki_life life;
    ki_feed_options options; /* constant; `informer` is in life.setup instead */
    ki_list_buffer buffer;   /* io's: of a store and a queue */
    ki_feed_timers timers;   /* dispatch's, as the next three */
    ki_feed_metrics metrics;
    size_t put_back;           /* keys that `process` has put back, one after the other */
    bool was_synced;           /* and waiting calls were woken */
    _Atomic uint64_t left_out; /* objects that the destination rejects */
    _Atomic bool is_full;      /* io has stopped reading until there is room */
    _Atomic bool has_room;     /* room was reported since the last change */
};

static inline ki_feed *ki_feed_of(const ki_life *life)
{
    return KI_CONTAINER_OF(life, ki_feed, life);
}

/* Whether a store or a queue accepts more; a program with on_change reports room itself. */
bool ki_feed_destination_has_room(ki_feed *feed);

/* Its functions for the stages, and for dispatch. */
extern const ki_life_kind ki_feed_kind;

/* Called by the reflector; `user` is its life. */
int ki_feed_take_change(const ki_change *change, void *user);
void ki_feed_report(const ki_informer_error *error, void *user);
void ki_feed_report_status(void *user);

/* Frees it; on dispatch, from its own job. */
void ki_feed_destroy(ki_feed *feed);

#endif
