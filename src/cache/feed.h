/* SPDX-License-Identifier: Apache-2.0 */
/* feed - a reflector with a destination of the user's, and the jobs that drive it.
 *
 *   From:     the user's calls (any thread); the client's loops
 *   To:       cache/reflector.c (io); the user's callback, store or queue
 *   Locks:    mu, for requests and what is published; no callback runs while it is held. Taken under it: the
 *             client's, a loop's, a delta queue's.
 *   Not here: handlers, and a store of its own: cache/informer.h.
 *
 * feed.c makes it and notes what is wanted; feed_run.c has the jobs that act on it, as those of an informer
 * do; feed_take.c brings each change to the destination.
 */
#ifndef KI_CACHE_FEED_H
#define KI_CACHE_FEED_H

#include <kinformer/feed.h>

#include "cache/client.h"
#include "cache/error_log.h"
#include "cache/gathered.h"
#include "cache/informer_metrics.h"
#include "cache/informer_options.h"
#include "cache/reflector.h"
#include "cache/stage.h"

/* When dispatch has something to do by the clock, in milliseconds; UINT64_MAX: never. */
typedef struct ki_feed_timers {
    uint64_t resync_ms;
    uint64_t look_ms;  /* whether there is room; or pop again what was put back */
    uint64_t flush_ms; /* let go of what readers of the store may have looked at */
} ki_feed_timers;

struct ki_feed {
    ki_client *client; /* constant, as all up to mu, or the business of one job */
    ki_client_user alive;
    ki_resource *resource;
    ki_feed_options options; /* but for `informer`, which is in setup */
    ki_informer_setup setup;
    ki_informer_metrics metrics;
    ki_object_plan *plan;
    ki_job io_job;
    ki_job dispatch_job;
    ki_reflector reflector; /* io's, as the next three */
    ki_error_log errors;
    ki_gathered gathered;      /* of a store and a queue */
    bool owes_list;            /* a stop has swallowed the end of one */
    ki_feed_timers timers;     /* dispatch's, as the next two */
    size_t put_back;           /* keys that `process` has put back, one after the other */
    bool was_synced;           /* and who waits for that was told */
    _Atomic uint64_t left_out; /* objects that the destination cannot take */
    _Atomic bool is_full;      /* io has stopped reading until there is room */
    _Atomic bool has_room;     /* someone has said so since the last change */
    _Atomic bool is_synced;    /* the first list has ended; changed under mu, as the next */
    _Atomic bool must_halt;    /* a stop was asked for: nothing is taken or processed before it begins anew */
    _Atomic bool dispatch_is_due; /* its job has been woken and has not begun yet */
    ki_mutex mu;
    ki_cond changed;
    ki_stage stage;     /* guarded by mu, as all below */
    bool is_wanted;     /* to run */
    bool stop_is_asked; /* or a free, and no start since: who waits waits in vain */
    bool is_freed;
    bool retry_is_asked;
    bool begin_is_asked;         /* of io */
    ki_resource_version version; /* received, and taken by the destination */
};

/* Wakes dispatch, unless it is on its way. Any thread. */
void ki_feed_wake_dispatch(ki_feed *feed);

/* Whether a store or a queue takes more; who has a callback of its own says so by itself. */
bool ki_feed_destination_has_room(ki_feed *feed);

/* The jobs. */
void ki_feed_run_io(ki_job *job);
void ki_feed_run_dispatch(ki_job *job);

/* What the reflector calls. */
int ki_feed_take_change(const ki_change *change, void *user);
void ki_feed_report(const ki_watch_error *error, void *user);
void ki_feed_schedule_io(uint64_t due_ns, void *user);

/* Frees it; on dispatch, from its own job. */
void ki_feed_destroy(ki_feed *feed);

#endif
