/* SPDX-License-Identifier: Apache-2.0 */
/* informer - one collection: its reflector, queue, store and handlers, and the jobs that move changes between
 * them.
 *
 *   From:     the user's calls (any thread), in informer/
 *   To:       reflector/reflector.c (io), informer/apply.c (dispatch), informer/registration.c (handler)
 *   Locks:    its life's mu. paths_mu is taken before it. Taken under it, beside what that says: a
 *             listener's, a delta queue's.
 *   Not here: what each part does; starting, stopping and freeing: reflector/life.h.
 */
#ifndef KI_INFORMER_INFORMER_H
#define KI_INFORMER_INFORMER_H

#include <kinformer/informer.h>

#include "informer/apply.h"
#include "informer/informer_metrics.h"
#include "reflector/life.h"

/* Times at which dispatch has work to do, in milliseconds; UINT64_MAX: never. */
typedef struct ki_informer_timers {
    uint64_t resync_ms; /* check for handlers that are due for a resync */
    uint64_t detect_ms; /* check for mutations */
    uint64_t retry_ms;  /* retry after running out of memory */
    uint64_t flush_ms;  /* free what readers may have used */
    uint64_t room_ms;   /* continue, if read sections have ended */
} ki_informer_timers;

struct ki_informer {
    ki_life life;             /* its mu guards all members marked "guarded by mu" */
    ki_informer_options used; /* the options of life.setup, with later changes; constant once started */
    ki_store *store;          /* constant */
    ki_delta_fifo fifo;
    size_t pushed;              /* since dispatch was last woken for it; io's, as the next two */
    ki_deferred end_of_changes; /* wakes dispatch */
    bool has_told_synced;       /* to the status handler */
    ki_apply apply;             /* dispatch's, as the next five */
    ki_fanout fanout;
    ki_mutation_detector detector;
    ki_informer_timers timers;
    ki_informer_metrics metrics;
    uint64_t index_failures;      /* that were counted */
    ki_mutex paths_mu;            /* the plan and the store have the same projection while it is free */
    _Atomic uint64_t last_serial; /* of registrations */
    _Atomic bool is_queue_full;   /* io has stopped reading until there is room */
    _Atomic bool is_blocked;      /* dispatch waits for a handler with KI_OVERFLOW_BLOCK */
    bool is_abandoned; /* guarded by mu, like all below: to be freed when no call waits for it any more */
    size_t callbacks;  /* handlers that are being called */
    uint64_t check_ms; /* of resyncs */
    ki_list registrations;
    ki_list releases; /* of ki_informer_add_release() */
    ki_informer_error_cb on_error;
    void *error_user;
    ki_informer_status_cb on_status;
    void *status_user;
};

static inline ki_informer *ki_informer_of(const ki_life *life)
{
    return KI_CONTAINER_OF(life, ki_informer, life);
}

/* Requests a final stop: waiting calls end, and the last one frees it. */
void ki_informer_abandon(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* Whether it has a handler that has not been removed. */
bool ki_informer_has_handlers(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* Its functions for the stages, and for dispatch. */
extern const ki_life_kind ki_informer_kind;

/* Called by the reflector; `user` is its life. */
int ki_informer_take_change(const ki_change *change, void *user);
void ki_informer_report(const ki_informer_error *error, void *user);
void ki_informer_report_status(void *user);

/* Adds its age to the metrics. */
void ki_informer_follow_age(ki_informer *informer);

/* Frees it; on dispatch, from its own job. */
void ki_informer_destroy(ki_informer *informer);

#endif
