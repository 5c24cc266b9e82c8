/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/order.h"

#include <assert.h>

void ki_work_order_init(ki_work_order *order)
{
    *order = (ki_work_order){0};
    ki_list_init(&order->lists[KI_PRIORITY_HIGH]);
    ki_list_init(&order->lists[KI_PRIORITY_LOW]);
}

void ki_work_order_push(ki_work_order *order, ki_work_entry *entry)
{
    assert(entry->priority == KI_PRIORITY_HIGH || entry->priority == KI_PRIORITY_LOW);
    ki_list_push_back(&order->lists[entry->priority], &entry->node);
    order->counts[entry->priority]++;
}

static void take_out(ki_work_order *order, ki_work_entry *entry)
{
    assert(ki_list_node_is_linked(&entry->node) && order->counts[entry->priority] > 0);
    ki_list_remove(&entry->node);
    order->counts[entry->priority]--;
}

void ki_work_order_raise(ki_work_order *order, ki_work_entry *entry)
{
    assert(entry->priority == KI_PRIORITY_LOW);
    take_out(order, entry);
    entry->priority = KI_PRIORITY_HIGH;
    ki_work_order_push(order, entry);
}

/* The count of high keys in a row starts over after a low one, and when no low one waits. */
static ki_priority next_priority(ki_work_order *order)
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

ki_work_entry *ki_work_order_pop(ki_work_order *order)
{
    if (ki_work_order_count(order) == 0)
        return NULL;
    ki_list_node *node = ki_list_first(&order->lists[next_priority(order)]);
    assert(node != NULL);
    ki_work_entry *entry = KI_CONTAINER_OF(node, ki_work_entry, node);
    take_out(order, entry);
    return entry;
}
