/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/backoff.h"

#include <assert.h>

#include "util/units.h"

enum { FIRST_MS = 800, MAX_MS = 30 * 1000, HEALTHY_SECONDS = 120 };

void ki_backoff_init(ki_backoff *backoff, uint64_t first_ms, uint64_t max_ms)
{
    assert(backoff != NULL);
    backoff->first_ns = ki_ns_of_ms(first_ms == 0 ? FIRST_MS : first_ms);
    backoff->max_ns = ki_ns_of_ms(max_ms == 0 ? MAX_MS : max_ms);
    if (backoff->max_ns < backoff->first_ns)
        backoff->max_ns = backoff->first_ns;
    backoff->healthy_since_ns = UINT64_MAX;
    ki_backoff_reset(backoff);
}

void ki_backoff_set_healthy(ki_backoff *backoff, uint64_t now_ns)
{
    assert(backoff != NULL);
    if (backoff->healthy_since_ns == UINT64_MAX)
        backoff->healthy_since_ns = now_ns;
}

void ki_backoff_set_failed(ki_backoff *backoff, uint64_t now_ns)
{
    assert(backoff != NULL);
    uint64_t since = backoff->healthy_since_ns;
    if (since != UINT64_MAX && now_ns - since >= HEALTHY_SECONDS * KI_NS_PER_S)
        ki_backoff_reset(backoff);
    backoff->healthy_since_ns = UINT64_MAX;
}

void ki_backoff_reset(ki_backoff *backoff)
{
    assert(backoff != NULL);
    backoff->delay_ns = backoff->first_ns;
}

uint64_t ki_backoff_next_ns(ki_backoff *backoff, ki_random *random, uint64_t now_ns)
{
    assert(backoff != NULL);
    ki_backoff_set_failed(backoff, now_ns);
    uint64_t delay = backoff->delay_ns;
    backoff->delay_ns = delay > backoff->max_ns / 2 ? backoff->max_ns : delay * 2;
    return delay + ki_random_below(random, delay);
}
