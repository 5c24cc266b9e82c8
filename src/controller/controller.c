/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "client/callback.h"
#include "metrics/names.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"
#include "workqueue/queue.h"

enum { EXPECT_MS = 10000, STOP_MS = 30000, WORKERS_MAX = 4096, STEP_MS = 10 };

/* ---- going ------------------------------------------------------------------------------------------- */

static void drop_metrics(ki_controller_metrics *m)
{
    ki_counter *counters[] = {m->done, m->requeued, m->retried, m->given_up, m->overdue, m->seen, m->unseen};
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        ki_counter_drop(counters[i]);
    ki_histogram_drop(m->duration);
    ki_gauge_drop(m->active);
}

/* Takes a half-made one. Its threads have ended, its requests are over, its sources closed. */
static void controller_fini(ki_controller *c)
{
    for (size_t i = 0; c->workers != NULL && i < c->options.workers; i++)
        ki_thread_join(&c->workers[i].thread);
    ki_job_fini(&c->job);
    ki_controller_drop_sources(c);
    ki_workqueue_free(c->queue);
    ki_limiter_unref(c->limiter);
    ki_expectations_fini(&c->expectations);
    drop_metrics(&c->metrics);
    ki_free(c->workers);
    ki_free(c->spare);
    ki_free(c->name);
    ki_cond_fini(&c->work);
    ki_cond_fini(&c->idle);
    ki_mutex_fini(&c->mu);
}

static void leave(ki_controller *c)
{
    ki_client *client = c->client;
    if (!ki_client_is_foreign(client))
        ki_client_leave(client, &c->alive);
    ki_free(c);
    ki_client_unref(client);
}

static void go(ki_controller *c)
{
    void (*on_release)(void *user) = c->options.on_release;
    void *user = c->options.user;
    controller_fini(c);
    if (on_release != NULL)
        on_release(user);
    leave(c);
}

/* ---- the job ----------------------------------------------------------------------------------------- */

static bool is_idle_locked(const ki_controller *c) KI_REQUIRES(c->mu)
{
    return c->active_count == 0 && c->live_count == 0;
}

/* Returns whether nothing of it is used any more. */
static bool advance(ki_controller *c)
{
    bool is_over = false;
    ki_mutex_lock(&c->mu);
    if (c->client->is_closing && c->is_wanted) {
        c->is_wanted = false;
        c->is_stopped = true;
        ki_cond_broadcast(&c->work);
    }
    if (!c->is_wanted && is_idle_locked(c)) {
        ki_cond_broadcast(&c->idle);
        if (!c->is_freed)
            ki_client_set_busy(c->client, &c->alive, false);
        is_over = c->is_freed;
    }
    ki_client_notify(c->client);
    ki_mutex_unlock(&c->mu);
    return is_over && ki_controller_close_sources(c);
}

static void run_job(ki_job *job)
{
    ki_controller *c = KI_CONTAINER_OF(job, ki_controller, job);
    if (!c->has_threads)
        ki_job_wake_at(job, ki_controller_work(c));
    if (advance(c))
        go(c);
}

/* ---- making ------------------------------------------------------------------------------------------ */

static int check(const ki_controller_options *options, ki_error *err)
{
    if (options->name == NULL || options->name[0] == 0)
        return ki_fail(err, KI_ERR_INVALID, "controller: no name");
    if (options->reconcile == NULL)
        return ki_fail(err, KI_ERR_INVALID, "controller %s: no reconcile function", options->name);
    if (options->workers > WORKERS_MAX)
        return ki_fail(err, KI_ERR_INVALID, "controller %s: more than %d workers", options->name,
                       WORKERS_MAX);
    return 0;
}

static void init_metrics(ki_controller *c)
{
    ki_metrics *metrics = c->client->metrics;
    ki_controller_metrics *m = &c->metrics;
    ki_str name = ki_str_of(c->name);
    const ki_metric_desc *total = &ki_metric_controller_reconcile_total;
    const ki_metric_desc *expected = &ki_metric_controller_expectations_total;
    m->done = ki_metrics_counter(metrics, total, (ki_str[]){name, KI_STR("done")});
    m->requeued = ki_metrics_counter(metrics, total, (ki_str[]){name, KI_STR("requeue_after")});
    m->retried = ki_metrics_counter(metrics, total, (ki_str[]){name, KI_STR("retry")});
    m->given_up = ki_metrics_counter(metrics, total, (ki_str[]){name, KI_STR("give_up")});
    m->seen = ki_metrics_counter(metrics, expected, (ki_str[]){name, KI_STR("seen")});
    m->unseen = ki_metrics_counter(metrics, expected, (ki_str[]){name, KI_STR("timed_out")});
    m->overdue = ki_metrics_counter(metrics, &ki_metric_controller_overdue_total, &name);
    m->duration = ki_metrics_histogram(metrics, &ki_metric_controller_reconcile_duration_seconds, &name);
    m->active = ki_metrics_gauge(metrics, &ki_metric_controller_active_workers, &name);
}

