/* SPDX-License-Identifier: Apache-2.0 */
#include "api/list_decoder.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode_run.h"
#include "support/recorded.h"
#include "support/unit.h"

#define POD(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define OBJECT(name)                                                                                         \
    "OBJECT " name " {\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\"}}\n"
#define METADATA(version) "METADATA " version " continue \"\" remaining -1\n"
#define PODS(items)                                                                                          \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":" items  \
    "}"

static ki_object_plan *plan_of(const ki_resource *resource, const ki_object_options *options)
{
    ki_error err = {0};
    ki_object_plan *plan = ki_object_plan_new(resource, options, &err);
    if (plan == NULL)
        fail_msg("%s", err.message);
    return plan;
}

static void assert_log(const decode_run *run, const char *expected)
{
    if (strcmp(run->log, expected) != 0)
        fail_msg("\n%sinstead of\n%s", run->log, expected);
}

/* Whole and byte by byte. */
static void assert_decodes(ki_object_plan *plan, const char *body, const char *expected)
{
    for (size_t piece = 0; piece <= 1; piece++) {
        decode_run run;
        ki_list_decoder decoder;
        ki_list_decoder_init(&decoder, plan);
        decode_run_list(&run, &decoder, ki_str_of(body), (decode_split){.piece = piece});
        assert_log(&run, expected);
        decode_run_fini(&run);
        ki_list_decoder_fini(&decoder);
    }
}

static void assert_pods(const char *body, const char *expected)
{
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, NULL);
    assert_decodes(plan, body, expected);
    ki_object_plan_free(plan);
}

/* ---- the shape of a list ------------------------------------------------------------------------------- */

static void items_and_metadata_come_in_the_order_of_the_body(void **state)
{
    (void)state;
    assert_pods(PODS("[" POD("a") "," POD("b") "]"), METADATA("7") OBJECT("a") OBJECT("b") "END\n");
    assert_pods("{\"items\":[" POD("a") "," POD("b") "],\"metadata\":{\"resourceVersion\":\"7\"},"
                                                     "\"apiVersion\":\"v1\",\"kind\":\"PodList\"}",
                OBJECT("a") OBJECT("b") METADATA("7") "END\n");
}

static void white_space_may_stand_between_all_tokens(void **state)
{
    (void)state;
    assert_pods(
        " \r\n{ \"kind\" : \"PodList\" ,\n\t\"items\" : [ { \"metadata\" : { \"name\" : \"a\" } } ,\n" POD(
            "b") " ] ,\n \"metadata\" : { \"resourceVersion\" : \"7\" } }\r\n \n",
        OBJECT("a") OBJECT("b") METADATA("7") "END\n");
}

static void a_list_without_objects_is_one(void **state)
{
    (void)state;
    assert_pods(PODS("[]"), METADATA("7") "END\n");
    assert_pods(PODS("[ \n ]"), METADATA("7") "END\n");
    assert_pods(PODS("null"), METADATA("7") "END\n");
}

static void list_metadata_is_read_whole(void **state)
{
    (void)state;
    assert_pods("{\"items\":[],\"metadata\":{\"remainingItemCount\":12,\"selfLink\":\"/"
                "x\",\"continue\":\"a\\u003d\\n\","
                "\"resourceVersion\":\"\\u0037\"}}",
                "METADATA 7 continue \"a=\n\" remaining 12\nEND\n");
    assert_pods("{\"items\":[],\"metadata\":{}}", "METADATA  continue \"\" remaining -1\nEND\n");
    assert_pods("{\"items\":[],\"metadata\":null}", "METADATA  continue \"\" remaining -1\nEND\n");
    assert_pods("{\"items\":[]}", "END\n");
}

static void list_metadata_of_a_wrong_type_counts_as_missing(void **state)
{
    (void)state;
    assert_pods(
        "{\"items\":[],\"metadata\":{\"resourceVersion\":7,\"continue\":null,\"remainingItemCount\":\"3\"}}",
        "METADATA  continue \"\" remaining -1\nEND\n");
    assert_pods("{\"items\":[],\"metadata\":[1]}", "METADATA  continue \"\" remaining -1\nEND\n");
    assert_pods("{\"items\":[],\"metadata\":{\"remainingItemCount\":1.5}}",
                "METADATA  continue \"\" remaining -1\nEND\n");
}

