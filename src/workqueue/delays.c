/* SPDX-License-Identifier: Apache-2.0 */
/* Delayed keys: a heap, ordered by the time at which each key becomes due. A key has at most one delay. */
#include <assert.h>

#include "util/units.h"
#include "workqueue/queue.h"

static ki_work_entry *entry_of(ki_heap_node *node)
{
    return KI_CONTAINER_OF(node, ki_work_entry, delay);
}

static int compare(const ki_heap_node *a, const ki_heap_node *b, void *user)
{
    (void)user;
    uint64_t a_ns = KI_CONTAINER_OF(a, ki_work_entry, delay)->due_ns;
    uint64_t b_ns = KI_CONTAINER_OF(b, ki_work_entry, delay)->due_ns;
    return (a_ns > b_ns) - (a_ns < b_ns);
}

void ki_workqueue_delays_init(ki_workqueue *queue)
{
    ki_heap_init(&queue->delayed, SIZE_MAX / 2 / sizeof(ki_heap_node *), compare, NULL);
}

uint64_t ki_workqueue_next_due_locked(const ki_workqueue *queue)
{
    KI_ASSERT_HELD(queue->mu);
    ki_heap_node *first = ki_heap_first(&queue->delayed);
    return first == NULL ? UINT64_MAX : entry_of(first)->due_ns;
}

/* A delay that exists is only ever moved earlier, and its priority only ever raised. */
static int set_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority, uint64_t due_ns)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(priority == KI_PRIORITY_HIGH || priority == KI_PRIORITY_LOW);
    entry->is_put_off = false;
    if (!ki_work_entry_is_delayed(entry)) {
        entry->due_ns = due_ns;
        entry->delay_priority = (uint8_t)priority;
        return ki_heap_push(&queue->delayed, &entry->delay);
    }
    if (priority < entry->delay_priority)
        entry->delay_priority = (uint8_t)priority;
    if (due_ns < entry->due_ns) {
        entry->due_ns = due_ns;
        ki_heap_update(&queue->delayed, &entry->delay);
    }
    return 0;
}

/* Delays a key, or moves its delay earlier. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
static int delay_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority, uint64_t due_ns)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(!queue->is_stopping);
    uint64_t next_ns = ki_workqueue_next_due_locked(queue);
    int rc = set_locked(queue, entry, priority, due_ns);
    assert(rc < 0 || ki_work_entry_is_delayed(entry));
    if (ki_workqueue_next_due_locked(queue) < next_ns)
        ki_work_waiters_wake_keeper(&queue->waiters);
    return rc;
}

void ki_workqueue_ripen_locked(ki_workqueue *queue)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->delayed.count == 0)
        return;
    assert(!queue->is_stopping);
    uint64_t now_ns = ki_clock_now_ns(queue->clock);
    while (ki_workqueue_next_due_locked(queue) <= now_ns) {
        ki_work_entry *entry = entry_of(ki_heap_pop(&queue->delayed));
        assert(!ki_work_entry_is_delayed(entry));
        if (entry->is_put_off)
            ki_workqueue_resume_locked(queue, entry, (ki_priority)entry->delay_priority);
        else
            ki_workqueue_make_dirty_locked(queue, entry, (ki_priority)entry->delay_priority);
    }
}

void ki_workqueue_drop_delays_locked(ki_workqueue *queue)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue->is_stopping);
    for (ki_heap_node *node = ki_heap_pop(&queue->delayed); node != NULL;
         node = ki_heap_pop(&queue->delayed)) {
        ki_work_entry *entry = entry_of(node);
        queue->dropped += entry->is_dirty ? 0 : 1;
        ki_workqueue_release_locked(queue, entry);
    }
}

static int add_after_locked(ki_workqueue *queue, ki_str key, ki_priority priority, uint64_t delay_ns)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    uint32_t hash = ki_workqueue_hash(queue, key);
    if (queue->is_stopping)
        return KI_ERR_STOPPED;
    ki_work_entry *entry = ki_workqueue_intern_locked(queue, key, hash);
    if (entry == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = 0;
    if (delay_ns == 0)
        ki_workqueue_make_dirty_locked(queue, entry, priority);
    else
        rc = delay_locked(queue, entry, priority, ki_clock_now_ns(queue->clock) + delay_ns);
    if (rc < 0)
        ki_workqueue_release_locked(queue, entry);
    return rc;
}

/* Delays are limited to about a century, so that sums do not overflow. */
int ki_workqueue_add_after_ns(ki_workqueue *queue, ki_str key, ki_priority priority, uint64_t delay_ns)
{
    int rc = ki_workqueue_check_key(queue, key, priority);
    if (rc < 0)
        return rc;
    ki_workqueue_lock(queue);
    rc = add_after_locked(queue, key, priority, ki_ns_min(delay_ns, ki_ns_of_ms(UINT64_MAX)));
    ki_workqueue_unlock(queue);
    if (rc == 0)
        ki_counter_add(queue->metrics.retries, 1);
    return rc;
}

/* If the key already has a delay that was requested, that delay still counts when it ends. */
static int put_off_locked(ki_workqueue *queue, const ki_work_item *item, uint64_t delay_ns)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->is_stopping)
        return KI_ERR_STOPPED;
    ki_work_entry *entry = ki_workqueue_find_processing_locked(queue, item->key);
    if (entry == NULL)
        return KI_ERR_NOT_FOUND;
    bool is_put_off = !ki_work_entry_is_delayed(entry) || entry->is_put_off;
    int rc = delay_locked(queue, entry, item->priority, ki_clock_now_ns(queue->clock) + delay_ns);
    if (rc < 0)
        return rc;
    entry->is_put_off = is_put_off;
    ki_workqueue_finish_locked(queue, entry);
    return 0;
}

int ki_workqueue_put_off_ns(ki_workqueue *queue, const ki_work_item *item, uint64_t delay_ns)
{
    assert(delay_ns > 0 && ki_workqueue_check_key(queue, item->key, item->priority) == 0);
    ki_workqueue_lock(queue);
    int rc = put_off_locked(queue, item, ki_ns_min(delay_ns, ki_ns_of_ms(UINT64_MAX)));
    ki_workqueue_unlock(queue);
    return rc;
}

int ki_workqueue_add_after(ki_workqueue *queue, ki_str key, ki_priority priority, uint64_t delay_ms)
{
    return ki_workqueue_add_after_ns(queue, key, priority, ki_ns_of_ms(delay_ms));
}

uint64_t ki_workqueue_next_ns(ki_workqueue *queue)
{
    ki_workqueue_lock(queue);
    uint64_t next_ns = ki_work_order_count(&queue->order) > 0 ? 0 : ki_workqueue_next_due_locked(queue);
    ki_workqueue_unlock(queue);
    return next_ns;
}
