/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/watch_decoder.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/decode_expect.h"
#include "support/unit.h"

#define POD(name) "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(metadata)                                                                                   \
    EVENT("BOOKMARK", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":" metadata "}")

/* ---- objects ------------------------------------------------------------------------------------------- */

static void events_are_delivered_in_order(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        EVENT("ADDED", POD("a")) EVENT("MODIFIED", POD("b")) EVENT("DELETED", POD("c"))
            EVENT("ADDED", POD("a")),
        "ADDED a " POD("a") "\nMODIFIED b " POD("b") "\nDELETED c " POD("c") "\nADDED a " POD("a") "\n");
}

static void an_empty_stream_has_no_event_and_no_error(void **state)
{
    (void)state;
    decode_assert_pod_watch("", "");
    decode_assert_pod_watch("\n \r\n\t", "");
}

static void events_need_no_separate_lines(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        "\r\n\n{ \"type\" :\n\"ADDED\" ,\t\"object\" : " POD("a") " }{\"type\":\"DELETED\",\"object\":" POD(
            "b") "}\n\n \n" EVENT("ADDED", POD("c")) "\n",
        "ADDED a " POD("a") "\nDELETED b " POD("b") "\nADDED c " POD("c") "\n");
}

static void kind_and_api_version_are_supplied(void **state)
{
    (void)state;
    decode_assert_pod_watch(EVENT("ADDED", "{\"metadata\":{\"name\":\"a\"}}"), "ADDED a " POD("a") "\n");
}

static void the_object_may_come_before_the_type(void **state)
{
    (void)state;
    decode_assert_pod_watch("{\"object\":" POD("a") ",\"type\":\"ADDED\"}", "ADDED a " POD("a") "\n");
    decode_assert_pod_watch(
        "{\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}},\"x\":1,\"type\":\"BOOKMARK\"}",
        "BOOKMARK 9\n");
    decode_assert_pod_watch(
        "{\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"},\"type\":\"ERROR\"}",
        "ERROR 410 Expired \n");
    decode_assert_pod_watch(
        "{\"object\":{\"metadata\":{\"name\":\"a\",\"managedFields\":[{}],\"annotations\":{\"x\":"
        "\"\\u003c\"}}},"
        "\"type\":\"DELETED\"}" EVENT("ADDED", POD("b")),
        "DELETED a "
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"annotations\":{\"x\":"
        "\"<\"}}}\n"
        "ADDED b " POD("b") "\n");
}

static void names_and_types_may_be_escaped(void **state)
{
    (void)state;
    decode_assert_pod_watch("{\"t\\u0079pe\":\"\\u0041DDED\",\"\\u006fbject\":" POD("a") "}",
                            "ADDED a " POD("a") "\n");
}

static void unknown_members_are_skipped(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        "{\"a\":{\"type\":\"DELETED\"},\"type\":\"ADDED\",\"b\":[1,2],\"object\":" POD("a") ",\"\":null}",
        "ADDED a " POD("a") "\n");
}

static void the_first_of_equal_members_counts(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        "{\"type\":\"ADDED\",\"type\":\"DELETED\",\"object\":" POD("a") ",\"object\":" POD("b") "}",
        "ADDED a " POD("a") "\n");
    decode_assert_pod_watch(
        "{\"object\":" POD("a") ",\"object\":" POD("b") ",\"type\":\"ADDED\",\"type\":\"DELETED\"}",
        "ADDED a " POD("a") "\n");
}