static void unknown_members_are_passed_over(void **state)
{
    (void)state;
    assert_pods("{\"x\":[1,{\"items\":[]}],\"\":\"items\",\"kind\":\"PodList\",\"y\":{\"metadata\":{}},"
                "\"items\":[" POD("a") "],"
                                       "\"z\":null,\"0\":-1.5e3,\"t\":true}",
                OBJECT("a") "END\n");
}

static void names_of_members_may_be_escaped(void **state)
{
    (void)state;
    assert_pods("{\"k\\u0069nd\":\"P\\u006fdList\",\"\\u0069tems\":[" POD("a") "]}", OBJECT("a") "END\n");
}

static void the_first_of_equal_members_counts(void **state)
{
    (void)state;
    assert_pods(
        "{\"kind\":\"PodList\",\"kind\":\"Status\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[],"
        "\"metadata\":{\"resourceVersion\":\"8\"}}",
        METADATA("7") "END\n");
}

static void items_twice_are_no_list(void **state)
{
    (void)state;
    assert_pods("{\"items\":[" POD("a") "],\"items\":[" POD("b") "]}",
                OBJECT("a") "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list: it has items twice\n");
}

/* ---- what is no list ----------------------------------------------------------------------------------- */

static void what_has_no_items_is_no_list(void **state)
{
    (void)state;
    assert_pods("{}", "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list: it has no items\n");
    assert_pods("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"}}",
                METADATA("7") "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list: it has no items\n");
}

static void items_must_be_an_array(void **state)
{
    (void)state;
    static const char *const wrong[] = {"{}", "{\"0\":" POD("a") "}", "\"\"", "1", "true"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char body[200];
        snprintf(body, sizeof(body), "{\"items\":%s}", wrong[i]);
        assert_pods(body, "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list: its items are no array\n");
    }
}

static void another_kind_ends_the_list_at_once(void **state)
{
    (void)state;
    assert_pods("{\"kind\":\"ServiceList\",\"items\":[" POD("a") "]}",
                "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"ServiceList\"\n");
    assert_pods("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
                "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"Pod\"\n");
    assert_pods("{\"kind\":null,\"items\":[]}",
                "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"\"\n");
    assert_pods(
        "{\"items\":[" POD("a") "],\"kind\":\"Table\"}",
        OBJECT("a") "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"Table\"\n");
}

static void a_recorded_table_is_no_list(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "pods-table.http");
    assert_pods(answer.body.ptr,
                "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"Table\"\n");
    recorded_free(&answer);
}

static void a_recorded_object_is_no_list(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "pods-one.http");
    assert_pods(answer.body.ptr,
                "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"Pod\"\n");
    recorded_free(&answer);
}

static void a_recorded_plain_text_is_no_json(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "error-404-resource.http");
    assert_pods(answer.body.ptr, "FAILED KI_ERR_JSON_SYNTAX 0 JSON: unexpected character at byte 0\n");
    recorded_free(&answer);
}

static void an_empty_body_is_cut(void **state)
{
    (void)state;
    assert_pods("", "FAILED KI_ERR_JSON_TRUNCATED 0 the list ends early, after 0 bytes\n");
    assert_pods(" \n", "FAILED KI_ERR_JSON_TRUNCATED 2 the list ends early, after 2 bytes\n");
}

static void values_that_are_no_object_are_no_list(void **state)
{
    (void)state;
    assert_pods("[]", "FAILED KI_ERR_JSON_SYNTAX 0 JSON: unexpected character at byte 0\n");
    assert_pods(" null", "FAILED KI_ERR_JSON_SYNTAX 1 JSON: unexpected character at byte 1\n");
}

