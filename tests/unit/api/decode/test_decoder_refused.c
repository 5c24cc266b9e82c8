/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that are malformed but whose end is known: only they are refused, and what follows is read. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/decode_expect.h"
#include "support/unit.h"

#define POD(name) "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\"}}"
#define ITEMS(items) "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[" items "]}"
#define NO_METADATA "METADATA  continue \"\" remaining -1\n"

/* Malformed values of a member after the names, and their errors. */
static const struct {
    const char *value;
    int code;
    int at; /* position in the value */
} wrongs[] = {
    {"\"\\ud800\"", KI_ERR_JSON_ESCAPE, 7},
    {"\"\\udc00\\ud800\"", KI_ERR_JSON_ESCAPE, 6},
    {"\"\\ud800\\n{\"", KI_ERR_JSON_ESCAPE, 8},
    {"\"\\q}\"", KI_ERR_JSON_ESCAPE, 2},
    {"\"\\u12\",\"b\":\"\\\"]\"", KI_ERR_JSON_ESCAPE, 5},
    {"\"\xff\"", KI_ERR_JSON_UTF8, 1},
    {"[\"\xc3\",{\"b\":\"\xa9\"}]", KI_ERR_JSON_UTF8, 3},
    {"\"a\nb\x01\"", KI_ERR_JSON_CONTROL, 2},
    {"[[[[[[[{\"a\":[]},1]]]]]]]", KI_ERR_JSON_DEPTH, 5},
    {"{\"a\":[[[[{\"}\":\"]\"}]]]],\"b\":{\"c\":{\"d\":[[[0]]]}}}", KI_ERR_JSON_DEPTH, 9},
    {"[[[[[[\"\\ud800\"]]]]]]", KI_ERR_JSON_DEPTH, 5},
    {"[\"\\ud800\",[[[[[]]]]]]", KI_ERR_JSON_ESCAPE, 8},
};

enum { WRONGS = sizeof(wrongs) / sizeof(wrongs[0]), DEPTH_MAX = 6 };

static ki_object_plan *shallow_plan(void)
{
    return decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.depth_max = DEPTH_MAX});
}

/* The text of an error whose value begins `shift` bytes into the body. */
static void explain(char *out, size_t bytes, size_t wrong, size_t shift)
{
    snprintf(out, bytes, "%s %s at byte %zu", ki_error_name(wrongs[wrong].code),
             ki_error_text(wrongs[wrong].code), shift + (size_t)wrongs[wrong].at);
}

static void an_item_is_refused_with_its_key_and_the_list_continues(void **state)
{
    (void)state;
    static const char before[] = "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[" POD("a") ",";
    static const char item[] = "{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"spec\":";
    ki_object_plan *plan = shallow_plan();
    for (size_t i = 0; i < WRONGS; i++) {
        char body[600], expected[600], why[200];
        snprintf(body, sizeof(body), "%s%s%s},%s]}", before, item, wrongs[i].value, POD("c"));
        explain(why, sizeof(why), i, sizeof(before) - 1 + sizeof(item) - 1);
        snprintf(expected, sizeof(expected),
                 NO_METADATA "OBJECT a " POD("a") "\nREFUSED n/b %s\nOBJECT c " POD("c") "\nEND\n", why);
        decode_assert_list(plan, body, expected);
    }
    ki_object_plan_free(plan);
}

static void an_event_is_refused_with_its_key_and_the_watch_continues(void **state)
{
    (void)state;
    static const char event[] =
        "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"spec\":";
    ki_object_plan *plan = shallow_plan();
    for (size_t i = 0; i < WRONGS; i++) {
        char body[600], expected[600], why[200];
        snprintf(body, sizeof(body), "%s%s}}\n{\"type\":\"ADDED\",\"object\":%s}\n", event, wrongs[i].value,
                 POD("c"));
        explain(why, sizeof(why), i, sizeof(event) - 1);
        snprintf(expected, sizeof(expected), "REFUSED MODIFIED n/b %s\nADDED c " POD("c") "\n", why);
        decode_assert_watch(plan, body, expected);
    }
    ki_object_plan_free(plan);
}

static void an_object_before_its_type_is_also_refused(void **state)
{
    (void)state;
    static const char event[] = "{\"object\":{\"spec\":";
    ki_object_plan *plan = shallow_plan();
    for (size_t i = 0; i < WRONGS; i++) {
        char body[600], expected[600], why[200];
        snprintf(body, sizeof(body), "%s%s,\"metadata\":{\"name\":\"b\"}},\"type\":\"DELETED\"}\n%s", event,
                 wrongs[i].value, "{\"type\":\"BOOKMARK\",\"object\":{}}");
        explain(why, sizeof(why), i, sizeof(event) - 1);
        snprintf(expected, sizeof(expected), "REFUSED DELETED b %s\nBOOKMARK \n", why);
        decode_assert_watch(plan, body, expected);
    }
    ki_object_plan_free(plan);
}