static void an_event_is_delivered_with_its_last_byte(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    ki_watch_decoder decoder;
    ki_error err = {0};
    ki_str event = KI_STR("{\"type\":\"ADDED\",\"object\":" POD("a") "}");
    ki_watch_decoder_init(&decoder, plan);
    for (int round = 0; round < 2; round++) {
        size_t used = 0;
        assert_int_equal(ki_watch_decoder_feed(&decoder, event.ptr, event.len - 1, &used, &err),
                         KI_WATCH_MORE);
        assert_int_equal(used, event.len - 1);
        assert_int_equal(ki_watch_decoder_feed(&decoder, event.ptr + used, 1, &used, &err), KI_CHANGE_ADDED);
        assert_int_equal(used, 1);
        assert_int_equal(ki_watch_decoder_end(&decoder, &err), 0);
        ki_object *object = ki_decoded_take_object(&decoder.decoded);
        assert_string_equal(ki_object_key(object), "a");
        assert_null(ki_decoded_take_object(&decoder.decoded));
        ki_object_unref(object);
    }
    ki_watch_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void an_object_that_is_not_consumed_is_freed(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    ki_watch_decoder decoder;
    ki_error err = {0};
    ki_str body = KI_STR(EVENT("ADDED", POD("a")) EVENT("ADDED", POD("b")));
    size_t used = 0, more = 0;
    ki_watch_decoder_init(&decoder, plan);
    assert_int_equal(ki_watch_decoder_feed(&decoder, body.ptr, body.len, &used, &err), KI_CHANGE_ADDED);
    assert_int_equal(ki_watch_decoder_feed(&decoder, body.ptr + used, body.len - used, &more, &err),
                     KI_CHANGE_ADDED);
    ki_watch_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

/* ---- bookmarks ----------------------------------------------------------------------------------------- */

static void a_bookmark_has_a_version(void **state)
{
    (void)state;
    decode_assert_pod_watch(BOOKMARK("{\"resourceVersion\":\"12746\",\"creationTimestamp\":null}"),
                            "BOOKMARK 12746\n");
    decode_assert_pod_watch(BOOKMARK("{\"resourceVersion\":\"\\u0031\\u0032\"}"), "BOOKMARK 12\n");
}

static void a_bookmark_may_have_no_version(void **state)
{
    (void)state;
    decode_assert_pod_watch(BOOKMARK("{}"), "BOOKMARK \n");
    decode_assert_pod_watch(BOOKMARK("null"), "BOOKMARK \n");
    decode_assert_pod_watch(BOOKMARK("{\"resourceVersion\":12}"), "BOOKMARK \n");
    decode_assert_pod_watch(BOOKMARK("{\"resourceVersion\":\"\"}"), "BOOKMARK \n");
    decode_assert_pod_watch(EVENT("BOOKMARK", "null"), "BOOKMARK \n");
}

static void the_version_of_a_bookmark_is_not_that_of_the_next(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        BOOKMARK("{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}")
            BOOKMARK("{}") BOOKMARK("{\"resourceVersion\":\"10\"}"),
        "BOOKMARK 9 INITIAL\nBOOKMARK \nBOOKMARK 10\n");
}

static void a_bookmark_may_end_the_initial_events(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        BOOKMARK("{\"annotations\":{\"k8s.io/initial-events-end\":\"true\"},\"resourceVersion\":\"9\"}"),
        "BOOKMARK 9 INITIAL\n");
    decode_assert_pod_watch(
        BOOKMARK(
            "{\"annotations\":{\"k8s.io/initial-events-end\":\"tru\\u0065\"},\"resourceVersion\":\"9\"}"),
        "BOOKMARK 9 INITIAL\n");
    decode_assert_pod_watch(
        BOOKMARK("{\"annotations\":{\"k8s.io/initial-events-end\":\"false\"},\"resourceVersion\":\"9\"}"),
        "BOOKMARK 9\n");
    decode_assert_pod_watch(
        BOOKMARK("{\"annotations\":{\"k8s.io/initial-events-end\":true},\"resourceVersion\":\"9\"}"),
        "BOOKMARK 9\n");
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static void an_error_has_its_status(void **state)
{
    (void)state;
    decode_assert_pod_watch(EVENT("ERROR",
                                  "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                                  "\"message\":\"too \\u003c old\\n\","
                                  "\"reason\":\"Expired\",\"code\":410,\"details\":{\"retryAfterSeconds\":3,"
                                  "\"causes\":[{\"reason\":\"A\","
                                  "\"message\":\"m\"},{\"reason\":\"B\"}]}}"),
                            "ERROR 410 Expired too < old\n retry after 3 [A] m [B] \n");
}

static void an_error_without_a_status_is_still_an_error(void **state)
{
    (void)state;
    decode_assert_pod_watch(EVENT("ERROR", "{\"kind\":\"Pod\",\"code\":3}") EVENT("ERROR", "null")
                                EVENT("ERROR", "[]"),
                            "ERROR 0  \nERROR 0  \nERROR 0  \n");
}

static void the_status_of_an_error_is_not_that_of_the_next(void **state)
{
    (void)state;
    decode_assert_pod_watch(EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Gone\"}")
                                EVENT("ERROR", "{}") EVENT("ERROR", "{\"kind\":\"Status\",\"code\":429}"),
                            "ERROR 410 Gone \nERROR 0  \nERROR 429  \n");
}

