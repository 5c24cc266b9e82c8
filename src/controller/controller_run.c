/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and stopping a controller, and its status. */
#include <assert.h>
#include <stdio.h>

#include "client/callback.h"
#include "controller/controller.h"
#include "util/error.h"
#include "util/loop/rcu.h"
#include "util/units.h"
#include "workqueue/queue.h"

/* ---- starting ---------------------------------------------------------------------------------------- */

/* Starts only the workers that are not running: after a stop that did not wait, some may still run. */
static int start_workers_locked(ki_controller *c, ki_error *err) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    for (size_t i = 0; i < c->options.workers && c->has_threads; i++) {
        ki_worker *worker = &c->workers[i];
        if (worker->is_live)
            continue;
        ki_thread_join(&worker->thread);
        worker->controller = c;
        int rc = ki_thread_start(
            &worker->thread,
            &(ki_thread_options){.name = "worker", .run = ki_controller_run_worker, .user = worker}, err);
        if (rc < 0)
            return rc;
        worker->is_live = true;
        assert(c->live_count < c->options.workers);
        c->live_count++;
    }
    return 0;
}

static int start_locked(ki_controller *c, ki_error *err) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    int rc = c->setup_error.code;
    if (rc < 0 && err != NULL)
        *err = c->setup_error;
    if (rc < 0 || c->is_wanted)
        return rc;
    if (c->is_freed)
        return ki_fail(err, KI_ERR_STOPPED, "controller %s: it has been freed", c->name);
    if (!ki_client_begin(c->client, &c->alive))
        return ki_fail(err, KI_ERR_STOPPED, "controller %s: the client has been freed", c->name);
    c->is_wanted = true;
    c->is_stop_pending = false;
    rc = start_workers_locked(c, err);
    if (rc < 0)
        c->is_wanted = false;
    ki_cond_broadcast(&c->work);
    ki_job_wake(&c->job);
    return rc;
}

int ki_controller_start(ki_controller *controller, ki_error *err)
{
    if (controller == NULL)
        return ki_fail_missing(err, "no controller");
    if (!ki_client_is_foreign(controller->client)) { /* forgets a stop even if the start fails */
        ki_mutex_lock(&controller->mu);
        controller->is_stop_pending = false;
        ki_mutex_unlock(&controller->mu);
    }
    int rc = ki_client_run(controller->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&controller->mu);
    rc = start_locked(controller, err);
    ki_mutex_unlock(&controller->mu);
    return rc;
}

