/* SPDX-License-Identifier: Apache-2.0 */
/* From a key to a call of the reconcile function and what becomes of it. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "controller/controller.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/units.h"
#include "workqueue/queue.h"

/* How many reconciles the loop runs before others have their turn; when memory is looked for again; how often
 * it is said what is waited for; and the longest sleep, since neither a condition nor a timer knows of a
 * machine that was suspended. */
enum { AT_ONCE = 16, MEMORY_AGAIN_MS = 100, TELL_MS = 10000, NAP_MS = 1000 };

static _Thread_local const ki_controller *working;

bool ki_controller_is_working(const ki_controller *controller)
{
    return working == controller;
}

static uint64_t now_of(const ki_controller *c)
{
    return ki_clock_now_ns(c->client->clock);
}

/* ---- taking a key ------------------------------------------------------------------------------------ */

/* Without memory: nothing is tried for a moment, and the key is not lost, since one that is being worked on
 * is made dirty without any. */
static void put_back_locked(ki_controller *c, ki_str key, ki_priority priority) KI_REQUIRES(c->mu)
{
    int rc = ki_workqueue_add(c->queue, key, priority);
    assert(rc == 0 || rc == KI_ERR_STOPPED);
    (void)rc;
    c->pause_until_ns = now_of(c) + MEMORY_AGAIN_MS * KI_NS_PER_MS;
}

/* Returns whether the key has to wait until the cache has seen what was written. */
static bool defer_locked(ki_controller *c, const ki_work_item *item) KI_REQUIRES(c->mu)
{
    uint64_t poll_ms = 0;
    ki_expectation_state state = ki_expectations_check(&c->expectations, item->key, now_of(c), &poll_ms);
    if (state == KI_EXPECTATION_SEEN)
        ki_counter_add(c->metrics.seen, 1);
    if (state == KI_EXPECTATION_TIMED_OUT)
        ki_counter_add(c->metrics.unseen, 1);
    if (state != KI_EXPECTATION_WAITING)
        return false;
    if (ki_workqueue_add_after(c->queue, item->key, item->priority, poll_ms) < 0)
        put_back_locked(c, item->key, item->priority);
    (void)ki_workqueue_done(c->queue, item->key);
    return true;
}

static ki_request *begin_locked(ki_controller *c, const ki_work_item *item) KI_REQUIRES(c->mu)
{
    ki_request *request = ki_calloc(1, sizeof(*request));
    if (request == NULL) {
        put_back_locked(c, item->key, item->priority);
        (void)ki_workqueue_done(c->queue, item->key);
        return NULL;
    }
    request->controller = c;
    request->item = *item;
    request->began_ns = now_of(c);
    request->is_running = true;
    ki_list_push_back(&c->active, &request->node);
    c->active_count++;
    ki_gauge_set(c->metrics.active, (int64_t)c->active_count);
    return request;
}

static bool may_begin_locked(const ki_controller *c) KI_REQUIRES(c->mu)
{
    return c->is_wanted && !c->client->is_closing && c->unsynced == 0 &&
           c->active_count < c->options.workers && now_of(c) >= c->pause_until_ns;
}

/* NULL: there is nothing to do now. */
static ki_request *take_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    ki_work_item item;
    while (may_begin_locked(c) && ki_workqueue_get(c->queue, 0, &item) == 0) {
        if (defer_locked(c, &item))
            continue;
        return begin_locked(c, &item);
    }
    return NULL;
}

/* ---- the call ---------------------------------------------------------------------------------------- */

static void call(ki_request *request)
{
    ki_controller *c = request->controller;
    const ki_controller *before = working;
    working = c;
    const ki_log_sink *log = ki_log_use(c->client->log);
    ki_result result = c->options.reconcile(request, c->options.user);
    (void)ki_log_use(log);
    working = before;
    ki_mutex_lock(&c->mu);
    request->is_running = false;
    bool is_over = result.verdict != KI_VERDICT_LATER || request->is_finished;
    if (request->is_finished)
        result = request->result;
    ki_mutex_unlock(&c->mu);
    if (is_over)
        ki_controller_complete(request, &result);
}

