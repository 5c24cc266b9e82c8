/* SPDX-License-Identifier: Apache-2.0 */
/* order - which of the waiting keys is next: two priorities, first come first served in each.
 *
 *   From:     workqueue/queue.c, workqueue/delays.c, workqueue/queue_life.c
 *   Locks:    the queue's mutex.
 *   Not here: whether a key may be handed out.
 *
 * While low keys wait, at most KI_WORKQUEUE_LOW_EVERY - 1 high keys are taken in a row. So a low key that
 * waits behind n other low keys is taken after at most (n + 1) * KI_WORKQUEUE_LOW_EVERY - 1 other keys.
 */
#ifndef KI_WORKQUEUE_ORDER_H
#define KI_WORKQUEUE_ORDER_H

#include <assert.h>

#include "workqueue/entry.h"

typedef struct ki_work_order {
    ki_list lists[2]; /* by priority */
    size_t counts[2];
    unsigned high_in_a_row; /* high keys that were taken in a row while low keys waited */
} ki_work_order;

static inline void ki_work_order_init(ki_work_order *order)
{
    *order = (ki_work_order){0};
    ki_list_init(&order->lists[KI_PRIORITY_HIGH]);
    ki_list_init(&order->lists[KI_PRIORITY_LOW]);
}

static inline size_t ki_work_order_count(const ki_work_order *order)
{
    return order->counts[KI_PRIORITY_HIGH] + order->counts[KI_PRIORITY_LOW];
}

/* Adds an entry at the end of its priority. */
static inline void ki_work_order_push(ki_work_order *order, ki_work_entry *entry)
{
    assert(entry->priority == KI_PRIORITY_HIGH || entry->priority == KI_PRIORITY_LOW);
    ki_list_push_back(&order->lists[entry->priority], &entry->node);
    order->counts[entry->priority]++;
}

static inline void ki_work_order_take_out(ki_work_order *order, ki_work_entry *entry)
{
    assert(ki_list_node_is_linked(&entry->node) && order->counts[entry->priority] > 0);
    ki_list_remove(&entry->node);
    order->counts[entry->priority]--;
}

/* Moves a low entry to the end of the high entries. */
static inline void ki_work_order_raise(ki_work_order *order, ki_work_entry *entry)
{
    assert(entry->priority == KI_PRIORITY_LOW);
    ki_work_order_take_out(order, entry);
    entry->priority = KI_PRIORITY_HIGH;
    ki_work_order_push(order, entry);
}

/* The count of high keys in a row is reset after a low key, and when no low key waits. */
static inline ki_priority ki_work_order_next(ki_work_order *order)
{
    assert(ki_work_order_count(order) > 0);
    assert(order->high_in_a_row < KI_WORKQUEUE_LOW_EVERY);
    if (order->counts[KI_PRIORITY_LOW] == 0) {
        order->high_in_a_row = 0;
        return KI_PRIORITY_HIGH;
    }
    if (order->counts[KI_PRIORITY_HIGH] == 0 || order->high_in_a_row == KI_WORKQUEUE_LOW_EVERY - 1) {
        order->high_in_a_row = 0;
        return KI_PRIORITY_LOW;
    }
    order->high_in_a_row++;
    return KI_PRIORITY_HIGH;
}

/* Takes the next entry; NULL when none waits. */
static inline ki_work_entry *ki_work_order_pop(ki_work_order *order)
{
    if (ki_work_order_count(order) == 0)
        return NULL;
    ki_list_node *node = ki_list_first(&order->lists[ki_work_order_next(order)]);
    assert(node != NULL);
    ki_work_entry *entry = KI_CONTAINER_OF(node, ki_work_entry, node);
    ki_work_order_take_out(order, entry);
    return entry;
}

/* Returns the entry that is probably taken after the next one, or the next one if it is the last of its
 * priority. At least one must be waiting. */
static inline const ki_work_entry *ki_work_order_ahead(const ki_work_order *order)
{
    assert(order->counts[KI_PRIORITY_HIGH] + order->counts[KI_PRIORITY_LOW] > 0);
    const ki_list *list =
        &order->lists[order->counts[KI_PRIORITY_HIGH] > 0 ? KI_PRIORITY_HIGH : KI_PRIORITY_LOW];
    const ki_list_node *first = ki_list_first(list);
    const ki_list_node *second = ki_list_next(list, first);
    return KI_CONTAINER_OF(second == NULL ? first : second, const ki_work_entry, node);
}

#endif
