/* SPDX-License-Identifier: Apache-2.0 */
/* registry - stores the metrics: families by name, and the children of each family by their labels.
 *
 *   From:     metrics/metrics.c fills it, metrics/prometheus.c reads it
 *   To:       metrics/metrics_write.c walks it, metrics/prometheus.c writes one family
 *   Locks:    ki_metrics.mu guards the sets and the fields marked so; the rest is constant, except the cells,
 *             which are atomic.
 */
#ifndef KI_METRICS_REGISTRY_H
#define KI_METRICS_REGISTRY_H

#include "metrics/metric_set.h"
#include "metrics/metrics.h"
#include "util/fork.h"
#include "util/refcount.h"
#include "util/thread.h"

enum { KI_METRIC_LINE_BYTES = 64 }; /* of a CPU cache line */

/* The rarely used part of one sample or histogram. One allocation has this, the cell, which starts at the
 * next cache line, and the text of the labels. */
typedef struct ki_metric_child {
    ki_metric_node node; /* the key is name="value",name="value", escaped */
    struct ki_metric_family *family;
    size_t uses;      /* guarded by mu */
    void *allocation; /* the start of the allocation; the child in it is aligned */
} ki_metric_child;

/* A family lives as long as the metrics, so a walk may refer to it without the lock. */
typedef struct ki_metric_family {
    ki_metric_node node; /* the key is the name, with the prefix */
    const ki_metric_desc *desc;
    ki_metrics *metrics;
    ki_metric_set children; /* guarded by mu */
} ki_metric_family;

struct ki_metrics {
    ki_refcount refs;
    ki_fork_hook fork_hook; /* keeps the locks consistent in a child process */
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

_Static_assert(sizeof(ki_metric_child) <= KI_METRIC_LINE_BYTES, "the cell starts at the next cache line");

#endif
