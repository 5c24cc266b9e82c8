/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a reconcile, and what happens to its key. */
#include <stdio.h>
#include <string.h>

#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

static void begin(controller_rig *rig, const ki_controller_options *options,
                  ki_result (*reconcile)(controller_rig *rig, ki_request *request))
{
    ki_error err = {0};
    controller_rig_init(rig, options);
    rig->reconcile = reconcile;
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
}

static void enqueue(controller_rig *rig, const char *key)
{
    assert_int_equal(ki_controller_enqueue(rig->controller, ki_str_of(key), 0), 0);
    controller_rig_run(rig, 0);
}

static ki_result requeue_after_a_second(controller_rig *rig, ki_request *request)
{
    (void)rig;
    (void)request;
    return ki_requeue_after(1000);
}

static void a_key_is_reconciled_again_after_the_requested_time(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL, requeue_after_a_second);
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k ");
    controller_rig_run(&rig, 999);
    RIG_EXPECT(&rig, "");
    assert_int_equal(controller_rig_status(&rig).delayed, 1);
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "k ");
    controller_rig_run(&rig, 500);
    enqueue(&rig, "k"); /* a change is not delayed by it */
    RIG_EXPECT(&rig, "k ");
    controller_rig_fini(&rig);
}

/* The result after a failure; the next call then reads the number of failures. */
static ki_result other;
static uint32_t told_failures;

static ki_result fail_then_other(controller_rig *rig, ki_request *request)
{
    (void)rig;
    bool has_failed = ki_request_failures(request) > 0;
    bool is_second = told_failures == UINT32_MAX && has_failed;
    if (told_failures == UINT32_MAX && !has_failed)
        return ki_retry(NULL);
    told_failures = is_second ? UINT32_MAX - 1 : ki_request_failures(request);
    return is_second ? other : ki_done();
}

static void any_result_except_retry_resets_the_failures(void **state)
{
    (void)state;
    const ki_result results[] = {ki_done(), ki_requeue_after(1), ki_give_up(NULL)};
    for (size_t i = 0; i < 3; i++) {
        controller_rig rig;
        other = results[i];
        told_failures = UINT32_MAX;
        begin(&rig, NULL, fail_then_other);
        enqueue(&rig, "k");
        controller_rig_run(&rig, 10);
        enqueue(&rig, "k");
        assert_int_equal(told_failures, 0);
        controller_rig_fini(&rig);
    }
}

static ki_result fail_with_message(controller_rig *rig, ki_request *request)
{
    ki_error err = {.code = KI_ERR_HTTP, .message = "no luck"};
    (void)rig;
    return ki_request_failures(request) < 4 ? ki_retry(&err) : ki_done();
}

static void retries_have_growing_delays(void **state)
{
    (void)state;
    controller_rig rig;
    uint64_t expected_ms[] = {0, 100, 200, 400, 800};
    begin(&rig, &(ki_controller_options){.limiter = ki_limiter_new_exponential(100, 10000, NULL)},
          fail_with_message);
    uint64_t at_ns = ki_clock_now_ns(&rig.clock);
    enqueue(&rig, "k");
    for (size_t i = 0; i < 5; i++) {
        at_ns += ki_ns_of_ms(expected_ms[i]);
        controller_rig_run(&rig, i == 0 ? 0 : expected_ms[i]);
        RIG_EXPECT(&rig, "k ");
        assert_int_equal(rig.reconciled_ns, at_ns);
        text_log_expect(&rig.log, i < 4 ? "k: reconcile failed, will be retried: no luck\n" : "", __FILE__,
                        __LINE__);
    }
    controller_rig_run(&rig, 100000);
    RIG_EXPECT(&rig, "");
    ki_controller_status status = controller_rig_status(&rig);
    assert_int_equal(status.reconciles, 5);
    assert_int_equal(status.failures, 4);
    assert_int_equal(
        controller_rig_metric(&rig, "controller_reconcile_total", "controller=test,result=retry"), 4);
    assert_int_equal(controller_rig_metric(&rig, "controller_reconcile_total", "controller=test,result=done"),
                     1);
    enqueue(&rig, "k"); /* the failures were forgotten */
    controller_rig_run(&rig, 100);
    RIG_EXPECT(&rig, "k k ");
    controller_rig_fini(&rig);
}

