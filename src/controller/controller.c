/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "metrics/names.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"
#include "workqueue/queue.h"

/* TELL_MS: how often the log says which informer the controller is waiting for. */
enum { EXPECT_MS = 10000, STOP_MS = 30000, WORKERS_MAX = 4096, TELL_MS = 10000 };

void ki_controller_log(const ki_controller *c, ki_log_level level, ki_str key, const char *format, ...)
{
    char text[KI_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (key.len == 0)
        ki_log_to(c->client->log, level, "controller", KI_LOG_FIELDS({"controller", ki_str_of(c->name)}),
                  "%s", text);
    else
        ki_log_to(c->client->log, level, "controller",
                  KI_LOG_FIELDS({"controller", ki_str_of(c->name)}, {"key", key}), "%s", text);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

static void drop_metrics(ki_controller_metrics *m)
{
    ki_counter *counters[] = {m->done,    m->requeued, m->retried, m->given_up,
                              m->overdue, m->seen,     m->reset,   m->unseen};
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        ki_counter_drop(counters[i]);
    ki_histogram_drop(m->duration);
    ki_gauge_drop(m->active);
}

/* The controller may be incomplete. Its threads and requests must have ended, and its sources must be
 * closed. */
static void controller_fini(ki_controller *c)
{
    assert(c->active_count == 0 && c->live_count == 0);
    for (size_t i = 0; c->workers != NULL && i < c->options.workers; i++)
        ki_thread_join(&c->workers[i].thread);
    ki_job_fini(&c->job);
    ki_controller_drop_sources(c);
    ki_workqueue_free(c->queue);
    ki_limiter_unref(c->limiter);
    ki_expectations_fini(&c->expectations);
    drop_metrics(&c->metrics);
    ki_free(c->workers);
    ki_free(c->name);
    ki_cond_fini(&c->work);
    ki_cond_fini(&c->idle);
    ki_mutex_fini(&c->mu);
}

/* ---- the job ----------------------------------------------------------------------------------------- */

static void tell_of_sync(ki_controller *c)
{
    char text[512];
    ki_controller_describe_unsynced(c, text, sizeof(text));
    if (text[0] != 0)
        ki_controller_log(c, KI_LOG_WARNING, (ki_str){0}, "waiting for %s", text);
}

/* Whether it is time to log which informer the controller is waiting for. */
static bool tells_of_sync_locked(ki_controller *c, uint64_t now_ns) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    if (!c->is_wanted || c->unsynced == 0) {
        c->told_ns = 0;
        return false;
    }
    bool is_time = c->told_ns != 0 && now_ns >= c->told_ns + ki_ns_of_ms(TELL_MS);
    if (c->told_ns == 0 || is_time)
        c->told_ns = now_ns;
    return is_time;
}

static uint64_t overdue_ns(const ki_controller *c, const ki_request *request)
{
    uint64_t limit_ns = ki_ns_of_ms(c->options.reconcile_timeout_ms);
    return limit_ns == 0 || request->is_overdue ? UINT64_MAX : request->began_ns + limit_ns;
}

/* Finds a request that takes too long, marks it, so that it is reported only once, and copies its key.
 * Returns false if there is none. */
static bool find_overdue_locked(ki_controller *c, uint64_t now_ns, char *key, size_t key_bytes)
    KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    for (ki_list_node *node = ki_list_first(&c->active); node != NULL;
         node = ki_list_next(&c->active, node)) {
        ki_request *request = KI_CONTAINER_OF(node, ki_request, node);
        if (now_ns < overdue_ns(c, request))
            continue;
        request->is_overdue = true;
        ki_counter_add(c->metrics.overdue, 1);
        (void)snprintf(key, key_bytes, "%.*s", KI_STR_ARGS(request->item.key));
        return true;
    }
    return false;
}

static void check_progress(ki_controller *c)
{
    char key[KI_KEY_BYTES + 1];
    bool has_overdue = true;
    ki_mutex_lock(&c->mu);
    bool tells = tells_of_sync_locked(c, ki_controller_now_ns(c));
    ki_mutex_unlock(&c->mu);
    if (tells)
        tell_of_sync(c);
    while (has_overdue) {
        ki_mutex_lock(&c->mu);
        has_overdue = find_overdue_locked(c, ki_controller_now_ns(c), key, sizeof(key));
        ki_mutex_unlock(&c->mu);
        if (has_overdue)
            ki_controller_log(c, KI_LOG_WARNING, ki_str_of(key),
                              "a reconcile has been running for longer than %" PRIu64 " ms",
                              c->options.reconcile_timeout_ms);
    }
    ki_controller_retry_held(c);
}

/* Returns whether nothing uses the controller any more. */
static bool advance(ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    if (c->client->is_closing && c->is_wanted)
        ki_controller_request_stop_locked(c);
    bool is_idle = !c->is_wanted && c->active_count == 0 && c->live_count == 0;
    bool is_over = is_idle && c->is_freed && c->callers == 0;
    if (is_idle && !c->is_freed)
        ki_client_set_busy(c->client, &c->alive, false);
    ki_client_notify(c->client);
    ki_mutex_unlock(&c->mu);
    return is_over && ki_controller_close_sources(c);
}

