/* SPDX-License-Identifier: Apache-2.0 */
/* From a key to a call of the reconcile function, and its result. */
#include <assert.h>
#include <inttypes.h>

#include "client/callback.h"
#include "controller/controller.h"
#include "util/alloc.h"
#include "util/units.h"
#include "workqueue/limiter.h"
#include "workqueue/queue.h"

/* AT_ONCE: how many reconciles the loop runs before other jobs get their turn, and how many keys that have to
 * wait are put off at a time.
 * MEMORY_AGAIN_MS: how soon the controller retries when out of memory.
 * SLEEP_MS: the longest sleep until a delay ends, since a condition variable does not count the time during
 * which the machine was suspended. */
enum { AT_ONCE = 16, MEMORY_AGAIN_MS = 100, SLEEP_MS = 1000 };

static _Thread_local const ki_controller *working;

const ki_controller *ki_controller_working(void)
{
    return working;
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

/* ---- taking a key ------------------------------------------------------------------------------------ */

/* When out of memory: returns the key to the queue, and pauses the controller for a moment. The key is still
 * being worked on, and marking such a key as dirty needs no memory, so it is not lost. */
static void put_back_locked(ki_controller *c, ki_str key, ki_priority priority) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    int rc = ki_workqueue_add(c->queue, key, priority);
    assert(rc == 0 || rc == KI_ERR_STOPPED);
    (void)rc;
    c->pause_until_ns = ki_controller_now_ns(c) + ki_ns_of_ms(MEMORY_AGAIN_MS);
}

/* Returns whether the key has to wait, for an expected write or because of a Retry-After of the server. */
static bool defer_locked(ki_controller *c, const ki_work_item *item, ki_expectation_state *out_state)
    KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    uint64_t wait_ns = 0;
    ki_expectation_state state =
        ki_expectations_check(&c->expectations, item->key, ki_controller_now_ns(c), &wait_ns);
    *out_state = state;
    if (state == KI_EXPECTATION_SEEN)
        ki_counter_add(c->metrics.seen, 1);
    if (state == KI_EXPECTATION_RESET)
        ki_counter_add(c->metrics.reset, 1);
    if (state == KI_EXPECTATION_TIMED_OUT)
        ki_counter_add(c->metrics.unseen, 1);
    if (state != KI_EXPECTATION_WAITING)
        return false;
    if (ki_workqueue_put_off_ns(c->queue, item, wait_ns) < 0) {
        put_back_locked(c, item->key, item->priority);
        (void)ki_workqueue_done(c->queue, item->key);
    }
    return true;
}

static ki_request *begin_locked(ki_controller *c, const ki_work_item *item) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    assert(c->active_count < c->options.workers);
    ki_request *request = ki_request_new(item);
    if (request == NULL) {
        put_back_locked(c, item->key, item->priority);
        (void)ki_workqueue_done(c->queue, item->key);
        return NULL;
    }
    request->controller = c;
    request->began_ns = ki_controller_now_ns(c);
    request->is_running = true;
    ki_list_push_back(&c->active, &request->node);
    c->active_count++;
    ki_gauge_set(c->metrics.active, (int64_t)c->active_count);
    if (c->options.reconcile_timeout_ms > 0)
        ki_job_wake(&c->job); /* so that it sets its timer */
    return request;
}

static bool may_begin_locked(const ki_controller *c) KI_REQUIRES(c->mu)
{
    return c->is_wanted && !c->client->is_closing && c->unsynced == 0 && c->active_count < c->options.workers;
}

uint64_t ki_controller_next_key_ns_locked(ki_controller *c)
{
    KI_ASSERT_HELD(c->mu);
    if (!may_begin_locked(c))
        return UINT64_MAX;
    return ki_ns_max(ki_workqueue_next_ns(c->queue), c->pause_until_ns);
}

/* A worker that begins a reconcile no longer waits for the next key. Another may be asleep without a timer,
 * since it found neither a key nor a delay when it fell asleep; so it is woken to look again. */
