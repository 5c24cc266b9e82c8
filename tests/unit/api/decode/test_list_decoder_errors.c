/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that are not a list, and malformed lists. */
#include "api/decode/list_decoder.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/decode_expect.h"
#include "support/decode/recorded.h"
#include "support/unit.h"

#define POD(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define OBJECT(name)                                                                                         \
    "OBJECT " name " {\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\"}}\n"
#define METADATA(version) "METADATA " version " continue \"\" remaining -1\n"
#define PODS(items)                                                                                          \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":" items  \
    "}"

/* ---- bodies that are not a list ---------------------------------------------------------------------- */

static void a_body_without_items_is_not_a_list(void **state)
{
    (void)state;
    decode_assert_pod_list("{}", "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list: it has no items\n");
    decode_assert_pod_list(
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"}}",
        METADATA("7") "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list: it has no items\n");
}

static void items_must_be_an_array(void **state)
{
    (void)state;
    static const char *const wrong[] = {"{}", "{\"0\":" POD("a") "}", "\"\"", "1", "true"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body), "{\"items\":%s}", wrong[i]);
        decode_assert_pod_list(
            body, "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list: its items are not an array\n");
    }
}

static void another_kind_ends_the_list_at_once(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"kind\":\"ServiceList\",\"items\":[" POD("a") "]}",
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"ServiceList\"\n");
    decode_assert_pod_list(
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"Pod\"\n");
    decode_assert_pod_list(
        "{\"kind\":null,\"items\":[]}",
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"\"\n");
    decode_assert_pod_list(
        "{\"items\":[" POD("a") "],\"kind\":\"Table\"}",
        OBJECT("a") "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"Table\"\n");
}

static void lists_of_custom_resources_may_have_almost_any_kind(void **state)
{
    (void)state;
    static const ki_resource gizmos = {.group = "example.com",
                                       .version = "v1",
                                       .plural = "gizmos",
                                       .kind = "Gizmo",
                                       .scope = KI_SCOPE_NAMESPACED};
    static const struct {
        const char *kind;
        int is_list;
    } cases[] = {{"GizmoList", 1}, {"GizmosList", 1}, {"GizmoCollection", 1},
                 {"List", 1},      {"Gizmo", 0},      {"Table", 0},
                 {"", 0}};
    ki_object_plan *plan = decode_plan(&gizmos, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[200];
        char expected[200];
        snprintf(body, sizeof(body),
                 "{\"kind\":\"%s\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}", cases[i].kind);
        snprintf(expected, sizeof(expected),
                 cases[i].is_list
                     ? METADATA("7") "END\n"
                     : "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Gizmo: its kind is \"%s\"\n",
                 cases[i].kind);
        decode_assert_list(plan, body, expected);
    }
    ki_object_plan_free(plan);
}

static void an_item_nested_deeper_than_the_limit_is_refused(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.depth_max = 2});
    decode_assert_list(
        plan, PODS("[{\"metadata\":{\"labels\":{\"x\":[]},\"name\":\"b\"}}," POD("a") "]"),
        METADATA("7") "REFUSED b KI_ERR_JSON_DEPTH JSON: nested too deeply at byte 102\n" OBJECT(
            "a") "END\n");
    ki_object_plan_free(plan);
}

static void a_recorded_table_is_not_a_list(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "pods-table.http");
    decode_assert_pod_list(
        answer.body.ptr,
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"Table\"\n");
    recorded_free(&answer);
}

static void a_recorded_object_is_not_a_list(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "pods-one.http");
    decode_assert_pod_list(
        answer.body.ptr,
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"Pod\"\n");
    recorded_free(&answer);
}

static void a_recorded_plain_text_is_not_json(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "error-404-resource.http");
    decode_assert_pod_list(answer.body.ptr,
                           "FAILED KI_ERR_JSON_SYNTAX 0 JSON: unexpected character at byte 0\n");
    recorded_free(&answer);
}

static void an_empty_body_is_truncated(void **state)
{
    (void)state;
    decode_assert_pod_list("", "FAILED KI_ERR_JSON_TRUNCATED 0 the list ends early, after 0 bytes\n");
    decode_assert_pod_list(" \n", "FAILED KI_ERR_JSON_TRUNCATED 2 the list ends early, after 2 bytes\n");
}