/* The earliest time at which there may be work although nothing wakes the job. */
static uint64_t next_ns(ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    uint64_t ns = c->retry_events_ns;
    if (c->told_ns != 0)
        ns = ki_ns_min(ns, c->told_ns + ki_ns_of_ms(TELL_MS));
    for (ki_list_node *node = ki_list_first(&c->active); node != NULL; node = ki_list_next(&c->active, node))
        ns = ki_ns_min(ns, overdue_ns(c, KI_CONTAINER_OF(node, ki_request, node)));
    if (!c->has_threads)
        ns = ki_ns_min(ns, ki_controller_next_key_ns_locked(c));
    ki_mutex_unlock(&c->mu);
    return ns;
}

static void run_job(ki_job *job)
{
    ki_controller *c = KI_CONTAINER_OF(job, ki_controller, job);
    KI_ASSERT_ON(c->client->handlers);
    check_progress(c);
    if (!c->has_threads)
        ki_controller_run_on_loop(c);
    if (!advance(c)) {
        ki_job_wake_at(job, next_ns(c));
        return;
    }
    controller_fini(c);
    ki_client_end_user(c->client, &c->alive, c);
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
    m->reset = ki_metrics_counter(metrics, expected, (ki_str[]){name, KI_STR("history_reset")});
    m->unseen = ki_metrics_counter(metrics, expected, (ki_str[]){name, KI_STR("timed_out")});
    m->overdue = ki_metrics_counter(metrics, &ki_metric_controller_overdue_total, &name);
    m->duration = ki_metrics_histogram(metrics, &ki_metric_controller_reconcile_duration_seconds, &name);
    m->active = ki_metrics_gauge(metrics, &ki_metric_controller_active_workers, &name);
}

/* Takes the reference to the limiter, also on failure. The controller computes the delays itself; the queue
 * does not. */
static int init_queue(ki_controller *c, ki_limiter *limiter, ki_error *err)
{
    c->limiter = limiter != NULL ? limiter : ki_limiter_new_default(err);
    if (c->limiter == NULL)
        return KI_ERR_NO_MEMORY;
    ki_workqueue_options options = {
        .name = c->name, .metrics = c->client->metrics, .limiter = ki_limiter_ref(c->limiter)};
    c->queue = ki_workqueue_new_with_clock(&options, c->client->clock, err);
    return c->queue == NULL ? KI_ERR_NO_MEMORY : 0;
}

static int init_memory(ki_controller *c, const char *name, ki_error *err)
{
    size_t bytes = strlen(name) + 1;
    c->name = ki_malloc(bytes);
    c->workers = ki_calloc(c->options.workers, sizeof(*c->workers));
    if (c->name == NULL || c->workers == NULL)
        return ki_fail_no_memory(err);
    memcpy(c->name, name, bytes);
    c->options.name = c->name;
    return 0;
}

static int init(ki_controller *c, ki_limiter *limiter, ki_error *err)
{
    ki_client *client = c->client;
    int rc = init_queue(c, limiter, err);
    if (rc == 0 && ki_expectations_init(&c->expectations, client->seed) < 0)
        rc = ki_fail_no_random(err);
    if (rc == 0 && ki_job_init(&c->job, client->handlers, run_job) < 0)
        rc = ki_fail_no_memory(err);
    c->alive = (ki_client_user){.job = &c->job, .on_release = c->options.on_release, .user = c->options.user};
    if (rc == 0)
        rc = ki_client_join_as(client, &c->alive, "controller", c->name, err);
    if (rc < 0)
        return rc;
    init_metrics(c);
    ki_client_count_handlers(client, 1); /* a slow handler must not delay the job */
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
    c->retry_events_ns = UINT64_MAX;
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

/* The reference to the limiter is taken on failure, too. */
static ki_controller *refuse(const ki_controller_options *options)
{
    ki_limiter_unref(options->limiter);
    return NULL;
}

ki_controller *ki_controller_new(ki_client *client, const ki_controller_options *options, ki_error *err)
{
    if (client == NULL || options == NULL) {
        (void)ki_fail_missing(err, "controller: no client or no options");
        return options == NULL ? NULL : refuse(options);
    }
    bool is_valid = check(options, err) == 0 && ki_client_check_process(client, err) == 0;
    ki_controller *c = is_valid ? make(client, options, err) : NULL;
    if (c == NULL)
        return refuse(options);
    int rc = init_memory(c, options->name, err);
    if (rc < 0)
        ki_limiter_unref(options->limiter);
    else
        rc = init(c, options->limiter, err);
    if (rc < 0) {
        controller_fini(c);
        ki_client_free_user(c->client, &c->alive, c);
        return NULL;
    }
    return c;
}

/* ---- freeing ----------------------------------------------------------------------------------------- */

/* In a reconcile of any controller it does not wait: two controllers may be freeing each other. */
void ki_controller_free(ki_controller *controller)
{
    ki_controller *c = controller;
    if (c == NULL || ki_client_is_foreign(c->client))
        return;
    ki_client *client = c->client;
    ki_client_ref(client);
    ki_mutex_lock(&c->mu);
    uint64_t serial = c->alive.serial;
    ki_client_set_busy(client, &c->alive, true);
    c->is_freed = true;
    ki_controller_request_stop_locked(c);
    ki_mutex_unlock(&c->mu);
    if (ki_controller_working() == NULL)
        ki_client_wait_gone(client, serial);
    ki_client_unref(client);
}
