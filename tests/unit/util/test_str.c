/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/common.h>
#include <stdio.h>

#include "support/unit.h"

static void the_text_of_a_c_string_has_its_length(void **state)
{
    (void)state;
    ki_str text = ki_str_of("pods");
    assert_int_equal(text.len, 4);
    assert_memory_equal(text.ptr, "pods", 4);
}

static void the_text_of_null_is_empty(void **state)
{
    (void)state;
    assert_int_equal(ki_str_of(NULL).len, 0);
    assert_true(ki_str_equal(ki_str_of(NULL), KI_STR("")));
}

static void equal_looks_at_length_and_bytes(void **state)
{
    (void)state;
    assert_true(ki_str_equal(KI_STR("web"), ki_str_of("web")));
    assert_false(ki_str_equal(KI_STR("web"), KI_STR("web-0")));
    assert_false(ki_str_equal(KI_STR("web"), KI_STR("wet")));
    assert_false(ki_str_equal(KI_STR("web"), (ki_str){0}));
    assert_true(ki_str_equal((ki_str){0}, (ki_str){0}));
}

static void a_nul_is_a_byte_like_the_others(void **state)
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

static void a_text_is_made_from_a_pointer_and_a_length(void **state)
{
    (void)state;
    static const char word[] = "podsandmore";
    assert_true(ki_str_equal(ki_str_from(word, 4), KI_STR("pods")));
    assert_ptr_equal(ki_str_from(word, 4).ptr, word);
    assert_int_equal(ki_str_from(word, 0).len, 0);
    assert_int_equal(ki_str_from(NULL, 4).len, 0);
}

static void printf_takes_any_text(void **state)
{
    (void)state;
    char line[32];
    snprintf(line, sizeof(line), "[%.*s|%.*s]", KI_STR_ARGS(KI_STR("pods")), KI_STR_ARGS((ki_str){0}));
    assert_string_equal(line, "[pods|]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_of_a_c_string_has_its_length),
        cmocka_unit_test(the_text_of_null_is_empty),
        cmocka_unit_test(equal_looks_at_length_and_bytes),
        cmocka_unit_test(a_nul_is_a_byte_like_the_others),
        cmocka_unit_test(compare_orders_by_unsigned_bytes_and_then_length),
        cmocka_unit_test(a_text_is_made_from_a_pointer_and_a_length),
        cmocka_unit_test(printf_takes_any_text),
    };
    return RUN_TESTS(tests);
}
