/* SPDX-License-Identifier: Apache-2.0 */
/* Creating objects: what is refused, and what is accepted. */
#include "api/object/object_build.h"

#include <kinformer/object.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/store/object_make.h"
#include "support/unit.h"

#define PATHS(...) ((const char *[]){__VA_ARGS__, NULL})

/* ---- bad metadata -------------------------------------------------------------------------------------- */

static void bad_metadata_is_an_error_that_names_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *message;
    } cases[] = {
        {"{}", "metadata.name is missing"},
        {"{\"metadata\":null}", "metadata.name is missing"},
        {"{\"metadata\":[]}", "metadata.name is missing"},
        {"{\"metadata\":\"name\"}", "metadata.name is missing"},
        {"{\"metadata\":{}}", "metadata.name is missing"},
        {"{\"metadata\":{\"name\":\"\"}}", "metadata.name is missing"},
        {"{\"metadata\":{\"name\":null}}", "metadata.name is missing"},
        {"{\"metadata\":{\"name\":7}}", "metadata.name is not a string"},
        {"{\"metadata\":{\"name\":[\"a\"]}}", "metadata.name is not a string"},
        {"{\"metadata\":[{\"name\":\"a\"}]}", "metadata.name is missing"},
        {"{\"name\":\"a\",\"spec\":{\"metadata\":{\"name\":\"a\"}}}", "metadata.name is missing"},
        {"{\"metadata\":{\"name\":\"a/b\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\/b\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\u002fb\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\u0000\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\nb\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\u001b\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":7}}", "metadata.namespace is not a string"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"a/b\"}}", "metadata.namespace contains"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"\\t\"}}", "metadata.namespace contains"},
        {"{\"metadata\":{\"name\":\"a\",\"uid\":7}}", "metadata.uid is not a string"},
        {"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":7}}", "metadata.resourceVersion is not a string"},
        {"{\"kind\":{},\"metadata\":{\"name\":\"a\"}}", "kind is not a string"},
        {"{\"apiVersion\":1,\"metadata\":{\"name\":\"a\"}}", "apiVersion is not a string"},
        {"{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":0}}",
         "metadata.creationTimestamp is not a string"},
        {"{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":{}}}",
         "metadata.deletionTimestamp is not a string"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":\"1\"}}", "metadata.generation is not an integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":1.5}}", "metadata.generation is not an integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":1e30}}", "metadata.generation is not an integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":9223372036854775808}}",
         "metadata.generation is not an integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":true}}", "metadata.generation is not an integer"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":[]}}", "metadata.labels is not a map"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":\"x\"}}", "metadata.labels is not a map"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":1}}}",
         "metadata.labels holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\",\"z\":null}}}",
         "metadata.labels holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"annotations\":7}}", "metadata.annotations is not a map"},
        {"{\"metadata\":{\"name\":\"a\",\"annotations\":{\"x\":{}}}}",
         "metadata.annotations holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"ownerReferences\":{}}}", "metadata.ownerReferences is not a list"},
        {"{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[\"x\"]}}",
         "metadata.ownerReferences holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"finalizers\":\"x\"}}", "metadata.finalizers is not a list"},
        {"{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x\",1]}}",
         "metadata.finalizers holds a value of a wrong type"},
        {"null", "the value is not an object"},
        {"[]", "the value is not an object"},
        {"\"a\"", "the value is not an object"},
        {"7", "the value is not an object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        assert_null(ki_object_new(&KI_CORE_V1_PODS, ki_str_of(cases[i].json), NULL, &err));
        if (err.code != KI_ERR_METADATA ||
            strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: %s %s", cases[i].json, ki_error_name(err.code), err.message);
    }
}

static void bad_names_are_refused_even_if_they_are_not_kept(void **state)
{
    (void)state;
    static const char *const wrong[] = {"a/b", "a\\/b", "a\\u002fb", "a\\u0000", "a\\nb", ""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char json[100];
        ki_error err = {0};
        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"%s\"}}", wrong[i]);
        assert_null(ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.keep = PATHS("/spec")}, &err));
        assert_int_equal(err.code, KI_ERR_METADATA);
    }
}

static void a_name_may_contain_quotes_and_backslashes(void **state)
{
    (void)state;
    static const char json[] = "{\"metadata\":{\"name\":\"a\\\"b\\\\c\"}}";
    ki_object *whole = ki_object_new(NULL, ki_str_of(json), NULL, NULL);
    ki_object *projected =
        ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.keep = PATHS("/spec")}, NULL);
    assert_string_equal(ki_object_key(whole), "a\"b\\c");
    assert_string_equal(ki_object_key(projected), "a\"b\\c");
    ki_object_unref(whole);
    ki_object_unref(projected);
}

