/* SPDX-License-Identifier: Apache-2.0 */
/* Adds keys with the delay that the limiter returns. The limiter is called without the lock of the queue,
 * since it may be a function of the program. */
#include "workqueue/limiter.h"
#include "workqueue/queue.h"

int ki_workqueue_add_rate_limited(ki_workqueue *queue, ki_str key, ki_priority priority)
{
    uint64_t delay_ns = 0;
    int rc = ki_workqueue_check_key(queue, key, priority);
    if (rc == 0)
        rc = ki_limiter_when_at(queue->limiter, key, ki_clock_now_ns(queue->clock), &delay_ns);
    return rc < 0 ? rc : ki_workqueue_add_after_ns(queue, key, priority, delay_ns);
}

void ki_workqueue_forget(ki_workqueue *queue, ki_str key)
{
    if (ki_workqueue_check(queue) == 0)
        ki_limiter_forget(queue->limiter, key);
}

uint32_t ki_workqueue_num_requeues(const ki_workqueue *queue, ki_str key)
{
    return ki_workqueue_check(queue) < 0 ? 0 : ki_limiter_num_requeues(queue->limiter, key);
}
