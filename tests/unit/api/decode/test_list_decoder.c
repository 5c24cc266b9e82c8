/* SPDX-License-Identifier: Apache-2.0 */
/* Valid lists: their structure, their kinds, and items that are refused. */
#include "api/decode/list_decoder.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- structure ----------------------------------------------------------------------------------------- */

static void items_and_metadata_are_delivered_in_the_order_of_the_body(void **state)
{
    (void)state;
    decode_assert_pod_list(PODS("[" POD("a") "," POD("b") "]"),
                           METADATA("7") OBJECT("a") OBJECT("b") "END\n");
    decode_assert_pod_list("{\"items\":[" POD("a") "," POD("b") "],\"metadata\":{\"resourceVersion\":\"7\"},"
                                                                "\"apiVersion\":\"v1\",\"kind\":\"PodList\"}",
                           OBJECT("a") OBJECT("b") METADATA("7") "END\n");
}

static void white_space_is_allowed_between_all_tokens(void **state)
{
    (void)state;
    decode_assert_pod_list(
        " \r\n{ \"kind\" : \"PodList\" ,\n\t\"items\" : [ { \"metadata\" : { \"name\" : \"a\" } } ,\n" POD(
            "b") " ] ,\n \"metadata\" : { \"resourceVersion\" : \"7\" } }\r\n \n",
        OBJECT("a") OBJECT("b") METADATA("7") "END\n");
}

static void a_list_may_be_empty(void **state)
{
    (void)state;
    decode_assert_pod_list(PODS("[]"), METADATA("7") "END\n");
    decode_assert_pod_list(PODS("[ \n ]"), METADATA("7") "END\n");
    decode_assert_pod_list(PODS("null"), METADATA("7") "END\n");
}

static void list_metadata_is_read_whole(void **state)
{
    (void)state;
    decode_assert_pod_list("{\"items\":[],\"metadata\":{\"remainingItemCount\":12,\"selfLink\":\"/"
                           "x\",\"continue\":\"a\\u003d\\n\","
                           "\"resourceVersion\":\"\\u0037\"}}",
                           "METADATA 7 continue \"a=\n\" remaining 12\nEND\n");
    decode_assert_pod_list("{\"items\":[],\"metadata\":{}}", "METADATA  continue \"\" remaining -1\nEND\n");
    decode_assert_pod_list("{\"items\":[],\"metadata\":null}", "METADATA  continue \"\" remaining -1\nEND\n");
    decode_assert_pod_list("{\"items\":[]}", "END\n");
}

static void list_metadata_of_a_wrong_type_counts_as_missing(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"items\":[],\"metadata\":{\"resourceVersion\":7,\"continue\":null,\"remainingItemCount\":\"3\"}}",
        "METADATA  continue \"\" remaining -1\nEND\n");
    decode_assert_pod_list("{\"items\":[],\"metadata\":[1]}", "METADATA  continue \"\" remaining -1\nEND\n");
    decode_assert_pod_list("{\"items\":[],\"metadata\":{\"remainingItemCount\":1.5}}",
                           "METADATA  continue \"\" remaining -1\nEND\n");
}

static void unknown_members_are_skipped(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"x\":[1,{\"items\":[]}],\"\":\"items\",\"kind\":\"PodList\",\"y\":{\"metadata\":{}},"
        "\"items\":[" POD("a") "],"
                               "\"z\":null,\"0\":-1.5e3,\"t\":true}",
        OBJECT("a") "END\n");
}

static void names_of_members_may_be_escaped(void **state)
{
    (void)state;
    decode_assert_pod_list("{\"k\\u0069nd\":\"P\\u006fdList\",\"\\u0069tems\":[" POD("a") "]}",
                           OBJECT("a") "END\n");
}

static void the_first_of_equal_members_counts(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"kind\":\"PodList\",\"kind\":\"Status\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[],"
        "\"metadata\":{\"resourceVersion\":\"8\"}}",
        METADATA("7") "END\n");
}

static void two_items_members_are_not_a_list(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"items\":[" POD("a") "],\"items\":[" POD("b") "]}",
        OBJECT("a") "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list: it has items twice\n");
}

/* ---- kinds --------------------------------------------------------------------------------------------- */

static void lists_of_metadata_and_lists_of_anything_fit_every_resource(void **state)
{
    (void)state;
    decode_assert_pod_list(
        "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"items\":[{\"kind\":"
        "\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}]}",
        "OBJECT a {\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"
        "{\"name\":\"a\"}}\nEND\n");
    decode_assert_pod_list("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[" POD("a") "]}",
                           OBJECT("a") "END\n");
}