static void wake_another_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    if (ki_controller_next_key_ns_locked(c) != UINT64_MAX)
        ki_cond_signal(&c->work);
}

/* Returns NULL when there is nothing to do now, or when many keys had to wait: the caller looks again
 * later. */
static ki_request *begin_next_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    ki_work_item item;
    ki_expectation_state expected = KI_EXPECTATION_NONE;
    /* 0: workers sleep in sleep_locked(), not in the queue. */
    for (int looked = 0;
         looked < AT_ONCE && may_begin_locked(c) && ki_controller_now_ns(c) >= c->pause_until_ns &&
         ki_workqueue_get(c->queue, 0, &item) == 0;
         looked++) {
        if (defer_locked(c, &item, &expected))
            continue;
        ki_request *request = begin_locked(c, &item);
        if (request != NULL)
            request->expected = expected;
        wake_another_locked(c);
        return request;
    }
    return NULL;
}

/* ---- the call ---------------------------------------------------------------------------------------- */

static ki_result reconcile(ki_request *request)
{
    assert(ki_mutex_held() == 0); /* the reconcile function may take any lock */
    ki_controller *c = request->controller;
    const ki_controller *before = working;
    const ki_log_sink *log = ki_log_use(c->client->log);
    working = c;
    bool was_in_reconcile = ki_callback_set_reconcile(true);
    if (c->has_threads)
        ki_callback_enter_worker();
    ki_result result = c->options.reconcile(request, c->options.user);
    if (c->has_threads)
        ki_callback_leave_worker();
    (void)ki_callback_set_reconcile(was_in_reconcile);
    working = before;
    (void)ki_log_use(log);
    return result;
}

/* The wait has ended, but the cache may still lack what the previous reconcile wrote. */
static void log_unseen(const ki_request *request)
{
    const ki_controller *c = request->controller;
    if (request->expected == KI_EXPECTATION_TIMED_OUT)
        ki_controller_log(c, KI_LOG_WARNING, request->item.key,
                          "the cache does not have the written object after %" PRIu64
                          " ms: continuing without it",
                          c->options.expect_timeout_ms);
    if (request->expected == KI_EXPECTATION_RESET)
        ki_controller_log(c, KI_LOG_WARNING, request->item.key,
                          "the history of the server was reset, perhaps before what was written");
}

static void call(ki_request *request)
{
    assert(request->is_running && !request->is_finished);
    ki_controller *c = request->controller;
    log_unseen(request);
    ki_result result = reconcile(request);
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
    bool is_given_up = result->verdict == KI_VERDICT_GIVE_UP;
    const char *reason = result->message[0] != 0 ? result->message
                         : result->code != 0     ? ki_error_text(result->code)
                                                 : "no reason given";
    ki_controller_log(request->controller, is_given_up ? KI_LOG_ERROR : KI_LOG_WARNING, request->item.key,
                      "reconcile failed, %s: %s", is_given_up ? "giving up" : "will be retried", reason);
}

/* Tells the limiter the result, and returns how long the key waits until its next reconcile; UINT64_MAX:
 * until an event adds it again. */
static uint64_t ask_limiter(const ki_request *request, const ki_result *result)
{
    ki_controller *c = request->controller;
    uint64_t ns = 0;
    if (result->verdict != KI_VERDICT_RETRY)
        ki_limiter_forget(c->limiter, request->item.key);
    if (result->verdict == KI_VERDICT_REQUEUE_AFTER)
        return ki_ns_of_ms(result->after_ms);
    if (result->verdict != KI_VERDICT_RETRY)
        return UINT64_MAX;
    if (ki_limiter_when_at(c->limiter, request->item.key, ki_controller_now_ns(c), &ns) < 0)
        ns = KI_NS_PER_S;
    return ki_ns_max(ns, ki_ns_of_ms(result->after_ms));
}

/* A custom limiter is the program's: it may stop or free the controller or the client, which must not wait
 * for this request. */
