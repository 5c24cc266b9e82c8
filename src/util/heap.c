/* SPDX-License-Identifier: Apache-2.0 */
#include "util/heap.h"

#include <assert.h>
#include <kinformer/error.h>

#include "util/alloc.h"
#include "util/annotations.h"

/* Invariant: no node comes before its parent, and nodes[i]->position == i + 1.
 * The parent of index i is (i - 1) / 2, its children are 2i + 1 and 2i + 2. */

enum { HEAP_NODES_MIN = 16 };

/* Checks the cheap part of the invariant: the sizes, and the root. */
static KI_DEBUG_ONLY bool is_sound(const ki_heap *heap)
{
    return heap->count <= heap->capacity && (heap->capacity == 0 || heap->capacity <= heap->count_max) &&
           (heap->count == 0 || heap->nodes[0]->position == 1);
}

void ki_heap_init(ki_heap *heap, size_t count_max, ki_heap_compare_cb compare, void *user)
{
    assert(count_max > 0 && count_max <= SIZE_MAX / 2 / sizeof(ki_heap_node *));
    assert(compare != NULL);
    *heap = (ki_heap){.count_max = count_max, .compare = compare, .user = user};
}

void ki_heap_fini(ki_heap *heap)
{
    assert(is_sound(heap));
    for (size_t i = 0; i < heap->count; i++)
        heap->nodes[i]->position = 0;
    ki_free(heap->nodes);
    heap->nodes = NULL;
    heap->count = heap->capacity = 0;
}

static void place(ki_heap *heap, size_t index, ki_heap_node *node)
{
    assert(index < heap->capacity);
    heap->nodes[index] = node;
    node->position = index + 1;
}

static bool comes_before(const ki_heap *heap, const ki_heap_node *a, const ki_heap_node *b)
{
    return heap->compare(a, b, heap->user) < 0;
}

/* Both sifts treat `index` as a hole, move the hole to where `node` belongs, and put `node` there. This
 * keeps the invariant. sift_up() moves the hole up while `node` comes before the parent; the parent moves
 * down, but stays above the same nodes. sift_down() moves the hole down while a child comes before `node`;
 * the lesser child moves up, and no other child comes before it. */
static void sift_up(ki_heap *heap, size_t index, ki_heap_node *node)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (!comes_before(heap, node, heap->nodes[parent]))
            break;
        place(heap, index, heap->nodes[parent]);
        index = parent;
    }
    place(heap, index, node);
}

static void sift_down(ki_heap *heap, size_t index, ki_heap_node *node)
{
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && comes_before(heap, heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!comes_before(heap, heap->nodes[child], node))
            break;
        place(heap, index, heap->nodes[child]);
        index = child;
    }
    place(heap, index, node);
}

static void sift(ki_heap *heap, size_t index, ki_heap_node *node)
{
    if (index > 0 && comes_before(heap, node, heap->nodes[(index - 1) / 2]))
        sift_up(heap, index, node);
    else
        sift_down(heap, index, node);
}

/* At least doubles the capacity, so that reserving one more place each time is cheap too. */
int ki_heap_reserve(ki_heap *heap, size_t count)
{
    assert(is_sound(heap));
    if (count <= heap->capacity)
        return 0;
    if (count > heap->count_max)
        return KI_ERR_TOO_LARGE;
    size_t capacity = heap->capacity == 0 ? HEAP_NODES_MIN : heap->capacity * 2;
    if (capacity < count)
        capacity = count;
    if (capacity > heap->count_max)
        capacity = heap->count_max;
    ki_heap_node **nodes = ki_realloc(heap->nodes, capacity * sizeof(ki_heap_node *));
    if (nodes == NULL)
        return KI_ERR_NO_MEMORY;
    heap->nodes = nodes;
    heap->capacity = capacity;
    return 0;
}

int ki_heap_push(ki_heap *heap, ki_heap_node *node)
{
    assert(!ki_heap_node_is_linked(node));
    int rc = ki_heap_reserve(heap, heap->count + 1);
    if (rc < 0)
        return rc;
    sift_up(heap, heap->count++, node);
    return 0;
}

ki_heap_node *ki_heap_first(const ki_heap *heap)
{
    assert(is_sound(heap));
    return heap->count == 0 ? NULL : heap->nodes[0];
}

ki_heap_node *ki_heap_pop(ki_heap *heap)
{
    ki_heap_node *node = ki_heap_first(heap);
    if (node != NULL)
        ki_heap_remove(heap, node);
    return node;
}

void ki_heap_remove(ki_heap *heap, ki_heap_node *node)
{
    assert(is_sound(heap));
    if (!ki_heap_node_is_linked(node))
        return;
    size_t index = node->position - 1;
    assert(index < heap->count && heap->nodes[index] == node);
    ki_heap_node *last = heap->nodes[--heap->count];
    node->position = 0;
    if (last != node)
        sift(heap, index, last);
}

void ki_heap_update(ki_heap *heap, ki_heap_node *node)
{
    assert(ki_heap_node_is_linked(node) && heap->nodes[node->position - 1] == node);
    sift(heap, node->position - 1, node);
}
