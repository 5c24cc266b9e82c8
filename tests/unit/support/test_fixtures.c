/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/fixtures.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

static void split(const char *name, fixture *out_file, fixture_http *out_answer)
{
    ki_error err = {0};
    if (fixture_load(out_file, name, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(fixture_split_http((ki_str){out_file->data, out_file->len}, out_answer), 0);
}

static void a_list_is_split_into_status_headers_and_body(void **state)
{
    (void)state;
    fixture file;
    fixture_http answer;
    split("pods-list.http", &file, &answer);
    assert_int_equal(answer.status, 200);
    assert_true(ki_str_equal(fixture_http_header(&answer, "Content-Type"), KI_STR("application/json")));
    assert_int_equal(answer.body.ptr[0], '{');
    assert_ptr_equal(answer.body.ptr + answer.body.len, file.data + file.len);
    fixture_free(&file);
}

static void an_error_has_its_status(void **state)
{
    (void)state;
    fixture file;
    fixture_http answer;
    split("error-410-continue.http", &file, &answer);
    assert_int_equal(answer.status, 410);
    fixture_free(&file);
}

static void a_binary_body_keeps_every_byte(void **state)
{
    (void)state;
    fixture file;
    fixture_http answer;
    split("pods-list-gzip.http", &file, &answer);
    assert_true(ki_str_equal(fixture_http_header(&answer, "Content-Encoding"), KI_STR("gzip")));
    assert_int_equal(answer.body.len, 7839);
    assert_memory_equal(answer.body.ptr, "\x1f\x8b", 2);
    fixture_free(&file);
}

static void a_body_may_be_empty(void **state)
{
    (void)state;
    fixture file;
    fixture_http answer;
    split("error-504-watch-rv-too-large.http", &file, &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body.len, 0);
    fixture_free(&file);
}

static void the_length_header_agrees_with_the_body(void **state)
{
    (void)state;
    fixture file;
    fixture_http answer;
    split("error-401.http", &file, &answer);
    ki_str length = fixture_http_header(&answer, "content-length");
    assert_int_equal(strtoul(length.ptr, NULL, 10), answer.body.len);
    fixture_free(&file);
}

static void a_header_is_found_in_any_case_and_by_its_whole_name(void **state)
{
    (void)state;
    fixture_http answer;
    ki_str text = KI_STR("HTTP/1.1 200 OK\r\nDate-Of: never\r\nDATE:  today \r\nEmpty:\r\n\r\n");
    assert_int_equal(fixture_split_http(text, &answer), 0);
    assert_true(ki_str_equal(fixture_http_header(&answer, "date"), KI_STR("today ")));
    assert_int_equal(fixture_http_header(&answer, "empty").len, 0);
    assert_int_equal(fixture_http_header(&answer, "absent").len, 0);
}

static void a_response_without_headers_is_valid(void **state)
{
    (void)state;
    fixture_http answer;
    assert_int_equal(fixture_split_http(KI_STR("HTTP/1.1 204 No Content\r\n\r\n"), &answer), 0);
    assert_int_equal(answer.status, 204);
    assert_int_equal(answer.headers.len, 0);
}

static void malformed_responses_are_refused(void **state)
{
    (void)state;
    fixture_http answer;
    assert_int_equal(fixture_split_http((ki_str){0}, &answer), KI_ERR_INVALID);
    assert_int_equal(fixture_split_http(KI_STR("HTTP/1.1 200 OK\r\nA: b\r\n"), &answer), KI_ERR_INVALID);
    assert_int_equal(fixture_split_http(KI_STR("HTTP/1.1 2x0 OK\r\n\r\n"), &answer), KI_ERR_INVALID);
    assert_int_equal(fixture_split_http(KI_STR("SSH-2.0\r\n\r\n"), &answer), KI_ERR_INVALID);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    fixture file = {0};
    ki_error err = {0};
    assert_int_equal(fixture_load(&file, "no-such.http", &err), KI_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "no-such.http"));
    assert_null(file.data);
    fixture_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_split_into_status_headers_and_body),
        cmocka_unit_test(an_error_has_its_status),
        cmocka_unit_test(a_binary_body_keeps_every_byte),
        cmocka_unit_test(a_body_may_be_empty),
        cmocka_unit_test(the_length_header_agrees_with_the_body),
        cmocka_unit_test(a_header_is_found_in_any_case_and_by_its_whole_name),
        cmocka_unit_test(a_response_without_headers_is_valid),
        cmocka_unit_test(malformed_responses_are_refused),
        cmocka_unit_test(a_missing_file_is_named),
    };
    return RUN_TESTS(tests);
}
