/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

#include <float.h>
#include <inttypes.h>
#include <kinformer/json.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "util/random.h"

static ki_json json(const char *text)
{
    return (ki_json){ki_str_of(text)};
}

/* ---- int64 --------------------------------------------------------------------------------------------- */

static void integers_are_exact_in_any_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"0.000", 0},
        {"0e999999999999999999999", 0},
        {"12", 12},
        {"-3", -3},
        {"1e3", 1000},
        {"5.0", 5},
        {"1.5e1", 15},
        {"120e-1", 12},
        {"0.0012E+4", 12},
        {"-1234500.00e-2", -12345},
        {"9007199254740993", 9007199254740993},
        {"999999999999999999", 999999999999999999},
        {"1000000000000000000", 1000000000000000000},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9.223372036854775807e18", INT64_MAX},
        {"922337203685477580700e-2", INT64_MAX},
        {"1e18", 1000000000000000000},
        {"1e0000000000000000000000000000002", 100},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number = -77;
        if (ki_json_int64(json(cases[i].text), &number) != 0 || number != cases[i].number)
            fail_msg("%s is %" PRId64, cases[i].text, number);
    }
}

static void numbers_that_are_not_an_int64_have_the_right_error(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        {"9223372036854775808", KI_ERR_RANGE},
        {"-9223372036854775809", KI_ERR_RANGE},
        {"99999999999999999999999", KI_ERR_RANGE},
        {"1e19", KI_ERR_RANGE},
        {"1e20", KI_ERR_RANGE},
        {"-1e99999999999999999999", KI_ERR_RANGE},
        {"1.5", KI_ERR_TYPE},
        {"1e-1", KI_ERR_TYPE},
        {"0.1", KI_ERR_TYPE},
        {"1e-99999999999999999999", KI_ERR_TYPE},
        {"\"1\"", KI_ERR_TYPE},
        {"null", KI_ERR_TYPE},
        {"", KI_ERR_TYPE},
        {"[1]", KI_ERR_TYPE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number = -77;
        if (ki_json_int64(json(cases[i].text), &number) != cases[i].error || number != -77)
            fail_msg("%s", cases[i].text);
    }
    assert_int_equal(ki_json_int64(json("1"), NULL), KI_ERR_INVALID);
}

static void malformed_numbers_are_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"-",   "+1",    "01",    "-01",  "00",       "1.",  ".5",    "1.e1", "1e",
                                 "1e+", "1e-",   "1.5e",  "0x10", "1 ",       "1a",  "1e1.5", "--1",  "1-",
                                 "1,",  "1.2.3", "1e5e5", "-.5",  "Infinity", "NaN", "1_000"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t integer = -77;
        double real = -77;
        ki_json_decimal decimal;
        assert_int_equal(ki_json_int64(json(wrong[i]), &integer), KI_ERR_TYPE);
        assert_int_equal(ki_json_double(json(wrong[i]), &real), KI_ERR_TYPE);
        assert_int_equal(ki_json_decimal_parse(ki_str_of(wrong[i]), &decimal), KI_ERR_TYPE);
        assert_int_equal(ki_json_number_equal(ki_str_of(wrong[i]), KI_STR("1")), KI_ERR_TYPE);
        assert_true(integer == -77 && real == -77);
    }
}

/* ---- double -------------------------------------------------------------------------------------------- */

static void doubles_are_the_nearest_ones(void **state)
{
    (void)state;
    const char *const texts[] = {"0",
                                 "-0",
                                 "1",
                                 "0.1",
                                 "-2.5e-3",
                                 "3.141592653589793238462643383279",
                                 "1e22",
                                 "1e23",
                                 "123456789012345678",
                                 "9007199254740993",
                                 "9007199254740993.00000000000000000000000000000000000000001",
                                 "2.2250738585072014e-308",
                                 "2.2250738585072011e-308",
                                 "4.9406564584124654e-324",
                                 "2.4703282292062328e-324",
                                 "1.7976931348623157e308",
                                 "1e-400",
                                 "0.000000000000000000000000000000000000000000000000001e50",
                                 "17976931348623157e292",
                                 "7.2057594037927933e16",
                                 "1e-9999999999999999999999",
                                 "6.9294956446009195e15"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double number = 7;
        double expected = strtod(texts[i], NULL);
        if (ki_json_double(json(texts[i]), &number) != 0 || number != expected ||
            signbit(number) != signbit(expected))
            fail_msg("%s is %.17g instead of %.17g", texts[i], number, expected);
    }
}

