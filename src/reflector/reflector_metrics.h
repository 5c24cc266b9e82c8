/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_metrics - counters for the lists and watches of one collection.
 *
 *   From:     reflector/reflector.c (io); also reflector/life.c
 *   To:       metrics/metrics.h
 *   Locks:    none for counting.
 *   Not here: what is counted of stores (informer/informer_metrics.h, feed/feed.h) and of handlers
 *             (handler/handler_metrics.h); what the status says.
 *
 * Zeroed, it counts nothing.
 */
#ifndef KI_REFLECTOR_REFLECTOR_METRICS_H
#define KI_REFLECTOR_REFLECTOR_METRICS_H

#include <kinformer/change.h>
#include <kinformer/list_watch.h>
#include <kinformer/resource.h>

#include "metrics/metrics.h"

#define KI_REASON_COUNT_ONE(name, text) +1
enum { KI_REASON_COUNT = 0 KI_REASONS(KI_REASON_COUNT_ONE) };
#undef KI_REASON_COUNT_ONE

typedef struct ki_reflector_metrics {
    ki_counter *bytes_read;
    ki_counter *lists;
    ki_counter *list_items;
    ki_counter *watches;
    ki_counter *short_watches;
    ki_counter *transform_failures;
    ki_counter *unknown_fields;
    ki_gauge *protobuf;
    ki_counter *watch_events[KI_CHANGE_RESET + 1]; /* by ki_change_type; NULL for types that are not events of
                                                    * a watch */
    ki_counter *watch_errors;                      /* the same metric, for ERROR */
    ki_counter *errors[KI_REASON_COUNT];
    ki_histogram *list_duration;
    ki_histogram *watch_duration;
} ki_reflector_metrics;

/* If `name` is NULL, the plural of the resource is used. */
void ki_reflector_metrics_init(ki_reflector_metrics *cells, ki_metrics *metrics, const char *name,
                               const ki_resource *resource);
void ki_reflector_metrics_fini(ki_reflector_metrics *cells);

#endif
