/* SPDX-License-Identifier: Apache-2.0 */
/* order - which of the waiting keys is next: two priorities, first come first served in each.
 *
 *   From:     workqueue/queue.c
 *   Locks:    the queue's mutex.
 *   Not here: whether a key may be handed out.
 *
 * While low keys wait, at most KI_WORKQUEUE_LOW_EVERY - 1 high ones are taken in a row. So a low key with n
 * low ones before it is taken after (n + 1) * KI_WORKQUEUE_LOW_EVERY - 1 others at most.
 */
#ifndef KI_WORKQUEUE_ORDER_H
#define KI_WORKQUEUE_ORDER_H

#include <assert.h>

#include "workqueue/entry.h"

typedef struct ki_work_order {
    ki_list lists[2]; /* by priority */
    size_t counts[2];
    unsigned high_in_a_row; /* taken while low ones waited */
} ki_work_order;

void ki_work_order_init(ki_work_order *order);

/* Adds an entry at the end of its priority. */
void ki_work_order_push(ki_work_order *order, ki_work_entry *entry);

/* Moves a low entry to the end of the high ones. */
void ki_work_order_raise(ki_work_order *order, ki_work_entry *entry);

/* Takes the next one; NULL when none waits. */
ki_work_entry *ki_work_order_pop(ki_work_order *order);

/* An entry that may be the next; only when one waits. */
static inline const ki_work_entry *ki_work_order_peek(const ki_work_order *order)
{
    assert(order->counts[KI_PRIORITY_HIGH] + order->counts[KI_PRIORITY_LOW] > 0);
    const ki_list *list =
        &order->lists[order->counts[KI_PRIORITY_HIGH] > 0 ? KI_PRIORITY_HIGH : KI_PRIORITY_LOW];
    return KI_CONTAINER_OF(ki_list_first(list), ki_work_entry, node);
}

static inline size_t ki_work_order_count(const ki_work_order *order)
{
    return order->counts[KI_PRIORITY_HIGH] + order->counts[KI_PRIORITY_LOW];
}

#endif
