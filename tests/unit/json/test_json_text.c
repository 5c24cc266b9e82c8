/* SPDX-License-Identifier: Apache-2.0 */
#include "json/text.h"

#include <kinformer/json.h>
#include <stdlib.h>
#include <string.h>

#include "json/kernel.h"
#include "json/skip.h"
#include "support/unit.h"
#include "util/random.h"

static ki_json json(const char *text)
{
    return ki_json_of(ki_str_of(text));
}

/* ---- getters ------------------------------------------------------------------------------------------- */

static void a_string_without_escapes_is_borrowed(void **state)
{
    (void)state;
    ki_str text;
    assert_int_equal(ki_json_string(json("\"pod-1 \xc3\xa9\""), &text), 0);
    assert_true(ki_str_equal(text, KI_STR("pod-1 \xc3\xa9")));
    assert_int_equal(ki_json_string(json("\"\""), &text), 0);
    assert_int_equal(text.len, 0);
}

static void a_string_with_escapes_needs_memory(void **state)
{
    (void)state;
    ki_str text = KI_STR("untouched");
    assert_int_equal(ki_json_string(json("\"a\\u003cb\""), &text), KI_ERR_ESCAPED);
    assert_int_equal(ki_json_string(json("\"\\\"\""), &text), KI_ERR_ESCAPED);
    assert_true(ki_str_equal(text, KI_STR("untouched")));
}

static void values_that_are_not_strings_are_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"1",       "null",     "[\"a\"]", "\"",  "\"a",
                                 "\"a\\\"", "\"a\"b\"", "\"a\\",   "a\"", ""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char buffer[32];
        size_t len = 99;
        ki_str text = {0};
        assert_int_equal(ki_json_string(json(wrong[i]), &text), KI_ERR_TYPE);
        assert_int_equal(ki_json_string_copy(json(wrong[i]), buffer, sizeof(buffer), &len), KI_ERR_TYPE);
        assert_int_equal(ki_json_string_equals(json(wrong[i]), KI_STR("a")), 0);
        assert_int_equal(len, 99);
    }
    assert_int_equal(ki_json_string(json("\"a\""), NULL), KI_ERR_INVALID);
    assert_int_equal(ki_json_string_copy(json("\"a\""), NULL, 1, NULL), KI_ERR_INVALID);
}

/* Uses exactly as much memory as given, so that a sanitizer detects a byte too many. */
static int copy_into(const char *text, size_t bytes, ki_str expected)
{
    char *buffer = malloc(bytes == 0 ? 1 : bytes);
    size_t len = SIZE_MAX;
    int rc = ki_json_string_copy(json(text), buffer, bytes, &len);
    if (rc == 0)
        assert_true(ki_str_equal((ki_str){buffer, len}, expected));
    else
        assert_true(len == SIZE_MAX);
    free(buffer);
    return rc;
}

static void every_escape_is_undone(void **state)
{
    (void)state;
    const char text[] = "\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u0041\\u00e9\\u20AC\\uD83D\\ude00\\u0000.\"";
    ki_str expected = KI_STR("\"\\/\b\f\n\r\t A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0.");
    assert_int_equal(copy_into(text, strlen(text), expected), 0);
    assert_int_equal(copy_into(text, expected.len, expected), 0);
    assert_int_equal(ki_json_string_equals(json(text), expected), 1);
}

static void a_small_buffer_is_refused(void **state)
{
    (void)state;
    assert_int_equal(copy_into("\"abc\"", 3, KI_STR("abc")), 0);
    assert_int_equal(copy_into("\"abc\"", 2, KI_STR("")), KI_ERR_TOO_LARGE);
    assert_int_equal(copy_into("\"\\u003c\"", 1, KI_STR("<")), 0);
    assert_int_equal(copy_into("\"\\u003c\"", 0, KI_STR("")), KI_ERR_TOO_LARGE);
    assert_int_equal(copy_into("\"\"", 0, KI_STR("")), 0);
}

static void malformed_escapes_are_errors(void **state)
{
    (void)state;
    const char *const wrong[] = {"\\x",           "\\u12",          "\\u12g4", "\\ud800",
                                 "\\ud800\\n",    "\\ud800\\u0041", "\\udc00", "\\ud800\\ud800",
                                 "\\ud83dxude00", "\\ud83d\\ude0",  "a\\u",    "\\'",
                                 "\\U0041",       "\\u 123",        "\\u+123", "\\ud83d\\"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char out[32];
        size_t n = strlen(wrong[i]);
        assert_true(ki_json_unescape(wrong[i], n, out) == KI_JSON_BAD_ESCAPE);
        assert_true(ki_json_unescaped_len(wrong[i], n) == KI_JSON_BAD_ESCAPE);
    }
    assert_int_equal(copy_into("\"\\ud800\"", 32, KI_STR("")), KI_ERR_JSON_ESCAPE);
    assert_int_equal(copy_into("\"\\ud800\"", 1, KI_STR("")), KI_ERR_JSON_ESCAPE);
}

