/* SPDX-License-Identifier: Apache-2.0 */
/* informer_metrics - counters for the queue and the store of one informer.
 *
 *   From:     informer/informer_run.c (dispatch); also informer/informer.c, informer/informer_status.c
 *   To:       metrics/metrics.h
 *   Locks:    none for counting.
 *   Not here: lists and watches (reflector/reflector_metrics.h); handlers (handler/handler_metrics.h).
 *
 * Zeroed, it counts nothing.
 */
#ifndef KI_INFORMER_INFORMER_METRICS_H
#define KI_INFORMER_INFORMER_METRICS_H

#include <kinformer/resource.h>

#include "api/object/resource_version.h"
#include "metrics/metrics.h"

typedef struct ki_informer_metrics {
    ki_counter *index_failures;
    ki_gauge *queued_items;
    ki_gauge *store_objects;
    ki_gauge *store_bytes;
    ki_gauge *store_resource_version;
    ki_histogram *processing_latency;
    ki_gauge *store_age; /* set up by ki_informer_metrics_follow_age(), with age_user */
    const void *age_user;
} ki_informer_metrics;

/* If `name` is NULL, the plural of the resource is used. */
void ki_informer_metrics_init(ki_informer_metrics *cells, ki_metrics *metrics, const char *name,
                              const ki_resource *resource);

/* From now on, `read` gives the age of the store, in nanoseconds: see ki_gauge_follow(). */
void ki_informer_metrics_follow_age(ki_informer_metrics *cells, int64_t (*read)(const void *user),
                                    const void *user);

/* `read` is not called afterwards. */
void ki_informer_metrics_fini(ki_informer_metrics *cells);

/* A version as a number: its last 15 digits, which a double represents exactly; 0 for none, -1 if it is not a
 * number. */
int64_t ki_informer_metrics_version(const ki_resource_version *version);

#endif
