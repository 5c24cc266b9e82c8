/* SPDX-License-Identifier: Apache-2.0 */
#include "util/clock.h"

#include <assert.h>
#include <time.h>

#include "util/units.h"

static const ki_clock real_clock = {.is_virtual = false};

const ki_clock *ki_clock_real(void)
{
    return &real_clock;
}

void ki_clock_init_virtual(ki_clock *clock, uint64_t now_ns, int64_t wall_ns)
{
    assert(clock != NULL);
    clock->is_virtual = true;
    atomic_init(&clock->now_ns, now_ns);
    atomic_init(&clock->wall_offset_ns, wall_ns - (int64_t)now_ns);
}

/* The monotonic time is CLOCK_BOOTTIME, which goes on during a suspend, not CLOCK_MONOTONIC: meanwhile the
 * peer may have closed the connection and the token may have expired, so deadlines must pass, too. */
static int64_t system_time_ns(clockid_t id)
{
    struct timespec time = {0};
    int rc = clock_gettime(id, &time);
    assert(rc == 0);
    (void)rc;
    return (int64_t)time.tv_sec * (int64_t)KI_NS_PER_S + time.tv_nsec;
}

uint64_t ki_clock_now_ns(const ki_clock *clock)
{
    assert(clock != NULL);
    return clock->is_virtual ? atomic_load(&clock->now_ns) : (uint64_t)system_time_ns(CLOCK_BOOTTIME);
}

uint64_t ki_clock_now_ms(const ki_clock *clock)
{
    return ki_clock_now_ns(clock) / KI_NS_PER_MS;
}

int64_t ki_clock_wall_ns(const ki_clock *clock)
{
    if (!clock->is_virtual)
        return system_time_ns(CLOCK_REALTIME);
    return (int64_t)atomic_load(&clock->now_ns) + atomic_load(&clock->wall_offset_ns);
}

void ki_clock_advance_ns(ki_clock *clock, uint64_t delta_ns)
{
    assert(clock->is_virtual);
    atomic_fetch_add(&clock->now_ns, delta_ns);
}

void ki_clock_advance_ms(ki_clock *clock, uint64_t delta_ms)
{
    ki_clock_advance_ns(clock, delta_ms * KI_NS_PER_MS);
}

void ki_clock_set_now_ns(ki_clock *clock, uint64_t now_ns)
{
    assert(clock->is_virtual);
    uint64_t before = atomic_exchange(&clock->now_ns, now_ns);
    assert(before <= now_ns);
    (void)before;
}

void ki_clock_set_wall_ns(ki_clock *clock, int64_t wall_ns)
{
    assert(clock->is_virtual);
    atomic_store(&clock->wall_offset_ns, wall_ns - (int64_t)atomic_load(&clock->now_ns));
}