static void unescaping_works_in_place(void **state)
{
    (void)state;
    char text[] = "plain\\u20ac and \\n more \\ud83d\\ude00 to the end";
    size_t expected = ki_json_unescaped_len(text, strlen(text));
    size_t len = ki_json_unescape(text, strlen(text), text);
    assert_int_equal(len, expected);
    assert_true(ki_str_equal((ki_str){text, len},
                             KI_STR("plain\xe2\x82\xac and \n more \xf0\x9f\x98\x80 to the end")));
}

static void strings_are_compared_unescaped(void **state)
{
    (void)state;
    assert_int_equal(ki_json_string_equals(json("\"app\""), KI_STR("app")), 1);
    assert_int_equal(ki_json_string_equals(json("\"a\\u0070p\""), KI_STR("app")), 1);
    assert_int_equal(ki_json_string_equals(json("\"a\\u0070p\""), KI_STR("appl")), 0);
    assert_int_equal(ki_json_string_equals(json("\"a\\u0070pl\""), KI_STR("app")), 0);
    assert_int_equal(ki_json_string_equals(json("\"\\\\n\""), KI_STR("\n")), 0);
    assert_int_equal(ki_json_string_equals(json("\"\""), (ki_str){0}), 1);
    assert_int_equal(ki_json_string_equals(json("\"\\u0000\""), KI_STR("\0")), 1);
    assert_int_equal(ki_json_string_equals(json("\"\\u0000\""), KI_STR("")), 0);
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

static int compare_raw(const char *a, const char *b)
{
    ki_json_spelt left = {ki_str_of(a), KI_JSON_RAW};
    ki_json_spelt right = {ki_str_of(b), KI_JSON_RAW};
    int order = ki_json_text_compare(left, right);
    int reverse = ki_json_text_compare(right, left);
    assert_true((order < 0) == (reverse > 0) && (order == 0) == (reverse == 0));
    return order;
}

static void comparison_sees_through_all_spellings(void **state)
{
    (void)state;
    assert_int_equal(compare_raw("\\u0061b\\u0063", "a\\u0062c"), 0);
    assert_int_equal(compare_raw("\\u00e9", "\xc3\xa9"), 0);
    assert_true(compare_raw("a", "ab") < 0);
    assert_true(compare_raw("\\u0061", "ab") < 0);
    assert_true(compare_raw("\\u0062", "ab") > 0);
    assert_true(compare_raw("", "\\u0000") < 0);
    ki_json_spelt token = {KI_STR("a~1b~0"), KI_JSON_POINTER};
    assert_int_equal(ki_json_text_compare(token, (ki_json_spelt){KI_STR("a/b~"), KI_JSON_PLAIN}), 0);
    assert_int_equal(ki_json_text_compare(token, (ki_json_spelt){KI_STR("a\\/b\\u007e"), KI_JSON_RAW}), 0);
}

static void malformed_escapes_have_an_order_too(void **state)
{
    (void)state;
    assert_int_equal(compare_raw("\\ud800", "\\ud800"), 0);
    assert_int_equal(compare_raw("\\x", "\\\\x"), 0);
    assert_true(compare_raw("\\", "\\\\\\\\") < 0);
    ki_json_spelt token = {KI_STR("~2~"), KI_JSON_POINTER};
    assert_int_equal(ki_json_text_compare(token, (ki_json_spelt){KI_STR("~2~"), KI_JSON_PLAIN}), 0);
}

/* ---- UTF-8 --------------------------------------------------------------------------------------------- */

static void every_character_is_encoded_as_valid_utf8(void **state)
{
    (void)state;
    for (uint32_t code_point = 0; code_point <= 0x10ffff; code_point++) {
        char bytes[4];
        size_t len = ki_utf8_encode(code_point, bytes);
        size_t expected = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
        int surrogate = code_point >= 0xd800 && code_point < 0xe000;
        assert_int_equal(len, expected);
        assert_int_equal(ki_utf8_valid_len(bytes, len), surrogate ? 0 : len);
        if (len > 1 && !surrogate)
            assert_int_equal(ki_utf8_valid_len(bytes, len - 1), 0);
    }
}

static void malformed_utf8_is_found_where_it_begins(void **state)
{
    (void)state;
    const char *const wrong[] = {"\x80",
                                 "\xc0\xaf",
                                 "\xc1\xbf",
                                 "\xe0\x9f\xbf",
                                 "\xed\xa0\x80",
                                 "\xf0\x8f\xbf\xbf",
                                 "\xf4\x90\x80\x80",
                                 "\xf5\x80\x80\x80",
                                 "\xff",
                                 "\xe2\x82",
                                 "\xe2\x28\xa1",
                                 "\xc3\x28",
                                 "\xf0\x9f\x98",
                                 "\xfe"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        for (size_t before = 0; before < 40; before++) {
            char text[64];
            memset(text, 'a', sizeof(text));
            size_t len = strlen(wrong[i]);
            memcpy(text + before, wrong[i], len);
            assert_int_equal(ki_utf8_valid_len(text, sizeof(text)), before);
            assert_int_equal(ki_utf8_valid_len(text, before + len), before);
            assert_int_equal(ki_utf8_valid_len(text, before), before);
        }
    }
    assert_int_equal(ki_utf8_valid_len(NULL, 0), 0);
}

/* ---- lengths ------------------------------------------------------------------------------------------- */

static void a_quote_or_backslash_is_found_at_any_position(void **state)
{
    (void)state;
    for (size_t n = 0; n < 80; n++) {
        char *text = malloc(n + 1);
        assert_non_null(text);
        memset(text, '!', n);
        assert_int_equal(ki_json_skip_plain(text, n), n);
        for (size_t at = 0; at < n; at++) {
            text[at] = at % 2 ? '"' : '\\';
            assert_int_equal(ki_json_skip_plain(text, n), at);
            assert_int_equal(ki_json_skip_plain(text, at), at);
            text[at] = (char)('!' ^ 0x80);
        }
        free(text);
    }
}

static void a_string_ends_at_its_own_quote(void **state)
{
    (void)state;
    assert_int_equal(ki_json_skip_string("\"\"", 2), 2);
    assert_int_equal(ki_json_skip_string("\"a\\\"b\"c\"", 8), 6);
    assert_int_equal(ki_json_skip_string("\"a\\\\\"b\"", 7), 5);
    assert_int_equal(ki_json_skip_string("\"a\\\\\\\"", 6), 0);
    assert_int_equal(ki_json_skip_string("\"", 1), 0);
    assert_int_equal(ki_json_skip_string("\"\\", 2), 0);
    assert_int_equal(ki_json_skip_string("\"abc", 4), 0);
}

/* One byte at a time, in the simplest way. A backslash outside a string is not JSON: SIZE_MAX. */
static size_t plain_container_len(const char *text, size_t n)
{
    size_t depth = 0;
    int in_string = 0;
    for (size_t at = 0; at < n; at++) {
        char c = text[at];
        if (!in_string && c == '\\')
            return SIZE_MAX;
        if (c == '\\')
            at++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']') && --depth == 0)
            return at + 1;
    }
    return 0;
}

