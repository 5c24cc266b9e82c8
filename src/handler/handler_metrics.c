/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/handler_metrics.h"

#include "metrics/informer_labels.h"

void ki_handler_metrics_init(ki_handler_metrics *cells, ki_metrics *metrics, const char *name,
                             const ki_resource *resource, ki_str handler)
{
    ki_informer_labels labels = ki_informer_labels_and(ki_informer_labels_of(name, resource), handler);
    *cells = (ki_handler_metrics){
        .backlog = KI_INFORMER_GAUGE(metrics, listener_backlog, labels),
        .backlog_bytes = KI_INFORMER_GAUGE(metrics, listener_backlog_bytes, labels),
        .coalesced = KI_INFORMER_COUNTER(metrics, listener_coalesced_total, labels),
        .duration = KI_INFORMER_HISTOGRAM(metrics, handler_duration_seconds, labels),
    };
}

void ki_handler_metrics_fini(ki_handler_metrics *cells)
{
    ki_gauge_drop(cells->backlog);
    ki_gauge_drop(cells->backlog_bytes);
    ki_counter_drop(cells->coalesced);
    ki_histogram_drop(cells->duration);
    *cells = (ki_handler_metrics){0};
}