static void the_first_of_two_metadata_members_counts(void **state)
{
    (void)state;
    static const char json[] =
        "{\"metadata\":{\"name\":\"a\"},\"metadata\":{\"uid\":\"u\",\"namespace\":\"n\"}}";
    ki_object *object = ki_object_new(NULL, ki_str_of(json), NULL, NULL);
    assert_string_equal(ki_object_key(object), "a");
    assert_int_equal(ki_object_uid(object).len, 0);
    assert_true(ki_str_equal(ki_object_json(object), KI_STR("{\"metadata\":{\"name\":\"a\"}}")));
    ki_object_unref(object);
}

static void an_empty_kind_is_not_given_a_second_one(void **state)
{
    (void)state;
    static const char json[] = "{\"kind\":null,\"apiVersion\":\"\",\"metadata\":{\"name\":\"a\"}}";
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(json), NULL, NULL);
    assert_true(ki_str_equal(ki_object_json(object), ki_str_of(json)));
    assert_true(ki_str_equal(ki_object_kind(object), KI_STR("Pod")));
    assert_true(ki_str_equal(ki_object_api_version(object), KI_STR("v1")));
    ki_object_unref(object);
}

static void null_counts_as_missing(void **state)
{
    (void)state;
    ki_object *object = object_make(
        "{\"metadata\":{\"name\":\"a\",\"namespace\":null,\"uid\":null,\"resourceVersion\":null,"
        "\"generation\":null,"
        "\"creationTimestamp\":null,\"deletionTimestamp\":null,\"labels\":null,\"annotations\":null,"
        "\"ownerReferences\":null,\"finalizers\":null},\"kind\":\"Pod\",\"apiVersion\":\"v1\"}",
        NULL);
    ki_timestamp time = {0};
    assert_string_equal(ki_object_key(object), "a");
    assert_int_equal(ki_object_namespace(object).len, 0);
    assert_int_equal(ki_object_uid(object).len, 0);
    assert_int_equal(ki_object_resource_version(object).len, 0);
    assert_int_equal(ki_object_generation(object), 0);
    assert_int_equal(ki_object_creation_time(object, &time), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_deletion_time(object, &time), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_json_type_of(ki_object_labels(object)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_annotations(object)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_owner_references(object)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_finalizers(object)), KI_JSON_NONE);
    ki_object_unref(object);
}

static void an_integer_may_be_spelt_in_any_way(void **state)
{
    (void)state;
    static const char *const spellings[] = {"120", "1.2e2", "120.0", "12E+1"};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        char json[100];
        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"a\",\"generation\":%s}}", spellings[i]);
        ki_object *object = object_make(json, NULL);
        assert_int_equal(ki_object_generation(object), 120);
        ki_object_unref(object);
    }
}

static void the_first_of_equal_names_counts(void **state)
{
    (void)state;
    ki_object *object =
        object_make("{\"kind\":\"A\",\"kind\":\"B\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                    "\"a\",\"name\":\"b\",\"uid\":\"u\","
                    "\"uid\":\"v\",\"labels\":{\"x\":\"1\",\"x\":\"2\"},\"labels\":{\"x\":\"3\"}}}",
                    NULL);
    ki_str text = {0};
    assert_string_equal(ki_object_key(object), "a");
    object_assert_text(ki_object_kind(object), "A");
    object_assert_text(ki_object_uid(object), "u");
    assert_int_equal(ki_object_label(object, KI_STR("x"), &text), 0);
    object_assert_text(text, "1");
    object_assert_text(ki_object_string(object, "/metadata/name"), "a");
    ki_object_unref(object);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

/* Metadata at the end of a long text. */
static void metadata_at_the_end_of_a_long_text_is_read(void **state)
{
    (void)state;
    for (int filling = 65000; filling < 65800; filling++) {
        char *json = malloc(70000);
        assert_non_null(json);
        snprintf(
            json, 70000,
            "{\"data\":{\"x\":\"%0*d\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"uid\":\"u-1\","
            "\"resourceVersion\":\"77\"},\"apiVersion\":\"v1\"}",
            filling, 0);
        ki_object *object = object_make(json, NULL);
        object_assert_text(ki_object_kind(object), "ConfigMap");
        object_assert_text(ki_object_uid(object), "u-1");
        object_assert_text(ki_object_resource_version(object), "77");
        object_assert_text(ki_object_api_version(object), "v1");
        object_assert_text(ki_object_json(object), json);
        ki_object_unref(object);
        free(json);
    }
}

static void names_may_be_long_but_not_endless(void **state)
{
    (void)state;
    const size_t longest = KI_OBJECT_STRING_BYTES_MAX;
    char *json = malloc(2 * longest + 100);
    assert_non_null(json);
    snprintf(json, 2 * longest + 100,
             "{\"metadata\":{\"name\":\"%0*d\",\"namespace\":\"%0*d\",\"uid\":\"u\"}}", (int)longest, 1,
             (int)longest, 2);
    ki_object *object = object_make(json, NULL);
    assert_int_equal(ki_object_key_str(object).len, 2 * longest + 1);
    assert_int_equal(strlen(ki_object_key(object)), 2 * longest + 1);
    assert_int_equal(ki_object_name(object).len, longest);
    assert_int_equal(ki_object_name(object).ptr[longest - 1], '1');
    assert_int_equal(ki_object_namespace(object).ptr[longest - 1], '2');
    object_assert_text(ki_object_uid(object), "u");
    ki_object_unref(object);
    ki_error err = {0};
    snprintf(json, 2 * longest + 100, "{\"metadata\":{\"name\":\"%0*d\"}}", (int)longest + 1, 1);
    assert_null(ki_object_new(NULL, ki_str_of(json), NULL, &err));
    assert_int_equal(err.code, KI_ERR_METADATA);
    assert_string_equal(err.message, "metadata.name is too long");
    free(json);
}

static void an_object_of_the_maximum_size_is_created_and_one_byte_more_is_refused(void **state)
{
    (void)state;
    const char *const json = "{ \"metadata\" : { \"name\" : \"a\" } , \"x\" : \"12345\" }";
    const char *const kept = "{\"metadata\":{\"name\":\"a\"},\"x\":\"12345\"}";
    ki_error err = {0};
    ki_object *object =
        ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.bytes_max = strlen(kept)}, &err);
    assert_non_null(object);
    object_assert_json(object, kept);
    ki_object_unref(object);
    assert_null(
        ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.bytes_max = strlen(kept) - 1}, &err));
    assert_int_equal(err.code, KI_ERR_TOO_LARGE);
}

