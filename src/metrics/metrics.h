/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - counters, gauges and histograms, each found once by its labels and then updated without a lock.
 *
 *   From:     whoever counts: http/, client/, reflector/, handler/
 *   To:       metrics/prometheus.c, which writes them; metrics/names.h says which there are
 *   Locks:    one mutex, a leaf, for finding, dropping and writing; none for counting.
 *   Not here: floating point. All is counted in whole units (one, a byte, a nanosecond), so that an update is
 *             one addition; the unit of a metric says where its text has the decimal point.
 *
 * A NULL cell, as from metrics that are off or when memory was out, counts nothing and is harmless.
 */
#ifndef KI_METRICS_METRICS_H
#define KI_METRICS_METRICS_H

#include <kinformer/metrics.h>
#include <stdatomic.h>

typedef enum ki_metric_type { KI_METRIC_COUNTER, KI_METRIC_GAUGE, KI_METRIC_HISTOGRAM } ki_metric_type;

/* What is counted; as many decimals has the text, which is in base units. */
typedef enum ki_metric_unit { KI_METRIC_ONES = 0, KI_METRIC_NANOSECONDS = 9 } ki_metric_unit;

/* Upper bounds of buckets, inclusive and rising; what is above the last one has a bucket as well. */
typedef struct ki_metric_bounds {
    const uint64_t *upper;
    size_t count;
} ki_metric_bounds;

enum { KI_METRIC_LABELS_MAX = 6 };

/* What a metric is. It lives for ever: one of metrics/names.h. */
typedef struct ki_metric_desc {
    const char *name;
    const char *help;
    ki_metric_type type;
    ki_metric_unit unit;
    const char *labels[KI_METRIC_LABELS_MAX]; /* the first NULL ends them */
    const ki_metric_bounds *bounds;           /* of a histogram */
} ki_metric_desc;

/* Each cell begins a cache line that it shares with no other one: threads that count different things do not
 * slow each other down. */
typedef struct ki_counter {
    _Atomic uint64_t value;
} ki_counter;

typedef struct ki_gauge {
    _Atomic int64_t value;             /* INT64_MAX: +Inf */
    int64_t (*read)(const void *user); /* instead of it, as `user` guarded by the metrics' lock; NULL: none */
    const void *user;
} ki_gauge;

typedef struct ki_histogram {
    const ki_metric_bounds *bounds;
    _Atomic uint64_t sum;
    _Atomic uint64_t counts[]; /* by bucket, one more than there are bounds; not summed up */
} ki_histogram;

/* Another owner of the metrics; ki_metrics_free() drops one. Returns its argument; NULL stays NULL. */
ki_metrics *ki_metrics_ref(ki_metrics *metrics);

/* The cell of these label values, in the order of desc->labels; at zero when nobody had it. Each call is one
 * use, to be ended with the drop below; uses of the same labels share the cell. NULL when `metrics` is NULL,
 * memory is out, or there are too many. */
KI_NODISCARD ki_counter *ki_metrics_counter(ki_metrics *metrics, const ki_metric_desc *desc,
                                            const ki_str *label_values);
KI_NODISCARD ki_gauge *ki_metrics_gauge(ki_metrics *metrics, const ki_metric_desc *desc,
                                        const ki_str *label_values);
KI_NODISCARD ki_histogram *ki_metrics_histogram(ki_metrics *metrics, const ki_metric_desc *desc,
                                                const ki_str *label_values);

/* From now on the text has what `read` says when it is written: for what changes by itself. `read` takes no
 * lock, and is not called any more when ki_gauge_unfollow() for the same `user` has returned; then the gauge
 * has +Inf. Of several who share a cell the last is asked. A NULL gauge is allowed. */
void ki_gauge_follow(ki_gauge *gauge, int64_t (*read)(const void *user), const void *user);
void ki_gauge_unfollow(ki_gauge *gauge, const void *user);

/* Ends one use; with the last one the sample leaves the text. The caller still owns the metrics. */
void ki_counter_drop(ki_counter *counter);
void ki_gauge_drop(ki_gauge *gauge);
void ki_histogram_drop(ki_histogram *histogram);

/* Relaxed, in all that follows: a number orders nothing else, and a reader wants it whole, not recent. */

static inline void ki_counter_add(ki_counter *counter, uint64_t n)
{
    if (counter != NULL)
        atomic_fetch_add_explicit(&counter->value, n, memory_order_relaxed);
}

static inline void ki_gauge_set(ki_gauge *gauge, int64_t value)
{
    if (gauge != NULL)
        atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

static inline void ki_gauge_add(ki_gauge *gauge, int64_t n)
{
    if (gauge != NULL)
        atomic_fetch_add_explicit(&gauge->value, n, memory_order_relaxed);
}

static inline void ki_histogram_observe(ki_histogram *histogram, uint64_t value)
{
    if (histogram == NULL)
        return;
    const ki_metric_bounds *bounds = histogram->bounds;
    size_t bucket = 0;
    while (bucket < bounds->count && value > bounds->upper[bucket])
        bucket++;
    atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum, value, memory_order_relaxed);
}

#endif