int ki_controller_enqueue(ki_controller *controller, ki_str key, uint64_t after_ms)
{
    if (controller == NULL)
        return KI_ERR_INVALID;
    if (ki_client_is_foreign(controller->client))
        return KI_ERR_FORKED;
    int rc = after_ms == 0 ? ki_workqueue_add(controller->queue, key, KI_PRIORITY_HIGH)
                           : ki_workqueue_add_after(controller->queue, key, KI_PRIORITY_HIGH, after_ms);
    ki_controller_wake(controller);
    return rc;
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

void ki_controller_request_stop_locked(ki_controller *c)
{
    KI_ASSERT_HELD(c->mu);
    assert(!c->is_wanted || !c->is_stop_pending);
    c->is_wanted = false;
    c->stops++;
    ki_cond_broadcast(&c->work);
    ki_cond_broadcast(&c->idle);
    ki_job_wake(&c->job);
}

static bool is_stopped(void *user)
{
    const ki_controller *c = user;
    return c->is_wanted || (c->active_count == 0 && c->live_count == 0);
}

/* Every call that waits is counted in `callers` until it calls leave(), which returns whether the controller
 * was freed meanwhile; the last call to leave completes that.
 * `has_run`: a stop has ended the caller's run. */
static bool leave(ki_controller *c, bool has_run)
{
    ki_mutex_lock(&c->mu);
    assert(c->callers > 0);
    c->callers--;
    if (has_run)
        c->is_stop_pending = false;
    bool is_freed = c->is_freed;
    if (is_freed)
        ki_job_wake(&c->job);
    ki_mutex_unlock(&c->mu);
    return is_freed;
}

/* Worker threads finish their reconciles by themselves, so even a callback may wait for them. */
static bool wait_on_threads(ki_controller *c, uint64_t timeout_ms)
{
    uint64_t began_ms = ki_clock_now_ms(c->client->clock);
    ki_mutex_lock(&c->mu);
    while (!is_stopped(c)) {
        uint64_t passed_ms = ki_clock_now_ms(c->client->clock) - began_ms;
        if (passed_ms >= timeout_ms)
            break;
        (void)ki_cond_wait_ms(&c->idle, &c->mu, ki_ns_min(timeout_ms - passed_ms, 1000));
    }
    bool is_met = is_stopped(c);
    ki_mutex_unlock(&c->mu);
    return is_met;
}

/* The error lists as many keys as fit, in the order in which their reconciles began. */
static int fail_running(ki_controller *c, ki_error *err)
{
    char keys[KI_ERROR_MESSAGE_BYTES / 2] = "";
    size_t len = 0;
    ki_mutex_lock(&c->mu);
    size_t count = c->active_count;
    for (ki_list_node *node = ki_list_first(&c->active); node != NULL && len < sizeof(keys);
         node = ki_list_next(&c->active, node))
        len += (size_t)snprintf(keys + len, sizeof(keys) - len, "%s%.*s", len == 0 ? "" : ", ",
                                KI_STR_ARGS(KI_CONTAINER_OF(node, ki_request, node)->item.key));
    ki_mutex_unlock(&c->mu);
    return ki_fail(err, KI_ERR_TIMEOUT, "controller %s: %zu reconcile%s still running: %s%s", c->name, count,
                   count == 1 ? " is" : "s are", keys, len < sizeof(keys) ? "" : "...");
}

/* Returns true when all reconciles have ended in time, or when this thread must not wait for them. */
static bool wait_for_stop(ki_controller *c)
{
    uint64_t timeout_ms = c->options.stop_timeout_ms;
    if (ki_controller_working() == c || ki_rcu_is_reading())
        return true;
    if (c->has_threads)
        return wait_on_threads(c, timeout_ms);
    return ki_client_may_wait() < 0 ||
           ki_client_wait(c->client, &(ki_wait){&c->mu, is_stopped, c, false}, timeout_ms);
}

int ki_controller_stop(ki_controller *controller, ki_error *err)
{
    ki_controller *c = controller;
    if (c == NULL || ki_client_is_foreign(c->client))
        return c == NULL ? 0 : ki_client_check_process(c->client, err);
    ki_mutex_lock(&c->mu);
    c->callers++;
    ki_controller_request_stop_locked(c);
    c->is_stop_pending = true;
    ki_mutex_unlock(&c->mu);
    int rc = wait_for_stop(c) ? 0 : fail_running(c, err);
    (void)leave(c, false);
    return rc;
}

/* ---- running ----------------------------------------------------------------------------------------- */

typedef struct runner {
    ki_controller *controller;
    uint64_t stops; /* when the run began */
} runner;

static bool has_ended(void *user)
{
    const runner *r = user;
    return r->controller->stops != r->stops;
}

/* Returns false if a stop came before this run, which is then over. */
static bool enter_run(ki_controller *c, runner *out)
{
    ki_mutex_lock(&c->mu);
    bool is_over = c->is_stop_pending;
    assert(!is_over || !c->is_wanted);
    c->is_stop_pending = false;
    c->callers += !is_over;
    *out = (runner){c, c->stops};
    ki_mutex_unlock(&c->mu);
    return !is_over;
}

/* A stop may come first: then nothing is started. */
static int start_run(runner *r, ki_error *err)
{
    ki_controller *c = r->controller;
    int rc = ki_client_run(c->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&c->mu);
    if (!has_ended(r))
        rc = start_locked(c, err);
    ki_mutex_unlock(&c->mu);
    return rc;
}

static int run_until_stopped(runner *r, ki_error *err)
{
    ki_controller *c = r->controller;
    int rc = start_run(r, err);
    if (rc < 0)
        return rc;
    (void)ki_client_wait(c->client, &(ki_wait){&c->mu, has_ended, r, c->has_threads}, UINT64_MAX);
    return wait_for_stop(c) ? 0 : fail_running(c, err);
}

/* The controller may be freed during the run, for example by a reconcile. */
int ki_controller_run(ki_controller *controller, ki_error *err)
{
    ki_controller *c = controller;
    if (c == NULL)
        return ki_fail_missing(err, "no controller");
    if (ki_client_may_wait() < 0 || ki_controller_working() != NULL)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "controller: cannot wait in a callback or a read section");
    int rc = ki_client_check_process(c->client, err);
    if (rc < 0)
        return rc;
    runner r;
    if (!enter_run(c, &r))
        return 0;
    ki_client *client = c->client;
    uint64_t serial = c->alive.serial;
    ki_client_ref(client);
    rc = run_until_stopped(&r, err);
    if (leave(c, rc == 0 || rc == KI_ERR_TIMEOUT))
        ki_client_wait_gone(client, serial);
    ki_client_unref(client);
    return rc;
}

/* ---- looking ----------------------------------------------------------------------------------------- */

void ki_controller_read_status(const ki_controller *controller, ki_controller_status *out_status)
{
    const ki_controller *c = controller;
    ki_workqueue_stats stats;
    if (out_status == NULL)
        return;
    *out_status = (ki_controller_status){0};
    if (c == NULL || ki_client_is_foreign(c->client))
        return;
    ki_workqueue_read_stats(c->queue, &stats);
    out_status->queued = stats.waiting;
    out_status->delayed = stats.delayed;
    ki_mutex_lock(&c->mu);
    out_status->is_running = c->is_wanted;
    out_status->has_synced = c->unsynced == 0;
    out_status->active = c->active_count;
    out_status->reconciles = c->reconciles;
    out_status->failures = c->failures;
    ki_list_node *node = ki_list_first(&c->active); /* the request that began first */
    if (node != NULL) {
        const ki_request *request = KI_CONTAINER_OF(node, ki_request, node);
        out_status->longest_ms = (ki_controller_now_ns(c) - request->began_ns) / KI_NS_PER_MS;
        (void)snprintf(out_status->longest_key, sizeof(out_status->longest_key), "%.*s",
                       KI_STR_ARGS(request->item.key));
    }
    ki_mutex_unlock(&c->mu);
    ki_controller_describe_unsynced(c, out_status->waiting_for, sizeof(out_status->waiting_for));
}
