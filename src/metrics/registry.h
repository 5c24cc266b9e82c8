/* SPDX-License-Identifier: Apache-2.0 */
/* registry - where metrics are kept: families by name, in each the children by their labels.
 *
 *   From:     metrics/metrics.c fills it
 *   To:       metrics/metrics_write.c walks it, metrics/prometheus.c writes one family of it
 *   Locks:    ki_metrics.mu guards the sets and what is said to be guarded; the rest is constant, but for the
 *             cells, which are atomic.
 */
#ifndef KI_METRICS_REGISTRY_H
#define KI_METRICS_REGISTRY_H

#include "metrics/metric_set.h"
#include "metrics/metrics.h"
#include "util/fork.h"
#include "util/refcount.h"
#include "util/thread.h"

enum { KI_METRIC_LINE_BYTES = 64 }; /* of the processor's cache */

/* The cold part of one sample, or of one histogram. Its cell begins at the next line, the text of the labels
 * stands behind that: one allocation. */
typedef struct ki_metric_child {
    ki_metric_node node; /* its key: name="value",name="value", escaped */
    struct ki_metric_family *family;
    size_t uses;      /* guarded by mu */
    void *allocation; /* the child itself is aligned */
} ki_metric_child;

/* Lives as long as the metrics: a walk may stand at one without the lock. */
typedef struct ki_metric_family {
    ki_metric_node node; /* its key: the name, with the prefix */
    const ki_metric_desc *desc;
    ki_metrics *metrics;
    ki_metric_set children; /* guarded by mu */
} ki_metric_family;

struct ki_metrics {
    ki_refcount refs;
    ki_fork_hook fork_hook; /* a child finds them whole */
    ki_mutex mu;
    ki_str prefix;
    size_t children_max;
    size_t bytes_max;
    _Atomic uint64_t refused;
    ki_metric_set families; /* guarded by mu */
};

static inline void *ki_metric_cell(ki_metric_child *child)
{
    return (char *)child + KI_METRIC_LINE_BYTES;
}

static inline ki_metric_child *ki_metric_child_of(void *cell)
{
    return (ki_metric_child *)(void *)((char *)cell - KI_METRIC_LINE_BYTES);
}

_Static_assert(sizeof(ki_metric_child) <= KI_METRIC_LINE_BYTES, "the cell begins at the next line");

#endif
