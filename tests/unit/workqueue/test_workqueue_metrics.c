/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue counts, read from the text that Prometheus gets. */
#include <kinformer/metrics.h>
#include <kinformer/workqueue.h>

#include "support/exposition.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "support/work_rig.h"

static double value_of(ki_metrics *metrics, const char *name, const char *labels)
{
    ki_metrics_text text = {0};
    exposition read;
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    exposition_read(&read, text.bytes);
    const exposition_sample *sample = exposition_find(&read, name, labels);
    double value = sample == NULL ? -1 : sample->value;
    exposition_free(&read);
    ki_metrics_text_fini(&text);
    return value;
}

static void assert_value(ki_metrics *metrics, const char *name, double expected)
{
    double value = value_of(metrics, name, "name=q");
    if (value < expected - 1e-9 || value > expected + 1e-9)
        fail_msg("%s is %g and not %g", name, value, expected);
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

static void the_depth_counts_dirty_keys_those_being_processed_included(void **state)
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

static void times_are_those_from_add_to_get_and_from_get_to_done(void **state)
{
    (void)state;
    work_rig rig;
    ki_metrics *metrics = init(&rig);
    work_add(&rig, "a");
    ki_clock_advance_ms(&rig.clock, 250);
    work_add(&rig, "a"); /* it counts from the first one */
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

/* Nobody calls the queue meanwhile: workers that hang are what these are for. */
static void work_under_way_grows_with_the_time_alone(void **state)
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

static void every_add_after_is_a_retry_but_for_those_during_a_shut_down(void **state)
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

static void the_samples_of_a_queue_go_with_it(void **state)
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
        WITH_MEMORY_CHECK(the_depth_counts_dirty_keys_those_being_processed_included),
        WITH_MEMORY_CHECK(times_are_those_from_add_to_get_and_from_get_to_done),
        WITH_MEMORY_CHECK(work_under_way_grows_with_the_time_alone),
        WITH_MEMORY_CHECK(every_add_after_is_a_retry_but_for_those_during_a_shut_down),
        WITH_MEMORY_CHECK(a_queue_without_a_name_has_no_metrics),
        WITH_MEMORY_CHECK(the_samples_of_a_queue_go_with_it),
    };
    return RUN_TESTS(tests);
}
