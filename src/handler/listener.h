/* SPDX-License-Identifier: Apache-2.0 */
/* listener - the backlog of one handler, and the calls of its callbacks.
 *
 *   From:     handler/fanout.c    (dispatch pushes)
 *   To:       the user's callbacks  (handler runs them)
 *   Locks:    one mutex, a leaf; no callback runs while it is held.
 *   Not here: threads; which events there are; their order, limits and merging (handler/backlog.h).
 */
#ifndef KI_HANDLER_LISTENER_H
#define KI_HANDLER_LISTENER_H

#include <stdatomic.h>

#include "handler/backlog.h"
#include "metrics/metrics.h"
#include "util/annotations.h"
#include "util/clock.h"
#include "util/thread.h"

/* A snapshot for status and metrics. */
typedef struct ki_listener_stats {
    size_t items;
    size_t bytes;
    size_t items_high_water;
    uint64_t coalesced;  /* notifications merged into another */
    uint64_t delivered;  /* events processed, including those that the filter dropped */
    uint64_t handler_ns; /* spent in them */
} ki_listener_stats;

typedef struct ki_listener {
    ki_handler handler;     /* constant */
    const ki_clock *clock;  /* constant */
    ki_histogram *duration; /* of callbacks; constant; NULL: not measured */
    ki_mutex mu;
    ki_backlog backlog; /* guarded by mu, as the next two */
    int is_closed;      /* removed: nothing more is delivered */
    int is_synced;
    /* Used by the thread that delivers; others read the first two, for the stats. */
    _Atomic uint64_t delivered;
    _Atomic uint64_t handler_ns;
    int in_batch;     /* an event was delivered since the last on_batch_end */
    uint64_t last_ns; /* when the last callback of this batch returned; 0: there was none */
} ki_listener;

/* Returns 0 or KI_ERR_SYSTEM. `hash_seed` 0: random. */
KI_NODISCARD int ki_listener_init(ki_listener *listener, const ki_handler *handler, const ki_clock *clock,
                                  uint64_t hash_seed);

/* Drops the backlog; calls no callback. */
void ki_listener_fini(ki_listener *listener);

/* Queues the initial adds, before anything else: one for each object, as ki_backlog_begin(). Takes them. */
void ki_listener_begin(ki_listener *listener, ki_object_list *objects, size_t bytes)
    KI_EXCLUDES(listener->mu);

/* Queues all of a list, in order: events, or the marker SYNCED (type 0). Takes the entries. */
void ki_listener_push_all(ki_listener *listener, ki_list *entries) KI_EXCLUDES(listener->mu);

/* Whether a BLOCK handler is past its limit, so that nothing more should be pushed now. */
int ki_listener_blocks(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Delivers the first entry, on the calling thread, which is the only one to deliver for this listener.
 * Returns false when there was none; then on_batch_end is called. */
bool ki_listener_deliver(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Nothing more is queued or delivered; a running callback continues. The next functions drop what waits. */
void ki_listener_close(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Takes everything that waits, for the caller to ki_backlog_clear() without a lock, since that may take
 * long. */
void ki_listener_take_rest(ki_listener *listener, ki_backlog *out_rest) KI_EXCLUDES(listener->mu);

/* Both at once, for a caller without locks. */
void ki_listener_drop_rest(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Calls on_batch_end if an event was delivered since the last: on the thread that delivers. */
void ki_listener_end_batch(ki_listener *listener) KI_EXCLUDES(listener->mu);

int ki_listener_has_synced(ki_listener *listener) KI_EXCLUDES(listener->mu);
ki_listener_stats ki_listener_read_stats(ki_listener *listener) KI_EXCLUDES(listener->mu);

#endif
