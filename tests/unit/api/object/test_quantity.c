/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/quantity.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "util/random.h"

__extension__ typedef __int128 int128;

static ki_quantity parsed(const char *text)
{
    ki_quantity quantity;
    if (ki_quantity_parse(ki_str_of(text), &quantity) != 0)
        fail_msg("\"%s\" is refused", text);
    return quantity;
}

typedef struct amount {
    const char *text;
    int64_t units;
    int32_t nanos;
} amount;

static void assert_amounts(const amount *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ki_quantity quantity = parsed(table[i].text);
        if (quantity.units != table[i].units || quantity.nanos != table[i].nanos)
            fail_msg("\"%s\" is %lld and %d", table[i].text, (long long)quantity.units, quantity.nanos);
        assert_int_equal(quantity.reserved, 0);
    }
}

#define ASSERT_AMOUNTS(table) assert_amounts(table, sizeof(table) / sizeof((table)[0]))

static void plain_numbers_are_read(void **state)
{
    (void)state;
    static const amount table[] = {
        {"0", 0, 0},
        {"00", 0, 0},
        {"1", 1, 0},
        {"+1", 1, 0},
        {"-1", -1, 0},
        {"-0", 0, 0},
        {"007", 7, 0},
        {"1.5", 1, 500000000},
        {"-1.5", -1, -500000000},
        {".5", 0, 500000000},
        {"-.5", 0, -500000000},
        {"5.", 5, 0},
        {"+5.", 5, 0},
        {"0.000000001", 0, 1},
        {"123456789.987654321", 123456789, 987654321},
        {"9223372036854775806.999999999", INT64_MAX - 1, 999999999},
    };
    ASSERT_AMOUNTS(table);
}

static void decimal_suffixes_are_read(void **state)
{
    (void)state;
    static const amount table[] = {
        {"5n", 0, 5},
        {"4u", 0, 4000},
        {"3m", 0, 3000000},
        {"100m", 0, 100000000},
        {"1500m", 1, 500000000},
        {"8k", 8000, 0},
        {"7M", 7000000, 0},
        {"6G", 6000000000, 0},
        {"5T", 5000000000000, 0},
        {"2P", 2000000000000000, 0},
        {"1E", 1000000000000000000, 0},
        {"1.G", 1000000000, 0},
        {".0001k", 0, 100000000},
        {"100.035k", 100035, 0},
        {"6.987654321G", 6987654321, 0},
        {"0m", 0, 0},
    };
    ASSERT_AMOUNTS(table);
}

static void binary_suffixes_are_read(void **state)
{
    (void)state;
    static const amount table[] = {
        {"1Ki", 1024, 0},
        {"64Mi", 67108864, 0},
        {"1.5Gi", 1610612736, 0},
        {"5Ti", 5497558138880, 0},
        {"4Pi", 4503599627370496, 0},
        {"3Ei", 3458764513820540928, 0},
        {"0.1Ki", 102, 400000000},
        {"100.035Ki", 102435, 840000000},
        {"0.025Ti", 27487790694, 400000000},
        {"-0.5Mi", -524288, 0},
        {"7.5Ei", 8646911284551352320, 0},
        {"0Gi", 0, 0},
    };
    ASSERT_AMOUNTS(table);
}

static void exponents_are_read(void **state)
{
    (void)state;
    static const amount table[] = {
        {"1e3", 1000, 0},
        {"1E3", 1000, 0},
        {"1e+3", 1000, 0},
        {"1E-3", 0, 1000000},
        {"1.3E+6", 1300000, 0},
        {"0.5e-2", 0, 5000000},
        {"1e0", 1, 0},
        {"1e-0", 1, 0},
        {"1e0000000000000003", 1000, 0},
        {"1E18", 1000000000000000000, 0},
        {"0.000000000000000000001e30", 1000000000, 0},
        {"1000000000000000000000000000000e-30", 1, 0},
        {"0e2147483647", 0, 0},
        {"0e-2147483647", 0, 0},
    };
    ASSERT_AMOUNTS(table);
}

