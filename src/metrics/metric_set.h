/* SPDX-License-Identifier: Apache-2.0 */
/* metric_set - nodes sorted by a text key: families by name, children by labels.
 *
 *   From:     metrics/metrics.c, metrics/metrics_write.c
 *   Locks:    the owner's.
 *   Not here: memory; the nodes are embedded in their elements.
 *
 * This is a treap: a binary tree in which keys rise from left to right, and no node has a higher rank than
 * its parent. Ranks are as good as random, so the depth is a small multiple of log2(count), whatever the
 * order of insertion. This matters because programs with many informers add and remove hundreds of
 * thousands of samples one by one.
 */
#ifndef KI_METRICS_METRIC_SET_H
#define KI_METRICS_METRIC_SET_H

#include <kinformer/common.h>

/* The first member of every element of a set. */
typedef struct ki_metric_node {
    ki_str key;
    struct ki_metric_node *left;
    struct ki_metric_node *right;
} ki_metric_node;

/* A zeroed set is empty. `count` may be read directly; the functions change it. */
typedef struct ki_metric_set {
    ki_metric_node *root;
    size_t count;
} ki_metric_set;

/* The node with this key, or NULL. */
ki_metric_node *ki_metric_set_find(const ki_metric_set *set, ki_str key);

/* Adds a node whose key is not in the set. */
void ki_metric_set_insert(ki_metric_set *set, ki_metric_node *node);

/* Removes a node that is in the set. */
void ki_metric_set_remove(ki_metric_set *set, ki_metric_node *node);

/* Returns 0 to continue, anything else to stop. */
typedef int (*ki_metric_set_cb)(ki_metric_node *node, void *user);

/* Calls `callback` for the nodes after `key`, in order, or for all nodes if `key` is NULL. The callback
 * must not change the set. When a set is given up, a walk that never stops may free each node. Returns the
 * value that stopped the walk, or 0. */
int ki_metric_set_walk(const ki_metric_set *set, const ki_str *key, ki_metric_set_cb callback, void *user);

#endif
