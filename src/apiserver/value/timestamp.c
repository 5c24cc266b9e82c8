/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/timestamp.h"

#include <assert.h>
#include <kinformer/timestamp.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/text/byte.h"
#include "util/units.h"

enum { MICRO_BYTES = 7 };

static bool is_digits(ki_str text, size_t at, size_t count)
{
    if (text.len < at + count)
        return false;
    for (size_t i = at; i < at + count; i++)
        if (!ki_byte_is_digit(text.ptr[i]))
            return false;
    return true;
}

/* A part that consists of digits matches any digits; other parts match only themselves. */
static bool fits(ki_str text, size_t at, const char *part)
{
    assert(at <= text.len && part[0] != '\0');
    size_t len = strlen(part);
    if (ki_byte_is_digit(part[0]))
        return is_digits(text, at, len);
    return text.len >= at + len && memcmp(text.ptr + at, part, len) == 0;
}

/* The length of the fraction of a second, including its dot. */
static size_t fraction_bytes(ki_str text, size_t at)
{
    size_t end = at + 1;
    if (at >= text.len || (text.ptr[at] != '.' && text.ptr[at] != ',') || !is_digits(text, end, 1))
        return 0;
    while (is_digits(text, end, 1))
        end++;
    return end - at;
}

static bool is_zone(ki_str text)
{
    if (ki_str_equal(text, KI_STR("Z")))
        return true;
    return text.len == 6 && (text.ptr[0] == '+' || text.ptr[0] == '-') && is_digits(text, 1, 2) &&
           text.ptr[3] == ':' && is_digits(text, 4, 2);
}

struct ki_as_time_fault ki_as_time_check(ki_str text, bool is_micro)
{
    static const char *const parts[] = {"2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"};
    size_t at = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!fits(text, at, parts[i]))
            return (struct ki_as_time_fault){{text.ptr + at, text.len - at}, parts[i]};
        at += strlen(parts[i]);
    }
    size_t fraction = fraction_bytes(text, at);
    if (is_micro && fraction != MICRO_BYTES)
        return (struct ki_as_time_fault){{text.ptr + at, text.len - at}, ".000000"};
    at += fraction;
    assert(at <= text.len);
    if (!is_zone((ki_str){text.ptr + at, text.len - at}))
        return (struct ki_as_time_fault){{text.ptr + at, text.len - at}, "Z07:00"};
    return (struct ki_as_time_fault){0};
}

bool ki_as_time_write(int64_t seconds, int micros, char out[KI_AS_TIME_BYTES])
{
    assert(micros < KI_US_PER_S);
    char whole[KI_TIMESTAMP_BYTES];
    int n = ki_timestamp_format((ki_timestamp){.seconds = seconds}, whole);
    if (n <= 0)
        return false;
    if (micros < 0)
        memcpy(out, whole, (size_t)n + 1);
    else
        (void)snprintf(out, KI_AS_TIME_BYTES, "%.19s.%06dZ", whole, micros);
    return true;
}

void ki_as_time_now(char out[KI_AS_TIME_BYTES])
{
    if (!ki_as_time_write(ki_clock_wall_ns(ki_clock_real()) / (int64_t)KI_NS_PER_S, -1, out))
        (void)ki_as_time_write(0, -1, out); /* the clock is out of range */
}
