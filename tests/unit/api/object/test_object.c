/* SPDX-License-Identifier: Apache-2.0 */
/* Reading objects. */
#include <kinformer/object.h>
#include <kinformer/resources.h>
#include <string.h>

#include "api/decode/list_decoder.h"
#include "api/decode/watch_decoder.h"
#include "api/object/object_layout.h"
#include "support/decode/decode_run.h"
#include "support/decode/recorded.h"
#include "support/json/json_reference.h"
#include "support/store/object_make.h"
#include "support/unit.h"

/* ---- recorded objects ---------------------------------------------------------------------------------- */

static void a_recorded_pod_is_read(void **state)
{
    (void)state;
    recorded answer;
    recorded_load(&answer, "pods-one.http");
    json_t *reference = json_reference_parse(answer.body);
    json_t *expected = recorded_object(reference, NULL);
    ki_object *object = ki_object_new(NULL, answer.body, NULL, NULL);
    ki_str text = {0};
    ki_owner owner = {0};
    assert_non_null(object);
    recorded_assert_object(object, expected);
    assert_true(strncmp(ki_object_key(object), "default/web-", 12) == 0);
    assert_int_equal(ki_object_label(object, KI_STR("app"), &text), 0);
    object_assert_text(text, "web");
    assert_int_equal(ki_object_controller(object, &owner), 0);
    object_assert_text(owner.kind, "ReplicaSet");
    assert_true(owner.is_controller && owner.blocks_deletion);
    ki_object_unref(object);
    json_decref(expected);
    json_decref(reference);
    recorded_free(&answer);
}

/* Each item of a recorded list, read on its own. */
static void assert_items(const char *file, const ki_resource *resource)
{
    recorded answer;
    size_t count = 0;
    recorded_load(&answer, file);
    json_t *reference = json_reference_parse(answer.body);
    assert_non_null(reference);
    ki_json item;
    for (ki_json_iter iter = ki_json_iterate(ki_json_find(ki_json_of(answer.body), "/items"));
         ki_json_next(&iter, NULL, &item); count++) {
        json_t *expected =
            recorded_object(json_array_get(json_object_get(reference, "items"), count), reference);
        ki_object *object = ki_object_new(resource, item.raw, NULL, NULL);
        assert_non_null(object);
        recorded_assert_object(object, expected);
        ki_object_unref(object);
        json_decref(expected);
    }
    assert_int_equal(count, json_array_size(json_object_get(reference, "items")));
    assert_true(count > 0);
    json_decref(reference);
    recorded_free(&answer);
}

static void recorded_nodes_pods_and_definitions_are_read(void **state)
{
    (void)state;
    const ki_resource definitions = {.group = "apiextensions.k8s.io",
                                     .version = "v1",
                                     .plural = "customresourcedefinitions",
                                     .kind = "CustomResourceDefinition",
                                     .scope = KI_SCOPE_CLUSTER};
    assert_items("nodes-list.http", &KI_CORE_V1_NODES);
    assert_items("pods-list-pretty.http", &KI_CORE_V1_PODS);
    assert_items("configmaps-list.http", &KI_CORE_V1_CONFIGMAPS);
    assert_items("crds-list.http", &definitions);
}

/* Counts the objects of the list that are in the watch, byte for byte. */
static size_t count_equal(const decode_run *list, const decode_run *watch)
{
    size_t equal = 0;
    for (size_t i = 0; i < list->object_count; i++)
        for (size_t j = 0; j < watch->object_count; j++)
            if (ki_str_equal(ki_object_uid(list->objects[i]), ki_object_uid(watch->objects[j])) &&
                ki_str_equal(ki_object_resource_version(list->objects[i]),
                             ki_object_resource_version(watch->objects[j]))) {
                assert_true(ki_object_equal(list->objects[i], watch->objects[j]));
                equal++;
            }
    return equal;
}

static size_t compare_list_and_watch(const char *list_file, const char *watch_file, const char *resource_name)
{
    recorded list_answer, watch_answer;
    decode_run list_run, watch_run;
    ki_resource *resource = recorded_resource(resource_name);
    ki_object_plan *plan = ki_object_plan_new(resource, NULL, NULL);
    recorded_load(&list_answer, list_file);
    recorded_load(&watch_answer, watch_file);
    decode_run_form(&list_run, KI_BODY_JSON_LIST, plan, list_answer.body, (decode_split){0});
    decode_run_form(&watch_run, KI_BODY_JSON_WATCH, plan, watch_answer.body, (decode_split){0});
    size_t equal = count_equal(&list_run, &watch_run);
    decode_run_fini(&list_run);
    decode_run_fini(&watch_run);
    recorded_free(&list_answer);
    recorded_free(&watch_answer);
    ki_object_plan_free(plan);
    ki_resource_free(resource);
    return equal;
}

