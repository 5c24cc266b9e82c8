/* SPDX-License-Identifier: Apache-2.0 */
/* controller - events in, calls of a reconcile function out.
 *
 *   From:     handlers of informers (controller/controller_watch.c), the program's calls
 *   To:       workqueue/queue.h; the program's reconcile function
 *   Locks:    mu; no callback runs while it is held. Taken under it: the work queue's, the client's, a
 *             loop's, an informer's. A source's own mutex is taken without it; under that, an informer's.
 *   Not here: how keys wait, and for how long.
 *
 *   controller.c        making and freeing, and the job
 *   controller_run.c    starting, stopping, running, the status
 *   controller_watch.c  from an event to keys
 *   controller_work.c   from a key to a call, on threads or on a loop
 *   request.c           the request that a reconcile function gets, and its results
 *   expectation.c       keys that wait until the cache has what was written
 *
 * `job` runs on the handlers' loop. Without worker threads it calls the reconcile function. In every mode it
 * logs reconciles that take too long, retries what failed for lack of memory, and completes stops and frees
 * of the controller and of its client.
 */
#ifndef KI_CONTROLLER_CONTROLLER_H
#define KI_CONTROLLER_CONTROLLER_H

#include <kinformer/controller.h>

#include "client/client.h"
#include "controller/expectation.h"
#include "metrics/metrics.h"
#include "util/log.h"
#include "util/thread.h"

typedef struct ki_worker {
    ki_thread thread;
    ki_controller *controller;
    bool is_live; /* guarded by the controller's mu */
} ki_worker;

typedef struct ki_controller_metrics {
    ki_counter *done;
    ki_counter *requeued;
    ki_counter *retried;
    ki_counter *given_up;
    ki_counter *overdue;
    ki_counter *seen;   /* expectations that were met */
    ki_counter *unseen; /* expectations that timed out */
    ki_histogram *duration;
    ki_gauge *active;
} ki_controller_metrics;

struct ki_controller {
    ki_client *client; /* constant, as all up to the first blank line */
    ki_controller_options options;
    char *name;
    bool has_threads;
    ki_workqueue *queue;
    ki_limiter *limiter;
    ki_controller_metrics metrics;

    ki_client_user alive;
    ki_job job;

    ki_mutex mu;
    ki_cond work;         /* for workers: there may be a key */
    ki_cond idle;         /* for threads that wait for a stop */
    ki_error setup_error; /* guarded by mu, as all below */
    bool is_wanted;
    bool is_freed;
    uint64_t stops; /* so far: one more ends ki_controller_run() */
    size_t callers; /* calls that wait; it is not freed before they have returned */
    ki_list sources;
    size_t unsynced;
    uint64_t told_ns; /* when the informer that is waited for was last logged; 0: none is waited for */
    ki_list active;   /* ki_request, in the order in which they began */
    size_t active_count;
    uint64_t reconciles;
    uint64_t failures;
    uint64_t pause_until_ns; /* out of memory: no key is taken before this time */
    ki_expectations expectations;
    ki_worker *workers;
    size_t live_count;      /* of running workers */
    uint64_t held_until_ns; /* when to retry a source that was out of memory; UINT64_MAX: there is none */
};

struct ki_request {
    ki_list_node node;
    ki_controller *controller;
    ki_work_item item;
    uint64_t began_ns;
    bool is_running;  /* inside the reconcile function */
    bool is_finished; /* ki_request_finish() was called before it returned */
    bool is_overdue;
    bool is_unseen; /* an expectation of the previous reconcile timed out */
    ki_result result;
};

static inline uint64_t ki_controller_now_ns(const ki_controller *controller)
{
    return ki_clock_now_ns(controller->client->clock);
}

/* Logs with the name of the controller; the key may be empty. */
void ki_controller_log(const ki_controller *controller, ki_log_level level, ki_str key, const char *format,
                       ...) KI_PRINTF(4, 5);

/* ---- running (controller_run.c) ------------------------------------------------------------------------ */

void ki_controller_request_stop_locked(ki_controller *controller) KI_REQUIRES(controller->mu);

/* ---- work (controller_work.c) -------------------------------------------------------------------------- */

/* There may be a key. */
void ki_controller_wake(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* A worker thread, until the controller is stopped. `user` is a ki_worker. */
void ki_controller_run_worker(void *user);

/* On the loop: does the work that is due now. */
void ki_controller_work(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* When there is a key that can be taken, as ki_loop_next_ns(). */
uint64_t ki_controller_next_key_ns_locked(ki_controller *controller) KI_REQUIRES(controller->mu);

/* Ends the request, which must not be used afterwards. */
void ki_controller_complete(ki_request *request, const ki_result *result);

/* The controller whose reconcile function this thread is running; NULL: none. */
const ki_controller *ki_controller_working(void);

/* ---- sources (controller_watch.c) ---------------------------------------------------------------------- */

/* Lets no further event pass. Returns whether no handler is processing one either. */
bool ki_controller_close_sources(ki_controller *controller);

/* Removes the handlers. */
void ki_controller_drop_sources(ki_controller *controller);

/* On the job: retries, when due, to add keys that could not be added for lack of memory. */
void ki_controller_retry_held(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* The first informer that has not synced, and what it is doing; "" when all have. */
void ki_controller_describe_unsynced(ki_controller *controller, char *buffer, size_t buffer_bytes)
    KI_EXCLUDES(controller->mu);

#endif