static void check_container_len(const char *text, size_t n)
{
    size_t expected = plain_container_len(text, n);
    if (expected != SIZE_MAX)
        assert_int_equal(ki_json_skip_container(text, n), expected);
    else
        assert_true(ki_json_skip_container(text, n) <= n);
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        size_t len = (*kernel)->skip_container(text, n);
        if (expected == SIZE_MAX ? len > n : len != expected)
            fail_msg("%s: %zu instead of %zu: %.*s", (*kernel)->name, len, expected, (int)n, text);
    }
}

static void containers_have_the_length_given_by_counting(void **state)
{
    (void)state;
    static const char alphabet[] = "[{[{}]}]\"\"\\\\ab,:";
    ki_random random;
    ki_random_init(&random, 11);
    for (int i = 0; i < 50000; i++) {
        char text[300];
        size_t n = 1 + ki_random_below(&random, sizeof(text));
        for (size_t at = 0; at < n; at++) {
            int special = i % 2 == 0 || ki_random_below(&random, 9) == 0;
            text[at] = special ? alphabet[ki_random_below(&random, sizeof(alphabet) - 1)] : 'x';
        }
        text[0] = "[{"[ki_random_below(&random, 2)];
        check_container_len(text, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_without_escapes_is_borrowed),
        cmocka_unit_test(a_string_with_escapes_needs_memory),
        cmocka_unit_test(values_that_are_not_strings_are_refused),
        cmocka_unit_test(every_escape_is_undone),
        cmocka_unit_test(a_small_buffer_is_refused),
        cmocka_unit_test(malformed_escapes_are_errors),
        cmocka_unit_test(unescaping_works_in_place),
        cmocka_unit_test(strings_are_compared_unescaped),
        cmocka_unit_test(comparison_sees_through_all_spellings),
        cmocka_unit_test(malformed_escapes_have_an_order_too),
        cmocka_unit_test(every_character_is_encoded_as_valid_utf8),
        cmocka_unit_test(malformed_utf8_is_found_where_it_begins),
        cmocka_unit_test(a_quote_or_backslash_is_found_at_any_position),
        cmocka_unit_test(a_string_ends_at_its_own_quote),
        cmocka_unit_test(containers_have_the_length_given_by_counting),
    };
    return RUN_TESTS(tests);
}
