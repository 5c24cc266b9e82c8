/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/resync.h"

#include <assert.h>
#include <stddef.h>

#include "util/units.h"

uint64_t ki_resync_period_ms(uint64_t asked_ms)
{
    return ki_ns_of_ms(asked_ms) / KI_NS_PER_MS;
}

void ki_resync_turn_init(ki_resync_turn *turn, uint64_t asked_ms, uint64_t *check_ms, bool is_started)
{
    uint64_t period_ms = ki_resync_period_ms(asked_ms);
    if (period_ms > 0 && period_ms < KI_RESYNC_MIN_MS)
        period_ms = KI_RESYNC_MIN_MS;
    if (*check_ms == 0)
        period_ms = 0;
    if (period_ms > 0 && period_ms < *check_ms) {
        if (is_started)
            period_ms = *check_ms;
        else
            *check_ms = period_ms;
    }
    *turn = (ki_resync_turn){.period_ms = period_ms};
}

void ki_resync_turn_begin(ki_resync_turn *turn, uint64_t now_ms)
{
    assert(turn != NULL);
    turn->due_ms = now_ms + turn->period_ms;
}

bool ki_resync_turn_check(ki_resync_turn *turn, uint64_t now_ms)
{
    assert(turn != NULL);
    if (turn->period_ms == 0 || now_ms < turn->due_ms)
        return false;
    turn->due_ms = now_ms + turn->period_ms;
    turn->is_due = true;
    return true;
}
