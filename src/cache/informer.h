/* SPDX-License-Identifier: Apache-2.0 */
/* informer - one collection: its reflector, queue, store and handlers, and the jobs that move things between
 * them.
 *
 *   From:     the user's calls (any thread); the client's loops
 *   To:       cache/reflector.c (io), cache/apply.c (dispatch), cache/registration.c (handler)
 *   Locks:    mu, for requests and what is published; no callback runs while it is held. Taken under it: the
 *             client's, a loop's, a listener's.
 *   Not here: what each part does.
 *
 * Whoever wants something notes it under mu and wakes a job. Only the jobs act: io_job on the reflector,
 * dispatch_job on queue, store and registrations.
 */
#ifndef KI_CACHE_INFORMER_H
#define KI_CACHE_INFORMER_H

#include <kinformer/informer.h>

#include "cache/apply.h"
#include "cache/client.h"
#include "cache/error_log.h"
#include "cache/informer_metrics.h"
#include "cache/informer_options.h"
#include "cache/reflector.h"
#include "cache/stage.h"

/* When dispatch has something to do by the clock, in milliseconds; UINT64_MAX: never. */
typedef struct ki_informer_timers {
    uint64_t resync_ms; /* look who is to be reminded */
    uint64_t detect_ms; /* look for mutations */
    uint64_t retry_ms;  /* after memory was out */
    uint64_t flush_ms;  /* let go of what readers may have looked at */
    uint64_t room_ms;   /* go on, if readers have left */
} ki_informer_timers;

struct ki_informer {
    ki_client *client; /* constant, as all up to mu, or the business of one job */
    ki_client_user alive;
    ki_resource *resource;
    const char *name;         /* in metrics */
    ki_informer_setup setup;  /* the options, with texts of its own: what it was made with */
    ki_informer_options used; /* the same with what was set since; constant once started */
    ki_informer_metrics metrics;
    ki_object_plan *plan;
    ki_store *store;
    ki_delta_fifo fifo;
    ki_job io_job;
    ki_job dispatch_job;
    ki_reflector reflector; /* io's, as the next two */
    ki_error_log errors;
    size_t pushed;  /* since dispatch was last woken for it */
    ki_apply apply; /* dispatch's, as the next four */
    ki_fanout fanout;
    ki_mutation_detector detector;
    ki_informer_timers timers;
    uint64_t index_failures;      /* that were counted */
    _Atomic uint64_t last_serial; /* of registrations */
    _Atomic bool is_synced;
    _Atomic bool is_queue_full;   /* io has stopped reading until there is room */
    _Atomic bool is_blocked;      /* dispatch waits for a handler that asked for that */
    _Atomic bool may_deliver;     /* changed under mu: handlers are called */
    _Atomic bool dispatch_is_due; /* its job has been woken and has not begun yet */
    ki_mutex mu;
    ki_cond changed;
    ki_stage stage; /* guarded by mu, as all below */
    bool is_wanted; /* to run */
    bool was_started;
    bool stop_is_asked; /* or a free, and no start since: who waits waits in vain */
    bool is_freed;
    bool is_abandoned; /* to be freed when nobody waits for it any more */
    bool retry_is_asked;
    bool begin_is_asked;         /* of io */
    bool list_is_owed;           /* it is to begin with one */
    uint32_t doubted_list;       /* to be given up by io, too much of it is held back; 0: none */
    size_t callbacks;            /* handlers that are being called */
    size_t waiters;              /* calls that wait for what becomes of a handler */
    uint64_t check_ms;           /* of resyncs */
    ki_resource_version version; /* the store is complete up to here */
    ki_list registrations;
    ki_watch_error_cb on_watch_error;
    void *watch_error_user;
    ki_informer_status_cb on_status;
    void *status_user;
    ki_error setup_error; /* the first; the next start reports it */
};

/* Wakes dispatch, unless it is on its way. Any thread. */
void ki_informer_wake_dispatch(ki_informer *informer);

/* Asks for a stop and does not wait for it. */
void ki_informer_request_stop(ki_informer *informer) KI_EXCLUDES(informer->mu);

/* The same for good: whoever waits for it waits no longer, and then frees it. */
void ki_informer_abandon(ki_informer *informer) KI_EXCLUDES(informer->mu);

bool ki_informer_was_started(ki_informer *informer) KI_EXCLUDES(informer->mu);

/* Whether a handler is registered that has not been removed. */
bool ki_informer_has_handlers(ki_informer *informer) KI_EXCLUDES(informer->mu);

/* The jobs. */
void ki_informer_run_io(ki_job *job);
void ki_informer_run_dispatch(ki_job *job);

/* What the reflector calls. */
int ki_informer_take_change(const ki_change *change, void *user);
void ki_informer_end_changes(void *user);
void ki_informer_report(const ki_watch_error *error, void *user);
void ki_informer_report_status(void *user);
void ki_informer_schedule_io(uint64_t due_ns, void *user);

/* Frees it; on dispatch, from its own job. */
void ki_informer_destroy(ki_informer *informer);

#endif
