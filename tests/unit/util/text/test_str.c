/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/byte.h"
#include "util/text/str.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static void a_string_of_a_c_string_has_its_length(void **state)
{
    (void)state;
    ki_str text = ki_str_of("pods");
    assert_int_equal(text.len, 4);
    assert_memory_equal(text.ptr, "pods", 4);
}

static void a_string_of_null_is_empty(void **state)
{
    (void)state;
    assert_int_equal(ki_str_of(NULL).len, 0);
    assert_true(ki_str_equal(ki_str_of(NULL), KI_STR("")));
}

static void equal_compares_length_and_bytes(void **state)
{
    (void)state;
    assert_true(ki_str_equal(KI_STR("web"), ki_str_of("web")));
    assert_false(ki_str_equal(KI_STR("web"), KI_STR("web-0")));
    assert_false(ki_str_equal(KI_STR("web"), KI_STR("wet")));
    assert_false(ki_str_equal(KI_STR("web"), (ki_str){0}));
    assert_true(ki_str_equal((ki_str){0}, (ki_str){0}));
}

static void a_nul_is_a_byte_like_any_other(void **state)
{
    (void)state;
    assert_false(ki_str_equal(KI_STR("a\0b"), KI_STR("a\0c")));
    assert_true(ki_str_compare(KI_STR("a\0b"), KI_STR("a\0c")) < 0);
}

/* In ascending order: a prefix first, then by unsigned bytes. */
static void compare_orders_by_unsigned_bytes_and_then_length(void **state)
{
    (void)state;
    const ki_str sorted[] = {{0},         KI_STR("a"),    KI_STR("a\0"),  KI_STR("aa"),  KI_STR("ab"),
                             KI_STR("b"), KI_STR("\x7f"), KI_STR("\x80"), KI_STR("\xff")};
    const int count = sizeof(sorted) / sizeof(sorted[0]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            int order = ki_str_compare(sorted[i], sorted[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

static void a_string_is_made_from_a_pointer_and_a_length(void **state)
{
    (void)state;
    static const char word[] = "podsandmore";
    assert_true(ki_str_equal(ki_str_from(word, 4), KI_STR("pods")));
    assert_ptr_equal(ki_str_from(word, 4).ptr, word);
    assert_int_equal(ki_str_from(word, 0).len, 0);
    assert_int_equal(ki_str_from(NULL, 4).len, 0);
}

static void printf_accepts_any_string(void **state)
{
    (void)state;
    char line[32];
    snprintf(line, sizeof(line), "[%.*s|%.*s]", KI_STR_ARGS(KI_STR("pods")), KI_STR_ARGS((ki_str){0}));
    assert_string_equal(line, "[pods|]");
}

static void texts_are_equal_in_any_case(void **state)
{
    (void)state;
    assert_true(ki_str_equal_any_case(KI_STR("Retry-After"), KI_STR("retry-aFTER")));
    assert_false(ki_str_equal_any_case(KI_STR("gzip"), KI_STR("gzi")));
    assert_false(ki_str_equal_any_case(KI_STR("@"), KI_STR("`")));
    assert_true(ki_str_equal_any_case((ki_str){0}, KI_STR("")));
    assert_true(ki_str_is_word(ki_str_from("GZIP, br", 4), "gzip"));
    assert_false(ki_str_is_word((ki_str){0}, "gzip"));
}

static void a_number_has_digits_only(void **state)
{
    (void)state;
    assert_true(ki_str_is_number(KI_STR("0123456789")));
    assert_false(ki_str_is_number(KI_STR("")));
    assert_false(ki_str_is_number(KI_STR("12:")));
    assert_false(ki_str_is_number(KI_STR("/12")));
    assert_false(ki_str_is_number(KI_STR("-1")));
}

static void trim_removes_white_space_at_both_ends(void **state)
{
    (void)state;
    assert_true(ki_str_equal(ki_str_trim(KI_STR(" \t\r\na b\n\r\t ")), KI_STR("a b")));
    assert_int_equal(ki_str_trim(KI_STR(" \t ")).len, 0);
    assert_int_equal(ki_str_trim((ki_str){0}).len, 0);
}

static void a_list_of_texts_ends_with_null(void **state)
{
    (void)state;
    static const char *const texts[] = {"a", "", NULL, "b"};
    assert_int_equal(ki_str_count(texts), 2);
    assert_int_equal(ki_str_count(texts + 2), 0);
    assert_int_equal(ki_str_count(NULL), 0);
}

static void every_byte_has_its_kind(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    for (int i = -128; i < 128; i++) {
        char c = (char)i;
        const char *at = memchr(digits, c, sizeof(digits) - 1);
        assert_int_equal(ki_byte_hex(c), at == NULL ? 16 : (at - digits) % 16);
        assert_int_equal(ki_byte_is_digit(c), memchr(digits, c, 10) != NULL);
        assert_int_equal(ki_byte_is_space(c), memchr(" \t\r\n", c, 4) != NULL);
        assert_int_equal(ki_byte_is_continuation(c), (i & 0xff) >= 0x80 && (i & 0xff) < 0xc0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_of_a_c_string_has_its_length),
        cmocka_unit_test(a_string_of_null_is_empty),
        cmocka_unit_test(equal_compares_length_and_bytes),
        cmocka_unit_test(a_nul_is_a_byte_like_any_other),
        cmocka_unit_test(compare_orders_by_unsigned_bytes_and_then_length),
        cmocka_unit_test(a_string_is_made_from_a_pointer_and_a_length),
        cmocka_unit_test(printf_accepts_any_string),
        cmocka_unit_test(texts_are_equal_in_any_case),
        cmocka_unit_test(a_number_has_digits_only),
        cmocka_unit_test(trim_removes_white_space_at_both_ends),
        cmocka_unit_test(a_list_of_texts_ends_with_null),
        cmocka_unit_test(every_byte_has_its_kind),
    };
    return RUN_TESTS(tests);
}
