/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/queue.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

int ki_workqueue_check(const ki_workqueue *queue)
{
    if (queue == NULL)
        return KI_ERR_INVALID;
    return queue->generation == ki_fork_generation() ? 0 : KI_ERR_FORKED;
}

int ki_workqueue_check_key(const ki_workqueue *queue, ki_str key, ki_priority priority)
{
    int rc = ki_workqueue_check(queue);
    if (rc < 0)
        return rc;
    if (key.len == 0 || (priority != KI_PRIORITY_HIGH && priority != KI_PRIORITY_LOW))
        return KI_ERR_INVALID;
    return key.len > KI_WORK_KEY_BYTES_MAX ? KI_ERR_TOO_LARGE : 0;
}

/* With metrics only: asking for the time costs as much as the rest. */
static uint64_t now_for_metrics(const ki_workqueue *queue)
{
    return ki_work_metrics_are_on(&queue->metrics) ? ki_clock_now_ns(queue->clock) : 0;
}

void ki_workqueue_lock(ki_workqueue *queue)
{
    ki_mutex_lock(&queue->mu);
    ki_workqueue_ripen_locked(queue);
}

void ki_workqueue_unlock(ki_workqueue *queue)
{
    ki_work_waiters *waiters = &queue->waiters;
    ki_wake_fd_raise(&waiters->fd, queue->is_stopping || ki_work_order_count(&queue->order) > 0);
    ki_wake_fd_raise_at(&waiters->fd, ki_workqueue_next_due_locked(queue));
    ki_work_signals signals = ki_work_waiters_take_signals(waiters);
    ki_mutex_unlock(&queue->mu);
    ki_work_waiters_send(waiters, signals);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static int has_key(const ki_map_node *node, const void *key)
{
    const ki_work_entry *entry = KI_CONTAINER_OF(node, ki_work_entry, by_key);
    return ki_str_equal(ki_work_entry_key(entry), *(const ki_str *)key);
}

ki_work_entry *ki_workqueue_find_locked(const ki_workqueue *queue, ki_str key, uint64_t hash)
{
    ki_map_node *node = ki_map_find(&queue->keys, hash, has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_work_entry, by_key);
}

ki_work_entry *ki_workqueue_intern_locked(ki_workqueue *queue, ki_str key, uint64_t hash)
{
    ki_work_entry *entry = ki_workqueue_find_locked(queue, key, hash);
    if (entry != NULL)
        return entry;
    entry = ki_malloc(offsetof(ki_work_entry, key) + key.len);
    if (entry == NULL)
        return NULL;
    *entry = (ki_work_entry){.key_len = (uint16_t)key.len};
    memcpy(entry->key, key.ptr, key.len);
    if (ki_map_insert(&queue->keys, &entry->by_key, hash) < 0) {
        ki_free(entry);
        return NULL;
    }
    return entry;
}

ki_work_entry *ki_workqueue_release_locked(ki_workqueue *queue, ki_work_entry *entry)
{
    if (entry->is_dirty || entry->is_processing || ki_work_entry_is_delayed(entry))
        return NULL;
    ki_map_remove(&queue->keys, &entry->by_key);
    return entry;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void push_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu)
{
    ki_work_order_push(&queue->order, entry);
    ki_work_waiters_wake_one(&queue->waiters);
}

static void raise_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu)
{
    if (entry->is_processing)
        entry->priority = KI_PRIORITY_HIGH;
    else
        ki_work_order_raise(&queue->order, entry);
}

void ki_workqueue_make_dirty_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
{
    if (entry->is_dirty) {
        if (priority < entry->priority)
            raise_locked(queue, entry);
        return;
    }
    entry->is_dirty = true;
    entry->priority = (uint8_t)priority;
    entry->dirty_ns = now_for_metrics(queue);
    queue->depth++;
    ki_counter_add(queue->metrics.adds, 1);
    ki_gauge_add(queue->metrics.depth, 1);
    if (!entry->is_processing)
        push_locked(queue, entry);
}

ki_work_entry *ki_workqueue_take_locked(ki_workqueue *queue)
{
    ki_work_entry *entry = ki_work_order_pop(&queue->order);
    if (entry == NULL)
        return NULL;
    entry->is_dirty = false;
    entry->is_processing = true;
    entry->started_ns = now_for_metrics(queue);
    ki_list_push_back(&queue->processing, &entry->node);
    queue->processing_count++;
    queue->depth--;
    ki_gauge_add(queue->metrics.depth, -1);
    ki_histogram_observe(queue->metrics.queued, entry->started_ns - entry->dirty_ns);
    return entry;
}

ki_work_entry *ki_workqueue_finish_locked(ki_workqueue *queue, ki_work_entry *entry)
{
    assert(entry->is_processing);
    ki_list_remove(&entry->node);
    entry->is_processing = false;
    queue->processing_count--;
    ki_histogram_observe(queue->metrics.worked, now_for_metrics(queue) - entry->started_ns);
    if (entry->is_dirty)
        push_locked(queue, entry);
    else if (queue->is_stopping && ki_workqueue_is_drained_locked(queue))
        ki_cond_broadcast(&queue->waiters.drained);
    return ki_workqueue_release_locked(queue, entry);
}
