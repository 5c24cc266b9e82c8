/* SPDX-License-Identifier: Apache-2.0 */
/* Threads count, other threads come and go, and one thread renders the metrics, all at once. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics/metrics.h"
#include "metrics/names.h"
#include "support/exposition.h"
#include "support/unit.h"
#include "util/thread.h"

enum { COUNTERS = 3, ADDITIONS = 20000, VISITORS = 2, VISITS = 300, TEXTS_MIN = 20 };

typedef struct scene {
    ki_metrics *metrics;
    _Atomic unsigned counting; /* threads that are still counting */
    _Atomic unsigned visitors; /* the number of the next visitor */
} scene;

/* All of these threads share one counter and one histogram; each asks for them itself. */
static void count(void *user)
{
    scene *s = user;
    ki_str labels[] = {KI_STR("shared")};
    ki_counter *adds = ki_metrics_counter(s->metrics, &ki_metric_workqueue_adds_total, labels);
    ki_gauge *depth = ki_metrics_gauge(s->metrics, &ki_metric_workqueue_depth, labels);
    ki_histogram *work = ki_metrics_histogram(s->metrics, &ki_metric_workqueue_work_duration_seconds, labels);
    for (unsigned i = 0; i < ADDITIONS; i++) {
        ki_counter_add(adds, 1);
        ki_gauge_add(depth, i % 2 == 0 ? 1 : -1);
        ki_histogram_observe(work, i);
    }
    atomic_fetch_sub(&s->counting, 1);
}

/* Counts and drops the metric again: with its own labels in one visit of three, else with shared ones. */
static void visit(void *user)
{
    scene *s = user;
    unsigned number = atomic_fetch_add(&s->visitors, 1);
    for (unsigned i = 0; i < VISITS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "visitor-%u-%u", i % 3 == 0 ? number : 99, i % 7);
        ki_str labels[] = {ki_str_of(name)};
        ki_counter *retries = ki_metrics_counter(s->metrics, &ki_metric_workqueue_retries_total, labels);
        ki_histogram *queue =
            ki_metrics_histogram(s->metrics, &ki_metric_workqueue_queue_duration_seconds, labels);
        ki_counter_add(retries, 1);
        ki_histogram_observe(queue, i);
        ki_counter_drop(retries);
        ki_histogram_drop(queue);
    }
    atomic_fetch_sub(&s->counting, 1);
}

static exposition rendered(ki_metrics *metrics)
{
    exposition read;
    exposition_render(&read, metrics);
    return read;
}

/* Each rendered text is complete, and no counter decreases. */
static void write_until_done(scene *s)
{
    double last = 0;
    for (unsigned texts = 0; texts < TEXTS_MIN || atomic_load(&s->counting) > 0; texts++) {
        exposition read = rendered(s->metrics);
        const exposition_sample *adds = exposition_find(&read, "workqueue_adds_total", "name=shared");
        if (adds != NULL) {
            assert_true(adds->value >= last);
            last = adds->value;
        }
        exposition_free(&read);
    }
}

static void metrics_are_rendered_while_threads_count_and_come_and_go(void **state)
{
    (void)state;
    ki_thread threads[COUNTERS + VISITORS] = {0};
    scene s = {.metrics = ki_metrics_new(NULL, NULL)};
    atomic_init(&s.counting, COUNTERS + VISITORS);
    for (size_t i = 0; i < COUNTERS + VISITORS; i++) {
        ki_thread_options options = {.name = "counter", .run = i < COUNTERS ? count : visit, .user = &s};
        assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
    }
    write_until_done(&s);
    for (size_t i = 0; i < COUNTERS + VISITORS; i++)
        ki_thread_join(&threads[i]);

    exposition read = rendered(s.metrics);
    const exposition_sample *adds = exposition_find(&read, "workqueue_adds_total", "name=shared");
    const exposition_sample *depth = exposition_find(&read, "workqueue_depth", "name=shared");
    const exposition_sample *work =
        exposition_find(&read, "workqueue_work_duration_seconds_count", "name=shared");
    assert_true(adds != NULL && adds->value == COUNTERS * ADDITIONS);
    assert_true(depth != NULL && depth->value == 0);
    assert_true(work != NULL && work->value == COUNTERS * ADDITIONS);
    assert_int_equal(read.families, 3);
    assert_int_equal(ki_metrics_refused(s.metrics), 0);
    exposition_free(&read);
    ki_metrics_free(s.metrics);
}

/* ---- gauges that are read by a callback ---------------------------------------------------------------- */

static int64_t read_number(const void *user)
{
    return *(const int64_t *)user;
}

/* The number is freed after the gauge has stopped following it, and must not be read after that. */
static void be_asked(void *user)
{
    scene *s = user;
    for (int i = 0; i < VISITS; i++) {
        int64_t *number = malloc(sizeof(*number));
        ki_str labels[] = {KI_STR("asked")};
        ki_gauge *gauge = ki_metrics_gauge(s->metrics, &ki_metric_workqueue_depth, labels);
        if (number == NULL || gauge == NULL)
            abort();
        *number = 7;
        ki_gauge_follow(gauge, read_number, number);
        ki_gauge_unfollow(gauge, number);
        free(number);
        ki_gauge_drop(gauge);
    }
    atomic_fetch_sub(&s->counting, 1);
}

static void a_gauge_does_not_read_a_freed_number(void **state)
{
    (void)state;
    scene s = {.metrics = ki_metrics_new(NULL, NULL), .counting = VISITORS};
    ki_thread threads[VISITORS];
    assert_non_null(s.metrics);
    for (int i = 0; i < VISITORS; i++)
        assert_int_equal(ki_thread_start(&threads[i],
                                         &(ki_thread_options){.name = "asked", .run = be_asked, .user = &s},
                                         NULL),
                         0);
    while (atomic_load(&s.counting) > 0) {
        exposition read = rendered(s.metrics);
        const exposition_sample *depth = exposition_find(&read, "workqueue_depth", "name=asked");
        assert_true(depth == NULL || depth->value == 0 || depth->value == 7 || isinf(depth->value));
        exposition_free(&read);
    }
    for (int i = 0; i < VISITORS; i++)
        ki_thread_join(&threads[i]);
    exposition read = rendered(s.metrics);
    assert_int_equal(read.count, 0);
    exposition_free(&read);
    ki_metrics_free(s.metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_rendered_while_threads_count_and_come_and_go),
        cmocka_unit_test(a_gauge_does_not_read_a_freed_number),
    };
    return RUN_TESTS(tests);
}