static void no_limit_allows_objects_beyond_32_bit_offsets(void **state)
{
    (void)state;
    ki_object_plan *plan = ki_object_plan_new(NULL, &(ki_object_options){.bytes_max = SIZE_MAX}, NULL);
    assert_non_null(plan);
    assert_true(plan->bytes_max < UINT32_MAX / 2);
    ki_object_plan_free(plan);
    ki_object_plan_free(NULL);
}

static void the_maximum_depth_can_be_set(void **state)
{
    (void)state;
    const char *const json = "{\"metadata\":{\"name\":\"a\"},\"x\":[[[1]]]}";
    ki_error err = {0};
    assert_null(ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.depth_max = 3}, &err));
    assert_int_equal(err.code, KI_ERR_JSON_DEPTH);
    ki_object_unref(object_make(json, &(ki_object_options){.depth_max = 4}));
}

static void missing_text_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_object_new(NULL, (ki_str){NULL, 7}, NULL, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
}

static void json_errors_are_reported_with_their_offset(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int code;
        uint64_t offset;
    } cases[] = {
        {"", KI_ERR_JSON_TRUNCATED, 0},
        {"{\"metadata\":{\"name\":\"a\"}", KI_ERR_JSON_TRUNCATED, 24},
        {"{\"metadata\":{\"name\":\"a\"}} x", KI_ERR_JSON_TRAILING, 26},
        {"{\"metadata\":{\"name\":\"a\",}}", KI_ERR_JSON_SYNTAX, 24},
        {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[nope]}}", KI_ERR_JSON_LITERAL, 42},
        {"{\"metadata\":{\"name\":\"\xc3\"}}", KI_ERR_JSON_UTF8, 22},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        assert_null(ki_object_new(NULL, ki_str_of(cases[i].json), NULL, &err));
        if (err.code != cases[i].code || err.offset != cases[i].offset)
            fail_msg("%s: %s", cases[i].json, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_metadata_is_an_error_that_names_the_field),
        cmocka_unit_test(bad_names_are_refused_even_if_they_are_not_kept),
        cmocka_unit_test(a_name_may_contain_quotes_and_backslashes),
        cmocka_unit_test(the_first_of_two_metadata_members_counts),
        cmocka_unit_test(an_empty_kind_is_not_given_a_second_one),
        cmocka_unit_test(null_counts_as_missing),
        cmocka_unit_test(an_integer_may_be_spelt_in_any_way),
        cmocka_unit_test(the_first_of_equal_names_counts),
        cmocka_unit_test(metadata_at_the_end_of_a_long_text_is_read),
        cmocka_unit_test(names_may_be_long_but_not_endless),
        cmocka_unit_test(an_object_of_the_maximum_size_is_created_and_one_byte_more_is_refused),
        cmocka_unit_test(no_limit_allows_objects_beyond_32_bit_offsets),
        cmocka_unit_test(the_maximum_depth_can_be_set),
        cmocka_unit_test(missing_text_is_refused),
        cmocka_unit_test(json_errors_are_reported_with_their_offset),
    };
    return RUN_TESTS(tests);
}