static void digits_below_a_billionth_are_rounded_away_from_zero(void **state)
{
    (void)state;
    static const amount table[] = {
        {"0.9n", 0, 1},
        {"1.0n", 0, 1},
        {"3.001n", 0, 4},
        {"-3.001n", 0, -4},
        {"1.1E-9", 0, 2},
        {"0.0000000001", 0, 1},
        {"-0.0000000001", 0, -1},
        {"0.00000012345", 0, 124},
        {"0.9999999999", 1, 0},
        {"-0.9999999991", -1, 0},
        {"0.000000000001Ki", 0, 2},
        {"1e-2147483647", 0, 1},
        {"0.0000000000000000000000000000000000000000000000000000000000001Ei", 0, 1},
        /* 2^-10 Ki is 1; the last digit makes it more than 1. */
        {"0.0009765625Ki", 1, 0},
        {"0.000976562500000000000000000000000000000000000000000001Ki", 1, 1},
        {"0.000976562499999999999999999999999999999999999999999999Ki", 1, 0},
    };
    ASSERT_AMOUNTS(table);
}

static void values_beyond_an_int64_are_clamped(void **state)
{
    (void)state;
    static const amount table[] = {
        {"9223372036854775807", INT64_MAX, 0},
        {"9223372036854775808", INT64_MAX, 0},
        {"9223372036854775807.1", INT64_MAX, 0},
        {"9223372036854775806.9999999999", INT64_MAX, 0},
        {"-9223372036854775808", -INT64_MAX, 0},
        {"99999999999999999999999999999999999999999999", INT64_MAX, 0},
        {"12E", INT64_MAX, 0},
        {"8Ei", INT64_MAX, 0},
        {"9Ei", INT64_MAX, 0},
        {"-9Ei", -INT64_MAX, 0},
        {"10Ei", INT64_MAX, 0},
        {"7.9999999999999999999999999999Ei", INT64_MAX, 0},
        {"9223372036854775807Ki", INT64_MAX, 0},
        {"1e19", INT64_MAX, 0},
        {"1e2147483647", INT64_MAX, 0},
    };
    ASSERT_AMOUNTS(table);
}

static const char *const not_quantities[] = {
    "",
    "+",
    "-",
    ".",
    "+.",
    "-.",
    "Ki",
    "m",
    "e3",
    "E",
    "1e",
    "1e+",
    "1E-",
    "-3.01e-",
    "1ki",
    "1K",
    "1mi",
    "0.1mi",
    "1i",
    ".5i",
    "-3.01i",
    "1 Ki",
    " 1",
    "1 ",
    "1\n",
    "1.1.M",
    "1..5",
    "1+1.0",
    "--1",
    "+-1",
    "1e3.5",
    "1e3Ki",
    "1Kie3",
    "1kk",
    "1Kii",
    "1Mib",
    "0x10",
    "1_000",
    "1,5",
    "inf",
    "nan",
    "aoeu",
    "1e1e",
    "1ei",
    "1eE3",
    "1g",
    "1t",
    "1p",
    "1N",
    "1U",
    "1e2147483648",
    "1.e",
    "1E+3i",
    "1e-2147483648",
    "1e+-3",
    "\xc2\xb5",
    "1\xc2\xb5",
    "1Ri",
    "1e4294967297",
    "1e99999999999999999999999999",
};

static void malformed_quantities_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(not_quantities) / sizeof(not_quantities[0]); i++) {
        ki_quantity quantity = {.units = 42, .nanos = 43};
        if (ki_quantity_parse(ki_str_of(not_quantities[i]), &quantity) != KI_ERR_QUANTITY)
            fail_msg("\"%s\" is accepted", not_quantities[i]);
        assert_int_equal(quantity.units, 42);
        assert_int_equal(quantity.nanos, 43);
    }
    ki_quantity quantity;
    assert_int_equal(ki_quantity_parse((ki_str){"1\0", 2}, &quantity), KI_ERR_QUANTITY);
    assert_int_equal(ki_quantity_parse((ki_str){0}, &quantity), KI_ERR_QUANTITY);
    assert_int_equal(ki_quantity_parse(KI_STR("1"), NULL), KI_ERR_INVALID);
}

