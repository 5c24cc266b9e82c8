/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/duration.h"
#include "support/unit.h"

static uint64_t read_ms(const char *text)
{
    ki_error err = {0};
    uint64_t ms = 0;
    int rc = cli_duration_parse(text, &ms, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    return ms;
}

static void durations_are_read_as_go_writes_them(void **state)
{
    (void)state;
    assert_int_equal(read_ms("0"), 0);
    assert_int_equal(read_ms("0s"), 0);
    assert_int_equal(read_ms("100ms"), 100);
    assert_int_equal(read_ms("2s"), 2000);
    assert_int_equal(read_ms("1m30s"), 90000);
    assert_int_equal(read_ms("1h1m1s1ms"), 3661001);
    assert_int_equal(read_ms("1.5s"), 1500);
    assert_int_equal(read_ms(".5h"), 1800000);
    assert_int_equal(read_ms("1.s"), 1000);
    assert_int_equal(read_ms("5000us"), 5);
    assert_int_equal(read_ms("5000\xc2\xb5s"), 5);
    assert_int_equal(read_ms("5000\xce\xbcs"), 5);
    assert_int_equal(read_ms("0.00000000000000000001s"), 0);
}

static void a_duration_that_is_not_zero_never_becomes_zero(void **state)
{
    (void)state;
    assert_int_equal(read_ms("1ns"), 1);
    assert_int_equal(read_ms("999us"), 1);
    assert_int_equal(read_ms("1999us"), 1);
    assert_int_equal(read_ms("0ns"), 0);
}

static void a_malformed_duration_is_refused_with_the_right_format(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",  "5",  "s",   "-1s",   "1x", "1s5", "1 s",
                                        ".", ".s", "1m ", "1..5s", "+",  "1d",  "0x1s"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        uint64_t ms = 77;
        assert_int_equal(cli_duration_parse(wrong[i], &ms, &err), KI_ERR_INVALID);
        assert_non_null(strstr(err.message, "1m30s"));
        assert_int_equal(ms, 77);
    }
}

static void a_duration_that_overflows_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    uint64_t ms = 77;
    assert_int_equal(read_ms("2562047h"), 2562047ULL * 3600 * 1000);
    assert_int_equal(cli_duration_parse("2562048h", &ms, &err), KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "too long"));
    assert_int_equal(cli_duration_parse("2562047h2562047h", &ms, &err), KI_ERR_INVALID);
    assert_int_equal(cli_duration_parse("99999999999999999999999h", &ms, &err), KI_ERR_INVALID);
    assert_int_equal(ms, 77);
}

static void durations_are_written_for_people(void **state)
{
    (void)state;
    static const struct {
        uint64_t ms;
        const char *text;
    } cases[] = {
        {0, "0.0s"},         {1234, "1.2s"},      {59999, "59.9s"},    {60000, "1m0s"},
        {3599999, "59m59s"}, {3600000, "1h0m0s"}, {7505000, "2h5m5s"}, {UINT64_MAX, "5124095576030h25m51s"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CLI_DURATION_BYTES];
        cli_duration_format(cases[i].ms, text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read_as_go_writes_them),
        cmocka_unit_test(a_duration_that_is_not_zero_never_becomes_zero),
        cmocka_unit_test(a_malformed_duration_is_refused_with_the_right_format),
        cmocka_unit_test(durations_are_written_for_people),
        cmocka_unit_test(a_duration_that_overflows_is_refused),
    };
    return RUN_TESTS(tests);
}
