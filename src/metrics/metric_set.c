/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metric_set.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "util/alloc.h"

enum { CAP_MIN = 8 };

void ki_metric_set_fini(ki_metric_set *set)
{
    ki_free(set->nodes);
    *set = (ki_metric_set){0};
}

size_t ki_metric_set_lower_bound(const ki_metric_set *set, ki_str key)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki_str_compare(set->nodes[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ki_metric_node *ki_metric_set_find(const ki_metric_set *set, ki_str key)
{
    size_t at = ki_metric_set_lower_bound(set, key);
    return at < set->count && ki_str_equal(set->nodes[at]->key, key) ? set->nodes[at] : NULL;
}

static int make_room(ki_metric_set *set)
{
    if (set->count < set->cap)
        return 0;
    size_t cap = set->cap == 0 ? CAP_MIN : set->cap * 2;
    ki_metric_node **nodes = ki_realloc(set->nodes, cap * sizeof(ki_metric_node *));
    if (nodes == NULL)
        return KI_ERR_NO_MEMORY;
    set->nodes = nodes;
    set->cap = cap;
    return 0;
}

int ki_metric_set_insert(ki_metric_set *set, ki_metric_node *node)
{
    assert(ki_metric_set_find(set, node->key) == NULL);
    int rc = make_room(set);
    if (rc < 0)
        return rc;
    size_t at = ki_metric_set_lower_bound(set, node->key);
    memmove(set->nodes + at + 1, set->nodes + at, (set->count - at) * sizeof(ki_metric_node *));
    set->nodes[at] = node;
    set->count++;
    return 0;
}

void ki_metric_set_remove(ki_metric_set *set, const ki_metric_node *node)
{
    size_t at = ki_metric_set_lower_bound(set, node->key);
    assert(at < set->count && set->nodes[at] == node);
    set->count--;
    memmove(set->nodes + at, set->nodes + at + 1, (set->count - at) * sizeof(ki_metric_node *));
}