static void values_that_are_not_an_object_are_not_a_list(void **state)
{
    (void)state;
    decode_assert_pod_list("[]", "FAILED KI_ERR_JSON_SYNTAX 0 JSON: unexpected character at byte 0\n");
    decode_assert_pod_list(" null", "FAILED KI_ERR_JSON_SYNTAX 1 JSON: unexpected character at byte 1\n");
}

/* A Status with code 200, or one that is fed to the decoder in spite of its code. */
static void assert_status(const char *body, const char *reason, int code)
{
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    decode_run run;
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, KI_BODY_JSON_LIST, plan);
    decode_run_decoder(&run, &decoder, ki_str_of(body), (decode_split){.piece = 7});
    assert_int_equal(run.code, KI_ERR_NOT_A_LIST);
    if (strstr(run.error.message, reason) == NULL)
        fail_msg("\"%s\" is missing in \"%s\"", reason, run.error.message);
    assert_true(ki_str_equal(ki_body_decoder_result(&decoder)->status.reason, ki_str_of(reason)));
    assert_int_equal(ki_body_decoder_result(&decoder)->status.http_status, code);
    assert_int_equal(run.object_count, 0);
    decode_run_fini(&run);
    ki_body_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void recorded_errors_have_their_reason(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        const char *reason;
        int code;
    } errors[] = {
        {"error-400-continue.http", "BadRequest", 400},
        {"error-400-field-selector.http", "BadRequest", 400},
        {"error-400-rv.http", "", 500},
        {"error-400-selector.http", "BadRequest", 400},
        {"error-401.http", "Unauthorized", 401},
        {"error-403-list.http", "Forbidden", 403},
        {"error-403-watch.http", "Forbidden", 403},
        {"error-404-object.http", "NotFound", 404},
        {"error-405.http", "MethodNotAllowed", 405},
        {"error-409-create.http", "AlreadyExists", 409},
        {"error-409-update.http", "Conflict", 409},
        {"error-410-continue.http", "Expired", 410},
        {"error-410-list-exact.http", "Expired", 410},
        {"error-422-create.http", "Invalid", 422},
        {"error-422-watchlist.http", "Invalid", 422},
        {"error-504-rv-too-large.http", "Timeout", 504},
    };
    const size_t count = sizeof(errors) / sizeof(errors[0]);
    const size_t plain_or_empty = 2; /* error-404-resource, error-504-watch-rv-too-large */
    assert_int_equal(count + plain_or_empty, recorded_count("error-*.http"));
    for (size_t i = 0; i < count; i++) {
        recorded answer;
        recorded_load(&answer, errors[i].file);
        assert_status(answer.body.ptr, errors[i].reason, errors[i].code);
        recorded_free(&answer);
    }
}

static void members_of_a_status_come_in_any_order(void **state)
{
    (void)state;
    assert_status("{\"code\":410,\"reason\":\"Expired\",\"message\":\"old\",\"details\":{\"causes\":[]},"
                  "\"kind\":\"Status\"}",
                  "Expired", 410);
    assert_status(
        "{\"x\":1,\"kind\":\"\\u0053tatus\",\"items\":null,\"code\":429,\"reason\":\"TooManyRequests\"}",
        "TooManyRequests", 429);
}

/* ---- malformed lists ----------------------------------------------------------------------------------- */

