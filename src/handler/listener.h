/* SPDX-License-Identifier: Apache-2.0 */
/* listener - the backlog of one handler, and the calls of its callbacks.
 *
 *   From:     informer/registration.c (dispatch pushes; the handler's job delivers), handler/fanout.c
 *             (dispatch: initial adds, limits); also informer/registration_leave.c
 *   To:       handler/backlog.c (what waits); the user's callbacks or those of
 *             controller/controller_watch.c (handler runs them)
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
    uint64_t coalesced;  /* number of notifications that were merged into another */
    uint64_t delivered;  /* number of events processed, including those that the filter dropped */
    uint64_t handler_ns; /* time spent on these events and on SYNCED */
} ki_listener_stats;

typedef struct ki_listener {
    ki_handler handler;     /* constant */
    const ki_clock *clock;  /* constant */
    ki_histogram *duration; /* of callbacks; constant after the set-up; NULL: not measured */
    ki_mutex mu;
    ki_backlog backlog; /* guarded by mu, like is_closed and is_synced */
    int is_closed;      /* the handler was removed: nothing more is delivered */
    int is_synced;
    /* Used by the thread that delivers. Other threads read the first two for the stats. */
    _Atomic uint64_t delivered;
    _Atomic uint64_t handler_ns;
    int in_batch;     /* an event was delivered since the last on_batch_end */
    uint64_t last_ns; /* when the last callback of this batch returned; 0: no callback yet */
} ki_listener;

/* Returns 0 or KI_ERR_SYSTEM. If `hash_seed` is 0, the hash key is random. */
KI_NODISCARD int ki_listener_init(ki_listener *listener, const ki_handler *handler, const ki_clock *clock,
                                  uint64_t hash_seed);

/* Drops the backlog; calls no callback. */
void ki_listener_fini(ki_listener *listener);

/* Queues the initial adds, one for each object, as ki_backlog_begin() does. Call it before anything else is
 * queued. Takes the objects. */
void ki_listener_begin(ki_listener *listener, ki_object_list *objects, size_t bytes)
    KI_EXCLUDES(listener->mu);

/* Queues all entries of a list, in order: events, or the marker SYNCED (type 0). Takes the entries. */
void ki_listener_push_all(ki_listener *listener, ki_list *entries) KI_EXCLUDES(listener->mu);

/* Whether a BLOCK handler is past its limit, so that nothing more should be pushed now. */
int ki_listener_blocks(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Delivers the first entry on the calling thread. Only one thread may deliver for a listener at a time. If
 * there is no entry, ends the batch and returns false. */
bool ki_listener_deliver(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Nothing more is queued or delivered after this; a running callback continues. The backlog stays until
 * ki_listener_take_rest() or ki_listener_drop_rest(). */
void ki_listener_close(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Moves the backlog to `out_rest`. The caller calls ki_backlog_clear() for it without a lock,
 * since that may take long. */
void ki_listener_take_rest(ki_listener *listener, ki_backlog *out_rest) KI_EXCLUDES(listener->mu);

/* Takes and clears the backlog, for a caller that holds no lock. */
void ki_listener_drop_rest(ki_listener *listener) KI_EXCLUDES(listener->mu);

/* Calls on_batch_end if an event has been delivered since its last call. Only on the thread that delivers. */
void ki_listener_end_batch(ki_listener *listener) KI_EXCLUDES(listener->mu);

int ki_listener_has_synced(ki_listener *listener) KI_EXCLUDES(listener->mu);
ki_listener_stats ki_listener_read_stats(ki_listener *listener) KI_EXCLUDES(listener->mu);

#endif
