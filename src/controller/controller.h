/* SPDX-License-Identifier: Apache-2.0 */
/* controller - events in, calls of a reconcile function out.
 *
 *   From:     handlers of informers (controller/controller_watch.c), the program's calls; also
 *             controller/request.c
 *   To:       workqueue/queue.h; the program's reconcile function
 *   Locks:    mu; no callback runs while it is held. Taken under it: the mutexes of the work queue, the
 *             client, loops and informers. The mutex of a source is taken without mu; under it, those
 *             of an informer and of loops.
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
    ki_counter *reset;  /* expectations that ended because the server's history was reset */
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
    ki_cond work;         /* signals workers that there may be a key */
    ki_cond idle;         /* signals threads that wait for a stop */
    ki_error setup_error; /* guarded by mu, as all below */
    bool is_wanted;
    bool is_stop_pending; /* no start has come since the last stop, and no run has returned because of it */
    bool is_freed;
    uint64_t stops; /* how many stops there were; the next one ends every ki_controller_run() */
    size_t callers; /* how many calls are waiting; the controller is freed only after they have returned */
    ki_list sources;
    size_t unsynced;
    uint64_t told_ns; /* when the log last named the informer that is awaited; 0: none is */
    ki_list active;   /* ki_request, in the order in which they began */
    size_t active_count;
    uint64_t reconciles;
    uint64_t failures;
    uint64_t pause_until_ns; /* out of memory: no key is taken before this time */
    ki_expectations expectations;
    ki_worker *workers;
    size_t live_count;        /* how many workers are running */
    uint64_t retry_events_ns; /* when to retry events that were out of memory; UINT64_MAX: there are none */
};

struct ki_request {
    ki_list_node node;
    ki_controller *controller;
    ki_work_item item;
    uint64_t began_ns;
    bool is_running;  /* inside the reconcile function */
    bool is_finished; /* ki_request_finish() was called before it returned */
    bool is_overdue;
    ki_expectation_state expected; /* how the wait for the writes of the previous reconcile has ended */
    ki_result result;
    ki_str key; /* in `texts`, like both below; each is followed by a NUL */
    ki_str ns;
    ki_str name;
    char texts[];
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

/* ---- requests (request.c) ------------------------------------------------------------------------------ */

/* A request for a key that was taken from the queue, with its texts; the caller frees it with ki_free(). NULL
 * when out of memory. */
KI_NODISCARD ki_request *ki_request_new(const ki_work_item *item);

/* ---- work (controller_work.c) -------------------------------------------------------------------------- */

/* Wakes a worker, or the loop, because there may be a key. */
void ki_controller_wake(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* The main function of a worker thread; returns when the controller is stopped. `user` is a ki_worker. */
void ki_controller_run_worker(void *user);

/* On the loop: runs the reconciles that are due now, up to a limit. */
void ki_controller_run_on_loop(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* The time from which a key can be taken, which may have passed; UINT64_MAX: not before the controller is
 * woken. */
uint64_t ki_controller_next_key_ns_locked(ki_controller *controller) KI_REQUIRES(controller->mu);

/* Ends the request, which must not be used afterwards. */
void ki_controller_complete(ki_request *request, const ki_result *result);

/* The controller whose reconcile function this thread is running; NULL: none. */
const ki_controller *ki_controller_working(void);

/* ---- sources (controller_watch.c) ---------------------------------------------------------------------- */

/* Closes all sources, so that they ignore further events. Returns true when no handler is still processing
 * one. */
bool ki_controller_close_sources(ki_controller *controller);

/* Removes the handlers. */
void ki_controller_drop_sources(ki_controller *controller);

/* On the job: adds the keys that could not be added for lack of memory, if it is time to retry. */
void ki_controller_retry_held(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* Writes the name and state of the first informer that has not synced; "" when all have. */
void ki_controller_describe_unsynced(const ki_controller *controller, char *buffer, size_t buffer_bytes)
    KI_EXCLUDES(controller->mu);

#endif
