/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/quantity_text.h"

#include "support/unit.h"

static void assert_written(const char *text, const char *wanted)
{
    char out[KI_QUANTITY_TEXT_BYTES];
    ki_quantity_text quantity;
    assert_int_equal(ki_quantity_text_parse(ki_str_of(text), &quantity), 0);
    ki_quantity_text_write(&quantity, out);
    assert_string_equal(out, wanted);
}

static int parse(const char *text)
{
    ki_quantity_text quantity;
    return ki_quantity_text_parse(ki_str_of(text), &quantity);
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

static void amounts_that_do_not_fit_are_not_read(void **state)
{
    (void)state;
    assert_int_equal(parse("99999999999999999999"), 1);
    assert_int_equal(parse("16Ei"), 1);
    assert_int_equal(parse("1e99"), 1);
    assert_int_equal(parse("0.0000000001"), 1);
    assert_int_equal(parse("-9223372036854775808"), 1);
    assert_int_equal(parse("-.008Ei"), 1);              /* the same number, in m */
    assert_int_equal(parse("-9623372036854.55808"), 1); /* overflows with the zero that "u" requires */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_written_in_their_shortest_form),
        cmocka_unit_test(malformed_amounts_are_refused),
        cmocka_unit_test(amounts_that_do_not_fit_are_not_read),
    };
    return RUN_TESTS(tests);
}
