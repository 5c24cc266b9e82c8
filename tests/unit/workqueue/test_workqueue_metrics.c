/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a queue, read from the text exported to Prometheus. */
#include <kinformer/metrics.h>
#include <kinformer/workqueue.h>
#include <stdio.h>

#include "support/controller/work_rig.h"
#include "support/exposition.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"
#include "workqueue/queue.h"

static double value_of(ki_metrics *metrics, const char *name, const char *labels)
{
    exposition read;
    exposition_render(&read, metrics);
    const exposition_sample *sample = exposition_find(&read, name, labels);
    double value = sample == NULL ? -1 : sample->value;
    exposition_free(&read);
    return value;
}

static void assert_value(ki_metrics *metrics, const char *name, double expected)
{
    double value = value_of(metrics, name, "name=q");
    if (value < expected - 1e-9 || value > expected + 1e-9)
        fail_msg("%s is %g, expected %g", name, value, expected);
}

static ki_metrics *init(work_rig *rig)
{
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    work_rig_init(rig, &(ki_workqueue_options){.name = "q", .metrics = metrics});
    return metrics;
}

static void fini(work_rig *rig, ki_metrics *metrics)
{
    work_rig_fini(rig);
    ki_metrics_free(metrics);
}

static void adds_that_change_nothing_are_not_counted(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    work_add(&rig, "a");
    work_add(&rig, "a");
    work_get(&rig, "a");
    work_add(&rig, "a");
    work_add(&rig, "a");
    ki_workqueue_shut_down(rig.queue);
    (void)!ki_workqueue_add(rig.queue, KI_STR("b"), KI_PRIORITY_HIGH);
    assert_value(metrics, "workqueue_adds_total", 2);
    fini(&rig, metrics);
}

static void the_depth_includes_dirty_keys_being_processed(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    assert_value(metrics, "workqueue_depth", 0);
    work_add(&rig, "a");
    work_add(&rig, "b");
    assert_value(metrics, "workqueue_depth", 2);
    work_get(&rig, "a");
    assert_value(metrics, "workqueue_depth", 1);
    work_add(&rig, "a");
    assert_value(metrics, "workqueue_depth", 2);
    assert_int_equal(ki_workqueue_len(rig.queue), 1);
    assert_int_equal(work_done(&rig, "a"), 0);
    assert_value(metrics, "workqueue_depth", 2);
    work_assert_runs(&rig, "b a ");
    assert_value(metrics, "workqueue_depth", 0);
    fini(&rig, metrics);
}

static void durations_are_measured_from_add_to_get_and_from_get_to_done(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    work_add(&rig, "a");
    ki_clock_advance_ms(&rig.clock, 250);
    work_add(&rig, "a"); /* the first add counts */
    ki_clock_advance_ms(&rig.clock, 250);
    work_get(&rig, "a");
    ki_clock_advance_ms(&rig.clock, 2000);
    work_add(&rig, "a");
    ki_clock_advance_ms(&rig.clock, 1000);
    assert_int_equal(work_done(&rig, "a"), 0);
    work_get(&rig, "a");
    assert_value(metrics, "workqueue_queue_duration_seconds_count", 2);
    assert_value(metrics, "workqueue_queue_duration_seconds_sum", 1.5);
    assert_value(metrics, "workqueue_work_duration_seconds_count", 1);
    assert_value(metrics, "workqueue_work_duration_seconds_sum", 3);
    assert_true(value_of(metrics, "workqueue_queue_duration_seconds_bucket", "name=q,le=1e-08") == 0);
    assert_true(value_of(metrics, "workqueue_queue_duration_seconds_bucket", "name=q,le=1") == 2);
    fini(&rig, metrics);
}

/* Adds a key, and puts its work off for a second. */
static void put_off(work_rig *rig)
{
    work_add(rig, "a");
    ki_work_item item = work_get(rig, "a");
    assert_int_equal(ki_workqueue_put_off_ns(rig->queue, &item, KI_NS_PER_S), 0);
}

static void work_that_is_put_off_is_counted_once(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    put_off(&rig);
    assert_int_equal(ki_workqueue_len(rig.queue), 0);
    ki_clock_advance_ms(&rig.clock, 1000);
    work_assert_runs(&rig, "a ");
    assert_value(metrics, "workqueue_adds_total", 1);
    assert_value(metrics, "workqueue_queue_duration_seconds_count", 1);
    assert_value(metrics, "workqueue_work_duration_seconds_count", 1);
    assert_value(metrics, "workqueue_retries_total", 0);
    fini(&rig, metrics);
}

static void an_add_of_a_key_whose_work_is_put_off_counts(void **state)
{
    (void)state;
    for (int is_due = 0; is_due < 2; is_due++) {
        work_rig rig;
        ki_metrics *metrics = init(&rig);
        put_off(&rig);
        ki_clock_advance_ms(&rig.clock, is_due ? 1000 : 500);
        assert_int_equal(ki_workqueue_len(rig.queue), is_due);
        work_add(&rig, "a");
        work_add(&rig, "a");
        assert_value(metrics, "workqueue_adds_total", 2);
        work_get(&rig, "a");
        assert_value(metrics, "workqueue_queue_duration_seconds_count", 2);
        assert_int_equal(work_done(&rig, "a"), 0);
        fini(&rig, metrics);
    }
}