static void an_object_has_the_same_bytes_from_a_list_and_from_a_watch(void **state)
{
    (void)state;
    assert_int_equal(compare_list_and_watch("pods-list.http", "pods-watchlist.http", "pods"), 7);
    assert_true(compare_list_and_watch("pods-list-pretty.http", "pods-watchlist.http", "pods") > 0);
    assert_int_equal(
        compare_list_and_watch("widgets-list.http", "widgets-watch.http", "widgets.v1.example.com"), 1);
}

/* ---- metadata ------------------------------------------------------------------------------------------ */

static void a_key_has_the_namespace_only_if_there_is_one(void **state)
{
    (void)state;
    ki_object *node = object_make("{\"metadata\":{\"name\":\"n1\"}}", NULL);
    ki_object *other = object_make("{\"metadata\":{\"namespace\":\"\",\"name\":\"n1\"}}", NULL);
    ki_object *pod = object_make("{\"metadata\":{\"namespace\":\"kube-system\",\"name\":\"dns\"}}", NULL);
    assert_string_equal(ki_object_key(node), "n1");
    assert_string_equal(ki_object_key(other), "n1");
    assert_string_equal(ki_object_key(pod), "kube-system/dns");
    assert_int_equal(ki_object_namespace(node).len, 0);
    object_assert_text(ki_object_namespace(pod), "kube-system");
    object_assert_text(ki_object_name(pod), "dns");
    object_assert_text(ki_object_key_str(pod), "kube-system/dns");
    ki_object_unref(node);
    ki_object_unref(other);
    ki_object_unref(pod);
}

static void times_are_read_or_reported_as_missing(void **state)
{
    (void)state;
    ki_timestamp time = {.seconds = 7};
    ki_object *object = object_make(
        "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2026-11-15T20:45:57Z\",\"deletionTimestamp\":"
        "\"2026-11-15T20:46:57\\u005a\"}}",
        NULL);
    assert_int_equal(ki_object_creation_time(object, &time), 0);
    assert_int_equal(time.seconds, 1794775557);
    assert_int_equal(ki_object_deletion_time(object, &time), 0);
    assert_int_equal(time.seconds, 1794775617);
    ki_object_unref(object);
    time.seconds = 7;
    object = object_make(
        "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"yesterday\",\"deletionTimestamp\":\"\\n\"}}",
        NULL);
    assert_int_equal(ki_object_creation_time(object, &time), KI_ERR_TIMESTAMP);
    assert_int_equal(ki_object_deletion_time(object, &time), KI_ERR_TIMESTAMP);
    assert_int_equal(time.seconds, 7);
    ki_object_unref(object);
}

static void owners_are_read_one_by_one(void **state)
{
    (void)state;
    ki_object *object =
        object_make("{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
                    "\"kind\":\"Node\",\"name\":\"n\\u00261\","
                    "\"uid\":\"u\",\"controller\":false},{},{\"kind\":7,\"name\":\"\\\"\","
                    "\"controller\":true},{\"kind\":\"Last\","
                    "\"controller\":true,\"blockOwnerDeletion\":true}]}}",
                    NULL);
    ki_owner owner = {0};
    assert_int_equal(ki_object_owner(object, 0, &owner), 0);
    object_assert_text(owner.api_version, "v1");
    object_assert_text(owner.kind, "Node");
    object_assert_text(owner.name, "n&1");
    object_assert_text(owner.uid, "u");
    assert_false(owner.is_controller || owner.blocks_deletion);
    assert_int_equal(ki_object_owner(object, 1, &owner), 0);
    assert_int_equal(owner.name.len + owner.kind.len + owner.uid.len + owner.api_version.len, 0);
    assert_int_equal(ki_object_owner(object, 3, &owner), 0);
    assert_true(owner.is_controller && owner.blocks_deletion);
    assert_int_equal(ki_object_owner(object, 4, &owner), KI_ERR_NOT_FOUND);
    object_assert_text(owner.kind, "Last");
    assert_int_equal(ki_object_controller(object, &owner), 0);
    object_assert_text(owner.name, "\"");
    assert_int_equal(owner.kind.len, 0);
    ki_object_unref(object);
}

