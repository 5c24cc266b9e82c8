/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are delayed or put off: a heap, ordered by the earlier one of both times of a key. A key has at
 * most one delay, and its work is put off at most once at a time. */
#include <assert.h>

#include "util/units.h"
#include "workqueue/queue.h"

static ki_work_entry *entry_of(ki_heap_node *node)
{
    return KI_CONTAINER_OF(node, ki_work_entry, delay);
}

static uint64_t next_of(const ki_work_entry *entry)
{
    uint64_t due_ns = entry->due_ns == 0 ? UINT64_MAX : entry->due_ns;
    return entry->is_put_off ? ki_ns_min(due_ns, entry->resume_ns) : due_ns;
}

static int compare(const ki_heap_node *a, const ki_heap_node *b, void *user)
{
    (void)user;
    uint64_t a_ns = next_of(KI_CONTAINER_OF(a, ki_work_entry, delay));
    uint64_t b_ns = next_of(KI_CONTAINER_OF(b, ki_work_entry, delay));
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
    return first == NULL ? UINT64_MAX : next_of(entry_of(first));
}

/* Call it after a time of the entry was set or moved earlier. Returns 0, or KI_ERR_NO_MEMORY for an entry
 * that had no time. */
static int link_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(!queue->is_stopping);
    int rc = 0;
    if (ki_work_entry_is_timed(entry))
        ki_heap_update(&queue->delayed, &entry->delay);
    else
        rc = ki_heap_push(&queue->delayed, &entry->delay);
    if (ki_heap_first(&queue->delayed) == &entry->delay)
        ki_work_waiters_wake_keeper(&queue->waiters);
    return rc;
}

/* Call it after a time of the entry has ended. */
static void relink_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (next_of(entry) == UINT64_MAX)
        ki_heap_remove(&queue->delayed, &entry->delay);
    else
        ki_heap_update(&queue->delayed, &entry->delay);
}

/* Delays a key. A delay that exists is only ever moved earlier, and its priority only ever raised. Returns 0,
 * or KI_ERR_NO_MEMORY with nothing changed. */
static int delay_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority, uint64_t due_ns)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(priority == KI_PRIORITY_HIGH || priority == KI_PRIORITY_LOW);
    bool is_delayed = entry->due_ns != 0;
    if (!is_delayed || priority < entry->delay_priority)
        entry->delay_priority = (uint8_t)priority;
    if (is_delayed && due_ns >= entry->due_ns)
        return 0;
    entry->due_ns = due_ns;
    int rc = link_locked(queue, entry);
    if (rc < 0)
        entry->due_ns = 0;
    return rc;
}

ki_priority ki_workqueue_end_put_off_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
{
    KI_ASSERT_HELD(queue->mu);
    assert(entry->is_put_off && !entry->is_dirty && !entry->is_processing);
    entry->is_put_off = false;
    relink_locked(queue, entry);
    return priority < entry->priority ? priority : (ki_priority)entry->priority;
}

void ki_workqueue_ripen_locked(ki_workqueue *queue)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->delayed.count == 0)
        return;
    assert(!queue->is_stopping);
    uint64_t now_ns = ki_clock_now_ns(queue->clock);
    while (ki_workqueue_next_due_locked(queue) <= now_ns) {
        ki_work_entry *entry = entry_of(ki_heap_first(&queue->delayed));
        if (entry->due_ns != next_of(entry)) {
            ki_workqueue_resume_locked(queue, entry, (ki_priority)entry->priority);
            continue;
        }
        entry->due_ns = 0;
        relink_locked(queue, entry);
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
        entry->due_ns = 0;
        entry->is_put_off = false;
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

/* If the key was added meanwhile, it is handed out again at once, and then put off. */
static int put_off_locked(ki_workqueue *queue, const ki_work_item *item, uint64_t delay_ns)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->is_stopping)
        return KI_ERR_STOPPED;
    ki_work_entry *entry = ki_workqueue_find_processing_locked(queue, item->key);
    if (entry == NULL)
        return KI_ERR_NOT_FOUND;
    if (entry->is_dirty) {
        ki_workqueue_resume_locked(queue, entry, item->priority);
        ki_workqueue_finish_locked(queue, entry);
        return 0;
    }
    entry->is_put_off = true;
    entry->resume_ns = ki_clock_now_ns(queue->clock) + delay_ns;
    entry->priority = (uint8_t)item->priority;
    int rc = link_locked(queue, entry);
    if (rc < 0) {
        entry->is_put_off = false;
        return rc;
    }
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