static void bookmarks_and_errors_are_not_projected(void **state)
{
    (void)state;
    ki_object_options options = {.keep = (const char *[]){"/spec/nodeName", NULL}};
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &options);
    static const char *const objects[] = {
        "{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}",
        "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"m\",\"details\":{"
        "\"retryAfterSeconds\":1}}",
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":{\"x\":[1],\"nodeName\":\"n1\"},"
        "\"status\":{}}"};
    static const char *const types[] = {"BOOKMARK", "ERROR", "MODIFIED"};
    char first[1000] = "", last[1000] = "";
    for (int i = 0; i < 3; i++) {
        char event[400];
        snprintf(event, sizeof(event), "{\"type\":\"%s\",\"object\":%s}\n", types[i], objects[i]);
        strcat(first, event);
        snprintf(event, sizeof(event), "{\"object\":%s,\"type\":\"%s\"}\n", objects[i], types[i]);
        strcat(last, event);
    }
    const char *const expected = "BOOKMARK 9 INITIAL\nERROR 410 Expired m retry after 1\n"
                                 "MODIFIED n/a {\"spec\":{\"nodeName\":\"n1\"}}\n";
    decode_assert_watch(plan, first, expected);
    decode_assert_watch(plan, last, expected);
    ki_object_plan_free(plan);
}

/* ---- refused events ------------------------------------------------------------------------------------ */

static void an_unknown_type_is_refused_with_the_key(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        EVENT("RENAMED", "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}") EVENT("ADDED", POD("b")),
        "REFUSED NONE n/a KI_ERR_NOT_AN_EVENT unknown event type \"RENAMED\"\nADDED b " POD("b") "\n");
    decode_assert_pod_watch(
        "{\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}},\"type\":\"added\"}",
        "REFUSED NONE n/a KI_ERR_NOT_AN_EVENT unknown event type \"added\"\n");
    decode_assert_pod_watch("{\"type\":7,\"object\":" POD("a") "}",
                            "REFUSED NONE a KI_ERR_NOT_AN_EVENT unknown event type \"\"\n");
    decode_assert_pod_watch("{\"type\":null,\"object\":" POD("a") "}{\"type\":\"\",\"object\":null}",
                            "REFUSED NONE a KI_ERR_NOT_AN_EVENT unknown event type \"\"\n"
                            "REFUSED NONE  KI_ERR_NOT_AN_EVENT unknown event type \"\"\n");
}

static void a_very_long_type_is_unknown(void **state)
{
    (void)state;
    static const size_t limits[] = {0, 100}; /* limits of objects; a type has its own limit */
    char *body = malloc(10000);
    assert_non_null(body);
    for (size_t i = 0; i < 2; i++) {
        ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = limits[i]});
        snprintf(body, 10000, "{\"type\":\"%08000d\",\"object\":" POD("a") "}" EVENT("ADDED", POD("b")), 0);
        decode_assert_watch(
            plan, body, "REFUSED NONE a KI_ERR_NOT_AN_EVENT unknown event type \"\"\nADDED b " POD("b") "\n");
        ki_object_plan_free(plan);
    }
    free(body);
}

static void a_missing_part_is_named(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        "{}" EVENT("ADDED", POD("b")),
        "REFUSED NONE  KI_ERR_NOT_AN_EVENT the event has no type\nADDED b " POD("b") "\n");
    decode_assert_pod_watch("{\"type\":\"ADDED\"}\n{\"type\":\"X\"}\n{\"object\":" POD("a") "}",
                            "REFUSED ADDED  KI_ERR_NOT_AN_EVENT the event has no object\n"
                            "REFUSED NONE  KI_ERR_NOT_AN_EVENT the event has no object\n"
                            "REFUSED NONE a KI_ERR_NOT_AN_EVENT the event has no type\n");
}

static void an_object_with_bad_metadata_is_refused(void **state)
{
    (void)state;
    decode_assert_pod_watch(EVENT("ADDED", "null") EVENT("MODIFIED", "[]")
                                EVENT("DELETED", "{\"metadata\":{\"name\":\"a\",\"uid\":1}}")
                                    EVENT("ADDED", "{}") EVENT("ADDED", POD("b")),
                            "REFUSED ADDED  KI_ERR_METADATA the value is not an object\n"
                            "REFUSED MODIFIED  KI_ERR_METADATA the value is not an object\n"
                            "REFUSED DELETED a KI_ERR_METADATA metadata.uid is not a string\n"
                            "REFUSED ADDED  KI_ERR_METADATA metadata.name is missing\n"
                            "ADDED b " POD("b") "\n");
}

