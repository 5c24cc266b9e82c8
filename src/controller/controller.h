/* SPDX-License-Identifier: Apache-2.0 */
/* controller - events in, calls of a reconcile function out.
 *
 *   From:     handlers of informers (controller/controller_watch.c), the program's calls
 *   To:       workqueue/queue.h; the program's reconcile function
 *   Locks:    mu; no callback runs while it is held. Taken under it: the work queue's, the client's, a
 *             loop's, an informer's. A source's own mutex is taken without it.
 *   Not here: how keys wait, and for how long.
 *
 *   controller.c        making, starting, stopping, freeing
 *   controller_watch.c  from an event to keys
 *   controller_work.c   from a key to a call, on threads or on a loop
 *   request.c           what a call may say and ask for
 *   expectation.c       keys that wait for the cache to see what was written
 *
 * `job`, on the handlers' loop, works where there are no threads, and in every mode carries out what was
 * asked for: the end of a stop, of the client, of the controller.
 */
#ifndef KI_CONTROLLER_CONTROLLER_H
#define KI_CONTROLLER_CONTROLLER_H

#include <kinformer/controller.h>

#include "client/client.h"
#include "controller/expectation.h"
#include "metrics/metrics.h"
#include "util/thread.h"

enum { KI_CONTROLLER_SPARE_BYTES = 32 << 10 };

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
    ki_counter *unseen; /* and those that were not, in time */
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
    ki_cond idle;         /* for who waits for a stop */
    ki_error setup_error; /* guarded by mu, as all below */
    bool is_wanted;
    bool is_freed;
    bool is_stopped; /* by a stop: ends ki_controller_run() */
    ki_list sources;
    size_t unsynced;
    uint64_t waited_ns; /* since when for a sync; 0: not */
    uint64_t told_ns;   /* when that was logged last */
    uint64_t overdue_untold;
    ki_list active; /* ki_request */
    size_t active_count;
    uint64_t reconciles;
    uint64_t failures;
    uint64_t pause_until_ns; /* memory is out: nothing is tried before */
    ki_expectations expectations;
    ki_worker *workers;
    size_t live_count; /* of workers that run */
    char *spare;       /* keys that could not be added, each with a length and a priority before it */
    size_t spare_len;
    bool has_lost_keys; /* more than fit there: every object is to be added again */
};

struct ki_request {
    ki_list_node node;
    ki_controller *controller;
    ki_work_item item;
    uint64_t began_ns;
    bool is_running;  /* inside the reconcile function */
    bool is_finished; /* ki_request_finish() came before that has returned */
    bool is_overdue;
    ki_result result;
};

/* ---- any thread ---------------------------------------------------------------------------------------- */

/* Adds a key; what memory does not suffice for is added later. Returns as ki_workqueue_add(), and 0 then. */
KI_NODISCARD int ki_controller_add(ki_controller *controller, ki_str key, ki_priority priority)
    KI_EXCLUDES(controller->mu);

/* There may be something to do. */
void ki_controller_wake(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* ---- work (controller_work.c) -------------------------------------------------------------------------- */

/* On a thread of ours, until the controller is stopped. */
void ki_controller_run_worker(void *worker);

/* On the loop: what there is to do now. Returns when there will be more, as ki_loop_next_ns(). */
uint64_t ki_controller_work(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* The request is over. Nothing of it may be touched afterwards. */
void ki_controller_complete(ki_request *request, const ki_result *result);

/* Whether this thread is inside a reconcile function of this controller. */
bool ki_controller_is_working(const ki_controller *controller);

/* ---- sources (controller_watch.c) ---------------------------------------------------------------------- */

/* No event comes through any more; returns whether no handler is inside one either. */
bool ki_controller_close_sources(ki_controller *controller);
void ki_controller_drop_sources(ki_controller *controller);

/* Adds every object of the stores whose objects are the keys. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_controller_add_all(ki_controller *controller) KI_EXCLUDES(controller->mu);

/* The first informer that has not synced, and what it is doing; "" when all have. */
void ki_controller_describe_unsynced(ki_controller *controller, char *buffer, size_t buffer_bytes)
    KI_EXCLUDES(controller->mu);

#endif
