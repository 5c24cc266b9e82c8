/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "apiserver/value/timestamp.h"

static void a_fraction_has_six_digits_or_is_left_out(void **state)
{
    (void)state;
    char text[KI_AS_TIME_BYTES];
    assert_true(ki_as_time_write(1763239635, -1, text));
    assert_string_equal(text, "2025-11-15T20:47:15Z");
    assert_true(ki_as_time_write(1763239635, 0, text));
    assert_string_equal(text, "2025-11-15T20:47:15.000000Z");
    assert_true(ki_as_time_write(-62135596800, 1002, text));
    assert_string_equal(text, "0001-01-01T00:00:00.001002Z");
}

static void years_of_more_than_four_digits_are_refused(void **state)
{
    (void)state;
    char text[KI_AS_TIME_BYTES];
    assert_false(ki_as_time_write(INT64_MAX, -1, text));
    assert_false(ki_as_time_write(-62167219201, -1, text));
}

static void the_current_time_is_valid(void **state)
{
    (void)state;
    char text[KI_AS_TIME_BYTES];
    ki_as_time_now(text);
    assert_null(ki_as_time_check(ki_str_of(text), false).wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fraction_has_six_digits_or_is_left_out),
        cmocka_unit_test(years_of_more_than_four_digits_are_refused),
        cmocka_unit_test(the_current_time_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
