/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/informer_metrics.h"

#include <assert.h>

/* name, group, version, resource, and one more. */
enum { LABELS = 5, OWN_LABEL = 4 };

typedef struct labels {
    ki_metrics *metrics;
    ki_str values[LABELS];
} labels;

static labels labels_of(ki_metrics *metrics, const char *name, const ki_resource *resource)
{
    return (labels){metrics,
                    {ki_str_of(name == NULL ? resource->plural : name), ki_str_of(resource->group),
                     ki_str_of(resource->version), ki_str_of(resource->plural)}};
}

static ki_counter *counter(labels *of, const ki_metric_desc *desc, ki_str own)
{
    of->values[OWN_LABEL] = own;
    return ki_metrics_counter(of->metrics, desc, of->values);
}

#define COUNTER(of, name) ki_metrics_counter((of)->metrics, &ki_metric_##name, (of)->values)
#define GAUGE(of, name) ki_metrics_gauge((of)->metrics, &ki_metric_##name, (of)->values)
#define HISTOGRAM(of, name) ki_metrics_histogram((of)->metrics, &ki_metric_##name, (of)->values)

static void init_labelled(ki_informer_metrics *cells, labels *of)
{
    static const char *const events[KI_EVENT_LABELS] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    for (int i = 0; i < KI_EVENT_LABELS; i++)
        cells->watch_events[i] = counter(of, &ki_metric_informer_watch_events_total, ki_str_of(events[i]));
    for (int i = KI_REASON_NONE + 1; i < KI_REASON_COUNT; i++)
        cells->errors[i] =
            counter(of, &ki_metric_informer_errors_total, ki_str_of(ki_reason_name((ki_reason)i)));
}

void ki_informer_metrics_init(ki_informer_metrics *cells, ki_metrics *metrics, const char *name,
                              const ki_resource *resource)
{
    labels of = labels_of(metrics, name, resource);
    *cells = (ki_informer_metrics){
        .bytes_read = COUNTER(&of, informer_bytes_read_total),
        .lists = COUNTER(&of, informer_lists_total),
        .list_items = COUNTER(&of, informer_list_items_total),
        .watches = COUNTER(&of, informer_watches_total),
        .short_watches = COUNTER(&of, informer_short_watches_total),
        .transform_failures = COUNTER(&of, informer_transform_failures_total),
        .list_duration = HISTOGRAM(&of, informer_list_duration_seconds),
        .watch_duration = HISTOGRAM(&of, informer_watch_duration_seconds),
        .index_failures = COUNTER(&of, informer_index_failures_total),
        .queued_items = GAUGE(&of, informer_queued_items),
        .store_objects = GAUGE(&of, informer_store_objects),
        .store_bytes = GAUGE(&of, informer_store_bytes),
        .store_resource_version = GAUGE(&of, informer_store_resource_version),
        .processing_latency = HISTOGRAM(&of, informer_processing_latency_seconds),
    };
    init_labelled(cells, &of);
}

void ki_informer_metrics_follow_age(ki_informer_metrics *cells, ki_metrics *metrics, const char *name,
                                    const ki_resource *resource, int64_t (*read)(const void *user),
                                    const void *user)
{
    labels of = labels_of(metrics, name, resource);
    cells->store_age = GAUGE(&of, informer_store_age_seconds);
    cells->age_user = user;
    ki_gauge_follow(cells->store_age, read, user);
}

void ki_informer_metrics_fini(ki_informer_metrics *cells)
{
    assert(cells != NULL);
    ki_counter_drop(cells->bytes_read);
    ki_counter_drop(cells->lists);
    ki_counter_drop(cells->list_items);
    ki_counter_drop(cells->watches);
    ki_counter_drop(cells->short_watches);
    ki_counter_drop(cells->transform_failures);
    ki_counter_drop(cells->index_failures);
    for (int i = 0; i < KI_EVENT_LABELS; i++)
        ki_counter_drop(cells->watch_events[i]);
    for (int i = 0; i < KI_REASON_COUNT; i++)
        ki_counter_drop(cells->errors[i]);
    ki_histogram_drop(cells->list_duration);
    ki_histogram_drop(cells->watch_duration);
    ki_histogram_drop(cells->processing_latency);
    ki_gauge_unfollow(cells->store_age, cells->age_user);
    ki_gauge_drop(cells->store_age);
    ki_gauge_drop(cells->queued_items);
    ki_gauge_drop(cells->store_objects);
    ki_gauge_drop(cells->store_bytes);
    ki_gauge_drop(cells->store_resource_version);
    *cells = (ki_informer_metrics){0};
}

int64_t ki_informer_metrics_version(const ki_resource_version *version)
{
    enum { DIGITS = 15 };
    ki_str text = ki_resource_version_str(version);
    int64_t number = 0;
    for (size_t i = text.len > DIGITS ? text.len - DIGITS : 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        number = number * 10 + (text.ptr[i] - '0');
    }
    return number;
}

void ki_handler_metrics_init(ki_handler_metrics *cells, ki_metrics *metrics, const char *name,
                             const ki_resource *resource, ki_str handler)
{
    assert(handler.ptr != NULL || handler.len == 0);
    labels of = labels_of(metrics, name, resource);
    of.values[OWN_LABEL] = handler;
    *cells = (ki_handler_metrics){.backlog = GAUGE(&of, informer_listener_backlog),
                                  .backlog_bytes = GAUGE(&of, informer_listener_backlog_bytes),
                                  .coalesced = COUNTER(&of, informer_listener_coalesced_total),
                                  .duration = HISTOGRAM(&of, informer_handler_duration_seconds)};
}

void ki_handler_metrics_fini(ki_handler_metrics *cells)
{
    assert(cells != NULL);
    ki_gauge_drop(cells->backlog);
    ki_gauge_drop(cells->backlog_bytes);
    ki_counter_drop(cells->coalesced);
    ki_histogram_drop(cells->duration);
    *cells = (ki_handler_metrics){0};
}
