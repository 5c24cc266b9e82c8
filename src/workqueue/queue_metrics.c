/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/queue_metrics.h"

#include <assert.h>

#include "metrics/names.h"
#include "util/units.h"

/* Sums are modulo 2^48. Only the sum of ages is computed from them, which is small. */
#define SUM_BITS 48
#define SUM_MASK (((uint64_t)1 << SUM_BITS) - 1)

static int64_t read_unfinished(const void *user)
{
    const ki_work_metrics *cells = user;
    /* Relaxed, here and below: one word holds the whole state, and it orders nothing else. */
    uint64_t under_way = atomic_load_explicit(&cells->under_way, memory_order_relaxed);
    uint64_t now_ms = ki_clock_now_ms(cells->clock);
    uint64_t ages_ms = ((under_way >> SUM_BITS) * now_ms - under_way) & SUM_MASK;
    return (int64_t)(ages_ms * KI_NS_PER_MS);
}

static int64_t read_longest(const void *user)
{
    const ki_work_metrics *cells = user;
    uint64_t oldest_ns = atomic_load_explicit(&cells->oldest_ns, memory_order_relaxed);
    return oldest_ns == UINT64_MAX ? 0 : (int64_t)(ki_clock_now_ns(cells->clock) - oldest_ns);
}

void ki_work_metrics_init(ki_work_metrics *cells, ki_metrics *metrics, const char *name,
                          const ki_clock *clock)
{
    const ki_str label = ki_str_of(name);
    *cells = (ki_work_metrics){.clock = clock, .oldest_ns = UINT64_MAX};
    if (metrics == NULL || name == NULL)
        return;
    cells->metrics = ki_metrics_ref(metrics);
    cells->adds = ki_metrics_counter(metrics, &ki_metric_workqueue_adds_total, &label);
    cells->retries = ki_metrics_counter(metrics, &ki_metric_workqueue_retries_total, &label);
    cells->depth = ki_metrics_gauge(metrics, &ki_metric_workqueue_depth, &label);
    cells->unfinished = ki_metrics_gauge(metrics, &ki_metric_workqueue_unfinished_work_seconds, &label);
    cells->longest =
        ki_metrics_gauge(metrics, &ki_metric_workqueue_longest_running_processor_seconds, &label);
    cells->queued = ki_metrics_histogram(metrics, &ki_metric_workqueue_queue_duration_seconds, &label);
    cells->worked = ki_metrics_histogram(metrics, &ki_metric_workqueue_work_duration_seconds, &label);
    ki_gauge_follow(cells->unfinished, read_unfinished, cells);
    ki_gauge_follow(cells->longest, read_longest, cells);
}

void ki_work_metrics_fini(ki_work_metrics *cells)
{
    ki_gauge_unfollow(cells->unfinished, cells);
    ki_gauge_unfollow(cells->longest, cells);
    ki_counter_drop(cells->adds);
    ki_counter_drop(cells->retries);
    ki_gauge_drop(cells->depth);
    ki_gauge_drop(cells->unfinished);
    ki_gauge_drop(cells->longest);
    ki_histogram_drop(cells->queued);
    ki_histogram_drop(cells->worked);
    ki_metrics_free(cells->metrics);
    *cells = (ki_work_metrics){0};
}

static void set_under_way(ki_work_metrics *cells, uint64_t keys, uint64_t begun_ms, uint64_t oldest_ns)
{
    uint64_t before = atomic_load_explicit(&cells->under_way, memory_order_relaxed);
    uint64_t count = (before >> SUM_BITS) + keys;
    uint64_t after = count << SUM_BITS | ((before + begun_ms) & SUM_MASK);
    atomic_store_explicit(&cells->under_way, after, memory_order_relaxed);
    atomic_store_explicit(&cells->oldest_ns, oldest_ns, memory_order_relaxed);
}

void ki_work_metrics_begin(ki_work_metrics *cells, uint64_t started_ns, uint64_t oldest_ns)
{
    assert(ki_work_metrics_are_on(cells));
    assert(oldest_ns <= started_ns);
    set_under_way(cells, 1, started_ns / KI_NS_PER_MS, oldest_ns);
}

void ki_work_metrics_end(ki_work_metrics *cells, uint64_t started_ns, uint64_t oldest_ns)
{
    assert(ki_work_metrics_are_on(cells));
    set_under_way(cells, (uint64_t)-1, 0 - started_ns / KI_NS_PER_MS, oldest_ns);
}