/* A Status that comes with 200, or that is fed to the decoder in spite of its code. */
static void assert_status(const char *body, const char *reason, int code)
{
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, NULL);
    decode_run run;
    ki_list_decoder decoder;
    ki_list_decoder_init(&decoder, plan);
    decode_run_list(&run, &decoder, ki_str_of(body), (decode_split){.piece = 7});
    assert_int_equal(run.code, KI_ERR_NOT_A_LIST);
    if (strstr(run.error.message, reason) == NULL)
        fail_msg("no \"%s\" in \"%s\"", reason, run.error.message);
    assert_true(ki_str_equal(decoder.status.reason, ki_str_of(reason)));
    assert_int_equal(decoder.status.code, code);
    assert_int_equal(run.object_count, 0);
    decode_run_fini(&run);
    ki_list_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void recorded_errors_say_their_reason(void **state)
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

/* ---- kinds --------------------------------------------------------------------------------------------- */

static void lists_of_metadata_and_lists_of_anything_fit_every_resource(void **state)
{
    (void)state;
    assert_pods(
        "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"items\":[{\"kind\":"
        "\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}]}",
        "OBJECT a {\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"
        "{\"name\":\"a\"}}\nEND\n");
    assert_pods("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[" POD("a") "]}", OBJECT("a") "END\n");
}