static void log_failure(const ki_request *request, const ki_result *result)
{
    const ki_controller *c = request->controller;
    ki_log_to(c->client->log, result->verdict == KI_VERDICT_GIVE_UP ? KI_LOG_ERROR : KI_LOG_WARNING,
              "controller", KI_LOG_FIELDS({"controller", ki_str_of(c->name)}, {"key", request->item.key}),
              "reconcile failed, %s: %s",
              result->verdict == KI_VERDICT_GIVE_UP ? "giving up" : "will be retried",
              result->message[0] != 0 ? result->message
              : result->code != 0     ? ki_error_text(result->code)
                                      : "no reason given");
}

/* Returns how long the key waits before it is worked on again; UINT64_MAX: until something changes. */
static uint64_t delay_ns(const ki_request *request, const ki_result *result)
{
    ki_controller *c = request->controller;
    uint64_t ns = 0;
    if (result->verdict != KI_VERDICT_RETRY)
        ki_limiter_forget(c->limiter, request->item.key);
    if (result->verdict == KI_VERDICT_REQUEUE_AFTER)
        return ki_ns_of_ms(result->after_ms);
    if (result->verdict != KI_VERDICT_RETRY)
        return UINT64_MAX;
    if (ki_limiter_when(c->limiter, request->item.key, &ns) < 0)
        ns = KI_NS_PER_S;
    return ki_ns_max(ns, ki_ns_of_ms(result->after_ms));
}

static void count_locked(ki_request *request, const ki_result *result, uint64_t now_ns)
    KI_REQUIRES(request->controller->mu)
{
    ki_controller *c = request->controller;
    ki_counter *by_verdict[] = {[KI_VERDICT_DONE] = c->metrics.done,
                                [KI_VERDICT_REQUEUE_AFTER] = c->metrics.requeued,
                                [KI_VERDICT_RETRY] = c->metrics.retried,
                                [KI_VERDICT_GIVE_UP] = c->metrics.given_up};
    ki_counter_add(by_verdict[result->verdict], 1);
    ki_histogram_observe(c->metrics.duration, now_ns - request->began_ns);
    c->reconciles++;
    c->failures += result->verdict == KI_VERDICT_RETRY || result->verdict == KI_VERDICT_GIVE_UP;
}

void ki_controller_complete(ki_request *request, const ki_result *result)
{
    ki_controller *c = request->controller;
    ki_result known = *result;
    if (known.verdict < KI_VERDICT_DONE || known.verdict > KI_VERDICT_GIVE_UP)
        known = (ki_result){.verdict = KI_VERDICT_RETRY, .message = "not a result that ends a request"};
    if (known.verdict == KI_VERDICT_RETRY || known.verdict == KI_VERDICT_GIVE_UP)
        log_failure(request, &known);
    uint64_t after_ns = delay_ns(request, &known);
    ki_mutex_lock(&c->mu);
    if (after_ns != UINT64_MAX &&
        ki_workqueue_add_after_ns(c->queue, request->item.key, request->item.priority, after_ns) < 0)
        put_back_locked(c, request->item.key, request->item.priority);
    (void)ki_workqueue_done(c->queue, request->item.key);
    count_locked(request, &known, now_of(c));
    ki_list_remove(&request->node);
    c->active_count--;
    ki_gauge_set(c->metrics.active, (int64_t)c->active_count);
    ki_cond_broadcast(&c->idle);
    ki_cond_signal(&c->work);
    ki_job_wake(&c->job); /* before the lock is given away: then it may be gone */
    ki_mutex_unlock(&c->mu);
    ki_free(request);
}

/* ---- adding ------------------------------------------------------------------------------------------ */

