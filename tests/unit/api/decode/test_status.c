/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/status.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/recorded.h"
#include "support/failing_allocator.h"
#include "support/json/json_reference.h"
#include "support/unit.h"

static void assert_text(ki_str text, const char *expected)
{
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("\"%.*s\" instead of \"%s\"", KI_STR_ARGS(text), expected);
}

static ki_status parse(const char *body)
{
    ki_error err = {0};
    ki_status status = {0};
    if (ki_status_parse(ki_str_of(body), &status, &err) < 0)
        fail_msg("%s: %s", body, err.message);
    return status;
}

/* ---- recorded statuses --------------------------------------------------------------------------------- */

static const char *const errors[] = {
    "error-400-continue.http",
    "error-400-field-selector.http",
    "error-400-rv.http",
    "error-400-selector.http",
    "error-401.http",
    "error-403-list.http",
    "error-403-watch.http",
    "error-404-object.http",
    "error-405.http",
    "error-409-create.http",
    "error-409-update.http",
    "error-410-continue.http",
    "error-410-list-exact.http",
    "error-422-create.http",
    "error-422-watchlist.http",
    "error-504-rv-too-large.http",
};

static void assert_causes(const ki_status *status, const json_t *causes)
{
    assert_int_equal(status->cause_count, json_array_size(causes));
    for (size_t i = 0; i < status->cause_count; i++) {
        const json_t *cause = json_array_get(causes, i);
        assert_true(recorded_same_text(status->causes[i].cause_type, json_object_get(cause, "reason")));
        assert_true(recorded_same_text(status->causes[i].message, json_object_get(cause, "message")));
        assert_true(recorded_same_text(status->causes[i].field, json_object_get(cause, "field")));
    }
}

static void assert_same(const ki_status *status, const json_t *reference)
{
    const json_t *details = json_object_get(reference, "details");
    assert_int_equal(status->http_status, json_integer_value(json_object_get(reference, "code")));
    assert_true(recorded_same_text(status->status, json_object_get(reference, "status")));
    assert_true(recorded_same_text(status->reason, json_object_get(reference, "reason")));
    assert_true(recorded_same_text(status->message, json_object_get(reference, "message")));
    assert_true(recorded_same_text(status->group, json_object_get(details, "group")));
    assert_true(recorded_same_text(status->kind, json_object_get(details, "kind")));
    assert_true(recorded_same_text(status->name, json_object_get(details, "name")));
    assert_true(recorded_same_text(status->uid, json_object_get(details, "uid")));
    assert_int_equal(status->retry_after_seconds,
                     json_integer_value(json_object_get(details, "retryAfterSeconds")));
    assert_causes(status, json_object_get(details, "causes"));
}

static void every_recorded_status_is_read_as_jansson_reads_it(void **state)
{
    (void)state;
    const size_t count = sizeof(errors) / sizeof(errors[0]);
    const size_t plain_or_empty = 2;
    assert_int_equal(count + plain_or_empty, recorded_count("error-*.http"));
    for (size_t i = 0; i < count; i++) {
        recorded answer;
        recorded_load(&answer, errors[i]);
        json_t *reference = json_reference_parse(answer.body);
        assert_non_null(reference);
        ki_status status = parse(answer.body.ptr);
        assert_int_equal(status.http_status, answer.status);
        assert_same(&status, reference);
        ki_status_fini(&status);
        json_decref(reference);
        recorded_free(&answer);
    }
}

static void a_recorded_status_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "error-504-rv-too-large.http");
    size_t end = answer.body.len;
    while (answer.body.ptr[end - 1] != '}')
        end--;
    for (size_t bytes = 0; bytes < end; bytes++) {
        ki_error err = {0};
        ki_status status = {0};
        assert_int_equal(ki_status_parse((ki_str){answer.body.ptr, bytes}, &status, &err),
                         KI_ERR_JSON_TRUNCATED);
        assert_int_equal(err.offset, bytes);
        assert_null((void *)(uintptr_t)status.reserved[0]);
    }
    recorded_free(&answer);
}

static void plain_text_and_an_empty_body_are_not_a_status(void **state)
{
    (void)state;
    recorded answer;
    ki_error err = {0};
    ki_status status = {.http_status = 7};
    recorded_load(&answer, "error-404-resource.http");
    assert_int_equal(ki_status_parse(answer.body, &status, &err), KI_ERR_JSON_TRAILING);
    assert_int_equal(err.offset, strlen("404 "));
    recorded_free(&answer);
    assert_int_equal(ki_status_parse((ki_str){0}, &status, &err), KI_ERR_JSON_TRUNCATED);
    assert_int_equal(status.http_status, 7);
}

static void the_cause_of_a_version_from_the_future_is_found(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "error-504-rv-too-large.http");
    ki_status status = parse(answer.body.ptr);
    assert_true(ki_status_has_cause(&status, "ResourceVersionTooLarge"));
    assert_false(ki_status_has_cause(&status, "ResourceVersion"));
    assert_false(ki_status_has_cause(&status, ""));
    ki_status_fini(&status);
    recorded_free(&answer);
}

/* ---- constructed statuses ------------------------------------------------------------------------------ */

static void other_bodies_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const others[] = {"{}",
                                         "{\"kind\":\"Pod\",\"code\":410}",
                                         "{\"kind\":7}",
                                         "{\"kind\":null}",
                                         "{\"kind\":\"status\"}",
                                         "[{\"kind\":\"Status\"}]",
                                         "\"Status\"",
                                         "null",
                                         "{\"details\":{\"kind\":\"Status\"}}"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ki_status status = {.http_status = 7};
        ki_error err = {0};
        assert_int_equal(ki_status_parse(ki_str_of(others[i]), &status, &err), KI_ERR_TYPE);
        assert_int_equal(err.code, KI_ERR_TYPE);
        assert_true(strlen(err.message) > 0);
        assert_int_equal(ki_status_read(ki_json_of(ki_str_of(others[i])), &status), KI_ERR_TYPE);
        assert_int_equal(status.http_status, 7);
        assert_null((void *)(uintptr_t)status.reserved[0]);
    }
}

