/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/age.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Reads the `len` digits at `at`; -1 if one of them is not a digit. */
static int digits(ki_str text, size_t at, size_t len)
{
    assert(len > 0 && len <= 4); /* cannot overflow */
    int value = 0;
    for (size_t i = at; i < at + len; i++) {
        if (i >= text.len || text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

/* Reads the time zone at the end of the text, "Z", "+02:00" or "-03:30", as seconds ahead of UTC. */
static bool read_zone(ki_str text, int64_t *out_seconds)
{
    assert(text.len > 0);
    *out_seconds = 0;
    if (text.ptr[text.len - 1] == 'Z')
        return true;
    char sign = text.len < sizeof("2006-01-02T15:04:05+07:00") - 1 ? 0 : text.ptr[text.len - 6];
    int hours = digits(text, text.len - 5, 2);
    int minutes = digits(text, text.len - 2, 2);
    if ((sign != '+' && sign != '-') || hours < 0 || minutes < 0)
        return false;
    *out_seconds = (hours * 60LL + minutes) * (sign == '-' ? -60 : 60);
    return true;
}

bool ki_as_time_parse(ki_str text, int64_t *out_seconds)
{
    assert(out_seconds != NULL);
    static const char shape[] = "####-##-##T##:##:##";
    int64_t ahead = 0;
    if (text.len < sizeof(shape) || !read_zone(text, &ahead))
        return false;
    for (size_t i = 0; i + 1 < sizeof(shape); i++) {
        if (shape[i] != '#' && shape[i] != text.ptr[i])
            return false;
    }
    struct tm parts = {
        .tm_year = digits(text, 0, 4) - 1900,
        .tm_mon = digits(text, 5, 2) - 1,
        .tm_mday = digits(text, 8, 2),
        .tm_hour = digits(text, 11, 2),
        .tm_min = digits(text, 14, 2),
        .tm_sec = digits(text, 17, 2),
    };
    bool is_good = parts.tm_year >= -1900 && parts.tm_mon >= 0 && parts.tm_mday > 0 && parts.tm_hour >= 0 &&
                   parts.tm_min >= 0 && parts.tm_sec >= 0;
    if (is_good)
        *out_seconds = (int64_t)timegm(&parts) - ahead;
    return is_good;
}

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
    int64_t seconds = 0;
    if (ki_as_time_parse(since, &seconds))
        ki_as_duration_write(now - seconds, out);
    else
        (void)snprintf(out, KI_AS_AGE_BYTES, "<unknown>");
}
