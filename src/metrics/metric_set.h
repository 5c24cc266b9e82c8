/* SPDX-License-Identifier: Apache-2.0 */
/* metric_set - things with a text of their own, sorted by it: families by name, children by labels.
 *
 *   From:     metrics/metrics.c, metrics/metrics_write.c, metrics/prometheus.c
 *   Locks:    the owner's.
 *   Not here: memory of the things; the set owns its array of pointers and nothing else.
 *
 * An array, and not a tree: things are written in order at every scrape and seldom come or go.
 */
#ifndef KI_METRICS_METRIC_SET_H
#define KI_METRICS_METRIC_SET_H

#include <kinformer/common.h>

/* The first member of what is in a set. */
typedef struct ki_metric_node {
    ki_str key;
} ki_metric_node;

/* Zeroed: empty. Read the fields freely; change them through the functions. */
typedef struct ki_metric_set {
    ki_metric_node **nodes;
    size_t count;
    size_t cap;
} ki_metric_set;

/* Frees the array. */
void ki_metric_set_fini(ki_metric_set *set);

/* The index of the first node whose key is not before `key`. */
size_t ki_metric_set_lower_bound(const ki_metric_set *set, ki_str key);

/* The node with this key, or NULL. */
ki_metric_node *ki_metric_set_find(const ki_metric_set *set, ki_str key);

/* Adds a node whose key is not there. Returns 0 or KI_ERR_NO_MEMORY; the set is unchanged then. */
KI_NODISCARD int ki_metric_set_insert(ki_metric_set *set, ki_metric_node *node);

/* Removes a node that is there. */
void ki_metric_set_remove(ki_metric_set *set, const ki_metric_node *node);

#endif
