/* SPDX-License-Identifier: Apache-2.0 */
#include "informer/informer_metrics.h"

#include "informer/rules.h"
#include "metrics/informer_labels.h"

void ki_informer_metrics_init(ki_informer_metrics *cells, ki_metrics *metrics, const char *name,
                              const ki_resource *resource)
{
    ki_informer_labels labels = ki_informer_labels_of(name, resource);
    *cells = (ki_informer_metrics){
        .index_failures = KI_INFORMER_COUNTER(metrics, index_failures_total, labels),
        .queued_items = KI_INFORMER_GAUGE(metrics, queued_items, labels),
        .store_objects = KI_INFORMER_GAUGE(metrics, store_objects, labels),
        .store_bytes = KI_INFORMER_GAUGE(metrics, store_bytes, labels),
        .store_resource_version = KI_INFORMER_GAUGE(metrics, store_resource_version, labels),
        .store_age = KI_INFORMER_GAUGE(metrics, store_age_seconds, labels),
        .processing_latency = KI_INFORMER_HISTOGRAM(metrics, processing_latency_seconds, labels),
    };
}

void ki_informer_metrics_follow_age(ki_informer_metrics *cells, int64_t (*read)(const void *user),
                                    const void *user)
{
    cells->age_user = user;
    ki_gauge_follow(cells->store_age, read, user);
}

void ki_informer_metrics_fini(ki_informer_metrics *cells)
{
    ki_gauge_unfollow(cells->store_age, cells->age_user);
    ki_gauge_drop(cells->store_age);
    ki_counter_drop(cells->index_failures);
    ki_gauge_drop(cells->queued_items);
    ki_gauge_drop(cells->store_objects);
    ki_gauge_drop(cells->store_bytes);
    ki_gauge_drop(cells->store_resource_version);
    ki_histogram_drop(cells->processing_latency);
    *cells = (ki_informer_metrics){0};
}

int64_t ki_informer_metrics_version(const ki_resource_version *version)
{
    enum { DIGITS = 15 };
    ki_str text = ki_resource_version_str(version);
    int64_t number = 0;
    if (text.len > 0 && !ki_rules_is_number(text))
        return -1;
    for (size_t i = text.len > DIGITS ? text.len - DIGITS : 0; i < text.len; i++)
        number = number * 10 + (text.ptr[i] - '0');
    return number;
}