static void a_text_need_not_end_with_a_nul(void **state)
{
    (void)state;
    ki_quantity quantity;
    assert_int_equal(ki_quantity_parse((ki_str){"64Mi and more", 2}, &quantity), 0);
    assert_int_equal(quantity.units, 64);
    assert_int_equal(ki_quantity_parse((ki_str){"64Mi and more", 4}, &quantity), 0);
    assert_int_equal(quantity.units, 64 << 20);
}

static void values_are_rounded_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(ki_quantity_value(parsed("1")), 1);
    assert_int_equal(ki_quantity_value(parsed("1.000000001")), 2);
    assert_int_equal(ki_quantity_value(parsed("-1.1")), -2);
    assert_int_equal(ki_quantity_value(parsed("1n")), 1);
    assert_int_equal(ki_quantity_value(parsed("0.1Ki")), 103);
    assert_int_equal(ki_quantity_value(parsed("9Ei")), INT64_MAX);
    assert_int_equal(ki_quantity_value((ki_quantity){.units = INT64_MAX, .nanos = 1}), INT64_MAX);
    assert_int_equal(ki_quantity_value((ki_quantity){.units = INT64_MIN, .nanos = -1}), INT64_MIN);

    assert_int_equal(ki_quantity_milli_value(parsed("100m")), 100);
    assert_int_equal(ki_quantity_milli_value(parsed("1.0001")), 1001);
    assert_int_equal(ki_quantity_milli_value(parsed("-1.0001")), -1001);
    assert_int_equal(ki_quantity_milli_value(parsed("1u")), 1);
    assert_int_equal(ki_quantity_milli_value(parsed("2Gi")), INT64_C(2147483648000));
    assert_int_equal(ki_quantity_milli_value(parsed("9223372036854775.807")), INT64_MAX);
    assert_int_equal(ki_quantity_milli_value(parsed("9223372036854775.8071")), INT64_MAX);
    assert_int_equal(ki_quantity_milli_value(parsed("1E")), INT64_MAX);
    assert_int_equal(ki_quantity_milli_value(parsed("-1E")), INT64_MIN);
}

static void quantities_compare_as_numbers(void **state)
{
    (void)state;
    static const char *const ascending[] = {"-9Ei", "-1",    "-100m", "-1n", "0",   "1n",
                                            "50m",  "0.1Ki", "1k",    "1Ki", "10T", "9Ei"};
    size_t count = sizeof(ascending) / sizeof(ascending[0]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order = ki_quantity_compare(parsed(ascending[i]), parsed(ascending[j]));
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    assert_int_equal(ki_quantity_compare(parsed("1000m"), parsed("1e0")), 0);
}

/* Digits of at most 10^9, so that everything fits in 128 bits. */
typedef struct random_text {
    char text[64];
    int128 numerator; /* in billionths, with the denominator 10^places */
    int128 denominator;
} random_text;

static int128 power(int base, int exponent)
{
    int128 value = 1;
    for (; exponent > 0; exponent--)
        value *= base;
    return value;
}

static random_text make_random_text(ki_random *random)
{
    static const struct {
        const char *text;
        int ten, two;
    } suffixes[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},   {"m", -3, 0},  {"k", 3, 0},
                    {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},   {"P", 15, 0},  {"E", 18, 0},
                    {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30},  {"Ti", 0, 40}, {"Pi", 0, 50},
                    {"Ei", 0, 60}, {"e2", 2, 0},  {"E-5", -5, 0}, {"e+7", 7, 0}, {"e-10", -10, 0}};
    size_t which = ki_random_below(random, sizeof(suffixes) / sizeof(suffixes[0]));
    int places = (int)ki_random_below(random, 10);
    int64_t digits =
        (int64_t)ki_random_below(random, (uint64_t)power(10, 1 + (int)ki_random_below(random, 9)));
    int64_t scale = (int64_t)power(10, places);
    int negative = ki_random_below(random, 2) == 1;
    random_text made = {.denominator = scale};
    int length;
    if (places > 0)
        length =
            snprintf(made.text, sizeof(made.text), "%s%lld.%0*lld%s", negative ? "-" : "",
                     (long long)(digits / scale), places, (long long)(digits % scale), suffixes[which].text);
    else
        length = snprintf(made.text, sizeof(made.text), "%s%lld%s", negative ? "-" : "", (long long)digits,
                          suffixes[which].text);
    assert_in_range(length, 1, sizeof(made.text) - 1);
    made.numerator = (negative ? -digits : digits) * power(10, 9) * power(2, suffixes[which].two);
    if (suffixes[which].ten > 0)
        made.numerator *= power(10, suffixes[which].ten);
    else
        made.denominator *= power(10, -suffixes[which].ten);
    return made;
}

