/* SPDX-License-Identifier: Apache-2.0 */
/* What a reconcile may say, and what becomes of the key. */
#include <stdio.h>
#include <string.h>

#include "support/controller_rig.h"
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

static void a_key_comes_back_after_the_time_it_asked_for(void **state)
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
    enqueue(&rig, "k"); /* a change comes earlier, and is not kept waiting */
    RIG_EXPECT(&rig, "k ");
    controller_rig_fini(&rig);
}

static ki_result fail_with_message(controller_rig *rig, ki_request *request)
{
    ki_error err = {.code = KI_ERR_HTTP, .message = "no luck"};
    (void)rig;
    return ki_request_failures(request) < 4 ? ki_retry(&err) : ki_done();
}

static void retries_come_after_delays_that_grow(void **state)
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

/* The default limiter has a bucket, whose time is the client's. */
static void the_limiter_lives_in_the_time_of_the_client(void **state)
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
    assert_in_range(calls, 59, 63); /* one each second */
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static ki_result come_back_in_five_seconds(controller_rig *rig, ki_request *request)
{
    ki_error err = {.code = KI_ERR_HTTP, .retry_after_ms = 5000, .message = "too many requests"};
    (void)rig;
    return ki_request_failures(request) == 0 ? ki_retry(&err) : ki_done();
}

static void nothing_changes_the_time_that_the_server_has_set(void **state)
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

static void a_key_that_was_given_up_waits_for_the_next_change(void **state)
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

static void as_many_reconciles_are_unfinished_as_there_are_workers(void **state)
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
    enqueue(&rig, "b"); /* a change while it runs: again, when it has ended */
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

static void what_is_not_a_result_is_a_failure(void **state)
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
    enqueue(&rig, "c"); /* while one that was told of still runs */
    controller_rig_run(&rig, 700);
    text_log_expect(&rig.log, "c: a reconcile has been running for longer than 700 ms\n", __FILE__, __LINE__);
    ki_request_finish(rig.pending[2], ki_done());
    ki_request_finish(rig.pending[0], ki_done());
    text_log_clear(&rig.calls);
    controller_rig_fini(&rig);
}

static void a_key_of_the_programs_own_may_come_later(void **state)
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

/* More keys than are worked on in one turn, and none twice. */
static void many_keys_are_all_worked_on(void **state)
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
        WITH_MEMORY_CHECK(a_key_comes_back_after_the_time_it_asked_for),
        WITH_MEMORY_CHECK(a_budget_ends_a_dispatch_between_two_reconciles),
        WITH_MEMORY_CHECK(retries_come_after_delays_that_grow),
        WITH_MEMORY_CHECK(the_limiter_lives_in_the_time_of_the_client),
        WITH_MEMORY_CHECK(nothing_changes_the_time_that_the_server_has_set),
        WITH_MEMORY_CHECK(a_key_that_was_given_up_waits_for_the_next_change),
        WITH_MEMORY_CHECK(as_many_reconciles_are_unfinished_as_there_are_workers),
        WITH_MEMORY_CHECK(a_request_may_be_finished_before_its_function_returns),
        WITH_MEMORY_CHECK(what_is_not_a_result_is_a_failure),
        WITH_MEMORY_CHECK(a_reconcile_that_takes_too_long_is_reported_once),
        WITH_MEMORY_CHECK(a_key_of_the_programs_own_may_come_later),
        WITH_MEMORY_CHECK(many_keys_are_all_worked_on),
    };
    return RUN_TESTS(tests);
}
