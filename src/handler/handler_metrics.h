/* SPDX-License-Identifier: Apache-2.0 */
/* handler_metrics - counters for one handler of an informer.
 *
 *   From:     informer/registration.c (handler)
 *   To:       metrics/metrics.h
 *   Locks:    none for counting.
 *   Not here: when something is counted.
 *
 * Zeroed, it counts nothing.
 */
#ifndef KI_HANDLER_HANDLER_METRICS_H
#define KI_HANDLER_HANDLER_METRICS_H

#include <kinformer/resource.h>

#include "metrics/metrics.h"

typedef struct ki_handler_metrics {
    ki_gauge *backlog;
    ki_gauge *backlog_bytes;
    ki_counter *coalesced;
    ki_histogram *duration;
} ki_handler_metrics;

/* `name` is the informer's name; if it is NULL, the plural is used.
 * `handler` is a label: the handler's name or number. */
void ki_handler_metrics_init(ki_handler_metrics *cells, ki_metrics *metrics, const char *name,
                             const ki_resource *resource, ki_str handler);
void ki_handler_metrics_fini(ki_handler_metrics *cells);

#endif