/* The bucket of a limiter uses the client's clock. */
static void the_limiter_uses_the_clock_of_the_client(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, &(ki_controller_options){.limiter = ki_limiter_new_bucket(1, 1, NULL)}, fail_with_message);
    rig.reconcile = fail_with_message;
    enqueue(&rig, "k");
    controller_rig_run(&rig, 10);
    uint64_t first_ns = rig.reconciled_ns;
    controller_rig_run(&rig, 60000);
    assert_true(rig.reconciled_ns > first_ns);
    uint64_t calls = rig.calls.len / 2;
    assert_in_range(calls, 59, 63); /* one per second */
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static ki_result come_back_in_five_seconds(controller_rig *rig, ki_request *request)
{
    ki_error err = {.code = KI_ERR_HTTP, .retry_after_ms = 5000, .message = "too many requests"};
    (void)rig;
    return ki_request_failures(request) == 0 ? ki_retry(&err) : ki_done();
}

static void nothing_changes_the_delay_requested_by_the_server(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL, come_back_in_five_seconds);
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k ");
    uint64_t first_ns = rig.reconciled_ns;
    controller_rig_run(&rig, 1000);
    enqueue(&rig, "k"); /* a change */
    enqueue(&rig, "other");
    RIG_EXPECT(&rig, "other ");
    controller_rig_run(&rig, 3999);
    RIG_EXPECT(&rig, "");
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(rig.reconciled_ns - first_ns, ki_ns_of_ms(5000));
    controller_rig_fini(&rig);
}

static ki_result give_up(controller_rig *rig, ki_request *request)
{
    ki_error err = {.code = KI_ERR_INVALID, .message = "", .retry_after_ms = 1000};
    (void)rig;
    (void)request;
    return ki_give_up(&err);
}

static void a_key_that_was_given_up_is_reconciled_after_the_next_change(void **state)
{
    (void)state;
    controller_rig rig;
    char line[128];
    begin(&rig, NULL, give_up);
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k ");
    snprintf(line, sizeof(line), "k: reconcile failed, giving up: %s\n", ki_error_text(KI_ERR_INVALID));
    text_log_expect(&rig.log, line, __FILE__, __LINE__);
    controller_rig_run(&rig, 1000000);
    RIG_EXPECT(&rig, "");
    assert_int_equal(
        controller_rig_metric(&rig, "controller_reconcile_total", "controller=test,result=give_up"), 1);
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k ");
    controller_rig_fini(&rig);
}

static ki_result later(controller_rig *rig, ki_request *request)
{
    assert_true(rig->pending_count < RIG_PENDING_MAX);
    rig->pending[rig->pending_count++] = request;
    return ki_later();
}

static void at_most_as_many_reconciles_are_active_as_there_are_workers(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, &(ki_controller_options){.workers = 2}, later);
    enqueue(&rig, "a");
    enqueue(&rig, "b");
    enqueue(&rig, "c");
    RIG_EXPECT(&rig, "a b ");
    controller_rig_run(&rig, 500);
    ki_controller_status status = controller_rig_status(&rig);
    assert_int_equal(status.active, 2);
    assert_int_equal(status.queued, 1);
    assert_int_equal(status.longest_ms, 500);
    assert_string_equal(status.longest_key, "a");
    assert_int_equal(controller_rig_metric(&rig, "controller_active_workers", "controller=test"), 2);
    enqueue(&rig, "b"); /* a change during its reconcile: it is reconciled again afterwards */
    RIG_EXPECT(&rig, "");
    ki_request_finish(rig.pending[1], ki_done());
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "c ");
    ki_request_finish(rig.pending[0], ki_requeue_after(100));
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "b ");
    ki_request_finish(rig.pending[2], ki_done());
    ki_request_finish(rig.pending[3], ki_done());
    controller_rig_run(&rig, 1000);
    RIG_EXPECT(&rig, "a ");
    ki_request_finish(rig.pending[4], ki_done());
    assert_int_equal(controller_rig_metric(&rig, "controller_active_workers", "controller=test"), 0);
    assert_int_equal(
        controller_rig_metric(&rig, "controller_reconcile_total", "controller=test,result=requeue_after"), 1);
    assert_int_equal(
        controller_rig_metric(&rig, "controller_reconcile_duration_seconds_count", "controller=test"), 5);
    double seconds =
        controller_rig_metric(&rig, "controller_reconcile_duration_seconds_sum", "controller=test");
    assert_true(seconds > 1.89 && seconds < 1.91); /* 0.5 s twice, and 0.9 s for the last one */
    controller_rig_fini(&rig);
}

static ki_result finish_inside(controller_rig *rig, ki_request *request)
{
    (void)rig;
    ki_request_finish(request, ki_requeue_after(1000));
    return ki_later();
}

static void a_request_may_be_finished_before_its_function_returns(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL, finish_inside);
    enqueue(&rig, "k");
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(controller_rig_status(&rig).active, 0);
    controller_rig_run(&rig, 1000);
    RIG_EXPECT(&rig, "k ");
    controller_rig_fini(&rig);
}

static ki_result say_nonsense(controller_rig *rig, ki_request *request)
{
    (void)rig;
    return ki_request_failures(request) == 0 ? (ki_result){.verdict = (ki_verdict)77} : ki_done();
}