static void numbers_beyond_the_largest_double_are_out_of_range(void **state)
{
    (void)state;
    double number = 7;
    assert_int_equal(ki_json_double(json("1e309"), &number), KI_ERR_RANGE);
    assert_int_equal(ki_json_double(json("-1.8e308"), &number), KI_ERR_RANGE);
    assert_int_equal(ki_json_double(json("1e99999999999999999999"), &number), KI_ERR_RANGE);
    assert_int_equal(ki_json_double(json("\"1\""), &number), KI_ERR_TYPE);
    assert_int_equal(ki_json_double(json("1"), NULL), KI_ERR_INVALID);
    assert_true(number == 7);
}

/* A single digit decides, however far it is after the midpoint of two doubles. */
static void distant_digits_decide_a_tie(void **state)
{
    (void)state;
    char text[3000];
    double below, above;
    int len = snprintf(text, sizeof(text), "9007199254740993.");
    memset(text + len, '0', 2000);
    strcpy(text + len + 2000, "0");
    assert_int_equal(ki_json_double(json(text), &below), 0);
    strcpy(text + len + 2000, "1");
    assert_int_equal(ki_json_double(json(text), &above), 0);
    assert_true(below == 9007199254740992.0 && above == 9007199254740994.0);
}

static void random_doubles_survive_a_round_trip_in_their_shortest_form(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 17);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = ki_random_next(&random);
        if (i % 3 == 0)
            bits &= ~UINT64_C(0) << 40; /* few digits */
        if (i % 7 == 0)
            bits &= UINT64_C(0x800fffffffffffff) >> (i % 40); /* below DBL_MIN */
        double number, back;
        memcpy(&number, &bits, sizeof(number));
        if (!isfinite(number))
            continue;
        char text[KI_JSON_DOUBLE_BYTES + 1];
        size_t len = ki_json_double_format(number, text);
        assert_in_range(len, 1, KI_JSON_DOUBLE_BYTES);
        text[len] = 0;
        assert_int_equal(ki_json_double(json(text), &back), 0);
        if (memcmp(&number, &back, sizeof(number)) != 0 || strtod(text, NULL) != number)
            fail_msg("%.17g was written as %s", number, text);
    }
}

