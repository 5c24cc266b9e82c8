/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/timestamp.h>

#include <string.h>

#include "util/date.h"
#include "util/text/digits.h"
#include "util/units.h"

enum { SECONDS_PER_MINUTE = 60, SECONDS_PER_HOUR = 3600 };

#define SECONDS_OF_YEAR_0 INT64_C(-62167219200)
#define SECONDS_OF_YEAR_10000 INT64_C(253402300800)

static int32_t days_in_month(int64_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Reads exactly `count` digits at `*cursor` and advances; -1 if there are fewer. */
static int32_t take_digits(const char **cursor, const char *end, int count)
{
    int32_t value = 0;
    if (end - *cursor < count)
        return -1;
    for (int i = 0; i < count; i++) {
        char c = (*cursor)[i];
        if (c < '0' || c > '9')
            return -1;
        value = value * 10 + (c - '0');
    }
    *cursor += count;
    return value;
}

/* Skips `upper` or its lower case; RFC 3339 treats both alike. */
static int take_char(const char **cursor, const char *end, char upper)
{
    if (*cursor == end || (**cursor != upper && (upper < 'A' || **cursor != upper - 'A' + 'a')))
        return 0;
    (*cursor)++;
    return 1;
}

static int take_date(const char **cursor, const char *end, int64_t *out_days)
{
    ki_date date;
    if ((date.year = take_digits(cursor, end, 4)) < 0 || !take_char(cursor, end, '-') ||
        (date.month = take_digits(cursor, end, 2)) < 1 || date.month > 12 || !take_char(cursor, end, '-') ||
        (date.day = take_digits(cursor, end, 2)) < 1 || date.day > days_in_month(date.year, date.month))
        return 0;
    *out_days = ki_days_since_1970(date);
    return 1;
}

/* Reads a time of day: "20:45:57". Second 60 is accepted here, and checked later, when the offset is
 * known. */
static int take_clock(const char **cursor, const char *end, int32_t *out_seconds)
{
    int32_t hour, minute, second;
    if ((hour = take_digits(cursor, end, 2)) < 0 || hour > 23 || !take_char(cursor, end, ':') ||
        (minute = take_digits(cursor, end, 2)) < 0 || minute > 59 || !take_char(cursor, end, ':') ||
        (second = take_digits(cursor, end, 2)) < 0 || second > 60)
        return 0;
    *out_seconds = hour * SECONDS_PER_HOUR + minute * SECONDS_PER_MINUTE + second;
    return 1;
}

static int take_fraction(const char **cursor, const char *end, int32_t *out_nanos)
{
    *out_nanos = 0;
    if (!take_char(cursor, end, '.'))
        return 1;
    int32_t scale = (int32_t)KI_NS_PER_S / 10;
    const char *start = *cursor;
    for (; *cursor < end && **cursor >= '0' && **cursor <= '9'; (*cursor)++) {
        *out_nanos += (**cursor - '0') * scale;
        scale /= 10;
    }
    return *cursor > start;
}

static int take_offset(const char **cursor, const char *end, int32_t *out_seconds)
{
    *out_seconds = 0;
    if (take_char(cursor, end, 'Z'))
        return 1;
    int west = take_char(cursor, end, '-');
    int32_t hours, minutes;
    if ((!west && !take_char(cursor, end, '+')) || (hours = take_digits(cursor, end, 2)) < 0 || hours > 23 ||
        !take_char(cursor, end, ':') || (minutes = take_digits(cursor, end, 2)) < 0 || minutes > 59)
        return 0;
    int32_t seconds = hours * SECONDS_PER_HOUR + minutes * SECONDS_PER_MINUTE;
    *out_seconds = west ? -seconds : seconds;
    return 1;
}

int ki_timestamp_parse(ki_str text, ki_timestamp *out_time)
{
    int64_t days;
    int32_t clock, nanos, offset;
    if (out_time == NULL)
        return KI_ERR_INVALID;
    if (text.len == 0)
        return KI_ERR_TIMESTAMP;
    const char *cursor = text.ptr;
    const char *end = text.ptr + text.len;
    if (!take_date(&cursor, end, &days) || !take_char(&cursor, end, 'T') ||
        !take_clock(&cursor, end, &clock) || !take_fraction(&cursor, end, &nanos) ||
        !take_offset(&cursor, end, &offset) || cursor != end)
        return KI_ERR_TIMESTAMP;
    int64_t seconds = days * KI_SECONDS_PER_DAY + clock - offset;
    /* A leap second is only valid at the end of a day in UTC. */
    int is_leap_second = text.ptr[17] == '6';
    if (is_leap_second && seconds % KI_SECONDS_PER_DAY != 0)
        return KI_ERR_TIMESTAMP;
    *out_time = (ki_timestamp){.seconds = seconds, .nanos = nanos};
    return 0;
}

static char *put_fraction(char *out, int32_t nanos)
{
    if (nanos == 0)
        return out;
    *out++ = '.';
    if (nanos % (int32_t)KI_NS_PER_MS == 0)
        return ki_digits_put(out, nanos / (int32_t)KI_NS_PER_MS, 3);
    if (nanos % 1000 == 0)
        return ki_digits_put(out, nanos / 1000, 6);
    return ki_digits_put(out, nanos, 9);
}

int ki_timestamp_format(ki_timestamp time, char out_text[KI_TIMESTAMP_BYTES])
{
    if (out_text == NULL || time.nanos < 0 || time.nanos >= (int32_t)KI_NS_PER_S)
        return KI_ERR_INVALID;
    if (time.seconds < SECONDS_OF_YEAR_0 || time.seconds >= SECONDS_OF_YEAR_10000)
        return KI_ERR_RANGE;
    int64_t days =
        (time.seconds - SECONDS_OF_YEAR_0) / KI_SECONDS_PER_DAY + SECONDS_OF_YEAR_0 / KI_SECONDS_PER_DAY;
    int32_t clock = (int32_t)(time.seconds - days * KI_SECONDS_PER_DAY);
    char *out = ki_date_put(out_text, ki_date_of_days(days));
    out = ki_time_of_day_put(out, clock);
    out = put_fraction(out, time.nanos);
    *out++ = 'Z';
    *out = 0;
    return (int)(out - out_text);
}