static void bookmarks_and_errors_are_refused_as_such(void **state)
{
    (void)state;
    decode_assert_pod_watch(
        "{\"type\":\"BOOKMARK\",\"object\":{\"a\":\"\\x\"}}"
        "{\"type\":\"ERROR\",\"object\":{\"a\":\"\\x\"}}"
        "{\"type\":\"NEW\",\"object\":{\"a\":\"\\x\"}}",
        "REFUSED BOOKMARK  KI_ERR_JSON_ESCAPE JSON: malformed escape or lone surrogate in a string at byte "
        "35\n"
        "REFUSED ERROR  KI_ERR_JSON_ESCAPE JSON: malformed escape or lone surrogate in a string at byte 71\n"
        "REFUSED NONE  KI_ERR_JSON_ESCAPE JSON: malformed escape or lone surrogate in a string at byte "
        "105\n");
}

/* A key must be one that an object can have. */
static void a_malformed_name_is_not_a_key(void **state)
{
    (void)state;
    static const char *const names[] = {"a\\ud800", "a\\q", "a\xff", "\xc3", "a\nb"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int in_namespace = 0; in_namespace < 2; in_namespace++) {
            char body[300];
            ki_body_decoder decoder;
            decode_run run;
            ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
            snprintf(body, sizeof(body), ITEMS("{\"metadata\":{\"%s\":\"%s\",\"%s\":\"b\"}}"),
                     in_namespace ? "namespace" : "name", names[i], in_namespace ? "name" : "namespace");
            ki_body_decoder_init(&decoder, KI_BODY_JSON_LIST, plan);
            decode_run_decoder(&run, &decoder, ki_str_of(body), (decode_split){0});
            assert_int_equal(run.code, 0);
            assert_int_equal(run.refused_count, 1);
            assert_int_equal(ki_body_decoder_result(&decoder)->refused.key.len, 0);
            decode_run_fini(&run);
            ki_body_decoder_fini(&decoder);
            ki_object_plan_free(plan);
        }
    }
}

static void very_deep_items_are_skipped(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *body = malloc(8 * DEPTH + 500);
    assert_non_null(body);
    char *at = body + sprintf(body, "%s", "{\"items\":[{\"metadata\":{\"name\":\"b\"},\"x\":");
    for (int i = 0; i < DEPTH; i++)
        at += sprintf(at, "%s", i % 2 == 0 ? "{\"a\":" : "[1,");
    at += sprintf(at, "null");
    for (int i = DEPTH - 1; i >= 0; i--)
        *at++ = i % 2 == 0 ? '}' : ']';
    sprintf(at, "},%s]}", POD("c"));
    decode_assert_pod_list(
        body,
        "REFUSED b KI_ERR_JSON_DEPTH JSON: nested too deeply at byte 4036\nOBJECT c " POD("c") "\nEND\n");
    free(body);
}

/* Malformed brackets, commas or words end the list, and the first error is reported. */
static void other_errors_after_it_end_the_list(void **state)
{
    (void)state;
    static const char *const items[] = {"{\"a\":\"\\x\"]", "{\"a\":\"\\x\",}", "{\"a\":\"\\x\",\"b\":tru}",
                                        "{\"a\":\"\\x\" \"b\"}", "[\"\\x\\x\":1]"};
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        char body[100], expected[200];
        int at = items[i][0] == '[' ? 13 : 17;
        snprintf(body, sizeof(body), "{\"items\":[%s]}", items[i]);
        snprintf(
            expected, sizeof(expected),
            "FAILED KI_ERR_JSON_ESCAPE %d JSON: malformed escape or lone surrogate in a string at byte %d\n",
            at, at);
        decode_assert_pod_list(body, expected);
    }
}

static void a_list_that_ends_in_a_refused_item_is_truncated(void **state)
{
    (void)state;
    decode_assert_pod_list("{\"items\":[{\"a\":\"\\x\",",
                           "FAILED KI_ERR_JSON_TRUNCATED 20 the list ends early, after 20 bytes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_refused_with_its_key_and_the_list_continues),
        cmocka_unit_test(an_event_is_refused_with_its_key_and_the_watch_continues),
        cmocka_unit_test(an_object_before_its_type_is_also_refused),
        cmocka_unit_test(bookmarks_and_errors_are_refused_as_such),
        cmocka_unit_test(a_malformed_name_is_not_a_key),
        cmocka_unit_test(very_deep_items_are_skipped),
        cmocka_unit_test(other_errors_after_it_end_the_list),
        cmocka_unit_test(a_list_that_ends_in_a_refused_item_is_truncated),
    };
    return RUN_TESTS(tests);
}