static void a_list_supplies_the_kind_if_the_resource_has_none(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = decode_plan(widgets, NULL);
    assert_int_equal(plan->kind.len, 0);
    decode_assert_list(
        plan, "{\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\",\"items\":[" POD("a") "]}",
        "OBJECT a "
        "{\"kind\":\"Widget\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}\nEND\n");
    assert_true(ki_str_equal(plan->kind, KI_STR("Widget")));
    assert_true(ki_str_equal(plan->api_version, KI_STR("example.com/v1")));
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void an_item_keeps_its_own_names(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = decode_plan(widgets, NULL);
    decode_assert_list(
        plan,
        "{\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\",\"items\":[{\"apiVersion\":\"example.com/"
        "v2\","
        "\"kind\":\"Gadget\",\"metadata\":{\"name\":\"a\"}}]}",
        "OBJECT a "
        "{\"apiVersion\":\"example.com/v2\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"a\"}}\nEND\n");
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void a_kind_after_the_items_is_too_late_for_them(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = decode_plan(widgets, NULL);
    decode_run run;
    decode_run_form(
        &run, KI_BODY_JSON_LIST, plan,
        KI_STR("{\"items\":[" POD("a") "],\"kind\":\"WidgetList\",\"apiVersion\":\"example.com/v1\"}"),
        (decode_split){0});
    decode_assert_log(&run,
                      "OBJECT a {\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}\nEND\n");
    assert_int_equal(ki_object_kind(run.objects[0]).len, 0);
    decode_run_fini(&run);
    assert_true(ki_str_equal(plan->kind, KI_STR("Widget")));
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void names_that_need_escapes_are_not_taken_over(void **state)
{
    (void)state;
    ki_resource *widgets = recorded_resource("widgets.v1.example.com");
    ki_object_plan *plan = decode_plan(widgets, NULL);
    const char *const expected =
        "OBJECT a {\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"a\"}}\nEND\n";
    decode_assert_list(plan,
                       "{\"kind\":\"W\\\"List\",\"apiVersion\":\"example.com/v1\",\"items\":[" POD("a") "]}",
                       expected);
    decode_assert_list(
        plan, "{\"kind\":\"W\\u0001List\",\"apiVersion\":\"example.com/v1\",\"items\":[" POD("a") "]}",
        expected);
    decode_assert_list(plan, "{\"kind\":\"WidgetList\",\"apiVersion\":\"a\\\\b\",\"items\":[" POD("a") "]}",
                       expected);
    decode_assert_list(plan, "{\"kind\":\"WidgetList\",\"apiVersion\":7,\"items\":[" POD("a") "]}", expected);
    ki_object_plan_free(plan);
    ki_resource_free(widgets);
}

static void a_plan_without_a_resource_takes_all_names_from_the_list(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(NULL, NULL);
    decode_assert_list(plan, PODS("[" POD("a") "]"), METADATA("7") OBJECT("a") "END\n");
    decode_assert_list(
        plan, "{\"kind\":\"Table\"}",
        "FAILED KI_ERR_NOT_A_LIST 0 the response is not a list of Pod: its kind is \"Table\"\n");
    ki_object_plan_free(plan);
}

/* ---- refused items ------------------------------------------------------------------------------------- */

static void an_item_with_bad_metadata_is_refused_and_the_list_continues(void **state)
{
    (void)state;
    decode_assert_pod_list(
        PODS("[" POD("a") ",{\"metadata\":{\"name\":\"b\",\"namespace\":\"x\",\"uid\":1}},{\"spec\":{"
                          "}},null,[],7,\"s\"," POD("c") "]"),
        METADATA("7")
            OBJECT("a") "REFUSED x/b KI_ERR_METADATA metadata.uid is not a string\n"
                        "REFUSED  KI_ERR_METADATA metadata.name is missing\n"
                        "REFUSED  KI_ERR_METADATA the value is not an object\n"
                        "REFUSED  KI_ERR_METADATA the value is not an object\n"
                        "REFUSED  KI_ERR_METADATA the value is not an object\n"
                        "REFUSED  KI_ERR_METADATA the value is not an object\n" OBJECT("c") "END\n");
}

static void an_item_that_is_too_large_is_refused_with_its_key(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    char filler[301];
    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = 0;
    char body[1000];
    snprintf(body, sizeof(body),
             "{\"kind\":\"PodList\",\"items\":[" POD(
                 "a") ",{\"metadata\":{\"namespace\":\"n\",\"name\":\"b\"},\"spec\":\"%s\"},{\"spec\":\"%s\","
                      "\"metadata\":{\"namespace\":\"n\",\"name\":\"b\"}}," POD("c") "]}",
             filler, filler);
    decode_assert_list(
        plan, body,
        OBJECT("a") "REFUSED n/b KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
                    "REFUSED  KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n" OBJECT(
                        "c") "END\n");
    ki_object_plan_free(plan);
}

static void dropped_fields_do_not_count_towards_the_size(void **state)
{
    (void)state;
    ki_object_options options = {.drop = (const char *[]){"/spec", NULL}, .bytes_max = 100};
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &options);
    char body[1000];
    snprintf(body, sizeof(body), "{\"items\":[{\"spec\":\"%0300d\",\"metadata\":{\"name\":\"a\"}}]}", 0);
    decode_assert_list(plan, body, OBJECT("a") "END\n");
    ki_object_plan_free(plan);
}

static void an_item_that_is_far_too_large_is_the_only_one_refused(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
    char body[2000];
    snprintf(
        body, sizeof(body),
        "{\"items\":[{\"metadata\":{\"name\":\"a\"},\"spec\":\"%01700d\"},{\"metadata\":{\"name\":\"b\"}}]}",
        0);
    decode_assert_list(
        plan, body,
        "REFUSED a KI_ERR_TOO_LARGE the object is larger than the limit of 100 bytes\n"
        "OBJECT b {\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"}}\nEND\n");
    ki_object_plan_free(plan);
}

static void list_metadata_that_is_too_large_ends_the_list(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 100});
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

