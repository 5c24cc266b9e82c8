/* SPDX-License-Identifier: Apache-2.0 */
/* Calls inside a client: those that wait for something, and run the loops without threads meanwhile; and
 * ki_client_dispatch(), which runs these loops from the program's loop. */
#include <assert.h>
#include <limits.h>

#include "client/callback.h"
#include "client/client.h"
#include "util/units.h"

/* ---- entering and leaving loops ----------------------------------------------------------------------- */

static void enter(ki_client *client)
{
    ki_client_ref(client);
    ki_client_visit_begin();
    client->inside++;
}

/* Notifies other threads, since they may rely on this thread to run loops, or wait for it to leave. In a
 * child that was forked by a callback there are no other threads. */
static void leave(ki_client *client)
{
    if (ki_client_is_foreign(client))
        return;
    ki_mutex_lock(&client->mu);
    assert(client->inside > 0);
    client->inside--;
    ki_client_notify_locked(client);
    ki_mutex_unlock(&client->mu);
    ki_client_unref(client);
    ki_client_visit_end();
}

void ki_client_notify_locked(ki_client *client)
{
    KI_ASSERT_HELD(client->mu);
    if (client->inside == 0)
        return;
    client->changes++;
    ki_cond_broadcast(&client->changed);
    ki_loop_rouse(client->handlers);
}

/* A waiting call registers before it checks its condition. So when no call is inside, none is waiting for
 * this notification; this saves a lock for each applied change. */
void ki_client_notify(ki_client *client)
{
    if (client->inside == 0)
        return;
    ki_mutex_lock(&client->mu);
    ki_client_notify_locked(client);
    ki_mutex_unlock(&client->mu);
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

/* How long to run at a time, because handlers that make work for themselves would never end. */
#define STEP_NS (10 * KI_NS_PER_MS)

/* How long to sleep at a time, because neither a condition variable nor a loop notices that the machine was
 * suspended. */
enum { LOOK_AGAIN_MS = 1000 };

bool ki_client_step(ki_client *client)
{
    size_t count = 0;
    if (client->options.mode != KI_MODE_EVENT_LOOP) {
        count += ki_loop_step(client->io, STEP_NS);
        count += ki_loop_step(client->dispatch, STEP_NS);
    }
    count += ki_loop_step(client->handlers, STEP_NS);
    return count > 0;
}

static bool ask(const ki_wait *wait)
{
    ki_mutex_lock(wait->mu);
    bool is_met = wait->is_met(wait->user);
    ki_mutex_unlock(wait->mu);
    return is_met;
}

static uint64_t changes_of(ki_client *client)
{
    ki_mutex_lock(&client->mu);
    uint64_t changes = client->changes;
    ki_mutex_unlock(&client->mu);
    return changes;
}

/* Sleeps until there are more notifications than `seen`, or `timeout_ms` has passed. */
static void sleep_until_told(ki_client *client, uint64_t seen, uint64_t timeout_ms)
{
    ki_mutex_lock(&client->mu);
    if (client->changes == seen)
        (void)ki_cond_wait_ms(&client->changed, &client->mu, timeout_ms);
    ki_mutex_unlock(&client->mu);
}

/* One thread waits on the loop and is woken there. The others sleep until a notification, which comes at the
 * latest when that thread leaves. Does not wait on the loop after a notification since `seen`, which would
 * not wake a wait that begins later. */
static void sleep_on_loop(ki_client *client, uint64_t seen, uint64_t timeout_ms)
{
    if (changes_of(client) == seen && !ki_loop_wait(client->handlers, timeout_ms))
        sleep_until_told(client, seen, timeout_ms);
}

/* With a virtual clock it does not sleep: the clock does not advance by itself,
 * so the wait would never end. */
static bool wait_until(ki_client *client, const ki_wait *wait, uint64_t timeout_ms)
{
    uint64_t began_ms = ki_clock_now_ms(client->clock);
    while (!ki_client_is_foreign(client)) {
        uint64_t seen = changes_of(client);
        if (ask(wait))
            return true;
        uint64_t passed_ms = ki_clock_now_ms(client->clock) - began_ms;
        if (passed_ms >= timeout_ms)
            return false;
        uint64_t nap_ms = ki_ns_min(timeout_ms - passed_ms, LOOK_AGAIN_MS);
        if (wait->runs_nothing)
            sleep_until_told(client, seen, nap_ms);
        else if (ki_client_step(client))
            continue;
        else if (client->clock->is_virtual)
            return ask(wait);
        else
            sleep_on_loop(client, seen, nap_ms);
    }
    return false;
}

bool ki_client_wait(ki_client *client, const ki_wait *wait, uint64_t timeout_ms)
{
    assert(wait->mu != NULL && wait->is_met != NULL);
    assert(ki_client_may_wait() == 0);
    enter(client);
    bool is_met = wait_until(client, wait, timeout_ms);
    leave(client);
    return is_met;
}

/* ---- on the program's loop --------------------------------------------------------------------------- */

int ki_client_fd(const ki_client *client)
{
    return client == NULL || ki_client_is_foreign(client) ? -1 : ki_loop_fd(client->handlers);
}

int ki_client_timeout_ms(const ki_client *client)
{
    if (client == NULL || client->options.mode == KI_MODE_THREADS || ki_client_is_foreign(client))
        return -1;
    uint64_t next_ns = ki_loop_next_ns(client->handlers);
    if (next_ns == UINT64_MAX)
        return -1;
    uint64_t now_ns = ki_clock_now_ns(client->clock);
    uint64_t left_ms = next_ns <= now_ns ? 0 : (next_ns - now_ns + KI_NS_PER_MS - 1) / KI_NS_PER_MS;
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

#define BUDGET_DEFAULT_NS (2 * KI_NS_PER_MS)

/* For ki_loop_step(), where 0 means no limit. */
static uint64_t budget_ns(uint64_t budget_ms)
{
    if (budget_ms == KI_BUDGET_NONE)
        return 0;
    return budget_ms == 0 ? BUDGET_DEFAULT_NS : ki_ns_of_ms(budget_ms);
}

int ki_client_dispatch(ki_client *client, uint64_t budget_ms)
{
    bool has_loop = client != NULL && client->options.mode != KI_MODE_THREADS;
    bool is_foreign = client != NULL && ki_client_is_foreign(client);
    if (has_loop && is_foreign)
        return KI_ERR_FORKED;
    if (!is_foreign && ki_client_may_wait() < 0)
        return KI_ERR_WOULD_DEADLOCK;
    if (!has_loop)
        return KI_ERR_INVALID;
    enter(client);
    (void)ki_loop_step(client->handlers, budget_ns(budget_ms));
    int has_more = ki_client_is_foreign(client) ? 0 : ki_loop_next_ns(client->handlers) == 0;
    leave(client);
    return has_more;
}
