/* SPDX-License-Identifier: Apache-2.0 */
/* queue_metrics - what a work queue counts, under client-go's names.
 *
 *   From:     workqueue/queue.c and delays.c, at each change; metrics/ asks for the work under way
 *   To:       metrics/metrics.h
 *   Locks:    none; cells are atomic.
 *   Not here: which keys are being processed (workqueue/queue.h).
 */
#ifndef KI_WORKQUEUE_QUEUE_METRICS_H
#define KI_WORKQUEUE_QUEUE_METRICS_H

#include <stdbool.h>

#include "metrics/metrics.h"

/* Zeroed: nothing is counted. */
typedef struct ki_work_metrics {
    ki_metrics *metrics; /* NULL: there are none, and nobody has to ask for the time */
    ki_counter *adds;
    ki_counter *retries;
    ki_gauge *depth;
    ki_gauge *unfinished;
    ki_gauge *longest;
    ki_histogram *queued; /* how long keys were dirty before they were handed out */
    ki_histogram *worked;
    ki_metrics_refresh refresh; /* sets `unfinished` and `longest` */
} ki_work_metrics;

/* Nothing is counted when `metrics` or `name` is NULL. Takes a reference. The caller adds `refresh`. */
void ki_work_metrics_init(ki_work_metrics *cells, ki_metrics *metrics, const char *name);

/* Takes a zeroed struct. */
void ki_work_metrics_fini(ki_work_metrics *cells);

static inline bool ki_work_metrics_are_on(const ki_work_metrics *cells)
{
    return cells->metrics != NULL;
}

#endif
