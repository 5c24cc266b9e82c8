/* SPDX-License-Identifier: Apache-2.0 */
/* informer - one collection: its reflector, queue, store and handlers, and the jobs that move changes between
 * them.
 *
 *   From:     the user's calls (any thread), in informer/; controller/controller_watch.c (the name); by
 *             callback, reflector/reflector_give.c and reflector/reflector_status.c (what the reflector
 *             reports), reflector/life.c (the jobs)
 *   To:       reflector/reflector.c (io), informer/apply.c (dispatch), informer/registration.c (handler)
 *   Locks:    mu of its life. paths_mu is taken before it. Taken under it, in addition to those of the life:
 *             a listener's, the DeltaFIFO's.
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
    uint64_t flush_ms;  /* free memory that readers may have used, and spare entries */
    uint64_t space_ms;  /* check whether read sections have ended, and continue */
    uint64_t short_ms;  /* not a timer: when dispatch ran out of memory; UINT64_MAX: it has not */
} ki_informer_timers;

#define KI_INFORMER_SHORT_TEXT "out of memory: changes wait and are not in the store yet"

struct ki_informer {
    ki_life life;             /* its mu is the mutex of "guarded by mu" */
    ki_informer_options used; /* the options of life.setup, with changes by setters; constant once started */
    ki_store *store;          /* constant */
    ki_delta_fifo fifo;
    size_t pushed;              /* number of changes since dispatch was last woken; used on io only, like the
                                 * next three */
    ki_deferred end_of_changes; /* wakes dispatch at the end of a job on io */
    bool has_told_synced;       /* the status handler knows that the informer is synced */
    bool has_told_short;        /* status and error handler know that dispatch is out of memory */
    ki_apply apply;             /* used on dispatch only, like the next five */
    ki_fanout fanout;
    ki_mutation_detector detector;
    ki_informer_timers timers;
    ki_informer_metrics metrics;
    uint64_t index_failures;      /* the number that has been added to the metrics */
    ki_mutex paths_mu;            /* whenever it is free, the plan and the store have the same projection */
    _Atomic uint64_t last_serial; /* of the newest registration */
    _Atomic bool is_queue_full;   /* io has stopped reading until there is space */
    _Atomic bool is_blocked;      /* dispatch waits for a handler with KI_OVERFLOW_BLOCK */
    _Atomic bool is_short;        /* dispatch has been out of memory for some time: changes wait */
    bool is_abandoned; /* guarded by mu, like all members below; the last waiting call will free the
                        * informer */
    size_t callbacks;  /* number of handlers that are being called */
    uint64_t check_ms; /* the interval of checks for resyncs */
    ki_list registrations;
    ki_list releases; /* from ki_informer_add_release() */
    ki_informer_error_cb on_error;
    void *error_user;
    ki_informer_status_cb on_status;
    void *status_user;
};

static inline ki_informer *ki_informer_of(const ki_life *life)
{
    return KI_CONTAINER_OF(life, ki_informer, life);
}

/* Requests a final stop: waiting calls return, and the caller of the last one frees the informer. */
void ki_informer_abandon(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* Whether it has a handler that has not been removed. */
bool ki_informer_has_handlers(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* The functions of an informer for its life. */
extern const ki_life_kind ki_informer_kind;

/* The reflector's callbacks; `user` is the life of the informer. */
int ki_informer_take_change(const ki_change *change, void *user);
void ki_informer_report(const ki_informer_error *error, void *user);
void ki_informer_report_status(void *user);

/* Adds the age of the store to the metrics. */
void ki_informer_follow_age(ki_informer *informer);

/* Frees the informer. Runs on dispatch, in the informer's own job. */
void ki_informer_destroy(ki_informer *informer);

#endif
