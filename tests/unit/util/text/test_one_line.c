/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/one_line.h"

#include <string.h>

#include "support/unit.h"

static void plain_and_international_text_passes(void **state)
{
    (void)state;
    char out[64];
    ki_str text = KI_STR("pod \"web-0\" \xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80 ~");
    assert_int_equal(ki_one_line(out, sizeof(out), text), text.len);
    assert_string_equal(out, text.ptr);
}

static void every_ascii_control_character_becomes_a_question_mark(void **state)
{
    (void)state;
    for (int byte = 0; byte < 128; byte++) {
        char text[3] = {'a', (char)byte, 'b'};
        char out[8];
        assert_int_equal(ki_one_line(out, sizeof(out), (ki_str){text, 3}), 3);
        assert_int_equal(out[1], byte < 0x20 || byte == 0x7f ? '?' : byte);
    }
}

static void c1_controls_become_one_question_mark_each(void **state)
{
    (void)state;
    char out[16];
    assert_int_equal(ki_one_line(out, sizeof(out), KI_STR("a\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0z")), 7);
    assert_string_equal(out, "a???\xc2\xa0z");
}

/* Such characters can make a line read as something else, and some viewers end lines at U+2028. */
static void characters_that_change_direction_or_end_lines_become_question_marks(void **state)
{
    (void)state;
    char out[64];
    static const char turned[] =
        "a\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9z";
    static const char others[] =
        "\xd8\x9b\xe2\x80\x8d\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa\xe2\x82\xae";
    assert_int_equal(ki_one_line(out, sizeof(out), ki_str_of(turned)), 10);
    assert_string_equal(out, "a????????z");
    (void)ki_one_line(out, sizeof(out), ki_str_of(others));
    assert_string_equal(out, others);
    (void)ki_one_line(out, 4, KI_STR("ab\xe2\x80\xae"));
    assert_string_equal(out, "ab");
}

static void c1_controls_of_one_byte_become_question_marks(void **state)
{
    (void)state;
    char out[32];
    static const char text[] =
        "a\x9b\x31m\xc3\x9b\x9b\xe2\x82\x9b\x9b\xf0\x9f\x9a\x80\x85\xc3z\x9b\xc2\x9b\x9b\xff\x9b";
    static const char clean[] = "a?\x31m\xc3\x9b?\xe2\x82\x9b?\xf0\x9f\x9a\x80?\xc3z???\xff?";
    assert_int_equal(ki_one_line(out, sizeof(out), ki_str_of(text)), sizeof(clean) - 1);
    assert_string_equal(out, clean);
}

static void a_lone_lead_byte_at_the_end_is_kept(void **state)
{
    (void)state;
    char out[16];
    assert_int_equal(ki_one_line(out, sizeof(out), KI_STR("a\xc2")), 2);
    assert_string_equal(out, "a\xc2");
}

static void truncation_never_splits_a_character(void **state)
{
    (void)state;
    ki_str text = KI_STR("\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80");
    for (size_t bytes = 1; bytes <= 10; bytes++) {
        char out[10];
        size_t expected = bytes > 8 ? 8 : bytes > 4 ? 4 : 0;
        assert_int_equal(ki_one_line(out, bytes, text), expected);
        assert_int_equal(out[expected], 0);
        assert_memory_equal(out, text.ptr, expected);
    }
}

static void a_truncated_text_ends_with_a_mark(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(ki_one_line_cut(out, sizeof(out), KI_STR("abcdefg")), 7);
    assert_string_equal(out, "abcdefg");
    assert_int_equal(ki_one_line_cut(out, sizeof(out), KI_STR("abcdefgh")), 7);
    assert_string_equal(out, "abcd\xe2\x80\xa6");
    assert_int_equal(ki_one_line_cut(out, sizeof(out), KI_STR("abc\xc3\xa9xyz")), 6);
    assert_string_equal(out, "abc\xe2\x80\xa6");
    assert_int_equal(ki_one_line_cut(out, 4, KI_STR("abcd")), 3);
    assert_string_equal(out, "\xe2\x80\xa6");
    assert_int_equal(ki_one_line_cut(out, sizeof(out), KI_STR("a\nb")), 3);
    assert_string_equal(out, "a?b");
}

static void a_run_of_continuation_bytes_may_be_truncated_anywhere(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(ki_one_line(out, sizeof(out), KI_STR("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80")), 7);
}

static void the_empty_text_gives_an_empty_string(void **state)
{
    (void)state;
    char out[4] = "xyz";
    assert_int_equal(ki_one_line(out, sizeof(out), (ki_str){0}), 0);
    assert_string_equal(out, "");
}

static void text_may_be_cleaned_in_place(void **state)
{
    (void)state;
    char text[] = "a\nb\xc2\x9b"
                  "c";
    assert_int_equal(ki_one_line(text, sizeof(text), ki_str_of(text)), 5);
    assert_string_equal(text, "a?b?c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_international_text_passes),
        cmocka_unit_test(every_ascii_control_character_becomes_a_question_mark),
        cmocka_unit_test(c1_controls_become_one_question_mark_each),
        cmocka_unit_test(characters_that_change_direction_or_end_lines_become_question_marks),
        cmocka_unit_test(c1_controls_of_one_byte_become_question_marks),
        cmocka_unit_test(a_lone_lead_byte_at_the_end_is_kept),
        cmocka_unit_test(truncation_never_splits_a_character),
        cmocka_unit_test(a_truncated_text_ends_with_a_mark),
        cmocka_unit_test(a_run_of_continuation_bytes_may_be_truncated_anywhere),
        cmocka_unit_test(the_empty_text_gives_an_empty_string),
        cmocka_unit_test(text_may_be_cleaned_in_place),
    };
    return RUN_TESTS(tests);
}