static void an_object_that_is_too_large_is_refused_with_its_key(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    char body[4000];
    const char *const format =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":\"%"
        "0200d\"}}\n"
        "{\"type\":\"ADDED\",\"object\":{\"spec\":\"%0200d\",\"metadata\":{\"name\":\"a\",\"namespace\":"
        "\"n\"}}}\n"
        "{\"type\":\"X\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":\"%0200d\"}}"
        "\n"
        "{\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":\"%0200d\"},\"type\":"
        "\"DELETED\"}\n" EVENT("ADDED", POD("b"));
    snprintf(body, sizeof(body), format, 0, 0, 0, 0);
    decode_assert_watch(
        plan, body,
        "REFUSED ADDED n/a KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
        "REFUSED ADDED  KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
        "REFUSED NONE n/a KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
        "REFUSED DELETED n/a KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
        "ADDED b " POD("b") "\n");
    ki_object_plan_free(plan);
}

/* The limit applies to the kept part of objects: not to dropped fields,
 * nor to an object that waits for its type. */
static void bookmarks_and_waiting_objects_have_their_own_limits(void **state)
{
    (void)state;
    static const char *const keep[] = {"/spec", NULL};
    ki_object_plan *plan =
        decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.keep = keep, .bytes_max = 100});
    char body[9000];
    const char *const format =
        "{\"type\":\"BOOKMARK\",\"object\":{\"spec\":\"%0200d\",\"metadata\":{\"resourceVersion\":\"7\"}}}\n"
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"},\"spec\":1,\"status\":\"%02000d\"}}\n"
        "{\"object\":{\"metadata\":{\"name\":\"a\"},\"spec\":1,\"status\":\"%02000d\"},\"type\":\"ADDED\"}\n";
    snprintf(body, sizeof(body), format, 0, 0, 0);
    decode_assert_watch(plan, body, "BOOKMARK 7\nADDED a {\"spec\":1}\nADDED a {\"spec\":1}\n");
    ki_object_plan_free(plan);
}

/* Feeds one event in one piece to a decoder in which `waiting_max` bytes may wait for a type (0: the
 * default). */
static void assert_event(const char *event, size_t waiting_max, const char *expected)
{
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    decode_run run;
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, KI_BODY_JSON_WATCH, plan);
    if (waiting_max > 0)
        decoder.as.json_watch.value.max = waiting_max;
    decode_run_decoder(&run, &decoder, ki_str_of(event), (decode_split){.piece = 4000});
    decode_assert_log(&run, expected);
    decode_run_fini(&run);
    ki_body_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void an_object_that_waits_for_its_type_has_a_limit_and_a_key(void **state)
{
    (void)state;
    char event[1000];
    snprintf(event, sizeof(event),
             "{\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":\"%0500d\"},\"type\":"
             "\"DELETED\"}\n",
             0);
    assert_event(event, 200,
                 "REFUSED DELETED n/a KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n");
    snprintf(event, sizeof(event), "{\"object\":{\"metadata\":{\"name\":\"a\"},\"spec\":\"%0500d\"}}\n", 0);
    assert_event(event, 200, "REFUSED NONE a KI_ERR_NOT_AN_EVENT the event has no type\n");
}

static void bookmarks_and_errors_that_are_too_large_are_refused(void **state)
{
    (void)state;
    const size_t n = KI_ENVELOPE_TEXT_BYTES_MAX + 100;
    char *event = malloc(n);
    assert_non_null(event);
    snprintf(event, n, "{\"type\":\"BOOKMARK\",\"object\":{\"spec\":\"%0*d\"}}",
             (int)KI_ENVELOPE_TEXT_BYTES_MAX, 0);
    assert_event(event, 0,
                 "REFUSED BOOKMARK  KI_ERR_TOO_LARGE the object is larger than the limit of 1048576 bytes\n");
    snprintf(event, n, "{\"type\":\"ERROR\",\"object\":{\"message\":\"%0*d\"}}",
             (int)KI_ENVELOPE_TEXT_BYTES_MAX, 0);
    assert_event(event, 0,
                 "REFUSED ERROR  KI_ERR_TOO_LARGE the object is larger than the limit of 1048576 bytes\n");
    free(event);
}

/* ---- malformed streams --------------------------------------------------------------------------------- */