static void spare_locked(ki_controller *c, ki_str key, ki_priority priority) KI_REQUIRES(c->mu)
{
    size_t need = key.len + 3;
    if (c->spare_len + need > KI_CONTROLLER_SPARE_BYTES) {
        c->has_lost_keys = true;
        return;
    }
    char *at = c->spare + c->spare_len;
    at[0] = (char)priority;
    at[1] = (char)(key.len & 0xff);
    at[2] = (char)(key.len >> 8);
    memcpy(at + 3, key.ptr, key.len);
    c->spare_len += need;
}

int ki_controller_add(ki_controller *c, ki_str key, ki_priority priority)
{
    int rc = ki_workqueue_add(c->queue, key, priority);
    if (rc == KI_ERR_NO_MEMORY) {
        ki_mutex_lock(&c->mu);
        spare_locked(c, key, priority);
        ki_mutex_unlock(&c->mu);
        rc = 0;
    }
    ki_controller_wake(c);
    return rc;
}

void ki_controller_wake(ki_controller *c)
{
    if (!c->has_threads) {
        ki_job_wake(&c->job);
        return;
    }
    ki_mutex_lock(&c->mu);
    ki_cond_signal(&c->work);
    ki_mutex_unlock(&c->mu);
}

/* From the first on, as far as memory goes. */
static void add_spare_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    size_t at = 0;
    while (at < c->spare_len) {
        const unsigned char *entry = (const unsigned char *)c->spare + at;
        size_t len = entry[1] | (size_t)entry[2] << 8;
        ki_str key = {c->spare + at + 3, len};
        if (ki_workqueue_add(c->queue, key, (ki_priority)entry[0]) == KI_ERR_NO_MEMORY)
            break;
        at += len + 3;
    }
    memmove(c->spare, c->spare + at, c->spare_len - at);
    c->spare_len -= at;
}

/* ---- looking around ---------------------------------------------------------------------------------- */

static void tell_of_sync(ki_controller *c)
{
    char text[512];
    ki_controller_describe_unsynced(c, text, sizeof(text));
    if (text[0] != 0)
        ki_log_to(c->client->log, KI_LOG_INFO, "controller",
                  KI_LOG_FIELDS({"controller", ki_str_of(c->name)}), "waiting for %s", text);
}

/* Each that takes longer than it should is said once. */
static void tell_of_overdue_locked(ki_controller *c, uint64_t now_ns) KI_REQUIRES(c->mu)
{
    uint64_t limit_ns = ki_ns_of_ms(c->options.reconcile_timeout_ms);
    for (ki_list_node *node = ki_list_first(&c->active); node != NULL && limit_ns > 0;
         node = ki_list_next(&c->active, node)) {
        ki_request *request = KI_CONTAINER_OF(node, ki_request, node);
        if (request->is_overdue || now_ns - request->began_ns < limit_ns)
            continue;
        request->is_overdue = true;
        c->overdue_untold++;
        ki_counter_add(c->metrics.overdue, 1);
    }
}

/* Returns whether anything is to be said without the lock. */
static bool look_around_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    uint64_t now_ns = now_of(c);
    if (c->spare_len > 0 && now_ns >= c->pause_until_ns)
        add_spare_locked(c);
    tell_of_overdue_locked(c, now_ns);
    if (!c->is_wanted || c->unsynced == 0) {
        c->waited_ns = 0;
        return false;
    }
    if (c->waited_ns == 0)
        c->waited_ns = c->told_ns = now_ns;
    if (now_ns - c->told_ns < TELL_MS * KI_NS_PER_MS)
        return false;
    c->told_ns = now_ns;
    return true;
}

static void say_overdue(ki_controller *c, uint64_t count)
{
    if (count > 0)
        ki_log_to(c->client->log, KI_LOG_WARNING, "controller",
                  KI_LOG_FIELDS({"controller", ki_str_of(c->name)}),
                  "%" PRIu64 " reconciles run for longer than %" PRIu64 " ms", count,
                  c->options.reconcile_timeout_ms);
}