/* ---- the decoder --------------------------------------------------------------------------------------- */

static void an_object_that_is_not_consumed_is_freed(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
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
    assert_null(ki_decoded_take_object(&decoder.decoded));
    assert_int_equal(ki_list_decoder_end(&decoder, &err), 0);
    ki_list_decoder_fini(&decoder);
    ki_object_plan_free(plan);
}

static void an_object_is_delivered_with_its_last_byte(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
    ki_list_decoder decoder;
    ki_error err = {0};
    size_t used = 0;
    ki_str part = KI_STR("{\"items\":[" POD("a"));
    ki_list_decoder_init(&decoder, plan);
    assert_int_equal(ki_list_decoder_feed(&decoder, part.ptr, part.len - 1, &used, &err), KI_LIST_MORE);
    assert_int_equal(ki_list_decoder_feed(&decoder, part.ptr + used, 1, &used, &err), KI_LIST_OBJECT);
    ki_object *object = ki_decoded_take_object(&decoder.decoded);
    assert_string_equal(ki_object_key(object), "a");
    assert_null(ki_decoded_take_object(&decoder.decoded));
    ki_list_decoder_fini(&decoder);
    ki_object_plan_free(plan);
    assert_string_equal(ki_object_key(object), "a");
    ki_object_unref(object);
}

static void feeding_nothing_changes_nothing(void **state)
{
    (void)state;
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, NULL);
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

static void a_projection_always_keeps_the_key(void **state)
{
    (void)state;
    ki_object_options options = {.keep = (const char *[]){"/spec/nodeName", NULL}};
    ki_object_plan *plan = decode_plan(&KI_CORE_V1_PODS, &options);
    decode_assert_list(plan,
                       "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},"
                       "\"spec\":{\"x\":1,\"nodeName\":"
                       "\"n1\"}},{\"metadata\":{\"name\":\"b\",\"uid\":[]}}," POD("c") "]}",
                       "OBJECT n/a {\"spec\":{\"nodeName\":\"n1\"}}\n"
                       "REFUSED b KI_ERR_METADATA metadata.uid is not a string\nOBJECT c {}\nEND\n");
    ki_object_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_and_metadata_are_delivered_in_the_order_of_the_body),
        cmocka_unit_test(white_space_is_allowed_between_all_tokens),
        cmocka_unit_test(a_list_may_be_empty),
        cmocka_unit_test(list_metadata_is_read_whole),
        cmocka_unit_test(list_metadata_of_a_wrong_type_counts_as_missing),
        cmocka_unit_test(unknown_members_are_skipped),
        cmocka_unit_test(names_of_members_may_be_escaped),
        cmocka_unit_test(the_first_of_equal_members_counts),
        cmocka_unit_test(two_items_members_are_not_a_list),
        cmocka_unit_test(lists_of_metadata_and_lists_of_anything_fit_every_resource),
        cmocka_unit_test(a_list_supplies_the_kind_if_the_resource_has_none),
        cmocka_unit_test(an_item_keeps_its_own_names),
        cmocka_unit_test(a_kind_after_the_items_is_too_late_for_them),
        cmocka_unit_test(names_that_need_escapes_are_not_taken_over),
        cmocka_unit_test(a_plan_without_a_resource_takes_all_names_from_the_list),
        cmocka_unit_test(an_item_with_bad_metadata_is_refused_and_the_list_continues),
        cmocka_unit_test(an_item_that_is_too_large_is_refused_with_its_key),
        cmocka_unit_test(dropped_fields_do_not_count_towards_the_size),
        cmocka_unit_test(an_item_that_is_far_too_large_is_the_only_one_refused),
        cmocka_unit_test(list_metadata_that_is_too_large_ends_the_list),
        cmocka_unit_test(an_object_that_is_not_consumed_is_freed),
        cmocka_unit_test(an_object_is_delivered_with_its_last_byte),
        cmocka_unit_test(feeding_nothing_changes_nothing),
        cmocka_unit_test(a_projection_always_keeps_the_key),
    };
    return RUN_TESTS(tests);
}