/* The limiter is the controller's from here on, whatever happens; the queue is not asked for delays. */
static int init_queue(ki_controller *c, ki_limiter *limiter, ki_error *err)
{
    c->limiter = limiter != NULL ? limiter : ki_limiter_new_default(err);
    if (c->limiter == NULL)
        return KI_ERR_NO_MEMORY;
    ki_workqueue_options options = {
        .name = c->name, .metrics = c->client->metrics, .limiter = ki_limiter_ref(c->limiter)};
    c->queue = ki_workqueue_new_simulated(&options, c->client->clock, err);
    return c->queue == NULL ? KI_ERR_NO_MEMORY : 0;
}

static int init_memory(ki_controller *c, const char *name, ki_error *err)
{
    size_t bytes = strlen(name) + 1;
    c->name = ki_malloc(bytes);
    c->spare = ki_malloc(KI_CONTROLLER_SPARE_BYTES);
    c->workers = ki_calloc(c->options.workers, sizeof(*c->workers));
    if (c->name == NULL || c->spare == NULL || c->workers == NULL)
        return ki_fail_no_memory(err);
    memcpy(c->name, name, bytes);
    c->options.name = c->name;
    return 0;
}

static int init(ki_controller *c, ki_limiter *limiter, ki_error *err)
{
    ki_client *client = c->client;
    char name[KI_CLIENT_NAME_BYTES];
    int rc = init_queue(c, limiter, err);
    if (rc == 0 && ki_expectations_init(&c->expectations, client->seed) < 0)
        rc = ki_fail(err, KI_ERR_SYSTEM, "cannot get random bytes from the system");
    if (rc == 0 && ki_job_init(&c->job, client->handlers, run_job) < 0)
        rc = ki_fail_no_memory(err);
    if (rc < 0)
        return rc;
    c->alive.job = &c->job;
    (void)snprintf(name, sizeof(name), "controller %.100s", c->name);
    if (ki_client_join(client, &c->alive, name) < 0)
        return ki_fail(err, KI_ERR_STOPPED, "controller %s: the client has been freed", c->name);
    init_metrics(c);
    ki_client_set_busy(client, &c->alive, false);
    return 0;
}

static ki_controller *make(ki_client *client, const ki_controller_options *options, ki_error *err)
{
    ki_controller *c = ki_calloc(1, sizeof(*c));
    if (c == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    ki_mutex_init(&c->mu);
    ki_cond_init(&c->work);
    ki_cond_init(&c->idle);
    ki_list_init(&c->sources);
    ki_list_init(&c->active);
    ki_list_init(&c->expectations.all);
    ki_client_ref(client);
    c->client = client;
    c->options = *options;
    c->options.limiter = NULL;
    c->options.workers = options->workers == 0 ? 1 : options->workers;
    c->options.expect_timeout_ms = options->expect_timeout_ms == 0 ? EXPECT_MS : options->expect_timeout_ms;
    c->options.stop_timeout_ms = options->stop_timeout_ms == 0 ? STOP_MS : options->stop_timeout_ms;
    c->has_threads = client->options.mode == KI_MODE_THREADS && !client->clock->is_virtual;
    return c;
}

ki_controller *ki_controller_new(ki_client *client, const ki_controller_options *options, ki_error *err)
{
    if (client == NULL || options == NULL) {
        ki_error_set(err, KI_ERR_INVALID, 0, "controller: no client or no options");
        return NULL;
    }
    bool is_valid = check(options, err) == 0 && ki_client_check_process(client, err) == 0;
    ki_controller *c = is_valid ? make(client, options, err) : NULL;
    if (c == NULL) {
        ki_limiter_unref(options->limiter);
        return NULL;
    }
    int rc = init_memory(c, options->name, err);
    if (rc < 0)
        ki_limiter_unref(options->limiter);
    else
        rc = init(c, options->limiter, err);
    if (rc < 0) {
        controller_fini(c);
        leave(c);
        return NULL;
    }
    return c;
}

/* ---- starting ---------------------------------------------------------------------------------------- */

/* Those that are missing: some may still run after a stop that did not wait for them. */
static int start_workers_locked(ki_controller *c, ki_error *err) KI_REQUIRES(c->mu)
{
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
        c->live_count++;
    }
    return 0;
}