static void an_invalid_result_is_a_failure(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL, say_nonsense);
    enqueue(&rig, "k");
    controller_rig_run(&rig, 1000);
    RIG_EXPECT(&rig, "k k ");
    assert_int_equal(controller_rig_status(&rig).failures, 1);
    controller_rig_fini(&rig);
}

static void a_reconcile_that_takes_too_long_is_reported_once(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, &(ki_controller_options){.workers = 2, .reconcile_timeout_ms = 700}, later);
    enqueue(&rig, "a");
    controller_rig_run(&rig, 100);
    enqueue(&rig, "b");
    controller_rig_run(&rig, 599);
    text_log_expect(&rig.log, "", __FILE__, __LINE__);
    controller_rig_run(&rig, 1);
    text_log_expect(&rig.log, "a: a reconcile has been running for longer than 700 ms\n", __FILE__, __LINE__);
    controller_rig_run(&rig, 10000);
    text_log_expect(&rig.log, "b: a reconcile has been running for longer than 700 ms\n", __FILE__, __LINE__);
    assert_int_equal(controller_rig_metric(&rig, "controller_overdue_total", "controller=test"), 2);
    ki_request_finish(rig.pending[1], ki_done());
    enqueue(&rig, "c"); /* while one that was reported is still running */
    controller_rig_run(&rig, 700);
    text_log_expect(&rig.log, "c: a reconcile has been running for longer than 700 ms\n", __FILE__, __LINE__);
    ki_request_finish(rig.pending[2], ki_done());
    ki_request_finish(rig.pending[0], ki_done());
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void a_key_added_by_the_program_may_be_delayed(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL, NULL);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("k"), 300), 0);
    controller_rig_run(&rig, 299);
    RIG_EXPECT(&rig, "");
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "k ");
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR(""), 0), KI_ERR_INVALID);
    assert_int_equal(ki_controller_enqueue(NULL, KI_STR("k"), 0), KI_ERR_INVALID);
    controller_rig_fini(&rig);
}

/* More keys than are reconciled in one run, and none twice. */
static void many_keys_are_all_reconciled(void **state)
{
    (void)state;
    controller_rig rig;
    char key[16];
    begin(&rig, NULL, NULL);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "k%03d", i);
        assert_int_equal(ki_controller_enqueue(rig.controller, ki_str_of(key), 0), 0);
    }
    controller_rig_run(&rig, 0);
    assert_int_equal(rig.calls.len, 5000);
    assert_int_equal(controller_rig_status(&rig).reconciles, 1000);
    controller_rig_fini(&rig);
}

static ki_result take_a_millisecond(controller_rig *rig, ki_request *request)
{
    (void)request;
    ki_clock_advance_ns(&rig->clock, KI_NS_PER_MS);
    return ki_done();
}

static void a_budget_ends_a_dispatch_between_two_reconciles(void **state)
{
    (void)state;
    controller_rig rig;
    begin(&rig, NULL, take_a_millisecond);
    controller_rig_sync(&rig, "", "");
    for (const char *key = "abcdef"; *key != 0; key++)
        assert_int_equal(ki_controller_enqueue(rig.controller, ki_str_from(key, 1), 0), 0);
    assert_int_equal(ki_client_dispatch(rig.client, 2), 1);
    RIG_EXPECT(&rig, "a b ");
    assert_int_equal(ki_client_dispatch(rig.client, KI_BUDGET_NONE), 0);
    RIG_EXPECT(&rig, "c d e f ");
    controller_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_key_is_reconciled_again_after_the_requested_time),
        WITH_MEMORY_CHECK(a_budget_ends_a_dispatch_between_two_reconciles),
        WITH_MEMORY_CHECK(any_result_except_retry_resets_the_failures),
        WITH_MEMORY_CHECK(retries_have_growing_delays),
        WITH_MEMORY_CHECK(the_limiter_uses_the_clock_of_the_client),
        WITH_MEMORY_CHECK(nothing_changes_the_delay_requested_by_the_server),
        WITH_MEMORY_CHECK(a_key_that_was_given_up_is_reconciled_after_the_next_change),
        WITH_MEMORY_CHECK(at_most_as_many_reconciles_are_active_as_there_are_workers),
        WITH_MEMORY_CHECK(a_request_may_be_finished_before_its_function_returns),
        WITH_MEMORY_CHECK(an_invalid_result_is_a_failure),
        WITH_MEMORY_CHECK(a_reconcile_that_takes_too_long_is_reported_once),
        WITH_MEMORY_CHECK(a_key_added_by_the_program_may_be_delayed),
        WITH_MEMORY_CHECK(many_keys_are_all_reconciled),
    };
    return RUN_TESTS(tests);
}
