/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/quantity.h"

#include "support/unit.h"

static void assert_written(const char *text, const char *wanted)
{
    char out[KI_AS_QUANTITY_BYTES];
    struct ki_as_quantity quantity;
    assert_int_equal(ki_as_quantity_parse(ki_str_of(text), &quantity), 0);
    ki_as_quantity_write(&quantity, out);
    assert_string_equal(out, wanted);
}

static int parse(const char *text)
{
    struct ki_as_quantity quantity;
    return ki_as_quantity_parse(ki_str_of(text), &quantity);
}

static void amounts_are_written_in_their_shortest_form(void **state)
{
    static const char *const pairs[][2] = {
        {"1", "1"},
        {"0", "0"},
        {"0m", "0"},
        {"0.5", "500m"},
        {"500m", "500m"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"1000", "1k"},
        {"1024", "1024"},
        {"1024Mi", "1Gi"},
        {"1.5Gi", "1536Mi"},
        {"0.5Gi", "512Mi"},
        {"1Ki", "1Ki"},
        {"0.5Ki", "512"},
        {"1500Mi", "1500Mi"},
        {"1e3", "1e3"},
        {"1E3", "1e3"},
        {"100e1", "1e3"},
        {"-1", "-1"},
        {"+5", "5"},
        {"1E", "1E"},
        {".5", "500m"},
        {"5.", "5"},
        {"100n", "100n"},
        {"0.1Ki", "102400m"},
        {"7Ei", "7Ei"},
        {"12e6", "12e6"},
        {"1200000", "1200k"},
        {"-1.5Gi", "-1536Mi"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        assert_written(pairs[i][0], pairs[i][1]);
}

static void malformed_amounts_are_refused(void **state)
{
    static const char *const texts[] = {"",    "x",   "1x", "100MiB", "1 ", " 1",  "m",   "1.2.3",
                                        "1mi", "--1", "1e", "1e+",    "1K", "1ki", "0x1", "1e3m"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(parse(texts[i]), -1);
}

static void amounts_that_do_not_fit_are_kept_unchanged(void **state)
{
    (void)state;
    assert_int_equal(parse("99999999999999999999"), 1);
    assert_int_equal(parse("16Ei"), 1);
    assert_int_equal(parse("1e99"), 1);
    assert_int_equal(parse("0.0000000001"), 1);
    assert_int_equal(parse("-9223372036854775808"), 1);
    assert_int_equal(parse("-.008Ei"), 1);              /* the same number, in m */
    assert_int_equal(parse("-9623372036854.55808"), 1); /* overflows with the zero that "u" requires */
    json_t *value = json_string("16Ei");
    json_t *kept = ki_as_quantity_settled(value);
    assert_ptr_equal(kept, value);
    json_decref(kept);
    json_decref(value);
}

static void numbers_become_strings(void **state)
{
    (void)state;
    json_t *values = json_pack("[i, f, s]", 2, 0.5, "x");
    json_t *kept = ki_as_quantity_settled(json_array_get(values, 0));
    assert_string_equal(json_string_value(kept), "2");
    json_decref(kept);
    kept = ki_as_quantity_settled(json_array_get(values, 1));
    assert_string_equal(json_string_value(kept), "500m");
    json_decref(kept);
    kept = ki_as_quantity_settled(json_array_get(values, 2));
    assert_ptr_equal(kept, json_array_get(values, 2));
    json_decref(kept);
    json_decref(values);
}

static int compare(const char *a, const char *b)
{
    struct ki_as_quantity left;
    struct ki_as_quantity right;
    assert_int_equal(ki_as_quantity_parse(ki_str_of(a), &left), 0);
    assert_int_equal(ki_as_quantity_parse(ki_str_of(b), &right), 0);
    return ki_as_quantity_compare(&left, &right);
}

static void amounts_are_compared_by_value(void **state)
{
    (void)state;
    assert_true(compare("2", "1") > 0);
    assert_true(compare("500m", "1") < 0);
    assert_int_equal(compare("1000m", "1"), 0);
    assert_int_equal(compare("1Gi", "1024Mi"), 0);
    assert_true(compare("1Gi", "1G") > 0);
    assert_true(compare("-1", "0") < 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_written_in_their_shortest_form),
        cmocka_unit_test(malformed_amounts_are_refused),
        cmocka_unit_test(amounts_that_do_not_fit_are_kept_unchanged),
        cmocka_unit_test(numbers_become_strings),
        cmocka_unit_test(amounts_are_compared_by_value),
    };
    return RUN_TESTS(tests);
}