static void maps_are_iterated_and_looked_up(void **state)
{
    (void)state;
    ki_object *object =
        object_make("{\"metadata\":{\"name\":\"a\",\"labels\":{},\"annotations\":{\"a\\\"b\":\"1\","
                    "\"c\":\"\",\"d/e.f\":\"\\u003c\"},"
                    "\"finalizers\":[\"x\",\"y\\n\"]}}",
                    NULL);
    ki_str text = KI_STR("unchanged");
    assert_int_equal(ki_json_type_of(ki_object_labels(object)), KI_JSON_OBJECT);
    assert_int_equal(ki_object_label(object, KI_STR("a"), &text), KI_ERR_NOT_FOUND);
    object_assert_text(text, "unchanged");
    assert_int_equal(ki_object_annotation(object, KI_STR("a\"b"), &text), 0);
    object_assert_text(text, "1");
    assert_int_equal(ki_object_annotation(object, KI_STR("c"), &text), 0);
    object_assert_text(text, "");
    assert_int_equal(ki_object_annotation(object, KI_STR("d/e.f"), &text), 0);
    object_assert_text(text, "<");
    ki_json_iter iter = ki_json_iterate(ki_object_finalizers(object));
    ki_json finalizer;
    assert_true(ki_json_next(&iter, NULL, &finalizer) && ki_json_next(&iter, NULL, &finalizer));
    assert_int_equal(ki_object_text(object, finalizer, &text), 0);
    object_assert_text(text, "y\n");
    ki_object_unref(object);
}

/* ---- fields -------------------------------------------------------------------------------------------- */

static void fields_are_found_by_pointer(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    int64_t number = 0;
    double real = 0;
    int flag = 0;
    object_assert_text(ki_object_find(object, "/spec/list").raw, "[\"x\",\"\\\\\"]");
    assert_true(ki_str_equal(ki_object_find(object, "").raw, ki_object_json(object)));
    assert_int_equal(ki_json_type_of(ki_object_find(object, "/spec/none")), KI_JSON_NONE);
    object_assert_text(ki_object_string(object, "/spec/list/0"), "x");
    object_assert_text(ki_object_string(object, "/spec/a~1b/~0"), "t");
    assert_int_equal(ki_object_get_int64(object, "/spec/replicas", &number), 0);
    assert_int_equal(number, 3);
    assert_int_equal(ki_object_get_int64(object, "/spec/big", &number), 0);
    assert_true(number == INT64_C(9007199254740993));
    assert_int_equal(ki_object_get_double(object, "/spec/ratio", &real), 0);
    assert_true(real == 0.25);
    assert_int_equal(ki_object_get_bool(object, "/spec/paused", &flag), 0);
    assert_int_equal(flag, 1);
    ki_object_unref(object);
}

