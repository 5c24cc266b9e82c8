/* SPDX-License-Identifier: Apache-2.0 */
/* feed - a reflector whose destination the user chooses, and the jobs that drive it.
 *
 *   From:     the user's calls (any thread), in feed/
 *   To:       reflector/reflector.c (io); the user's callback, store or queue
 *   Locks:    mu of its life. Taken under it, in addition to those of the life: a delta queue's.
 *   Not here: handlers, and a store of its own: informer/informer.h; starting, stopping and freeing:
 *             reflector/life.h.
 *
 * feed.c makes a feed, feed_run.c does the work of dispatch,
 * and feed_apply.c passes each change to the destination.
 */
#ifndef KI_FEED_FEED_H
#define KI_FEED_FEED_H

#include <kinformer/feed.h>

#include "feed/list_buffer.h"
#include "reflector/life.h"

/* Times at which dispatch has work to do, in milliseconds; UINT64_MAX: never. */
typedef struct ki_feed_timers {
    uint64_t resync_ms;
    uint64_t look_ms;  /* check for space, or pop keys again that were put back */
    uint64_t flush_ms; /* free memory that readers of the store may have used */
} ki_feed_timers;

/* Metrics of the destination; the reflector counts lists and watches. Members that are NULL count nothing. */
typedef struct ki_feed_metrics {
    ki_gauge *queued_items;
    ki_gauge *store_objects;
    ki_gauge *store_bytes;
} ki_feed_metrics;

struct ki_feed {
    ki_life life;
    ki_feed_options options; /* constant; `informer` is zeroed, since its options are in life.setup */
    ki_list_buffer buffer;   /* used on io only, if the destination is a store or a queue */
    ki_feed_timers timers;   /* used on dispatch only, like the next three */
    ki_feed_metrics metrics;
    size_t put_back;           /* number of keys in a row that `process` has put back */
    bool was_synced;           /* the feed is synced, and waiting calls were woken */
    _Atomic uint64_t left_out; /* number of objects that the destination has rejected */
    _Atomic bool is_full;      /* io has stopped reading until there is space */
    _Atomic bool has_space;    /* space was reported since the last change */
};

static inline ki_feed *ki_feed_of(const ki_life *life)
{
    return KI_CONTAINER_OF(life, ki_feed, life);
}

/* Whether a store or a queue accepts more; a program with on_change reports space itself. */
bool ki_feed_destination_has_space(ki_feed *feed);

/* The functions of a feed for its life. */
extern const ki_life_kind ki_feed_kind;

/* The reflector's callbacks; `user` is the life of the feed. */
int ki_feed_take_change(const ki_change *change, void *user);
void ki_feed_report(const ki_informer_error *error, void *user);
void ki_feed_report_status(void *user);

/* Frees the feed. Runs on dispatch, in the feed's own job. */
void ki_feed_destroy(ki_feed *feed);

#endif