static void a_status_without_members_is_empty(void **state)
{
    (void)state;
    ki_status status = parse(" {\"kind\":\"Status\"} ");
    assert_same(&status, NULL);
    ki_status_fini(&status);
    assert_null((void *)(uintptr_t)status.reserved[0]);
    ki_status_fini(&status);
}

static void members_of_a_wrong_type_are_left_empty(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{\"kind\":\"Status\",\"status\":1,\"reason\":null,\"message\":[\"a\"],\"code\":\"410\",\"details\":["
        "]}",
        "{\"kind\":\"Status\",\"status\":{},\"reason\":true,\"message\":{\"a\":1},\"code\":4.5,\"details\":"
        "\"x\"}",
        "{\"kind\":\"Status\",\"code\":-1,\"details\":{\"name\":1,\"group\":[],\"kind\":{},\"uid\":null,"
        "\"retryAfterSeconds\":\"3\",\"causes\":\"many\"}}",
        "{\"kind\":\"Status\",\"code\":null,\"details\":{\"retryAfterSeconds\":-3,\"causes\":{\"a\":{"
        "\"reason\":\"A\"}}}}",
        "{\"kind\":\"Status\",\"details\":{\"causes\":[null,1,\"A\",[],[{\"reason\":\"A\"}]]}}",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_status status = parse(wrong[i]);
        assert_same(&status, NULL);
        ki_status_fini(&status);
    }
}

static void numbers_beyond_an_int_are_clamped(void **state)
{
    (void)state;
    ki_status status =
        parse("{\"kind\":\"Status\",\"code\":99999999999,\"details\":{\"retryAfterSeconds\":2147483648}}");
    assert_int_equal(status.http_status, INT_MAX);
    assert_int_equal(status.retry_after_seconds, INT_MAX);
    ki_status_fini(&status);
    status = parse("{\"kind\":\"Status\",\"code\":4.1e2,\"details\":{\"retryAfterSeconds\":2147483647}}");
    assert_int_equal(status.http_status, 410);
    assert_int_equal(status.retry_after_seconds, INT_MAX);
    ki_status_fini(&status);
}

static void text_is_unescaped(void **state)
{
    (void)state;
    ki_status status = parse(
        "{\"k\\u0069nd\":\"\\u0053tatus\",\"message\":\"\\\"a\\\" \\u003c "
        "b\\n\\ud83d\\ude00\",\"reason\":\"\\/\","
        "\"details\":{\"name\":\"\\\\\",\"causes\":[{\"reason\":\"\\u0041\",\"message\":\"\\t\",\"field\":"
        "\"a[\\\"b\\\"]\"}]}}");
    assert_text(status.message, "\"a\" < b\n\xf0\x9f\x98\x80");
    assert_text(status.reason, "/");
    assert_text(status.name, "\\");
    assert_text(status.causes[0].cause_type, "A");
    assert_text(status.causes[0].message, "\t");
    assert_text(status.causes[0].field, "a[\"b\"]");
    assert_true(ki_status_has_cause(&status, "A"));
    ki_status_fini(&status);
}

static void the_first_causes_are_kept(void **state)
{
    (void)state;
    char body[4000];
    int len = snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"details\":{\"causes\":[");
    for (int i = 0; i < 50; i++)
        len += snprintf(body + len, sizeof(body) - (size_t)len, "%s{\"reason\":\"R%d\",\"message\":\"m%d\"}",
                        i > 0 ? "," : "", i, i);
    snprintf(body + len, sizeof(body) - (size_t)len, "]},\"code\":422}");
    ki_status status = parse(body);
    assert_int_equal(status.cause_count, KI_STATUS_CAUSES_MAX);
    assert_text(status.causes[0].cause_type, "R0");
    assert_text(status.causes[KI_STATUS_CAUSES_MAX - 1].message, "m7");
    assert_true(ki_status_has_cause(&status, "R7"));
    assert_false(ki_status_has_cause(&status, "R8"));
    assert_int_equal(status.http_status, 422);
    ki_status_fini(&status);
}

static void when_out_of_memory_nothing_is_read(void **state)
{
    (void)state;
    ki_status status = {.http_status = 7};
    ki_error err = {0};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_status_parse(KI_STR("{\"kind\":\"Status\",\"code\":410}"), &status, &err),
                     KI_ERR_NO_MEMORY);
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    assert_int_equal(status.http_status, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_status_is_read_as_jansson_reads_it),
        cmocka_unit_test(a_recorded_status_is_read_whole_or_not_at_all),
        cmocka_unit_test(plain_text_and_an_empty_body_are_not_a_status),
        cmocka_unit_test(the_cause_of_a_version_from_the_future_is_found),
        cmocka_unit_test(other_bodies_are_refused_with_a_reason),
        cmocka_unit_test(a_status_without_members_is_empty),
        cmocka_unit_test(members_of_a_wrong_type_are_left_empty),
        cmocka_unit_test(numbers_beyond_an_int_are_clamped),
        cmocka_unit_test(text_is_unescaped),
        cmocka_unit_test(the_first_causes_are_kept),
        WITH_MEMORY_CHECK(when_out_of_memory_nothing_is_read),
    };
    return RUN_TESTS(tests);
}