static void a_list_teaches_the_kind_that_the_resource_does_not_know(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = plan_of(widgets, NULL);
    assert_int_equal(plan->kind.len, 0);
    assert_decodes(
        plan, "{\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\",\"items\":[" POD("a") "]}",
        "OBJECT a "
        "{\"kind\":\"Widget\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}\nEND\n");
    assert_true(ki_str_equal(plan->kind, KI_STR("Widget")));
    assert_true(ki_str_equal(plan->api_version, KI_STR("example.com/v1")));
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void an_item_keeps_the_names_that_it_has(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = plan_of(widgets, NULL);
    assert_decodes(
        plan,
        "{\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\",\"items\":[{\"apiVersion\":\"example.com/"
        "v2\","
        "\"kind\":\"Gadget\",\"metadata\":{\"name\":\"a\"}}]}",
        "OBJECT a "
        "{\"apiVersion\":\"example.com/v2\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"a\"}}\nEND\n");
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void a_kind_that_comes_behind_the_items_is_too_late_for_them(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = plan_of(widgets, NULL);
    decode_run run;
    ki_list_decoder decoder;
    ki_list_decoder_init(&decoder, plan);
    decode_run_list(
        &run, &decoder,
        KI_STR("{\"items\":[" POD("a") "],\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\"}"),
        (decode_split){0});
    assert_log(&run, "OBJECT a {\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}\nEND\n");
    assert_int_equal(ki_object_kind(run.objects[0]).len, 0);
    decode_run_fini(&run);
    ki_list_decoder_fini(&decoder);
    assert_true(ki_str_equal(plan->kind, KI_STR("Widget")));
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void names_that_need_escapes_are_not_learned(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = plan_of(widgets, NULL);
    const char *const expected =
        "OBJECT a {\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}\nEND\n";
    assert_decodes(plan,
                   "{\"kind\":\"W\\\"List\",\"apiVersion\":\"example.com/v1\",\"items\":[" POD("a") "]}",
                   expected);
    assert_decodes(plan,
                   "{\"kind\":\"W\\u0001List\",\"apiVersion\":\"example.com/v1\",\"items\":[" POD("a") "]}",
                   expected);
    assert_decodes(plan, "{\"kind\":\"WidgetList\",\"apiVersion\":\"a\\\\b\",\"items\":[" POD("a") "]}",
                   expected);
    assert_decodes(plan, "{\"kind\":\"WidgetList\",\"apiVersion\":7,\"items\":[" POD("a") "]}", expected);
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void a_plan_without_a_resource_learns_all_names(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(NULL, NULL);
    assert_decodes(plan, PODS("[" POD("a") "]"), METADATA("7") OBJECT("a") "END\n");
    assert_decodes(plan, "{\"kind\":\"Table\"}",
                   "FAILED KI_ERR_NOT_A_LIST 0 the answer is not a list of Pod: its kind is \"Table\"\n");
    ki_object_plan_free(plan);
}

/* ---- items that cannot be used ------------------------------------------------------------------------- */

static void an_item_with_bad_metadata_is_refused_and_the_list_goes_on(void **state)
{
    (void)state;
    assert_pods(PODS("[" POD("a") ",{\"metadata\":{\"name\":\"b\",\"namespace\":\"x\",\"uid\":1}},{\"spec\":{"
                                  "}},null,[],7,\"s\"," POD("c") "]"),
                METADATA("7")
                    OBJECT("a") "REFUSED x/b KI_ERR_METADATA metadata.uid is no string\n"
                                "REFUSED  KI_ERR_METADATA metadata.name is missing\n"
                                "REFUSED  KI_ERR_METADATA the value is no object\n"
                                "REFUSED  KI_ERR_METADATA the value is no object\n"
                                "REFUSED  KI_ERR_METADATA the value is no object\n"
                                "REFUSED  KI_ERR_METADATA the value is no object\n" OBJECT("c") "END\n");
}

static void an_item_that_is_too_large_is_refused_with_its_key(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    char filler[301];
    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = 0;
    char body[1000];
    snprintf(body, sizeof(body),
             "{\"kind\":\"PodList\",\"items\":[" POD(
                 "a") ",{\"metadata\":{\"namespace\":\"n\",\"name\":\"b\"},\"spec\":\"%s\"},{\"spec\":\"%s\","
                      "\"metadata\":{\"namespace\":\"n\",\"name\":\"b\"}}," POD("c") "]}",
             filler, filler);
    assert_decodes(
        plan, body,
        OBJECT("a") "REFUSED n/b KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
                    "REFUSED  KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n" OBJECT(
                        "c") "END\n");
    ki_object_plan_free(plan);
}

static void what_is_dropped_does_not_count_as_size(void **state)
{
    (void)state;
    ki_object_options options = {.drop = (const char *[]){"/spec", NULL}, .bytes_max = 100};
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, &options);
    char body[1000];
    snprintf(body, sizeof(body), "{\"items\":[{\"spec\":\"%0300d\",\"metadata\":{\"name\":\"a\"}}]}", 0);
    assert_decodes(plan, body, OBJECT("a") "END\n");
    ki_object_plan_free(plan);
}

static void an_item_that_is_far_too_large_is_refused_alone(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    char body[2000];
    snprintf(
        body, sizeof(body),
        "{\"items\":[{\"metadata\":{\"name\":\"a\"},\"spec\":\"%01700d\"},{\"metadata\":{\"name\":\"b\"}}]}",
        0);
    assert_decodes(plan, body,
                   "REFUSED a KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
                   "OBJECT b {\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"}}\nEND\n");
    ki_object_plan_free(plan);
}

static void metadata_of_the_list_that_is_too_large_ends_it(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    size_t n = KI_ENVELOPE_TEXT_BYTES_MAX + 100;
    char *body = malloc(n);
    assert_non_null(body);
    snprintf(body, n, "{\"metadata\":{\"continue\":\"%0*d\"},\"items\":[]}", (int)KI_ENVELOPE_TEXT_BYTES_MAX,
             0);
    ki_list_decoder decoder;
    ki_error err = {0};
    size_t used = 0;
    ki_list_decoder_init(&decoder, plan);
    assert_int_equal(ki_list_decoder_feed(&decoder, body, strlen(body), &used, &err), KI_ERR_TOO_LARGE);
    assert_string_equal(err.message, "\"metadata\" of the list is too large");
    ki_list_decoder_fini(&decoder);
    free(body);
    ki_object_plan_free(plan);
}

/* ---- mistakes ------------------------------------------------------------------------------------------ */

static void a_mistake_is_found_at_its_byte(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int code;
        uint64_t offset;
    } cases[] = {
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
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[200];
        snprintf(expected, sizeof(expected), "FAILED %s %d %s at byte %d\n", ki_error_name(cases[i].code),
                 (int)cases[i].offset, ki_error_text(cases[i].code), (int)cases[i].offset);
        assert_decodes(plan, cases[i].body, expected);
    }
    ki_object_plan_free(plan);
}

static void a_mistake_in_an_item_ends_the_list_behind_the_items_before_it(void **state)
{
    (void)state;
    assert_pods(
        "{\"items\":[" POD("a") ",{\"metadata\":{\"name\":\"b\"},\"x\":tru}]}",
        OBJECT(
            "a") "FAILED KI_ERR_JSON_LITERAL 68 JSON: neither a number nor true, false or null at byte 68\n");
    assert_pods("{\"items\":[" POD("a") " " POD("b") "]}",
                OBJECT("a") "FAILED KI_ERR_JSON_SYNTAX 36 JSON: unexpected character at byte 36\n");
    assert_pods("{\"items\":[" POD("a") ",]}",
                OBJECT("a") "FAILED KI_ERR_JSON_SYNTAX 36 JSON: unexpected character at byte 36\n");
}

static void dropped_and_unknown_parts_are_checked_all_the_same(void **state)
{
    (void)state;
    assert_pods("{\"items\":[{\"metadata\":{\"name\":\"a\",\"managedFields\":[01]}}]}",
                "FAILED KI_ERR_JSON_LITERAL 52 JSON: neither a number nor true, false or null at byte 52\n");
    assert_pods("{\"x\":[1,],\"items\":[]}",
                "FAILED KI_ERR_JSON_SYNTAX 8 JSON: unexpected character at byte 8\n");
}

static void what_follows_the_list_must_be_white_space(void **state)
{
    (void)state;
    assert_pods("{\"items\":[]} \n\r\t", "END\n");
    assert_pods("{\"items\":[]} {}",
                "END\nFAILED KI_ERR_JSON_TRAILING 13 JSON: text goes on after the value at byte 13\n");
    assert_pods("{\"items\":[]}x",
                "END\nFAILED KI_ERR_JSON_TRAILING 12 JSON: text goes on after the value at byte 12\n");
}

/* ---- the decoder as such ------------------------------------------------------------------------------- */

static void an_object_that_nobody_takes_is_freed(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, NULL);
    ki_list_decoder decoder;
    ki_error err = {0};
    ki_str body = KI_STR(PODS("[" POD("a") "," POD("b") "]"));
    size_t at = 0;
    int steps[8] = {0}, step = 1;
    ki_list_decoder_init(&decoder, plan);
    for (int i = 0; step > 0 && step != KI_LIST_END; i++) {
        size_t used = 0;
        step = ki_list_decoder_feed(&decoder, body.ptr + at, body.len - at, &used, &err);
        steps[i] = step;
        at += used;
    }
    assert_int_equal(steps[0], KI_LIST_METADATA);
    assert_int_equal(steps[1], KI_LIST_OBJECT);
    assert_int_equal(steps[2], KI_LIST_OBJECT);
    assert_int_equal(steps[3], KI_LIST_END);
    assert_null(ki_list_decoder_take_object(&decoder));
    assert_int_equal(ki_list_decoder_end(&decoder, &err), 0);
    ki_list_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void an_object_is_given_out_with_its_last_byte(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, NULL);
    ki_list_decoder decoder;
    ki_error err = {0};
    size_t used = 0;
    ki_str part = KI_STR("{\"items\":[" POD("a"));
    ki_list_decoder_init(&decoder, plan);
    assert_int_equal(ki_list_decoder_feed(&decoder, part.ptr, part.len - 1, &used, &err), KI_LIST_MORE);
    assert_int_equal(ki_list_decoder_feed(&decoder, part.ptr + used, 1, &used, &err), KI_LIST_OBJECT);
    ki_object *object = ki_list_decoder_take_object(&decoder);
    assert_string_equal(ki_object_key(object), "a");
    assert_null(ki_list_decoder_take_object(&decoder));
    ki_list_decoder_fini(&decoder);
    ki_object_plan_free(plan);
    assert_string_equal(ki_object_key(object), "a");
    ki_object_unref(object);
}