/* What was lost for want of a place is found again in the stores. */
static void look_around(ki_controller *c)
{
    ki_mutex_lock(&c->mu);
    bool tells = look_around_locked(c);
    bool has_lost = c->has_lost_keys && now_of(c) >= c->pause_until_ns;
    uint64_t overdue = c->overdue_untold;
    c->overdue_untold = 0;
    if (has_lost)
        c->has_lost_keys = false;
    ki_mutex_unlock(&c->mu);
    say_overdue(c, overdue);
    if (tells)
        tell_of_sync(c);
    if (has_lost && ki_controller_add_all(c) < 0) {
        ki_mutex_lock(&c->mu);
        c->has_lost_keys = true;
        c->pause_until_ns = now_of(c) + MEMORY_AGAIN_MS * KI_NS_PER_MS;
        ki_mutex_unlock(&c->mu);
    }
}

/* When something may change that nobody wakes us for. */
static uint64_t next_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    uint64_t next_ns = UINT64_MAX, now_ns = now_of(c);
    if (!c->is_wanted)
        return c->spare_len > 0 || c->has_lost_keys ? now_ns + MEMORY_AGAIN_MS * KI_NS_PER_MS : UINT64_MAX;
    if (c->unsynced > 0)
        return now_ns + NAP_MS * KI_NS_PER_MS;
    if (c->active_count < c->options.workers)
        next_ns = ki_workqueue_next_ns(c->queue);
    if (c->spare_len > 0 || c->has_lost_keys || next_ns <= c->pause_until_ns)
        next_ns = ki_ns_max(next_ns <= now_ns ? now_ns : next_ns, c->pause_until_ns);
    if (c->spare_len > 0 || c->has_lost_keys)
        next_ns = ki_ns_min(next_ns, ki_ns_max(c->pause_until_ns, now_ns + MEMORY_AGAIN_MS * KI_NS_PER_MS));
    if (c->active_count > 0 && c->options.reconcile_timeout_ms > 0)
        next_ns = ki_ns_min(next_ns, now_ns + NAP_MS * KI_NS_PER_MS);
    return next_ns;
}

/* ---- on a thread ------------------------------------------------------------------------------------- */

static void nap_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    uint64_t next_ns = next_locked(c), now_ns = now_of(c);
    uint64_t ms = next_ns <= now_ns ? 0 : (next_ns - now_ns) / KI_NS_PER_MS + 1;
    if (ms > 0)
        (void)ki_cond_wait_ms(&c->work, &c->mu, ki_ns_min(ms, NAP_MS));
}

void ki_controller_run_worker(void *user)
{
    ki_worker *worker = user;
    ki_controller *c = worker->controller;
    ki_mutex_lock(&c->mu);
    while (c->is_wanted && !c->client->is_closing) {
        ki_mutex_unlock(&c->mu);
        look_around(c);
        ki_mutex_lock(&c->mu);
        ki_request *request = take_locked(c);
        if (request == NULL) {
            nap_locked(c);
            continue;
        }
        ki_mutex_unlock(&c->mu);
        call(request);
        ki_mutex_lock(&c->mu);
    }
    worker->is_live = false;
    c->live_count--;
    ki_cond_broadcast(&c->work);
    ki_cond_broadcast(&c->idle);
    ki_job_wake(&c->job);
    ki_mutex_unlock(&c->mu);
}

/* ---- on a loop --------------------------------------------------------------------------------------- */

uint64_t ki_controller_work(ki_controller *c)
{
    look_around(c);
    for (int i = 0; i < AT_ONCE; i++) {
        ki_mutex_lock(&c->mu);
        ki_request *request = take_locked(c);
        ki_mutex_unlock(&c->mu);
        if (request == NULL)
            break;
        call(request);
    }
    ki_mutex_lock(&c->mu);
    uint64_t next_ns = next_locked(c);
    ki_mutex_unlock(&c->mu);
    return next_ns;
}