static int128 expected_nanos(const random_text *made)
{
    int128 most = (int128)INT64_MAX * 1000000000;
    int128 quotient = made->numerator / made->denominator;
    if (made->numerator % made->denominator != 0)
        quotient += made->numerator < 0 ? -1 : 1;
    return quotient > most ? most : quotient < -most ? -most : quotient;
}

static void random_quantities_equal_the_exact_fraction(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 20260101);
    for (int i = 0; i < 200000; i++) {
        random_text made = make_random_text(&random);
        ki_quantity quantity = parsed(made.text);
        int128 nanos = (int128)quantity.units * 1000000000 + quantity.nanos;
        if (nanos != expected_nanos(&made))
            fail_msg("\"%s\" is %lld and %d", made.text, (long long)quantity.units, quantity.nanos);
    }
}

static void the_nearest_double_is_returned(void **state)
{
    (void)state;
    assert_true(ki_quantity_double(parsed("0")) == 0.0);
    assert_true(ki_quantity_double(parsed("100m")) == 0.1);
    assert_true(ki_quantity_double(parsed("-1.5")) == -1.5);
    assert_true(ki_quantity_double(parsed("1n")) == 1e-9);
    assert_true(ki_quantity_double(parsed("9Ei")) == 9223372036854775808.0);
    assert_true(ki_quantity_double((ki_quantity){.units = INT64_MIN}) == -9223372036854775808.0);

    ki_random random;
    ki_random_init(&random, 7);
    for (int i = 0; i < 100000; i++) {
        int64_t units = (int64_t)(ki_random_next(&random) >> (1 + ki_random_below(&random, 63)));
        int32_t nanos = (int32_t)ki_random_below(&random, 1000000000);
        char text[64];
        snprintf(text, sizeof(text), "%lld.%09d", (long long)units, nanos);
        double value = ki_quantity_double((ki_quantity){.units = units, .nanos = nanos});
        if (value != strtod(text, NULL))
            fail_msg("%s is %.17g", text, value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers_are_read),
        cmocka_unit_test(decimal_suffixes_are_read),
        cmocka_unit_test(binary_suffixes_are_read),
        cmocka_unit_test(exponents_are_read),
        cmocka_unit_test(digits_below_a_billionth_are_rounded_away_from_zero),
        cmocka_unit_test(values_beyond_an_int64_are_clamped),
        cmocka_unit_test(malformed_quantities_are_refused),
        cmocka_unit_test(a_text_need_not_end_with_a_nul),
        cmocka_unit_test(values_are_rounded_away_from_zero),
        cmocka_unit_test(quantities_compare_as_numbers),
        cmocka_unit_test(random_quantities_equal_the_exact_fraction),
        cmocka_unit_test(the_nearest_double_is_returned),
    };
    return RUN_TESTS(tests);
}
