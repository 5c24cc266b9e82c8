/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/timestamp.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/unit.h"
#include "util/random.h"

/* 0000-01-01T00:00:00Z, and the first second of year 10000. */
#define FIRST_SECOND INT64_C(-62167219200)
#define END_SECOND INT64_C(253402300800)

static void well_formed_times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanos;
    } table[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"1969-12-31T23:59:59Z", -1, 0},
        {"2026-11-15T20:45:57Z", 1794775557, 0},
        {"2026-11-15t20:45:57z", 1794775557, 0},
        {"2026-11-15T20:45:57.5Z", 1794775557, 500000000},
        {"2026-11-15T20:45:57.000001Z", 1794775557, 1000},
        {"2026-11-15T20:45:57.123456789Z", 1794775557, 123456789},
        {"2026-11-15T20:45:57.1234567899999Z", 1794775557, 123456789},
        {"1969-12-31T23:59:59.999999999Z", -1, 999999999},
        {"2026-11-15T21:45:57+01:00", 1794775557, 0},
        {"2026-11-15T15:15:57-05:30", 1794775557, 0},
        {"2026-11-16T20:44:57+23:59", 1794775557, 0},
        {"2026-11-15T20:45:57-00:00", 1794775557, 0},
        {"2024-02-29T00:00:00Z", 1709164800, 0},
        {"2000-02-29T12:00:00Z", 951825600, 0},
        {"0000-02-29T00:00:00Z", FIRST_SECOND + 59 * 86400, 0},
        {"0000-01-01T00:00:00Z", FIRST_SECOND, 0},
        {"0000-01-01T00:00:00+01:00", FIRST_SECOND - 3600, 0},
        {"0001-01-01T00:00:00Z", -62135596800, 0},
        {"9999-12-31T23:59:59.999999999Z", END_SECOND - 1, 999999999},
        {"9999-12-31T23:59:59-01:00", END_SECOND + 3599, 0},
        {"2016-12-31T23:59:60Z", 1483228800, 0},
        {"2016-12-31T23:59:60.25Z", 1483228800, 250000000},
        {"2016-12-31T15:59:60-08:00", 1483228800, 0},
        {"2017-01-01T05:29:60+05:30", 1483228800, 0},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ki_timestamp time;
        if (ki_timestamp_parse(ki_str_of(table[i].text), &time) != 0)
            fail_msg("\"%s\" is refused", table[i].text);
        if (time.seconds != table[i].seconds || time.nanos != table[i].nanos)
            fail_msg("\"%s\" is %lld and %d", table[i].text, (long long)time.seconds, time.nanos);
        assert_int_equal(time.reserved, 0);
    }
}

static void malformed_times_are_refused(void **state)
{
    (void)state;
    static const char *const table[] = {
        "",
        "2026",
        "2026-11-15",
        "2026-11-15T20:45:57",
        "2026-11-15T20:45Z",
        "2026-11-15 20:45:57Z",
        "2026-11-15T20:45:57 Z",
        " 2026-11-15T20:45:57Z",
        "2026-11-15T20:45:57Z ",
        "2026-11-15T20:45:57ZZ",
        "2026-11-15T20:45:57.Z",
        "2026-11-15T20:45:57,5Z",
        "2026-11-15T20:45:57.5",
        "2026-11-15T20:45:57+1:00",
        "2026-11-15T20:45:57+01",
        "2026-11-15T20:45:57+0100",
        "2026-11-15T20:45:57+24:00",
        "2026-11-15T20:45:57+01:60",
        "2026-11-15T20:45:57UTC",
        "2026-13-15T20:45:57Z",
        "2026-00-15T20:45:57Z",
        "2026-11-00T20:45:57Z",
        "2026-11-31T20:45:57Z",
        "2026-02-29T20:45:57Z",
        "1900-02-29T20:45:57Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T20:60:57Z",
        "2026-11-15T20:45:61Z",
        "2026-11-15T20:45:60Z",
        "2016-12-31T23:59:60+01:00",
        "2026-11-15T2:45:57Z",
        "26-11-15T20:45:57Z",
        "12026-11-15T20:45:57Z",
        "-026-11-15T20:45:57Z",
        "+026-11-15T20:45:57Z",
        "2026/11/15T20:45:57Z",
        "2026-11-15T20.45.57Z",
        "\xef\xbc\x92\x30\x32\x36-11-15T20:45:57Z",
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ki_timestamp time = {.seconds = 42, .nanos = 43};
        if (ki_timestamp_parse(ki_str_of(table[i]), &time) != KI_ERR_TIMESTAMP)
            fail_msg("\"%s\" is accepted", table[i]);
        assert_int_equal(time.seconds, 42);
        assert_int_equal(time.nanos, 43);
    }
    ki_timestamp time;
    assert_int_equal(ki_timestamp_parse((ki_str){0}, &time), KI_ERR_TIMESTAMP);
    assert_int_equal(ki_timestamp_parse(KI_STR("1970-01-01T00:00:00Z\0"), &time), KI_ERR_TIMESTAMP);
    assert_int_equal(ki_timestamp_parse(KI_STR("1970-01-01T00:00:00Z"), NULL), KI_ERR_INVALID);
}

static void every_truncated_time_is_refused(void **state)
{
    (void)state;
    static const char text[] = "2026-11-15T20:45:57.123+05:30";
    for (size_t length = 0; length < sizeof(text) - 1; length++) {
        ki_timestamp time;
        assert_int_equal(ki_timestamp_parse((ki_str){text, length}, &time), KI_ERR_TIMESTAMP);
    }
}

static void assert_formatted(int64_t seconds, int32_t nanos, const char *expected)
{
    char text[KI_TIMESTAMP_BYTES];
    int length = ki_timestamp_format((ki_timestamp){.seconds = seconds, .nanos = nanos}, text);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
}