static void feeding_nothing_changes_nothing(void **state)
{
    (void)state;
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, NULL);
    ki_list_decoder decoder;
    ki_error err = {0};
    size_t used = 7;
    ki_list_decoder_init(&decoder, plan);
    assert_int_equal(ki_list_decoder_feed(&decoder, NULL, 0, &used, &err), KI_LIST_MORE);
    assert_int_equal(used, 0);
    assert_int_equal(ki_list_decoder_end(&decoder, &err), KI_ERR_JSON_TRUNCATED);
    ki_list_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void a_projection_keeps_less_and_the_key_whatever_it_keeps(void **state)
{
    (void)state;
    ki_object_options options = {.keep = (const char *[]){"/spec/nodeName", NULL}};
    ki_object_plan *plan = plan_of(&KI_CORE_V1_PODS, &options);
    assert_decodes(plan,
                   "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},"
                   "\"spec\":{\"x\":1,\"nodeName\":"
                   "\"n1\"}},{\"metadata\":{\"name\":\"b\",\"uid\":[]}}," POD("c") "]}",
                   "OBJECT n/a {\"spec\":{\"nodeName\":\"n1\"}}\n"
                   "REFUSED b KI_ERR_METADATA metadata.uid is no string\nOBJECT c {}\nEND\n");
    ki_object_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_and_metadata_come_in_the_order_of_the_body),
        cmocka_unit_test(white_space_may_stand_between_all_tokens),
        cmocka_unit_test(a_list_without_objects_is_one),
        cmocka_unit_test(list_metadata_is_read_whole),
        cmocka_unit_test(list_metadata_of_a_wrong_type_counts_as_missing),
        cmocka_unit_test(unknown_members_are_passed_over),
        cmocka_unit_test(names_of_members_may_be_escaped),
        cmocka_unit_test(the_first_of_equal_members_counts),
        cmocka_unit_test(items_twice_are_no_list),
        cmocka_unit_test(what_has_no_items_is_no_list),
        cmocka_unit_test(items_must_be_an_array),
        cmocka_unit_test(another_kind_ends_the_list_at_once),
        cmocka_unit_test(a_recorded_table_is_no_list),
        cmocka_unit_test(a_recorded_object_is_no_list),
        cmocka_unit_test(a_recorded_plain_text_is_no_json),
        cmocka_unit_test(an_empty_body_is_cut),
        cmocka_unit_test(values_that_are_no_object_are_no_list),
        cmocka_unit_test(recorded_errors_say_their_reason),
        cmocka_unit_test(members_of_a_status_come_in_any_order),
        cmocka_unit_test(lists_of_metadata_and_lists_of_anything_fit_every_resource),
        cmocka_unit_test(a_list_teaches_the_kind_that_the_resource_does_not_know),
        cmocka_unit_test(an_item_keeps_the_names_that_it_has),
        cmocka_unit_test(a_kind_that_comes_behind_the_items_is_too_late_for_them),
        cmocka_unit_test(names_that_need_escapes_are_not_learned),
        cmocka_unit_test(a_plan_without_a_resource_learns_all_names),
        cmocka_unit_test(an_item_with_bad_metadata_is_refused_and_the_list_goes_on),
        cmocka_unit_test(an_item_that_is_too_large_is_refused_with_its_key),
        cmocka_unit_test(what_is_dropped_does_not_count_as_size),
        cmocka_unit_test(an_item_that_is_far_too_large_is_refused_alone),
        cmocka_unit_test(metadata_of_the_list_that_is_too_large_ends_it),
        cmocka_unit_test(a_mistake_is_found_at_its_byte),
        cmocka_unit_test(a_mistake_in_an_item_ends_the_list_behind_the_items_before_it),
        cmocka_unit_test(dropped_and_unknown_parts_are_checked_all_the_same),
        cmocka_unit_test(what_follows_the_list_must_be_white_space),
        cmocka_unit_test(an_object_that_nobody_takes_is_freed),
        cmocka_unit_test(an_object_is_given_out_with_its_last_byte),
        cmocka_unit_test(feeding_nothing_changes_nothing),
        cmocka_unit_test(a_projection_keeps_less_and_the_key_whatever_it_keeps),
    };
    return RUN_TESTS(tests);
}