static void doubles_are_written_as_ecmascript_does(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100"},
        {123456789, "123456789"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {1.5e300, "1.5e+300"},
        {0.000001, "0.000001"},
        {0.0000001, "1e-7"},
        {1.234e-7, "1.234e-7"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {-DBL_MAX, "-1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {123456.789, "123456.789"},
        {9007199254740993.0, "9007199254740992"},
        {0x1p-44, "5.684341886080802e-14"}, /* a power of two: its nearest sixteen digits do not read back */
        {0x1p-1074 * 3, "1.5e-323"},
        {123456789012345680000.0, "123456789012345680000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[KI_JSON_DOUBLE_BYTES + 1];
        text[ki_json_double_format(cases[i].number, text)] = 0;
        assert_string_equal(text, cases[i].text);
    }
}

/* Creates a locale that writes 1.5 as 1,5, and makes it the current one. Returns 0 if the system cannot. */
static int enter_locale_with_comma(char *directory)
{
    char command[400];
    if (mkdtemp(directory) == NULL)
        return 0;
    snprintf(command, sizeof(command),
             "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\n' >%s/source;"
             "printf 'grouping 3;3\\nEND LC_NUMERIC\\n' >>%s/source;"
             "localedef -c --no-archive -i %s/source %s/comma >%s/log 2>&1",
             directory, directory, directory, directory, directory);
    int ignored = system(command); /* it warns about everything that is left out */
    (void)ignored;
    setenv("LOCPATH", directory, 1);
    return setlocale(LC_NUMERIC, "comma") != NULL;
}

static void a_decimal_comma_of_the_locale_changes_nothing(void **state)
{
    (void)state;
    char directory[] = "/tmp/kinformer-locale-XXXXXX";
    char command[64], by_printf[16], text[KI_JSON_DOUBLE_BYTES + 1];
    double number = 0;
    int entered = enter_locale_with_comma(directory);
    snprintf(by_printf, sizeof(by_printf), "%.1f", 1.5);
    int rc = ki_json_double(json("1234.5678901234567890"), &number);
    text[ki_json_double_format(0.1 + 0.2, text)] = 0;
    setlocale(LC_NUMERIC, "C");
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    if (!entered)
        skip();
    assert_string_equal(by_printf, "1,5");
    assert_int_equal(rc, 0);
    assert_true(number == 1234.5678901234567890);
    assert_string_equal(text, "0.30000000000000004");
}

/* ---- equality ------------------------------------------------------------------------------------------ */

static void assert_numbers(const char *a, const char *b, int expected)
{
    if (ki_json_number_equal(ki_str_of(a), ki_str_of(b)) != expected ||
        ki_json_number_equal(ki_str_of(b), ki_str_of(a)) != expected)
        fail_msg("%s and %s", a, b);
}

static void equal_numbers_have_many_spellings(void **state)
{
    (void)state;
    assert_numbers("1", "1.0", 1);
    assert_numbers("100", "1e2", 1);
    assert_numbers("0", "-0.0e7", 1);
    assert_numbers("-1.50", "-15e-1", 1);
    assert_numbers("0.001", "1e-3", 1);
    assert_numbers("10.010", "1001E-2", 1);
    assert_numbers("12345678901234567890123456789.5", "123456789012345678901234567895e-1", 1);
    assert_numbers("1e99999999999999999999999", "10e99999999999999999999998", 1);
    assert_numbers("1e100000000000000000000000", "10e99999999999999999999999", 1);
    assert_numbers("1e-100000000000000000000000", "0.1e-99999999999999999999999", 1);
    assert_numbers("1e1", "100e-1", 1);
    assert_numbers("1e000000000000000000000000001", "10", 1);
}

static void close_numbers_differ(void **state)
{
    (void)state;
    assert_numbers("1", "-1", 0);
    assert_numbers("9007199254740992", "9007199254740993", 0);
    assert_numbers("0.1", "0.10000000000000000000000000000000001", 0);
    assert_numbers("1e400", "1e401", 0);
    assert_numbers("1e400", "0", 0);
    assert_numbers("1e99999999999999999999999", "1e99999999999999999999998", 0);
    assert_numbers("1e99999999999999999999999", "1e-99999999999999999999999", 0);
    assert_numbers("1e18446744073709551616", "1", 0);
    assert_numbers("1e18446744073709551616", "1e0", 0);
    assert_numbers("1e340282366920938463463374607431768211456", "1e0", 0);
    assert_numbers("12", "1.2", 0);
    assert_numbers("12", "21", 0);
    assert_numbers("1.05", "1.5", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact_in_any_spelling),
        cmocka_unit_test(numbers_that_are_not_an_int64_have_the_right_error),
        cmocka_unit_test(malformed_numbers_are_refused),
        cmocka_unit_test(doubles_are_the_nearest_ones),
        cmocka_unit_test(numbers_beyond_the_largest_double_are_out_of_range),
        cmocka_unit_test(distant_digits_decide_a_tie),
        cmocka_unit_test(random_doubles_survive_a_round_trip_in_their_shortest_form),
        cmocka_unit_test(doubles_are_written_as_ecmascript_does),
        cmocka_unit_test(a_decimal_comma_of_the_locale_changes_nothing),
        cmocka_unit_test(equal_numbers_have_many_spellings),
        cmocka_unit_test(close_numbers_differ),
    };
    return RUN_TESTS(tests);
}
