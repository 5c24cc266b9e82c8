/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/waiters.h"

#include <assert.h>

#include "util/units.h"

/* While the machine is suspended, the clock of condition variables stops, but that of delays does not. */
enum { LOOK_AGAIN_MS = 10 * 1000 };

void ki_work_waiters_init(ki_work_waiters *waiters)
{
    *waiters = (ki_work_waiters){0};
    ki_cond_init(&waiters->ready);
    ki_cond_init(&waiters->timer);
    ki_cond_init(&waiters->drained);
}

void ki_work_waiters_fini(ki_work_waiters *waiters)
{
    assert(waiters->sleepers == 0 && !waiters->has_keeper);
    ki_wake_fd_close(&waiters->fd);
    ki_cond_fini(&waiters->drained);
    ki_cond_fini(&waiters->timer);
    ki_cond_fini(&waiters->ready);
}

/* Destroying a condition variable would wait for the threads that sleep on it, so all are initialized
 * again. */
void ki_work_waiters_forget(ki_work_waiters *waiters)
{
    ki_wake_fd fd = waiters->fd;
    ki_work_waiters_init(waiters);
    waiters->fd = fd;
}

void ki_work_waiters_wake_all(ki_work_waiters *waiters)
{
    ki_cond_broadcast(&waiters->ready);
    ki_cond_broadcast(&waiters->timer);
    ki_cond_broadcast(&waiters->drained);
}

void ki_work_waiters_wake_keeper(ki_work_waiters *waiters)
{
    if (!waiters->has_keeper)
        ki_work_waiters_wake_one(waiters);
    else if (!waiters->is_keeper_waking)
        ki_work_waiters_signal_keeper(waiters);
}

void ki_work_waiters_send(ki_work_waiters *waiters, ki_work_signals signals)
{
    if (signals.sleeper)
        ki_cond_signal(&waiters->ready);
    if (signals.keeper)
        ki_cond_signal(&waiters->timer);
}

static void wait_ms(ki_cond *cond, ki_mutex *mu, uint64_t timeout_ms) KI_REQUIRES(*mu)
{
    KI_ASSERT_HELD(*mu);
    if (timeout_ms == UINT64_MAX)
        ki_cond_wait(cond, mu);
    else
        (void)ki_cond_wait_ms(cond, mu, timeout_ms);
}

void ki_work_waiters_sleep(ki_work_waiters *waiters, ki_mutex *mu, uint64_t timeout_ms, uint64_t due_ms)
{
    KI_ASSERT_HELD(*mu);
    ki_work_waiters_send(waiters, ki_work_waiters_take_signals(waiters));
    if (timeout_ms != UINT64_MAX)
        timeout_ms = ki_ns_min(timeout_ms, LOOK_AGAIN_MS);
    if (due_ms != UINT64_MAX && !waiters->has_keeper) {
        waiters->has_keeper = true;
        wait_ms(&waiters->timer, mu, ki_ns_min(timeout_ms, ki_ns_min(due_ms, LOOK_AGAIN_MS)));
        assert(waiters->has_keeper);
        waiters->has_keeper = false;
        waiters->is_keeper_waking = false;
        return;
    }
    waiters->sleepers++;
    wait_ms(&waiters->ready, mu, timeout_ms);
    assert(waiters->sleepers > 0);
    waiters->sleepers--;
    waiters->is_waking = false;
}
