/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - counters, gauges and histograms, each found once by its labels and then updated without a lock.
 *
 *   From:     all code that counts: http/, client/, reflector/, handler/, informer/, controller/,
 *             workqueue/
 *   To:       metrics/prometheus.c, which writes them; metrics/names.h lists them
 *   Locks:    one mutex, a leaf, for finding, dropping and writing; none for counting.
 *   Not here: floating point. Everything is counted in whole units (one, a byte, a nanosecond), so that an
 *             update is one addition; the metric's unit says where the decimal point is when it is written.
 *
 * A NULL cell is allowed everywhere, and counts nothing. Cells are NULL if metrics are disabled, when out
 * of memory, and when there are too many.
 */
#ifndef KI_METRICS_METRICS_H
#define KI_METRICS_METRICS_H

#include <kinformer/metrics.h>
#include <stdatomic.h>

typedef enum ki_metric_type { KI_METRIC_COUNTER, KI_METRIC_GAUGE, KI_METRIC_HISTOGRAM } ki_metric_type;

/* The unit in which a metric is counted. The value is the number of decimals when it is written in base
 * units. */
typedef enum ki_metric_unit { KI_METRIC_ONES = 0, KI_METRIC_NANOSECONDS = 9 } ki_metric_unit;

/* The upper bounds of the buckets, inclusive and rising. One more bucket counts the values above the last
 * bound. */
typedef struct ki_metric_bounds {
    const uint64_t *upper;
    size_t count;
} ki_metric_bounds;

enum { KI_METRIC_LABELS_MAX = 6 };

/* Describes a metric. Descriptions are static; metrics/names.h has them all. */
typedef struct ki_metric_desc {
    const char *name;
    const char *help;
    ki_metric_type type;
    ki_metric_unit unit;
    const char *labels[KI_METRIC_LABELS_MAX]; /* ends at the first NULL */
    const ki_metric_bounds *bounds;           /* histograms only */
} ki_metric_desc;

/* Each cell has its own cache line, so that threads that count different things do not slow each other
 * down. */
typedef struct ki_counter {
    _Atomic uint64_t value;
} ki_counter;

typedef struct ki_gauge {
    _Atomic int64_t value;             /* INT64_MAX is written as +Inf */
    int64_t (*read)(const void *user); /* gives the value if set; like `user`, guarded by the metrics' lock */
    const void *user;
} ki_gauge;

typedef struct ki_histogram {
    const ki_metric_bounds *bounds;
    _Atomic uint64_t sum;
    _Atomic uint64_t counts[]; /* one per bucket, so one more than there are bounds; not cumulative */
} ki_histogram;

/* Adds an owner of the metrics; ki_metrics_free() drops one. Returns its argument; NULL stays NULL. */
ki_metrics *ki_metrics_ref(ki_metrics *metrics);

/* Returns the cell for these label values, which are in the order of desc->labels; a new cell is zero. Each
 * call is one use, which ends with a call of the drop functions below; uses with the same label values
 * share the cell. Returns NULL if `metrics` is NULL, when out of memory, or when there are too many. */
KI_NODISCARD ki_counter *ki_metrics_counter(ki_metrics *metrics, const ki_metric_desc *desc,
                                            const ki_str *label_values);
KI_NODISCARD ki_gauge *ki_metrics_gauge(ki_metrics *metrics, const ki_metric_desc *desc,
                                        const ki_str *label_values);
KI_NODISCARD ki_histogram *ki_metrics_histogram(ki_metrics *metrics, const ki_metric_desc *desc,
                                                const ki_str *label_values);

/* From now on, `read` is called for the value whenever the metrics are written. Use this for values that
 * change by themselves. `read` must not take a lock. After ki_gauge_unfollow() with the same `user` has
 * returned, `read` is no longer called and the gauge is +Inf. If several callers share a cell, the `read`
 * of the last one is used. A NULL gauge is allowed. */
void ki_gauge_follow(ki_gauge *gauge, int64_t (*read)(const void *user), const void *user);
void ki_gauge_unfollow(ki_gauge *gauge, const void *user);

/* Ends one use. The last use removes the sample. The caller must still own the metrics. */
void ki_counter_drop(ki_counter *counter);
void ki_gauge_drop(ki_gauge *gauge);
void ki_histogram_drop(ki_histogram *histogram);

/* Memory orders below are relaxed: a metric orders nothing else, and a reader needs a consistent value, not
 * the most recent one. */

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
