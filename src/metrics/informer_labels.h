/* SPDX-License-Identifier: Apache-2.0 */
/* informer_labels - the labels that all numbers of one informer or feed have.
 *
 *   From:     reflector/reflector_metrics.c, handler/handler_metrics.c, informer/informer_metrics.c,
 *             feed/feed.c
 *   To:       metrics/metrics.h
 *   Locks:    none; plain data.
 *   Not here: the numbers.
 */
#ifndef KI_METRICS_INFORMER_LABELS_H
#define KI_METRICS_INFORMER_LABELS_H

#include <kinformer/resource.h>

#include "metrics/names.h"

/* name, group, version, resource, and one more: a reason, a handler. */
typedef struct ki_informer_labels {
    ki_str values[5];
} ki_informer_labels;

/* `name` NULL: the plural. Borrows both. */
static inline ki_informer_labels ki_informer_labels_of(const char *name, const ki_resource *resource)
{
    return (ki_informer_labels){{ki_str_of(name == NULL ? resource->plural : name),
                                 ki_str_of(resource->group), ki_str_of(resource->version),
                                 ki_str_of(resource->plural)}};
}

/* With a value of the one more. */
static inline ki_informer_labels ki_informer_labels_and(ki_informer_labels labels, ki_str value)
{
    labels.values[4] = value;
    return labels;
}

/* `name` as in metrics/names.h. What cannot be counted for lack of memory is counted by
 * ki_metrics_refused(). */
#define KI_INFORMER_COUNTER(metrics, name, labels)                                                           \
    ki_metrics_counter((metrics), &ki_metric_informer_##name, (labels).values)
#define KI_INFORMER_GAUGE(metrics, name, labels)                                                             \
    ki_metrics_gauge((metrics), &ki_metric_informer_##name, (labels).values)
#define KI_INFORMER_HISTOGRAM(metrics, name, labels)                                                         \
    ki_metrics_histogram((metrics), &ki_metric_informer_##name, (labels).values)

#endif
