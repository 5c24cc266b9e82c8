/* SPDX-License-Identifier: Apache-2.0 */
/* informer_labels - the labels that all metrics of one informer or feed share.
 *
 *   From:     reflector/reflector_metrics.c, handler/handler_metrics.c, informer/informer_metrics.c,
 *             feed/feed.c
 *   To:       metrics/metrics.h
 *   Locks:    none; plain data.
 *   Not here: the values.
 */
#ifndef KI_METRICS_INFORMER_LABELS_H
#define KI_METRICS_INFORMER_LABELS_H

#include <kinformer/resource.h>

#include "metrics/names.h"

/* The values of name, group, version, resource, and of one extra label: a reason or a handler. */
typedef struct ki_informer_labels {
    ki_str values[5];
} ki_informer_labels;

/* If `name` is NULL, the resource's plural is used. Borrows both. */
static inline ki_informer_labels ki_informer_labels_of(const char *name, const ki_resource *resource)
{
    return (ki_informer_labels){{ki_str_of(name == NULL ? resource->plural : name),
                                 ki_str_of(resource->group), ki_str_of(resource->version),
                                 ki_str_of(resource->plural)}};
}

/* The same labels with a value for the extra one. */
static inline ki_informer_labels ki_informer_labels_and(ki_informer_labels labels, ki_str value)
{
    labels.values[4] = value;
    return labels;
}

/* `name` as in metrics/names.h. ki_metrics_refused() counts metrics that could not be created, because
 * memory ran out or there are too many. */
#define KI_INFORMER_COUNTER(metrics, name, labels)                                                           \
    ki_metrics_counter((metrics), &ki_metric_informer_##name, (labels).values)
#define KI_INFORMER_GAUGE(metrics, name, labels)                                                             \
    ki_metrics_gauge((metrics), &ki_metric_informer_##name, (labels).values)
#define KI_INFORMER_HISTOGRAM(metrics, name, labels)                                                         \
    ki_metrics_histogram((metrics), &ki_metric_informer_##name, (labels).values)

#endif
