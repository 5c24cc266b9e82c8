/* SPDX-License-Identifier: Apache-2.0 */
/* heap - a bounded binary min-heap of nodes that live inside the elements.
 *
 *   From:     util/loop/ (deadlines), workqueue/ (delays, priorities)
 *   Locks:    none; the owner's.
 *   Not here: the elements' memory; the heap owns only its array of pointers.
 */
#ifndef KI_UTIL_HEAP_H
#define KI_UTIL_HEAP_H

#include <kinformer/common.h>
#include <stdbool.h>

/* A node stores its position, which makes removal from the middle O(log n). A zeroed node is in no heap. */
typedef struct ki_heap_node {
    size_t position; /* index in the array + 1; 0 if the node is in no heap */
} ki_heap_node;

/* Negative when `a` comes before `b`, 0 when either may come first, else positive. If equal elements must
 * leave in a fixed order, the callback must decide it: the heap does not. */
typedef int (*ki_heap_compare_cb)(const ki_heap_node *a, const ki_heap_node *b, void *user);

/* `count` may be read directly; the functions change it. */
typedef struct ki_heap {
    ki_heap_node **nodes;
    size_t count;
    size_t capacity;
    size_t count_max;
    ki_heap_compare_cb compare;
    void *user;
} ki_heap;

/* `count_max` > 0 is the maximum number of nodes. Allocates nothing. */
void ki_heap_init(ki_heap *heap, size_t count_max, ki_heap_compare_cb compare, void *user);

/* Frees the array and leaves an empty heap; its nodes are removed. A zeroed struct is allowed. */
void ki_heap_fini(ki_heap *heap);

/* Reserves space for `count` nodes in total; up to that number, no push fails. Returns 0; KI_ERR_TOO_LARGE
 * if `count` is above the maximum; or KI_ERR_NO_MEMORY. The heap is unchanged on failure. */
KI_NODISCARD int ki_heap_reserve(ki_heap *heap, size_t count);

/* Adds a node that is in no heap. Returns 0; KI_ERR_TOO_LARGE if the heap has the maximum number of nodes;
 * or KI_ERR_NO_MEMORY. Heap and node are unchanged on failure. */
KI_NODISCARD int ki_heap_push(ki_heap *heap, ki_heap_node *node);

/* Returns a least node, which stays in the heap; NULL if the heap is empty. */
ki_heap_node *ki_heap_first(const ki_heap *heap);

/* Removes and returns a least node; NULL when the heap is empty. */
ki_heap_node *ki_heap_pop(ki_heap *heap);

/* Removes a node. A node that is in no heap is allowed; a node of another heap is a programming error. */
void ki_heap_remove(ki_heap *heap, ki_heap_node *node);

/* Call this after something that `compare` looks at has changed in `node`, before any other call on the
 * heap. */
void ki_heap_update(ki_heap *heap, ki_heap_node *node);

static inline bool ki_heap_node_is_linked(const ki_heap_node *node)
{
    return node->position != 0;
}

#endif