/* A delay that was asked for is an add when it ends, whatever else is waited for. */
static void a_delay_of_a_key_whose_work_is_put_off_counts(void **state)
{
    (void)state;
    for (int is_first = 0; is_first < 2; is_first++) {
        work_rig rig;
        ki_metrics *metrics = init(&rig);
        if (is_first)
            work_add_after(&rig, "a", 2000);
        put_off(&rig);
        if (!is_first)
            work_add_after(&rig, "a", 2000);
        ki_clock_advance_ms(&rig.clock, 1000);
        work_assert_runs(&rig, "a ");
        assert_value(metrics, "workqueue_adds_total", 1);
        ki_clock_advance_ms(&rig.clock, 1000);
        work_assert_runs(&rig, "a ");
        assert_value(metrics, "workqueue_adds_total", 2);
        fini(&rig, metrics);
    }
}

/* Nobody calls the queue meanwhile: workers that hang are what these are for. */
static void unfinished_work_grows_with_time_alone(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    assert_value(metrics, "workqueue_unfinished_work_seconds", 0);
    work_add(&rig, "a");
    work_add(&rig, "b");
    work_get(&rig, "a");
    ki_clock_advance_ms(&rig.clock, 1000);
    work_get(&rig, "b");
    ki_clock_advance_ms(&rig.clock, 500);
    assert_value(metrics, "workqueue_unfinished_work_seconds", 2);
    assert_value(metrics, "workqueue_longest_running_processor_seconds", 1.5);
    ki_clock_advance_ms(&rig.clock, 500);
    assert_value(metrics, "workqueue_unfinished_work_seconds", 3);
    assert_value(metrics, "workqueue_longest_running_processor_seconds", 2);
    assert_int_equal(work_done(&rig, "a"), 0);
    assert_value(metrics, "workqueue_unfinished_work_seconds", 1);
    assert_value(metrics, "workqueue_longest_running_processor_seconds", 1);
    fini(&rig, metrics);
}

/* More than a 16-bit number can count. */
static void the_unfinished_work_of_many_keys_is_their_sum(void **state)
{
    (void)state;
    enum { HALF = 35 * 1000, KEYS = 2 * HALF };
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    char key[8];
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "%d", i);
        work_add(&rig, key);
        work_get(&rig, key);
        if (i == HALF - 1)
            ki_clock_advance_ms(&rig.clock, 1000);
    }
    ki_clock_advance_ms(&rig.clock, 500);
    assert_value(metrics, "workqueue_unfinished_work_seconds", HALF * 1.5 + HALF * 0.5);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "%d", i);
        assert_int_equal(work_done(&rig, key), 0);
        if (i == HALF - 1)
            assert_value(metrics, "workqueue_unfinished_work_seconds", HALF * 0.5);
    }
    assert_value(metrics, "workqueue_unfinished_work_seconds", 0);
    fini(&rig, metrics);
}

static void every_delayed_add_is_a_retry_except_during_shut_down(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    work_add(&rig, "a");
    work_add_after(&rig, "a", 5);
    work_add_after(&rig, "a", 9);
    work_add_after(&rig, "b", 0);
    assert_int_equal(ki_workqueue_add_rate_limited(rig.queue, KI_STR("c"), KI_PRIORITY_HIGH), 0);
    ki_workqueue_shut_down(rig.queue);
    (void)!ki_workqueue_add_after(rig.queue, KI_STR("a"), KI_PRIORITY_HIGH, 5);
    assert_value(metrics, "workqueue_retries_total", 4);
    fini(&rig, metrics);
}

static void a_queue_without_a_name_has_no_metrics(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_metrics_text text = {0};
    work_rig_init(&rig, &(ki_workqueue_options){.metrics = metrics});
    work_add(&rig, "a");
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    assert_int_equal(text.len, 0);
    ki_metrics_text_fini(&text);
    fini(&rig, metrics);
}

static void the_metrics_of_a_queue_are_removed_with_it(void **state)
{
    (void)state;
    work_rig rig;
    work_rig twin;
    ki_metrics *metrics = init(&rig);
    work_rig_init(&twin, &(ki_workqueue_options){.name = "q", .metrics = metrics});
    work_add(&rig, "a");
    work_add(&twin, "a");
    work_add(&twin, "b");
    assert_value(metrics, "workqueue_depth", 3);
    work_rig_fini(&twin);
    assert_value(metrics, "workqueue_depth", 1);
    work_rig_fini(&rig);
    assert_value(metrics, "workqueue_depth", -1);
    ki_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(adds_that_change_nothing_are_not_counted),
        WITH_MEMORY_CHECK(the_depth_includes_dirty_keys_being_processed),
        WITH_MEMORY_CHECK(durations_are_measured_from_add_to_get_and_from_get_to_done),
        WITH_MEMORY_CHECK(work_that_is_put_off_is_counted_once),
        WITH_MEMORY_CHECK(an_add_of_a_key_whose_work_is_put_off_counts),
        WITH_MEMORY_CHECK(a_delay_of_a_key_whose_work_is_put_off_counts),
        WITH_MEMORY_CHECK(unfinished_work_grows_with_time_alone),
        WITH_MEMORY_CHECK(the_unfinished_work_of_many_keys_is_their_sum),
        WITH_MEMORY_CHECK(every_delayed_add_is_a_retry_except_during_shut_down),
        WITH_MEMORY_CHECK(a_queue_without_a_name_has_no_metrics),
        WITH_MEMORY_CHECK(the_metrics_of_a_queue_are_removed_with_it),
    };
    return RUN_TESTS(tests);
}
