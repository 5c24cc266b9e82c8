/* SPDX-License-Identifier: Apache-2.0 */
/* queue_metrics - the metrics of a work queue, under client-go's names.
 *
 *   From:     workqueue/queue.c and workqueue/delays.c, at each change; workqueue/queue_life.c
 *   To:       metrics/metrics.h
 *   Locks:    none; cells are atomic. ki_work_metrics_begin() and _end() need the queue's mutex.
 *   Not here: which keys are being processed (workqueue/queue.h).
 *
 * The age of unfinished work grows without any call, and a worker that hangs makes none. So the gauges
 * `unfinished` and `longest` are computed when the metrics are written: from the number of keys with the sum
 * of their start times, and from the earliest start time.
 *
 * The number and the sum must be read together, but the reader takes no lock. So each change writes both into
 * a snapshot that is not the current one, and then makes it the current one by counting the change. A reader
 * reads again if changes were counted meanwhile. It never waits for a writer: a snapshot that is current at
 * the beginning is not written before the next change has been counted.
 */
#ifndef KI_WORKQUEUE_QUEUE_METRICS_H
#define KI_WORKQUEUE_QUEUE_METRICS_H

#include <stdbool.h>

#include "metrics/metrics.h"
#include "util/clock.h"

/* The keys in processing. */
typedef struct ki_work_under_way {
    _Atomic uint64_t keys;
    _Atomic uint64_t started_ms; /* sum of their start times, modulo 2^64 */
} ki_work_under_way;

/* A zeroed struct counts nothing. */
typedef struct ki_work_metrics {
    ki_metrics *metrics; /* NULL: no metrics, so the clock is not read */
    ki_counter *adds;
    ki_counter *retries;
    ki_gauge *depth;
    ki_gauge *unfinished;
    ki_gauge *longest;
    ki_histogram *queued; /* how long keys were dirty before they were handed out */
    ki_histogram *worked;
    const ki_clock *clock;
    ki_work_under_way under_way[2]; /* the current one is at `changes` % 2 */
    _Atomic uint64_t changes;
    _Atomic uint64_t oldest_ns; /* UINT64_MAX: none */
} ki_work_metrics;

/* Nothing is counted when `metrics` or `name` is NULL. Takes a new reference to `metrics`, and borrows the
 * clock. The struct must not be moved. */
void ki_work_metrics_init(ki_work_metrics *cells, ki_metrics *metrics, const char *name,
                          const ki_clock *clock);

/* A zeroed struct is allowed. */
void ki_work_metrics_fini(ki_work_metrics *cells);

static inline bool ki_work_metrics_are_on(const ki_work_metrics *cells)
{
    return cells->metrics != NULL;
}

/* The work on a key that was handed out at `started_ns` begins, or ends. `oldest_ns` is the start time of the
 * oldest unfinished work after that (UINT64_MAX: none). */
void ki_work_metrics_begin(ki_work_metrics *cells, uint64_t started_ns, uint64_t oldest_ns);
void ki_work_metrics_end(ki_work_metrics *cells, uint64_t started_ns, uint64_t oldest_ns);

#endif
