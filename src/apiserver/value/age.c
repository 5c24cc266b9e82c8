/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/age.h"

#include <assert.h>
#include <kinformer/timestamp.h>
#include <stdio.h>

/* "3d4h", or "3d" if the smaller unit is zero. */
static void write_two(char out[KI_AS_AGE_BYTES], int64_t large, int64_t small, const char units[2])
{
    assert(large >= 0 && small >= 0);
    if (small == 0)
        (void)snprintf(out, KI_AS_AGE_BYTES, "%lld%c", (long long)large, units[0]);
    else
        (void)snprintf(out, KI_AS_AGE_BYTES, "%lld%c%lld%c", (long long)large, units[0], (long long)small,
                       units[1]);
}

/* As kubectl does: the longer the duration, the coarser the unit. */
void ki_as_duration_write(int64_t seconds, char out[KI_AS_AGE_BYTES])
{
    int64_t minutes = seconds / 60;
    int64_t hours = seconds / 3600;
    int64_t days = hours / 24;
    if (seconds < -1)
        (void)snprintf(out, KI_AS_AGE_BYTES, "<invalid>");
    else if (seconds < 120)
        write_two(out, seconds < 0 ? 0 : seconds, 0, "s ");
    else if (minutes < 10)
        write_two(out, minutes, seconds % 60, "ms");
    else if (minutes < 180)
        write_two(out, minutes, 0, "m ");
    else if (hours < 8)
        write_two(out, hours, minutes % 60, "hm");
    else if (hours < 48)
        write_two(out, hours, 0, "h ");
    else if (hours < 192)
        write_two(out, days, hours % 24, "dh");
    else if (days < 730)
        write_two(out, days, 0, "d ");
    else
        write_two(out, days / 365, days < 2920 ? days % 365 : 0, "yd");
}

void ki_as_age_write(ki_str since, int64_t now, char out[KI_AS_AGE_BYTES])
{
    ki_timestamp time;
    if (ki_timestamp_parse(since, &time) == 0)
        ki_as_duration_write(now - time.seconds, out);
    else
        (void)snprintf(out, KI_AS_AGE_BYTES, "<unknown>");
}
