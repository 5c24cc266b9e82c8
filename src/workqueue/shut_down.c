/* SPDX-License-Identifier: Apache-2.0 */
/* Shutting down a work queue: it accepts no more keys. A drain waits until the last key is done. */
#include <assert.h>

#include "util/units.h"
#include "workqueue/queue.h"

static void stop_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    queue->is_stopping = true;
    ki_workqueue_drop_delays_locked(queue);
    assert(queue->delayed.count == 0);
}

void ki_workqueue_shut_down(ki_workqueue *queue)
{
    if (ki_workqueue_check(queue) < 0)
        return;
    ki_workqueue_lock(queue);
    stop_locked(queue);
    queue->shut_downs++;
    ki_work_waiters_wake_all(&queue->waiters);
    ki_workqueue_unlock(queue);
}

/* Returns 0, KI_ERR_STOPPED or KI_ERR_TIMEOUT. */
static int drain_locked(ki_workqueue *queue, uint64_t shut_downs, uint64_t until_ns) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue->is_stopping);
    while (!ki_workqueue_is_drained_locked(queue)) {
        if (queue->shut_downs != shut_downs)
            return KI_ERR_STOPPED;
        uint64_t now_ns = until_ns == UINT64_MAX ? 0 : ki_clock_now_ns(queue->clock);
        if (until_ns <= now_ns || queue->clock->is_virtual)
            return KI_ERR_TIMEOUT;
        if (until_ns == UINT64_MAX)
            ki_cond_wait(&queue->waiters.drained, &queue->mu);
        else
            (void)ki_cond_wait_ms(&queue->waiters.drained, &queue->mu,
                                  (until_ns - now_ns) / KI_NS_PER_MS + 1);
    }
    return 0;
}

/* Workers are woken before the wait, since they have to finish the remaining keys. */
int ki_workqueue_drain(ki_workqueue *queue, uint64_t timeout_ms)
{
    int rc = ki_workqueue_check(queue);
    if (rc < 0)
        return rc;
    uint64_t until_ns = UINT64_MAX;
    if (timeout_ms != UINT64_MAX)
        until_ns = ki_clock_now_ns(queue->clock) + ki_ns_of_ms(timeout_ms);
    ki_workqueue_lock(queue);
    stop_locked(queue);
    uint64_t shut_downs = queue->shut_downs;
    ki_work_waiters_wake_all(&queue->waiters);
    ki_workqueue_unlock(queue);
    ki_workqueue_lock(queue);
    rc = drain_locked(queue, shut_downs, until_ns);
    ki_workqueue_unlock(queue);
    return rc;
}

int ki_workqueue_shutting_down(const ki_workqueue *queue)
{
    if (ki_workqueue_check(queue) < 0)
        return 0;
    ki_mutex_lock(&queue->mu);
    int is_stopping = queue->is_stopping;
    ki_mutex_unlock(&queue->mu);
    return is_stopping;
}
