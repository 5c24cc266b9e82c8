/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/moment.h"
#include "support/unit.h"

static void times_have_microseconds_even_if_they_are_zero(void **state)
{
    (void)state;
    static const struct {
        ki_timestamp time;
        const char *text;
    } rows[] = {
        {{.seconds = 0}, "1970-01-01T00:00:00.000000Z"},
        {{.seconds = 1794953268, .nanos = 12345678}, "2026-11-17T22:07:48.012345Z"},
        {{.seconds = 1794953268, .nanos = 120000000}, "2026-11-17T22:07:48.120000Z"},
        {{.seconds = 253402300799, .nanos = 999999999}, "9999-12-31T23:59:59.999999Z"},
        {{.seconds = 253402300800}, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[KI_TIMESTAMP_BYTES];
        cli_moment_format(rows[i].time, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void the_time_of_day_is_that_of_the_system(void **state)
{
    (void)state;
    char text[KI_TIMESTAMP_BYTES];
    ki_timestamp time = {0};
    int64_t before_s = cli_moment_wall_s();
    cli_moment_format_now(text);
    assert_int_equal(ki_timestamp_parse(ki_str_of(text), &time), 0);
    assert_in_range(time.seconds, before_s, cli_moment_wall_s());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_microseconds_even_if_they_are_zero),
        cmocka_unit_test(the_time_of_day_is_that_of_the_system),
    };
    return RUN_TESTS(tests);
}