static uint64_t tell_limiter(const ki_request *request, const ki_result *result)
{
    const ki_controller *before = working;
    bool was_in_worker = ki_callback_is_in_worker(); /* a reconcile may finish another request */
    working = request->controller;
    ki_callback_enter_worker();
    uint64_t ns = ask_limiter(request, result);
    if (!was_in_worker)
        ki_callback_leave_worker();
    working = before;
    return ns;
}

static void count_locked(ki_controller *c, const ki_request *request, const ki_result *result,
                         uint64_t now_ns) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    ki_counter *by_verdict[] = {[KI_VERDICT_DONE] = c->metrics.done,
                                [KI_VERDICT_REQUEUE_AFTER] = c->metrics.requeued,
                                [KI_VERDICT_RETRY] = c->metrics.retried,
                                [KI_VERDICT_GIVE_UP] = c->metrics.given_up};
    assert((size_t)result->verdict < sizeof(by_verdict) / sizeof(by_verdict[0]));
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
    uint64_t now_ns = ki_controller_now_ns(c), after_ns = tell_limiter(request, &known);
    ki_mutex_lock(&c->mu);
    /* If this is out of memory, an event may bring the key earlier. */
    if (known.verdict == KI_VERDICT_RETRY && known.after_ms > 0)
        (void)!ki_expectations_delay(&c->expectations, request->item.key, now_ns,
                                     now_ns + ki_ns_of_ms(known.after_ms));
    if (after_ns != UINT64_MAX &&
        ki_workqueue_add_after_ns(c->queue, request->item.key, request->item.priority, after_ns) < 0)
        put_back_locked(c, request->item.key, request->item.priority);
    (void)ki_workqueue_done(c->queue, request->item.key);
    count_locked(c, request, &known, now_ns);
    ki_list_remove(&request->node);
    assert(c->active_count > 0);
    c->active_count--;
    ki_gauge_set(c->metrics.active, (int64_t)c->active_count);
    ki_cond_broadcast(&c->idle);
    ki_cond_signal(&c->work);
    ki_job_wake(&c->job); /* while the lock is held: afterwards the controller may be freed */
    ki_mutex_unlock(&c->mu);
    ki_free(request);
}

/* ---- on a thread ------------------------------------------------------------------------------------- */

/* Sleeps until there may be something to do, or lets other threads have the mutex. */
static void sleep_locked(ki_controller *c) KI_REQUIRES(c->mu)
{
    KI_ASSERT_HELD(c->mu);
    uint64_t next_ns = ki_controller_next_key_ns_locked(c), now_ns = ki_controller_now_ns(c);
    if (next_ns == UINT64_MAX) {
        ki_cond_wait(&c->work, &c->mu);
    } else if (next_ns > now_ns) {
        (void)ki_cond_wait_ms(&c->work, &c->mu, ki_ns_min((next_ns - now_ns) / KI_NS_PER_MS + 1, SLEEP_MS));
    } else {
        ki_mutex_unlock(&c->mu);
        ki_mutex_lock(&c->mu);
    }
}

void ki_controller_run_worker(void *user)
{
    ki_worker *worker = user;
    ki_controller *c = worker->controller;
    ki_mutex_lock(&c->mu);
    while (c->is_wanted && !c->client->is_closing) {
        ki_request *request = begin_next_locked(c);
        if (request == NULL) {
            sleep_locked(c);
            continue;
        }
        ki_mutex_unlock(&c->mu);
        call(request);
        ki_mutex_lock(&c->mu);
    }
    worker->is_live = false;
    assert(c->live_count > 0);
    c->live_count--;
    ki_cond_broadcast(&c->idle);
    ki_job_wake(&c->job);
    ki_mutex_unlock(&c->mu);
}

/* ---- on a loop --------------------------------------------------------------------------------------- */

void ki_controller_run_on_loop(ki_controller *c)
{
    for (int i = 0; i < AT_ONCE && (i == 0 || !ki_loop_is_over_budget()); i++) {
        ki_mutex_lock(&c->mu);
        ki_request *request = begin_next_locked(c);
        ki_mutex_unlock(&c->mu);
        if (request == NULL)
            break;
        call(request);
    }
}
