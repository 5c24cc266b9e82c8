/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/reflector_metrics.h"

#include "metrics/informer_labels.h"

static void init_labelled(ki_reflector_metrics *cells, ki_metrics *metrics, ki_informer_labels labels)
{
    /* The label has the names of the Kubernetes API. */
    static const char *const events[KI_CHANGE_RESET + 1] = {[KI_CHANGE_ADDED] = "ADDED",
                                                            [KI_CHANGE_UPDATED] = "MODIFIED",
                                                            [KI_CHANGE_DELETED] = "DELETED",
                                                            [KI_CHANGE_BOOKMARK] = "BOOKMARK"};
    for (int i = 0; i <= KI_CHANGE_RESET; i++) {
        if (events[i] == NULL)
            continue;
        ki_informer_labels with_event = ki_informer_labels_and(labels, ki_str_of(events[i]));
        cells->watch_events[i] = KI_INFORMER_COUNTER(metrics, watch_events_total, with_event);
    }
    cells->watch_errors =
        KI_INFORMER_COUNTER(metrics, watch_events_total, ki_informer_labels_and(labels, ki_str_of("ERROR")));
    for (int i = KI_REASON_NONE + 1; i < KI_REASON_COUNT; i++) {
        ki_str reason = ki_str_of(ki_reason_name((ki_reason)i));
        cells->errors[i] = KI_INFORMER_COUNTER(metrics, errors_total, ki_informer_labels_and(labels, reason));
    }
}

void ki_reflector_metrics_init(ki_reflector_metrics *cells, ki_metrics *metrics, const char *name,
                               const ki_resource *resource)
{
    ki_informer_labels labels = ki_informer_labels_of(name, resource);
    *cells = (ki_reflector_metrics){
        .bytes_read = KI_INFORMER_COUNTER(metrics, bytes_read_total, labels),
        .lists = KI_INFORMER_COUNTER(metrics, lists_total, labels),
        .list_items = KI_INFORMER_COUNTER(metrics, list_items_total, labels),
        .watches = KI_INFORMER_COUNTER(metrics, watches_total, labels),
        .short_watches = KI_INFORMER_COUNTER(metrics, short_watches_total, labels),
        .unknown_fields = KI_INFORMER_COUNTER(metrics, unknown_fields_total, labels),
        .protobuf = KI_INFORMER_GAUGE(metrics, protobuf, labels),
        .transform_failures = KI_INFORMER_COUNTER(metrics, transform_failures_total, labels),
        .list_duration = KI_INFORMER_HISTOGRAM(metrics, list_duration_seconds, labels),
        .watch_duration = KI_INFORMER_HISTOGRAM(metrics, watch_duration_seconds, labels),
    };
    init_labelled(cells, metrics, labels);
}

void ki_reflector_metrics_fini(ki_reflector_metrics *cells)
{
    ki_counter_drop(cells->bytes_read);
    ki_counter_drop(cells->lists);
    ki_counter_drop(cells->list_items);
    ki_counter_drop(cells->watches);
    ki_counter_drop(cells->short_watches);
    ki_counter_drop(cells->transform_failures);
    ki_counter_drop(cells->unknown_fields);
    ki_gauge_drop(cells->protobuf);
    for (int i = 0; i <= KI_CHANGE_RESET; i++)
        ki_counter_drop(cells->watch_events[i]);
    ki_counter_drop(cells->watch_errors);
    for (int i = 0; i < KI_REASON_COUNT; i++)
        ki_counter_drop(cells->errors[i]);
    ki_histogram_drop(cells->list_duration);
    ki_histogram_drop(cells->watch_duration);
    *cells = (ki_reflector_metrics){0};
}