static void a_missing_field_or_another_type_is_an_error(void **state)
{
    (void)state;
    ki_object *object = object_make(object_of_all_types, NULL);
    int64_t number = 7;
    double real = 7;
    int flag = 7;
    ki_str text = KI_STR("unchanged");
    assert_int_equal(ki_object_get_string(object, "/spec/none", &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_string(object, "/spec/replicas", &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_string(object, "/spec/nothing", &text), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_string(object, "bad pointer", &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_string(object, NULL, &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_int64(object, "/spec/none", &number), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_int64(object, "/spec/ratio", &number), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_int64(object, "/spec/huge", &number), KI_ERR_RANGE);
    assert_int_equal(ki_object_get_int64(object, "/spec/host", &number), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_double(object, "/spec/none", &real), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_double(object, "/spec/paused", &real), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_bool(object, "/spec/none", &flag), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_bool(object, "/spec/replicas", &flag), KI_ERR_TYPE);
    assert_true(number == 7 && real == 7 && flag == 7);
    object_assert_text(text, "unchanged");
    assert_int_equal(ki_object_string(object, "/spec/none").len, 0);
    assert_int_equal(ki_object_string(object, "/spec/replicas").len, 0);
    ki_object_unref(object);
}

static void a_missing_object_is_empty(void **state)
{
    (void)state;
    ki_str text = {0};
    ki_timestamp time;
    ki_owner owner;
    int64_t number = 0;
    double real = 0;
    int flag = 0;
    assert_string_equal(ki_object_key(NULL), "");
    assert_int_equal(ki_object_key_str(NULL).len + ki_object_namespace(NULL).len + ki_object_name(NULL).len,
                     0);
    assert_int_equal(ki_object_uid(NULL).len + ki_object_kind(NULL).len + ki_object_json(NULL).len, 0);
    assert_int_equal(ki_object_bytes(NULL), 0);
    assert_int_equal(ki_object_generation(NULL), 0);
    assert_int_equal(ki_json_type_of(ki_object_labels(NULL)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_find(NULL, "/a")), KI_JSON_NONE);
    assert_int_equal(ki_object_string(NULL, "/a").len, 0);
    assert_int_equal(ki_object_creation_time(NULL, &time), KI_ERR_INVALID);
    assert_int_equal(ki_object_label(NULL, KI_STR("a"), &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_owner(NULL, 0, &owner), KI_ERR_INVALID);
    assert_int_equal(ki_object_controller(NULL, &owner), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_string(NULL, "/a", &text), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_int64(NULL, "/a", &number), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_double(NULL, "/a", &real), KI_ERR_INVALID);
    assert_int_equal(ki_object_get_bool(NULL, "/a", &flag), KI_ERR_INVALID);
    assert_int_equal(ki_object_text(NULL, (ki_json){0}, &text), KI_ERR_INVALID);
    assert_int_equal(ki_resource_version_compare(KI_STR("1"), KI_STR("2"), NULL), KI_ERR_INVALID);
    assert_true(ki_object_equal(NULL, NULL));
    ki_object_prefetch(NULL); /* checked by the sanitizer */
}

/* ---- resource versions --------------------------------------------------------------------------------- */

static void resource_versions_compare_as_decimal_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        int order;
    } cases[] = {
        {"1", "1", 0},
        {"1", "2", -1},
        {"9", "10", -1},
        {"100", "99", 1},
        {"0", "0", 0},
        {"0", "1", -1},
        {"007", "7", 0},
        {"000", "0", 0},
        {"0010", "9", 1},
        {"18446744073709551616", "18446744073709551615", 1},
        {"99999999999999999999999999999999999999999999999998",
         "99999999999999999999999999999999999999999999999999", -1},
        {"99999999999999999999999999999999999999999999999999",
         "100000000000000000000000000000000000000000000000000", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int order = 7;
        assert_int_equal(ki_resource_version_compare(ki_str_of(cases[i].a), ki_str_of(cases[i].b), &order),
                         0);
        assert_int_equal(order, cases[i].order);
        assert_int_equal(ki_resource_version_compare(ki_str_of(cases[i].b), ki_str_of(cases[i].a), &order),
                         0);
        assert_int_equal(order, -cases[i].order);
    }
}

static void other_resource_versions_have_no_order(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "-1",  "+1",   " 1",    "1 ",       "1.0",
                                        "1e3", "abc", "0x10", "1_000", "\xd9\xa1", "12a"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int order = 7;
        assert_int_equal(ki_resource_version_compare(ki_str_of(wrong[i]), KI_STR("1"), &order), KI_ERR_TYPE);
        assert_int_equal(ki_resource_version_compare(KI_STR("1"), ki_str_of(wrong[i]), &order), KI_ERR_TYPE);
        assert_int_equal(ki_resource_version_compare(ki_str_of(wrong[i]), ki_str_of(wrong[i]), &order),
                         KI_ERR_TYPE);
        assert_int_equal(order, 7);
    }
    int order = 7;
    assert_int_equal(ki_resource_version_compare((ki_str){0}, KI_STR("1"), &order), KI_ERR_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_object_is_empty),
        cmocka_unit_test(a_recorded_pod_is_read),
        cmocka_unit_test(recorded_nodes_pods_and_definitions_are_read),
        cmocka_unit_test(an_object_has_the_same_bytes_from_a_list_and_from_a_watch),
        cmocka_unit_test(a_key_has_the_namespace_only_if_there_is_one),
        cmocka_unit_test(times_are_read_or_reported_as_missing),
        cmocka_unit_test(owners_are_read_one_by_one),
        cmocka_unit_test(maps_are_iterated_and_looked_up),
        cmocka_unit_test(fields_are_found_by_pointer),
        cmocka_unit_test(a_missing_field_or_another_type_is_an_error),
        cmocka_unit_test(resource_versions_compare_as_decimal_numbers),
        cmocka_unit_test(other_resource_versions_have_no_order),
    };
    return RUN_TESTS(tests);
}