static void a_time_is_written_with_the_digits_it_needs(void **state)
{
    (void)state;
    assert_formatted(0, 0, "1970-01-01T00:00:00Z");
    assert_formatted(1794775557, 0, "2026-11-15T20:45:57Z");
    assert_formatted(1794775557, 500000000, "2026-11-15T20:45:57.500Z");
    assert_formatted(1794775557, 1000, "2026-11-15T20:45:57.000001Z");
    assert_formatted(1794775557, 1, "2026-11-15T20:45:57.000000001Z");
    assert_formatted(-1, 999999999, "1969-12-31T23:59:59.999999999Z");
    assert_formatted(FIRST_SECOND, 0, "0000-01-01T00:00:00Z");
    assert_formatted(END_SECOND - 1, 0, "9999-12-31T23:59:59Z");
}

static void a_time_outside_the_years_0000_to_9999_is_not_written(void **state)
{
    (void)state;
    static const int64_t beyond[] = {INT64_MIN, FIRST_SECOND - 1, END_SECOND, INT64_MAX};
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        char text[KI_TIMESTAMP_BYTES] = "untouched";
        assert_int_equal(ki_timestamp_format((ki_timestamp){.seconds = beyond[i]}, text), KI_ERR_RANGE);
        assert_string_equal(text, "untouched");
    }
    char text[KI_TIMESTAMP_BYTES] = "untouched";
    assert_int_equal(ki_timestamp_format((ki_timestamp){.nanos = -1}, text), KI_ERR_INVALID);
    assert_int_equal(ki_timestamp_format((ki_timestamp){.nanos = 1000000000}, text), KI_ERR_INVALID);
    assert_int_equal(ki_timestamp_format((ki_timestamp){0}, NULL), KI_ERR_INVALID);
    assert_string_equal(text, "untouched");
}

/* The same second as formatted by the C library. */
static void format_with_libc(int64_t seconds, char *text, size_t text_bytes)
{
    time_t when = (time_t)seconds;
    struct tm parts;
    assert_non_null(gmtime_r(&when, &parts));
    assert_int_equal(timegm(&parts), when);
    snprintf(text, text_bytes, "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1,
             parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

static void assert_same_as_libc(int64_t seconds)
{
    char expected[80];
    char text[KI_TIMESTAMP_BYTES];
    ki_timestamp again;
    format_with_libc(seconds, expected, sizeof(expected));
    assert_int_equal(ki_timestamp_format((ki_timestamp){.seconds = seconds}, text), 20);
    assert_string_equal(text, expected);
    assert_int_equal(ki_timestamp_parse(ki_str_of(text), &again), 0);
    assert_int_equal(again.seconds, seconds);
}

static void dates_equal_those_of_the_c_library(void **state)
{
    (void)state;
    for (int64_t day = FIRST_SECOND; day < END_SECOND; day += 86400 * 11)
        assert_same_as_libc(day);
    /* No day is left out around the turn of a century. */
    for (int64_t year = 0; year < 10000; year += 100) {
        struct tm parts = {.tm_year = (int)year - 1900, .tm_mon = 1, .tm_mday = 20};
        for (int64_t day = timegm(&parts), i = 0; i < 20; i++)
            assert_same_as_libc(day + i * 86400);
    }
}

static void random_times_survive_writing_and_reading(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 3339);
    static const int32_t grains[] = {1, 1000, 1000000, 1000000000};
    for (int i = 0; i < 200000; i++) {
        int64_t seconds =
            FIRST_SECOND + (int64_t)ki_random_below(&random, (uint64_t)(END_SECOND - FIRST_SECOND));
        int32_t grain = grains[ki_random_below(&random, 4)];
        int32_t nanos = (int32_t)ki_random_below(&random, 1000000000) / grain * grain;
        char text[KI_TIMESTAMP_BYTES];
        char expected[80];
        ki_timestamp again;
        int length = ki_timestamp_format((ki_timestamp){.seconds = seconds, .nanos = nanos}, text);
        assert_int_equal(length, strlen(text));
        format_with_libc(seconds, expected, sizeof(expected));
        assert_memory_equal(text, expected, 19);
        assert_int_equal(ki_timestamp_parse(ki_str_of(text), &again), 0);
        assert_int_equal(again.seconds, seconds);
        assert_int_equal(again.nanos, nanos);
    }
}

static void an_offset_changes_only_the_time(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 24);
    for (int i = 0; i < 50000; i++) {
        int64_t seconds =
            FIRST_SECOND + 86400 +
            (int64_t)ki_random_below(&random, (uint64_t)(END_SECOND - FIRST_SECOND - 2 * 86400));
        int minutes = (int)ki_random_below(&random, 24 * 60);
        int west = (int)ki_random_below(&random, 2);
        char text[80];
        ki_timestamp time;
        format_with_libc(seconds + (west ? -60 : 60) * minutes, text, sizeof(text));
        snprintf(text + 19, sizeof(text) - 19, "%c%02d:%02d", west ? '-' : '+', minutes / 60, minutes % 60);
        assert_int_equal(ki_timestamp_parse(ki_str_of(text), &time), 0);
        assert_int_equal(time.seconds, seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_times_are_read),
        cmocka_unit_test(malformed_times_are_refused),
        cmocka_unit_test(every_truncated_time_is_refused),
        cmocka_unit_test(a_time_is_written_with_the_digits_it_needs),
        cmocka_unit_test(a_time_outside_the_years_0000_to_9999_is_not_written),
        cmocka_unit_test(dates_equal_those_of_the_c_library),
        cmocka_unit_test(random_times_survive_writing_and_reading),
        cmocka_unit_test(an_offset_changes_only_the_time),
    };
    return RUN_TESTS(tests);
}
