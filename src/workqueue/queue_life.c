/* SPDX-License-Identifier: Apache-2.0 */
/* Making, freeing and looking at a work queue. */
#include <assert.h>

#include "util/alloc.h"
#include "util/error.h"
#include "workqueue/queue.h"

/* ---- making and freeing -------------------------------------------------------------------------------- */

KI_NO_THREAD_SAFETY_ANALYSIS
static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    ki_workqueue *queue = KI_CONTAINER_OF(hook, ki_workqueue, fork_hook);
    if (phase == KI_FORK_PREPARE) {
        ki_mutex_lock(&queue->mu);
        return;
    }
    if (phase == KI_FORK_CHILD) {
        queue->is_inherited = true;
        ki_work_waiters_forget(&queue->waiters);
    }
    ki_mutex_unlock(&queue->mu);
    if (phase == KI_FORK_CHILD)
        ki_mutex_init(&queue->mu); /* it may count waiting threads, which do not exist here */
}

static int init(ki_workqueue *queue, const ki_workqueue_options *options, ki_error *err)
{
    queue->fork_hook = (ki_fork_hook){.order = KI_FORK_LEAVES, .run = on_fork};
    ki_mutex_init(&queue->mu);
    ki_work_waiters_init(&queue->waiters);
    ki_work_order_init(&queue->order);
    ki_list_init(&queue->processing);
    ki_workqueue_delays_init(queue);
    ki_work_metrics_init(&queue->metrics, options->metrics, options->name, queue->clock);
    if (ki_hash_key_init(&queue->secret) < 0)
        return ki_fail_no_random(err);
    return ki_fork_add(&queue->fork_hook) < 0 ? ki_fail_no_memory(err) : 0;
}

ki_workqueue *ki_workqueue_new_with_clock(const ki_workqueue_options *options, const ki_clock *clock,
                                          ki_error *err)
{
    static const ki_workqueue_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    if (ki_fork_check(err) < 0) {
        (void)ki_limiter_unref(options->limiter);
        return NULL;
    }
    ki_limiter *limiter = options->limiter == NULL ? ki_limiter_new_default(err) : options->limiter;
    ki_workqueue *queue = limiter == NULL ? NULL : ki_calloc(1, sizeof(*queue));
    if (queue == NULL) {
        if (limiter != NULL)
            (void)ki_fail_no_memory(err);
        (void)ki_limiter_unref(limiter);
        return NULL;
    }
    queue->clock = clock;
    queue->limiter = limiter;
    if (init(queue, options, err) < 0) {
        ki_workqueue_free(queue);
        return NULL;
    }
    return queue;
}

ki_workqueue *ki_workqueue_new(const ki_workqueue_options *options, ki_error *err)
{
    return ki_workqueue_new_with_clock(options, ki_clock_real(), err);
}

static void free_entries(ki_workqueue *queue)
{
    for (size_t i = 0; i < queue->keys.slot_count; i++)
        ki_free(queue->keys.slots[i].entry);
}

void ki_workqueue_free(ki_workqueue *queue)
{
    if (queue == NULL)
        return;
    ki_fork_remove(&queue->fork_hook);
    ki_gauge_add(queue->metrics.depth, -(int64_t)queue->depth); /* another queue may use the same gauge */
    ki_work_metrics_fini(&queue->metrics);
    ki_heap_fini(&queue->delayed);
    free_entries(queue);
    ki_work_keys_fini(&queue->keys);
    ki_work_spares_fini(&queue->spares);
    ki_work_waiters_fini(&queue->waiters);
    ki_mutex_fini(&queue->mu);
    (void)ki_limiter_unref(queue->limiter);
    ki_free(queue);
}

/* ---- looking ------------------------------------------------------------------------------------------- */

int ki_workqueue_fd(ki_workqueue *queue, ki_error *err)
{
    if (queue == NULL)
        return ki_fail_missing(err, "no queue");
    int rc = ki_workqueue_check(queue);
    if (rc < 0 || queue->clock->is_virtual)
        return ki_fail(err, rc < 0 ? rc : KI_ERR_INVALID, "%s", ki_error_text(rc < 0 ? rc : KI_ERR_INVALID));
    ki_workqueue_lock(queue);
    if (!queue->waiters.fd.is_open)
        rc = ki_wake_fd_open(&queue->waiters.fd, err);
    if (rc == 0)
        rc = queue->waiters.fd.epoll_fd;
    ki_workqueue_unlock(queue);
    return rc;
}

void ki_workqueue_read_stats(const ki_workqueue *queue, ki_workqueue_stats *out_stats)
{
    if (out_stats == NULL)
        return;
    *out_stats = (ki_workqueue_stats){0};
    if (ki_workqueue_check(queue) < 0)
        return;
    ki_workqueue *mine = (ki_workqueue *)queue; /* the caller sees no change */
    ki_workqueue_lock(mine);
    assert(mine->depth >= ki_work_order_count(&mine->order) && mine->depth <= mine->keys.count);
    assert(mine->processing_count <= mine->keys.count && mine->delayed.count <= mine->keys.count);
    *out_stats = (ki_workqueue_stats){.waiting = ki_work_order_count(&mine->order),
                                      .low = mine->order.counts[KI_PRIORITY_LOW],
                                      .depth = mine->depth,
                                      .processing = mine->processing_count,
                                      .delayed = mine->delayed.count,
                                      .dropped = mine->dropped};
    ki_workqueue_unlock(mine);
}

size_t ki_workqueue_len(const ki_workqueue *queue)
{
    ki_workqueue_stats stats;
    ki_workqueue_read_stats(queue, &stats);
    return stats.waiting;
}