static void an_error_is_reported_at_its_byte(void **state)
{
    (void)state;
    static const decode_mistake mistakes[] = {
        {"{\"items\":[}", KI_ERR_JSON_SYNTAX, 10},
        {"{\"items\":[,]}", KI_ERR_JSON_SYNTAX, 10},
        {"{\"items\":[]]", KI_ERR_JSON_SYNTAX, 11},
        {"{\"items\":[],}", KI_ERR_JSON_SYNTAX, 12},
        {"{\"items\" []}", KI_ERR_JSON_SYNTAX, 9},
        {"{\"items\"::[]}", KI_ERR_JSON_SYNTAX, 9},
        {"{\"items\":}", KI_ERR_JSON_SYNTAX, 9},
        {"{\"items\":,\"a\":1}", KI_ERR_JSON_SYNTAX, 9},
        {"{items:[]}", KI_ERR_JSON_SYNTAX, 1},
        {"{,\"items\":[]}", KI_ERR_JSON_SYNTAX, 1},
        {"{\"a\":1 \"items\":[]}", KI_ERR_JSON_SYNTAX, 7},
        {"{\"a\":1]", KI_ERR_JSON_SYNTAX, 6},
        {"{\"a\":01}", KI_ERR_JSON_LITERAL, 6},
        {"{\"a\":nul}", KI_ERR_JSON_LITERAL, 8},
        {"{\"\x01\":1}", KI_ERR_JSON_CONTROL, 2},
        {"{\"\\x\":1}", KI_ERR_JSON_ESCAPE, 3},
        {"{\"\xff\":1}", KI_ERR_JSON_UTF8, 2},
    };
    decode_assert_mistakes(KI_BODY_JSON_LIST, mistakes, sizeof(mistakes) / sizeof(mistakes[0]));
}

static void an_error_in_an_item_ends_the_list_after_earlier_items(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"items\":[" POD("a") ",{\"metadata\":{\"name\":\"b\"},\"x\":tru}]}",
        OBJECT(
            "a") "FAILED KI_ERR_JSON_LITERAL 68 JSON: neither a number nor true, false or null at byte 68\n");
    decode_assert_pod_list(
        "{\"items\":[" POD("a") " " POD("b") "]}",
        OBJECT("a") "FAILED KI_ERR_JSON_SYNTAX 36 JSON: unexpected character at byte 36\n");
    decode_assert_pod_list(
        "{\"items\":[" POD("a") ",]}",
        OBJECT("a") "FAILED KI_ERR_JSON_SYNTAX 36 JSON: unexpected character at byte 36\n");
}

static void dropped_and_unknown_parts_are_also_checked(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"items\":[{\"metadata\":{\"name\":\"a\",\"managedFields\":[01]}}]}",
        "FAILED KI_ERR_JSON_LITERAL 52 JSON: neither a number nor true, false or null at byte 52\n");
    decode_assert_pod_list("{\"x\":[1,],\"items\":[]}",
                           "FAILED KI_ERR_JSON_SYNTAX 8 JSON: unexpected character at byte 8\n");
}

static void only_white_space_may_follow_the_list(void **state)
{
    (void)state;
    decode_assert_pod_list("{\"items\":[]} \n\r\t", "END\n");
    decode_assert_pod_list(
        "{\"items\":[]} {}",
        "END\nFAILED KI_ERR_JSON_TRAILING 13 JSON: unexpected text after the value at byte 13\n");
    decode_assert_pod_list(
        "{\"items\":[]}x",
        "END\nFAILED KI_ERR_JSON_TRAILING 12 JSON: unexpected text after the value at byte 12\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_without_items_is_not_a_list),
        cmocka_unit_test(items_must_be_an_array),
        cmocka_unit_test(another_kind_ends_the_list_at_once),
        cmocka_unit_test(lists_of_custom_resources_may_have_almost_any_kind),
        cmocka_unit_test(an_item_nested_deeper_than_the_limit_is_refused),
        cmocka_unit_test(a_recorded_table_is_not_a_list),
        cmocka_unit_test(a_recorded_object_is_not_a_list),
        cmocka_unit_test(a_recorded_plain_text_is_not_json),
        cmocka_unit_test(an_empty_body_is_truncated),
        cmocka_unit_test(values_that_are_not_an_object_are_not_a_list),
        cmocka_unit_test(recorded_errors_have_their_reason),
        cmocka_unit_test(members_of_a_status_come_in_any_order),
        cmocka_unit_test(an_error_is_reported_at_its_byte),
        cmocka_unit_test(an_error_in_an_item_ends_the_list_after_earlier_items),
        cmocka_unit_test(dropped_and_unknown_parts_are_also_checked),
        cmocka_unit_test(only_white_space_may_follow_the_list),
    };
    return RUN_TESTS(tests);
}
