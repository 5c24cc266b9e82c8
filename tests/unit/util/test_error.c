/* SPDX-License-Identifier: Apache-2.0 */
#include "util/error.h"

#include <string.h>

#include "support/unit.h"

typedef struct code_row {
    const char *name;
    int code;
    const char *text;
} code_row;

static const code_row rows[] = {
#define CODE_ROW(name, code, text) {"KI_ERR_" #name, code, text},
    KI_ERRORS(CODE_ROW)
#undef CODE_ROW
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void every_code_is_negative_and_used_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(rows[i].code < 0);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(rows[i].code, rows[j].code);
    }
}

static void every_code_has_a_name_and_its_own_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_string_equal(ki_error_name(rows[i].code), rows[i].name);
        assert_string_equal(ki_error_text(rows[i].code), rows[i].text);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rows[i].text, rows[j].text);
    }
}

static void codes_keep_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(KI_OK, 0);
    assert_int_equal(KI_ERR_INVALID, -1);
    assert_int_equal(KI_ERR_NO_MEMORY, -2);
    assert_int_equal(KI_ERR_TOO_LARGE, -7);
    assert_int_equal(KI_ERR_JSON_SYNTAX, -20);
    assert_int_equal(KI_ERR_METADATA, -40);
}

static void success_and_unknown_codes_have_names_too(void **state)
{
    (void)state;
    assert_string_equal(ki_error_name(KI_OK), "KI_OK");
    assert_string_equal(ki_error_text(KI_OK), "success");
    assert_string_equal(ki_error_name(12345), "KI_ERR_UNKNOWN");
    assert_string_equal(ki_error_text(12345), "unknown error");
}

static void fail_returns_the_code_and_fills_everything(void **state)
{
    (void)state;
    ki_error err;
    memset(&err, 0xff, sizeof(err));
    assert_int_equal(ki_fail(&err, KI_ERR_RANGE, "port %d", 70000), KI_ERR_RANGE);
    assert_int_equal(err.code, KI_ERR_RANGE);
    assert_int_equal(err.retry_after_ms, 0);
    assert_int_equal(err.offset, 0);
    assert_string_equal(err.message, "port 70000");
}

static void fail_at_keeps_the_offset(void **state)
{
    (void)state;
    ki_error err = {0};
    uint64_t offset = UINT64_C(5000000000);
    assert_int_equal(ki_fail_at(&err, KI_ERR_JSON_SYNTAX, offset, "at %s", "items"), KI_ERR_JSON_SYNTAX);
    assert_true(err.offset == offset);
    assert_string_equal(err.message, "at items");
}

static void without_an_error_to_fill_the_code_is_still_returned(void **state)
{
    (void)state;
    assert_int_equal(ki_fail(NULL, KI_ERR_TYPE, "unseen"), KI_ERR_TYPE);
    assert_int_equal(ki_fail_at(NULL, KI_ERR_TYPE, 7, "unseen"), KI_ERR_TYPE);
    assert_int_equal(ki_fail_no_memory(NULL), KI_ERR_NO_MEMORY);
}

static void out_of_memory_has_its_message(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_fail_no_memory(&err), KI_ERR_NO_MEMORY);
    assert_string_equal(err.message, ki_error_text(KI_ERR_NO_MEMORY));
}

static void a_message_as_long_as_the_buffer_fits(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_fail(&err, KI_ERR_INVALID, "%0*d", KI_ERROR_MESSAGE_BYTES - 1, 7), KI_ERR_INVALID);
    assert_int_equal(strlen(err.message), KI_ERROR_MESSAGE_BYTES - 1);
    assert_int_equal(err.message[KI_ERROR_MESSAGE_BYTES - 2], '7');
}

static void a_longer_message_is_cut(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_fail(&err, KI_ERR_INVALID, "%0*d", KI_ERROR_MESSAGE_BYTES, 7), KI_ERR_INVALID);
    assert_int_equal(strlen(err.message), KI_ERROR_MESSAGE_BYTES - 1);
    assert_string_equal(err.message + KI_ERROR_MESSAGE_BYTES - 5, "0\xe2\x80\xa6");
}

static void control_characters_in_a_message_become_question_marks(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_fail(&err, KI_ERR_INVALID, "name %s", "a\r\nb\x1b[1m\x7f\t"), KI_ERR_INVALID);
    assert_string_equal(err.message, "name a??b?[1m??");
}

static void text_beyond_ascii_is_kept(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_fail(&err, KI_ERR_INVALID, "caf\xc3\xa9"), KI_ERR_INVALID);
    assert_string_equal(err.message, "caf\xc3\xa9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_is_negative_and_used_once),
        cmocka_unit_test(every_code_has_a_name_and_its_own_text),
        cmocka_unit_test(codes_keep_their_numbers),
        cmocka_unit_test(success_and_unknown_codes_have_names_too),
        cmocka_unit_test(fail_returns_the_code_and_fills_everything),
        cmocka_unit_test(fail_at_keeps_the_offset),
        cmocka_unit_test(without_an_error_to_fill_the_code_is_still_returned),
        cmocka_unit_test(out_of_memory_has_its_message),
        cmocka_unit_test(a_message_as_long_as_the_buffer_fits),
        cmocka_unit_test(a_longer_message_is_cut),
        cmocka_unit_test(control_characters_in_a_message_become_question_marks),
        cmocka_unit_test(text_beyond_ascii_is_kept),
    };
    return RUN_TESTS(tests);
}