static void an_error_ends_the_stream_at_its_byte(void **state)
{
    (void)state;
    static const decode_mistake mistakes[] = {
        {"404 page not found", KI_ERR_JSON_SYNTAX, 0},
        {"[]", KI_ERR_JSON_SYNTAX, 0},
        {"\n{]", KI_ERR_JSON_SYNTAX, 2},
        {"{\"type\":\"ADDED\",}", KI_ERR_JSON_SYNTAX, 16},
        {"{\"type\" \"ADDED\"}", KI_ERR_JSON_SYNTAX, 8},
        {"{\"type\":\"ADDED\" \"object\":{}}", KI_ERR_JSON_SYNTAX, 16},
        {"{\"type\":\"A\\q\"}", KI_ERR_JSON_ESCAPE, 11},
        {"{\"type\":\"ADDED\",\"object\":{\"a\":1,}}", KI_ERR_JSON_SYNTAX, 32},
        {"{\"type\":\"ADDED\",\"object\":}", KI_ERR_JSON_SYNTAX, 25},
        {"{\"x\":[tru],\"type\":\"ADDED\"}", KI_ERR_JSON_LITERAL, 9},
    };
    decode_assert_mistakes(KI_BODY_JSON_WATCH, mistakes, sizeof(mistakes) / sizeof(mistakes[0]));
}

static void offsets_count_from_the_beginning_of_the_stream(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        "{\"type\":\"BOOKMARK\",\"object\":{}}\n{\"type\":\"BOOKMARK\",\"object\":{}}\n{,",
        "BOOKMARK \nBOOKMARK \nFAILED KI_ERR_JSON_SYNTAX 65 JSON: unexpected character at byte 65\n");
}

static void a_stream_that_ends_within_an_event_is_truncated(void **state)
{
    (void)state;
    decode_assert_pod_watch("{\"type\":\"BOOKMARK\",\"object\":{}}\n{",
                            "BOOKMARK \nFAILED KI_ERR_JSON_TRUNCATED 33 JSON: text ends inside "
                            "a value at byte 33\n");
    decode_assert_pod_watch("{\"type\":\"BOOKMARK\",\"object\":{}",
                            "FAILED KI_ERR_JSON_TRUNCATED 30 JSON: text ends inside a value at byte 30\n");
}

static void feeding_nothing_changes_nothing(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    ki_watch_decoder decoder;
    ki_error err = {0};
    size_t used = 7;
    ki_watch_decoder_init(&decoder, plan);
    assert_int_equal(ki_watch_decoder_feed(&decoder, NULL, 0, &used, &err), KI_WATCH_MORE);
    assert_int_equal(used, 0);
    assert_int_equal(ki_watch_decoder_end(&decoder, &err), 0);
    ki_watch_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_delivered_in_order),
        cmocka_unit_test(an_empty_stream_has_no_event_and_no_error),
        cmocka_unit_test(events_need_no_separate_lines),
        cmocka_unit_test(kind_and_api_version_are_supplied),
        cmocka_unit_test(the_object_may_come_before_the_type),
        cmocka_unit_test(names_and_types_may_be_escaped),
        cmocka_unit_test(unknown_members_are_skipped),
        cmocka_unit_test(the_first_of_equal_members_counts),
        cmocka_unit_test(an_event_is_delivered_with_its_last_byte),
        cmocka_unit_test(an_object_that_is_not_consumed_is_freed),
        cmocka_unit_test(a_bookmark_has_a_version),
        cmocka_unit_test(a_bookmark_may_have_no_version),
        cmocka_unit_test(the_version_of_a_bookmark_is_not_that_of_the_next),
        cmocka_unit_test(a_bookmark_may_end_the_initial_events),
        cmocka_unit_test(an_error_has_its_status),
        cmocka_unit_test(an_error_without_a_status_is_still_an_error),
        cmocka_unit_test(the_status_of_an_error_is_not_that_of_the_next),
        cmocka_unit_test(bookmarks_and_errors_are_not_projected),
        cmocka_unit_test(an_unknown_type_is_refused_with_the_key),
        cmocka_unit_test(a_very_long_type_is_unknown),
        cmocka_unit_test(a_missing_part_is_named),
        cmocka_unit_test(an_object_with_bad_metadata_is_refused),
        cmocka_unit_test(an_object_that_is_too_large_is_refused_with_its_key),
        cmocka_unit_test(bookmarks_and_waiting_objects_have_their_own_limits),
        cmocka_unit_test(an_object_that_waits_for_its_type_has_a_limit_and_a_key),
        cmocka_unit_test(bookmarks_and_errors_that_are_too_large_are_refused),
        cmocka_unit_test(an_error_ends_the_stream_at_its_byte),
        cmocka_unit_test(offsets_count_from_the_beginning_of_the_stream),
        cmocka_unit_test(a_stream_that_ends_within_an_event_is_truncated),
        cmocka_unit_test(feeding_nothing_changes_nothing),
    };
    return RUN_TESTS(tests);
}
