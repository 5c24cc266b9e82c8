/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/queue_metrics.h"

#include <assert.h>

#include "metrics/names.h"
#include "util/units.h"

/* The loads acquire and the stores of set_under_way() release, each in the order written. So a reader that
 * finds a number or a sum of a later change also finds that changes were counted, and reads again. */
static int64_t read_unfinished(const void *user)
{
    const ki_work_metrics *cells = user;
    uint64_t changes, keys, started_ms;
    do {
        changes = atomic_load_explicit(&cells->changes, memory_order_acquire);
        const ki_work_under_way *now = &cells->under_way[changes % 2];
        keys = atomic_load_explicit(&now->keys, memory_order_acquire);
        started_ms = atomic_load_explicit(&now->started_ms, memory_order_acquire);
    } while (atomic_load_explicit(&cells->changes, memory_order_relaxed) != changes);
    uint64_t ages_ms = keys * ki_clock_now_ms(cells->clock) - started_ms;
    return ages_ms < INT64_MAX / KI_NS_PER_MS ? (int64_t)(ages_ms * KI_NS_PER_MS) : INT64_MAX;
}

static int64_t read_longest(const void *user)
{
    const ki_work_metrics *cells = user;
    /* Relaxed, here and below: one word, which orders nothing else. */
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

/* Only the thread with the queue's mutex writes, so its loads are relaxed. */
static void set_under_way(ki_work_metrics *cells, uint64_t keys, uint64_t started_ms, uint64_t oldest_ns)
{
    uint64_t changes = atomic_load_explicit(&cells->changes, memory_order_relaxed);
    const ki_work_under_way *before = &cells->under_way[changes % 2];
    ki_work_under_way *after = &cells->under_way[(changes + 1) % 2];
    keys += atomic_load_explicit(&before->keys, memory_order_relaxed);
    started_ms += atomic_load_explicit(&before->started_ms, memory_order_relaxed);
    atomic_store_explicit(&after->keys, keys, memory_order_release);
    atomic_store_explicit(&after->started_ms, started_ms, memory_order_release);
    atomic_store_explicit(&cells->changes, changes + 1, memory_order_release);
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