static int start_locked(ki_controller *c, ki_error *err) KI_REQUIRES(c->mu)
{
    int rc = c->setup_error.code;
    if (rc < 0 && err != NULL)
        *err = c->setup_error;
    c->setup_error = (ki_error){0};
    if (rc < 0 || c->is_wanted || c->is_freed)
        return rc;
    if (!ki_client_begin(c->client, &c->alive))
        return ki_fail(err, KI_ERR_STOPPED, "controller %s: the client has been freed", c->name);
    c->is_wanted = true;
    c->is_stopped = false;
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
        return ki_fail(err, KI_ERR_INVALID, "no controller");
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
    if (after_ms == 0)
        return ki_controller_add(controller, key, KI_PRIORITY_HIGH);
    int rc = ki_workqueue_add_after(controller->queue, key, KI_PRIORITY_HIGH, after_ms);
    ki_controller_wake(controller);
    return rc;
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

static void request_stop_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    c->is_wanted = false;
    c->is_stopped = true;
    ki_cond_broadcast(&c->work);
    ki_cond_broadcast(&c->idle);
    ki_job_wake(&c->job);
}

static bool is_stopped(void *user)
{
    const ki_controller *c = user;
    return c->is_wanted || is_idle_locked(c);
}

/* On threads of their own, reconciles end without anything being run here, so a callback may wait, too. */
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

static int fail_running(ki_controller *c, ki_error *err)
{
    char key[256] = "";
    ki_mutex_lock(&c->mu);
    size_t count = c->active_count;
    ki_list_node *node = ki_list_first(&c->active);
    if (node != NULL)
        (void)snprintf(key, sizeof(key), "%.*s",
                       KI_STR_ARGS(KI_CONTAINER_OF(node, ki_request, node)->item.key));
    ki_mutex_unlock(&c->mu);
    return ki_fail(err, KI_ERR_TIMEOUT,
                   "controller %s: %zu reconciles have not ended, the longest that of %s", c->name, count,
                   key);
}

int ki_controller_stop(ki_controller *controller, ki_error *err)
{
    ki_controller *c = controller;
    if (c == NULL || ki_client_is_foreign(c->client))
        return c == NULL ? 0 : ki_client_check_process(c->client, err);
    ki_mutex_lock(&c->mu);
    request_stop_locked(c);
    ki_mutex_unlock(&c->mu);
    bool is_met = true;
    if (ki_controller_is_working(c))
        return 0;
    if (c->has_threads)
        is_met = wait_on_threads(c, c->options.stop_timeout_ms);
    else if (ki_client_may_wait() == 0)
        is_met =
            ki_client_wait(c->client, &(ki_wait){&c->mu, is_stopped, c, false}, c->options.stop_timeout_ms);
    return is_met ? 0 : fail_running(c, err);
}

void ki_controller_free(ki_controller *controller)
{
    ki_controller *c = controller;
    if (c == NULL || ki_client_is_foreign(c->client))
        return;
    ki_client *client = c->client;
    bool is_working = ki_controller_is_working(c);
    ki_client_ref(client);
    ki_mutex_lock(&c->mu);
    uint64_t serial = c->alive.serial;
    ki_client_set_busy(client, &c->alive, true);
    c->is_freed = true;
    request_stop_locked(c);
    ki_mutex_unlock(&c->mu);
    if (!is_working)
        ki_client_wait_gone(client, serial);
    ki_client_unref(client);
}

/* ---- running ----------------------------------------------------------------------------------------- */

static bool has_ended(void *user)
{
    return ((const ki_controller *)user)->is_stopped;
}

int ki_controller_run(ki_controller *controller, ki_error *err)
{
    ki_controller *c = controller;
    if (ki_client_may_wait() < 0)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "controller: run from a callback or a read section");
    int rc = ki_controller_start(c, err);
    if (rc < 0)
        return rc;
    (void)ki_client_wait(c->client, &(ki_wait){&c->mu, has_ended, c, c->has_threads}, UINT64_MAX);
    return ki_controller_stop(c, err);
}

/* ---- looking ----------------------------------------------------------------------------------------- */

void ki_controller_read_status(ki_controller *controller, ki_controller_status *out_status)
{
    ki_controller *c = controller;
    ki_workqueue_stats stats;
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
    ki_list_node *node = ki_list_first(&c->active); /* the one that began first */
    if (node != NULL) {
        const ki_request *request = KI_CONTAINER_OF(node, ki_request, node);
        out_status->longest_ms = (ki_clock_now_ns(c->client->clock) - request->began_ns) / KI_NS_PER_MS;
        (void)snprintf(out_status->longest_key, sizeof(out_status->longest_key), "%.*s",
                       KI_STR_ARGS(request->item.key));
    }
    ki_mutex_unlock(&c->mu);
    ki_controller_describe_unsynced(c, out_status->waiting_for, sizeof(out_status->waiting_for));
}
