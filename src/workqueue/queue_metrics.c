/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/queue_metrics.h"

#include "metrics/names.h"

void ki_work_metrics_init(ki_work_metrics *cells, ki_metrics *metrics, const char *name)
{
    const ki_str label = ki_str_of(name);
    *cells = (ki_work_metrics){0};
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
}

void ki_work_metrics_fini(ki_work_metrics *cells)
{
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
