/* SPDX-License-Identifier: Apache-2.0 */
/* date - days as dates of the proleptic Gregorian calendar, and dates as text.
 *
 *   From:     util/timestamp.c, proto/leaf.c
 *   Locks:    none; pure functions.
 *   Not here: reading text (util/timestamp.c)
 *
 * Years begin in March here: February with its varying length is the last month, and the months before month
 * m take (153 m + 2) / 5 days. All periods of 400 years have the same number of days.
 */
#ifndef KI_UTIL_DATE_H
#define KI_UTIL_DATE_H

#include <assert.h>
#include <stdint.h>

#include "util/text/digits.h"

enum { KI_SECONDS_PER_DAY = 86400, KI_DAYS_PER_400_YEARS = 146097 };

/* Days from 0000-03-01, the origin of the calculation, to 1970-01-01. */
enum { KI_DAYS_TO_1970 = 719468 };

typedef struct ki_date {
    int64_t year;
    int32_t month; /* 1 … 12 */
    int32_t day;   /* 1 … 31 */
} ki_date;

static inline int64_t ki_days_since_1970(ki_date date)
{
    int32_t month = (date.month + 9) % 12;
    int64_t year = date.year - (date.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * KI_DAYS_PER_400_YEARS + day_of_era - KI_DAYS_TO_1970;
}

/* The inverse of ki_days_since_1970(). */
static inline ki_date ki_date_of_days(int64_t days)
{
    int64_t shifted = days + KI_DAYS_TO_1970;
    int64_t era = (shifted >= 0 ? shifted : shifted - (KI_DAYS_PER_400_YEARS - 1)) / KI_DAYS_PER_400_YEARS;
    int32_t day_of_era = (int32_t)(shifted - era * KI_DAYS_PER_400_YEARS);
    /* Subtracts the leap days: one every 4 years (after 1460 days), except every 100 years, but again every
     * 400. */
    int32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int32_t month = (5 * day_of_year + 2) / 153;
    int32_t day = day_of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    return (ki_date){era * 400 + year_of_era + (month <= 2), month, day};
}

/* Writes "2024-02-29": at least four digits for the year, and a minus sign before a year below 0. Returns
 * the position after it. */
static inline char *ki_date_put(char *at, ki_date date)
{
    int64_t year = date.year;
    int count = 4;
    assert(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31);
    if (year < 0) {
        *at++ = '-';
        year = -year;
    }
    for (int64_t limit = 10000; year >= limit; limit *= 10)
        count++;
    at = ki_digits_put(at, year, count);
    *at++ = '-';
    at = ki_digits_put(at, date.month, 2);
    *at++ = '-';
    return ki_digits_put(at, date.day, 2);
}

/* Writes "T20:45:57" and returns the position after it. */
static inline char *ki_time_of_day_put(char *at, int32_t second_of_day)
{
    assert(second_of_day >= 0 && second_of_day < KI_SECONDS_PER_DAY);
    *at++ = 'T';
    at = ki_digits_put(at, second_of_day / 3600, 2);
    *at++ = ':';
    at = ki_digits_put(at, second_of_day / 60 % 60, 2);
    *at++ = ':';
    return ki_digits_put(at, second_of_day % 60, 2);
}

#endif
