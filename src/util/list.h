/* SPDX-License-Identifier: Apache-2.0 */
/* list - a doubly linked list whose links live inside the elements.
 *
 *   From:     all code that keeps elements in order and removes them from the middle
 *   Locks:    none; the owner's.
 *   Not here: memory; the list neither allocates nor frees an element.
 */
#ifndef KI_UTIL_LIST_H
#define KI_UTIL_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/* A zeroed node is in no list. */
typedef struct ki_list_node {
    struct ki_list_node *prev;
    struct ki_list_node *next;
} ki_list_node;

/* A ring through `head`, which is not an element. A list must not be moved or copied after initialisation. */
typedef struct ki_list {
    ki_list_node head;
} ki_list;

/* The element of type `type` whose member `member` is at `pointer`. */
#define KI_CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline void ki_list_init(ki_list *list)
{
    list->head.prev = list->head.next = &list->head;
}

static inline bool ki_list_is_empty(const ki_list *list)
{
    return list->head.next == &list->head;
}

static inline bool ki_list_node_is_linked(const ki_list_node *node)
{
    return node->next != NULL;
}

static inline void ki_list_link_between(ki_list_node *node, ki_list_node *prev, ki_list_node *next)
{
    assert(!ki_list_node_is_linked(node));
    node->prev = prev;
    node->next = next;
    prev->next = next->prev = node;
}

static inline void ki_list_push_back(ki_list *list, ki_list_node *node)
{
    ki_list_link_between(node, list->head.prev, &list->head);
}

/* A node that is in no list is allowed. */
static inline void ki_list_push_front(ki_list *list, ki_list_node *node)
{
    ki_list_link_between(node, &list->head, list->head.next);
}

static inline void ki_list_remove(ki_list_node *node)
{
    if (!ki_list_node_is_linked(node))
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->prev = node->next = NULL;
}

/* The first node, which stays in the list; NULL when the list is empty. */
static inline ki_list_node *ki_list_first(const ki_list *list)
{
    return ki_list_is_empty(list) ? NULL : list->head.next;
}

/* The node after `node`; NULL at the end. A loop that removes nodes must call this before it removes. */
static inline ki_list_node *ki_list_next(const ki_list *list, const ki_list_node *node)
{
    return node->next == &list->head ? NULL : node->next;
}

/* Removes and returns the first node; NULL when the list is empty. */
static inline ki_list_node *ki_list_pop_front(ki_list *list)
{
    ki_list_node *node = ki_list_first(list);
    if (node != NULL)
        ki_list_remove(node);
    return node;
}

/* Moves every node of `from` to the end of `list`, in O(1), and leaves `from` empty. This detaches a batch
 * under a lock, to be processed without the lock. */
static inline void ki_list_splice_back(ki_list *list, ki_list *from)
{
    assert(list != from);
    if (ki_list_is_empty(from))
        return;
    from->head.next->prev = list->head.prev;
    from->head.prev->next = &list->head;
    list->head.prev->next = from->head.next;
    list->head.prev = from->head.prev;
    ki_list_init(from);
}

#endif
