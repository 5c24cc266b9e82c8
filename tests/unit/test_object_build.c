/* SPDX-License-Identifier: Apache-2.0 */
/* Making objects: what is kept of them, what they lack, and what cannot be one. */
#include "api/object_build.h"

#include <kinformer/object.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

#define PATHS(...) ((const char *[]){__VA_ARGS__, NULL})

static ki_object *make(const char *json, const ki_object_options *options)
{
    ki_error err = {0};
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(json), options, &err);
    if (object == NULL)
        fail_msg("%s: %s", json, err.message);
    return object;
}

static void assert_text(ki_str text, const char *expected)
{
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("\"%.*s\" instead of \"%s\"", KI_STR_ARGS(text), expected);
}

static void assert_json(const ki_object *object, const char *expected)
{
    assert_text(ki_object_json(object), expected);
}

static void assert_kept(const char *json, const ki_object_options *options, const char *expected)
{
    ki_object *object = make(json, options);
    assert_json(object, expected);
    assert_int_equal(ki_json_validate(ki_object_json(object), NULL), 0);
    ki_object_unref(object);
}

/* ---- the text ------------------------------------------------------------------------------------------ */

static void the_text_is_minified(void **state)
{
    (void)state;
    assert_kept(
        " {\n \"kind\" : \"Pod\" ,\t\"apiVersion\":\"v1\",\r\n\"metadata\":{ \"name\" : \"a b\" }, \"x\":[ 1 "
        ", { } , \" \" ] }\n",
        NULL, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a b\"},\"x\":[1,{},\" \"]}");
}

static void strings_get_their_shortest_spelling(void **state)
{
    (void)state;
    assert_kept("{\"kind\":\"Pod\",\"apiVersion\":\"v\\u0031\",\"metadata\":{\"n\\u0061me\":\"\\u0061\"},"
                "\"x\":\"\\u003c\\/\\u000a\"}",
                NULL,
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"x\":\"</\\n\"}");
}

static void equal_objects_have_equal_bytes_however_they_are_spelt(void **state)
{
    (void)state;
    ki_object *a = make(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"x\":\"\\u001F<\\n\"}", NULL);
    ki_object *b = make("{ \"metadata\" : {\"name\":\"\\u0061\"},\"x\":\"\\u001f\\u003c\\u000A\"}", NULL);
    ki_object *c = make("{\"metadata\":{\"name\":\"a\"},\"x\":\"\\u001f<\\t\"}", NULL);
    assert_int_equal(ki_object_equal(a, b), 1);
    assert_int_equal(ki_object_equal(a, a), 1);
    assert_int_equal(ki_object_equal(a, c), 0);
    ki_object_unref(a);
    ki_object_unref(b);
    ki_object_unref(c);
}

static void managed_fields_are_dropped_unless_asked_for(void **state)
{
    (void)state;
    const char *const json = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
                             "\"manager\":\"m\",\"time\":\"t\"}],"
                             "\"name\":\"a\"},\"managedFields\":1}";
    assert_kept(json, NULL,
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"managedFields\":1}");
    assert_kept(json, &(ki_object_options){.keep_managed_fields = 1}, json);
    assert_kept(json, &(ki_object_options){.keep = PATHS("/metadata")}, "{\"metadata\":{\"name\":\"a\"}}");
    assert_kept(json, &(ki_object_options){.keep = PATHS("/metadata"), .keep_managed_fields = 1},
                "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"time\":\"t\"}],\"name\":\"a\"}}");
    assert_kept(json, &(ki_object_options){.keep = PATHS("/metadata/managedFields/*/manager")},
                "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\"}]}}");
    assert_kept(json, &(ki_object_options){.drop = PATHS("/metadata/managedFields")},
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"managedFields\":1}");
}

/* ---- projection ---------------------------------------------------------------------------------------- */

static const char pod[] = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u1\","
                          "\"resourceVersion\":\"17\",\"generation\":3,"
                          "\"creationTimestamp\":\"2026-11-15T20:45:57Z\",\"labels\":{\"app\":\"web\","
                          "\"tier\":\"front\"},\"annotations\":{\"x\":\"y\"},"
                          "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"r\",\"controller\":true}]"
                          ",\"finalizers\":[\"f\"]},"
                          "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"},{"
                          "\"name\":\"d\",\"image\":\"j\"}]},"
                          "\"status\":{\"podIP\":\"10.0.0.1\"}}";

static void assert_identity(const ki_object *object)
{
    assert_string_equal(ki_object_key(object), "n/a");
    assert_text(ki_object_key_str(object), "n/a");
    assert_text(ki_object_namespace(object), "n");
    assert_text(ki_object_name(object), "a");
    assert_text(ki_object_uid(object), "u1");
    assert_text(ki_object_resource_version(object), "17");
    assert_text(ki_object_kind(object), "Pod");
    assert_text(ki_object_api_version(object), "v1");
}

static void only_what_is_named_is_kept(void **state)
{
    (void)state;
    assert_kept(pod,
                &(ki_object_options){.keep = PATHS("/spec/nodeName", "/status/podIP", "/metadata/labels")},
                "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},\"spec\":{\"nodeName\":"
                "\"n1\"},\"status\":{\"podIP\":"
                "\"10.0.0.1\"}}");
    assert_kept(
        pod, &(ki_object_options){.keep = PATHS("/spec/containers/*/image", "/kind", "/metadata/labels/app")},
        "{\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"image\":"
        "\"i\"},{\"image\":"
        "\"j\"}]}}");
    assert_kept(pod, &(ki_object_options){.keep = PATHS("/no/such"), .drop = PATHS("/nor/this")}, "{}");
    assert_kept(pod, &(ki_object_options){.keep = PATHS("/apiVersion")}, "{\"apiVersion\":\"v1\"}");
    assert_kept(pod, &(ki_object_options){.keep = PATHS("/apiVersion", "/kind")},
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}");
}

static void what_is_dropped_is_not_kept(void **state)
{
    (void)state;
    assert_kept(pod, &(ki_object_options){.drop = PATHS("/metadata", "/spec/containers/*/name", "/status")},
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{"
                "\"image\":\"i\"},{\"image\":\"j\"}]}}");
    assert_kept(pod,
                &(ki_object_options){.drop = PATHS("/metadata", "/spec", "/status", "/kind", "/apiVersion")},
                "{}");
    assert_kept(pod, &(ki_object_options){.keep = PATHS("/spec"), .drop = PATHS("/spec/containers")},
                "{\"spec\":{\"nodeName\":\"n1\"}}");
}

static void the_identity_is_there_whatever_is_kept(void **state)
{
    (void)state;
    const char *const *const keeps[] = {PATHS("/spec/nodeName"), PATHS("/metadata/uid"), PATHS("/kind"),
                                        PATHS("/metadata/name", "/apiVersion"), PATHS("/x")};
    for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
        ki_object *object = make(pod, &(ki_object_options){.keep = keeps[i]});
        assert_identity(object);
        ki_object_unref(object);
    }
}

static void the_identity_is_unescaped_whatever_is_kept(void **state)
{
    (void)state;
    const char *const json = "{\"kind\":\"P\\\"d\",\"apiVersion\":\"v\\u0031\",\"metadata\":{\"name\":"
                             "\"a\\u0026b\",\"namespace\":\"\\u003cn\","
                             "\"uid\":\"u\\n\",\"resourceVersion\":\"\\u0037\"}}";
    const char *const *const keeps[] = {NULL, PATHS("/spec"), PATHS("/metadata/uid", "/kind")};
    for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
        ki_object *object = make(json, &(ki_object_options){.keep = keeps[i]});
        assert_string_equal(ki_object_key(object), "<n/a&b");
        assert_text(ki_object_name(object), "a&b");
        assert_text(ki_object_namespace(object), "<n");
        assert_text(ki_object_uid(object), "u\n");
        assert_text(ki_object_resource_version(object), "7");
        assert_text(ki_object_kind(object), "P\"d");
        assert_text(ki_object_api_version(object), "v1");
        ki_object_unref(object);
    }
}

static void the_rest_of_the_metadata_is_there_as_far_as_it_is_kept(void **state)
{
    (void)state;
    ki_timestamp time = {0};
    ki_str text = {0};
    ki_owner owner = {0};
    ki_object *none = make(pod, &(ki_object_options){.keep = PATHS("/spec/nodeName")});
    assert_int_equal(ki_object_generation(none), 0);
    assert_int_equal(ki_object_creation_time(none, &time), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_json_type_of(ki_object_labels(none)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_annotations(none)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_finalizers(none)), KI_JSON_NONE);
    assert_int_equal(ki_object_label(none, KI_STR("app"), &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_owner(none, 0, &owner), KI_ERR_NOT_FOUND);
    ki_object_unref(none);
    ki_object *some =
        make(pod, &(ki_object_options){.keep = PATHS("/metadata/labels/tier", "/metadata/generation",
                                                     "/metadata/ownerReferences/*/name")});
    assert_int_equal(ki_object_generation(some), 3);
    assert_int_equal(ki_object_label(some, KI_STR("app"), &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_label(some, KI_STR("tier"), &text), 0);
    assert_text(text, "front");
    assert_int_equal(ki_object_owner(some, 0, &owner), 0);
    assert_text(owner.name, "r");
    assert_int_equal(owner.kind.len, 0);
    assert_int_equal(ki_object_creation_time(some, &time), KI_ERR_NOT_FOUND);
    ki_object_unref(some);
}

static void what_is_not_kept_is_not_judged(void **state)
{
    (void)state;
    assert_kept(
        "{\"metadata\":{\"name\":\"a\",\"labels\":7,\"generation\":\"x\",\"finalizers\":{}},\"spec\":1}",
        &(ki_object_options){.keep = PATHS("/spec")}, "{\"spec\":1}");
}

static void a_bad_path_is_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {"spec", "/a~2", "/a/~"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        assert_null(ki_object_new(NULL, KI_STR("{\"metadata\":{\"name\":\"a\"}}"),
                                  &(ki_object_options){.keep = PATHS(wrong[i])}, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_non_null(strstr(err.message, wrong[i]));
    }
    ki_error err = {0};
    assert_null(ki_object_new(NULL, KI_STR("{\"metadata\":{\"name\":\"a\"}}"),
                              &(ki_object_options){.drop = PATHS("")}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
}

/* ---- kind and apiVersion ------------------------------------------------------------------------------- */

static void names_that_are_missing_come_from_the_resource(void **state)
{
    (void)state;
    assert_kept("{\"metadata\":{\"name\":\"a\"}}", NULL,
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}");
    assert_kept("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", NULL,
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
    assert_kept("{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}", NULL,
                "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}");
    ki_object *lease =
        ki_object_new(&KI_COORDINATION_V1_LEASES, KI_STR("{\"metadata\":{\"name\":\"a\"}}"), NULL, NULL);
    assert_json(
        lease,
        "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}");
    assert_text(ki_object_kind(lease), "Lease");
    assert_text(ki_object_api_version(lease), "coordination.k8s.io/v1");
    ki_object_unref(lease);
}

static void names_that_are_there_win(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"kind\":\"Service\",\"apiVersion\":\"v9\",\"metadata\":{\"name\":\"a\"}}", NULL);
    assert_text(ki_object_kind(object), "Service");
    assert_text(ki_object_api_version(object), "v9");
    ki_object_unref(object);
}

static void without_a_resource_nothing_is_supplied(void **state)
{
    (void)state;
    ki_object *object = ki_object_new(NULL, KI_STR("{\"metadata\":{\"name\":\"a\"}}"), NULL, NULL);
    assert_non_null(object);
    assert_json(object, "{\"metadata\":{\"name\":\"a\"}}");
    assert_int_equal(ki_object_kind(object).len, 0);
    assert_int_equal(ki_object_api_version(object).len, 0);
    ki_object_unref(object);
}

static void a_resource_that_is_none_is_refused(void **state)
{
    (void)state;
    const ki_resource wrong[] = {
        {.group = "", .version = "v1", .plural = "pods", .kind = "P\"d", .scope = KI_SCOPE_NAMESPACED},
        {.group = "a\"b", .version = "v1", .plural = "pods", .kind = "Pod", .scope = KI_SCOPE_NAMESPACED},
        {.group = "", .version = "", .plural = "pods", .kind = "Pod", .scope = KI_SCOPE_NAMESPACED},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        assert_null(ki_object_new(&wrong[i], KI_STR("{\"metadata\":{\"name\":\"a\"}}"), NULL, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_true(strlen(err.message) > 0);
    }
}

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
        {"{\"metadata\":{\"name\":7}}", "metadata.name is no string"},
        {"{\"metadata\":{\"name\":[\"a\"]}}", "metadata.name is no string"},
        {"{\"metadata\":[{\"name\":\"a\"}]}", "metadata.name is missing"},
        {"{\"name\":\"a\",\"spec\":{\"metadata\":{\"name\":\"a\"}}}", "metadata.name is missing"},
        {"{\"metadata\":{\"name\":\"a/b\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\/b\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\u002fb\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\u0000\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\nb\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\\u001b\"}}", "metadata.name contains"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":7}}", "metadata.namespace is no string"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"a/b\"}}", "metadata.namespace contains"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"\\t\"}}", "metadata.namespace contains"},
        {"{\"metadata\":{\"name\":\"a\",\"uid\":7}}", "metadata.uid is no string"},
        {"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":7}}", "metadata.resourceVersion is no string"},
        {"{\"kind\":{},\"metadata\":{\"name\":\"a\"}}", "kind is no string"},
        {"{\"apiVersion\":1,\"metadata\":{\"name\":\"a\"}}", "apiVersion is no string"},
        {"{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":0}}",
         "metadata.creationTimestamp is no string"},
        {"{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":{}}}",
         "metadata.deletionTimestamp is no string"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":\"1\"}}", "metadata.generation is no integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":1.5}}", "metadata.generation is no integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":1e30}}", "metadata.generation is no integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":9223372036854775808}}",
         "metadata.generation is no integer"},
        {"{\"metadata\":{\"name\":\"a\",\"generation\":true}}", "metadata.generation is no integer"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":[]}}", "metadata.labels is no map"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":\"x\"}}", "metadata.labels is no map"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":1}}}",
         "metadata.labels holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\",\"z\":null}}}",
         "metadata.labels holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"annotations\":7}}", "metadata.annotations is no map"},
        {"{\"metadata\":{\"name\":\"a\",\"annotations\":{\"x\":{}}}}",
         "metadata.annotations holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"ownerReferences\":{}}}", "metadata.ownerReferences is no list"},
        {"{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[\"x\"]}}",
         "metadata.ownerReferences holds a value of a wrong type"},
        {"{\"metadata\":{\"name\":\"a\",\"finalizers\":\"x\"}}", "metadata.finalizers is no list"},
        {"{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x\",1]}}",
         "metadata.finalizers holds a value of a wrong type"},
        {"null", "the value is no object"},
        {"[]", "the value is no object"},
        {"\"a\"", "the value is no object"},
        {"7", "the value is no object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        assert_null(ki_object_new(&KI_CORE_V1_PODS, ki_str_of(cases[i].json), NULL, &err));
        if (err.code != KI_ERR_METADATA ||
            strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: %s %s", cases[i].json, ki_error_name(err.code), err.message);
    }
}

static void bad_names_are_refused_when_they_are_not_kept_as_well(void **state)
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

static void quotes_and_backslashes_may_stand_in_a_name(void **state)
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

static void of_metadata_that_comes_twice_the_first_counts(void **state)
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

static void null_is_as_good_as_missing(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"metadata\":{\"name\":\"a\",\"namespace\":null,\"uid\":null,\"resourceVersion\":null,"
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
        ki_object *object = make(json, NULL);
        assert_int_equal(ki_object_generation(object), 120);
        ki_object_unref(object);
    }
}

static void the_first_of_equal_names_counts(void **state)
{
    (void)state;
    ki_object *object = make("{\"kind\":\"A\",\"kind\":\"B\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                             "\"a\",\"name\":\"b\",\"uid\":\"u\","
                             "\"uid\":\"v\",\"labels\":{\"x\":\"1\",\"x\":\"2\"},\"labels\":{\"x\":\"3\"}}}",
                             NULL);
    ki_str text = {0};
    assert_string_equal(ki_object_key(object), "a");
    assert_text(ki_object_kind(object), "A");
    assert_text(ki_object_uid(object), "u");
    assert_int_equal(ki_object_label(object, KI_STR("x"), &text), 0);
    assert_text(text, "1");
    assert_text(ki_object_string(object, "/metadata/name"), "a");
    ki_object_unref(object);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void names_may_be_long_but_not_endless(void **state)
{
    (void)state;
    const size_t longest = UINT16_MAX;
    char *json = malloc(2 * longest + 100);
    assert_non_null(json);
    snprintf(json, 2 * longest + 100,
             "{\"metadata\":{\"name\":\"%0*d\",\"namespace\":\"%0*d\",\"uid\":\"u\"}}", (int)longest, 1,
             (int)longest, 2);
    ki_object *object = make(json, NULL);
    assert_int_equal(ki_object_key_str(object).len, 2 * longest + 1);
    assert_int_equal(strlen(ki_object_key(object)), 2 * longest + 1);
    assert_int_equal(ki_object_name(object).len, longest);
    assert_int_equal(ki_object_name(object).ptr[longest - 1], '1');
    assert_int_equal(ki_object_namespace(object).ptr[longest - 1], '2');
    assert_text(ki_object_uid(object), "u");
    ki_object_unref(object);
    ki_error err = {0};
    snprintf(json, 2 * longest + 100, "{\"metadata\":{\"name\":\"%0*d\"}}", (int)longest + 1, 1);
    assert_null(ki_object_new(NULL, ki_str_of(json), NULL, &err));
    assert_int_equal(err.code, KI_ERR_METADATA);
    assert_string_equal(err.message, "metadata.name is too long");
    free(json);
}

static void an_object_of_the_largest_size_is_made_and_one_byte_more_is_not(void **state)
{
    (void)state;
    const char *const json = "{ \"metadata\" : { \"name\" : \"a\" } , \"x\" : \"12345\" }";
    const char *const kept = "{\"metadata\":{\"name\":\"a\"},\"x\":\"12345\"}";
    ki_error err = {0};
    ki_object *object =
        ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.bytes_max = strlen(kept)}, &err);
    assert_non_null(object);
    assert_json(object, kept);
    ki_object_unref(object);
    assert_null(
        ki_object_new(NULL, ki_str_of(json), &(ki_object_options){.bytes_max = strlen(kept) - 1}, &err));
    assert_int_equal(err.code, KI_ERR_TOO_LARGE);
}

static void no_limit_lets_an_object_outgrow_its_places(void **state)
{
    (void)state;
    ki_object_plan *plan = ki_object_plan_new(NULL, &(ki_object_options){.bytes_max = SIZE_MAX}, NULL);
    assert_non_null(plan);
    assert_true(plan->bytes_max < UINT32_MAX / 2);
    ki_object_plan_free(plan);
    ki_object_plan_free(NULL);
}

static void text_that_is_missing_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_object_new(NULL, (ki_str){NULL, 7}, NULL, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
}

static void mistakes_of_json_are_told_with_their_offset(void **state)
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

/* ---- memory -------------------------------------------------------------------------------------------- */

static void an_object_is_one_allocation_of_the_size_it_says(void **state)
{
    (void)state;
    const char *const *const keeps[] = {NULL, PATHS("/spec/nodeName", "/metadata/labels"), PATHS("/x")};
    for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
        ki_object *object = make(pod, &(ki_object_options){.keep = keeps[i]});
        assert_int_equal(failing_allocator_live_count(), 1);
        assert_int_equal(failing_allocator_live_bytes(), ki_object_bytes(object));
        ki_object_unref(object);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
}

static void a_projected_pod_is_small(void **state)
{
    (void)state;
    ki_object *object = make(pod, &(ki_object_options){.keep = PATHS("/spec/nodeName", "/status/podIP")});
    assert_true(ki_object_bytes(object) <=
                strlen("{\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"podIP\":\"10.0.0.1\"}}") + 80);
    ki_object_unref(object);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const ki_object_options options = {.keep = PATHS("/spec", "/metadata/labels"),
                                       .drop = PATHS("/spec/containers")};
    ki_object *object = NULL;
    size_t n = 1;
    for (;; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(pod), &options, &err);
        if (!failing_allocator_has_failed())
            break;
        assert_null(object);
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    assert_true(n > 5);
    assert_json(
        object,
        "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},\"spec\":{\"nodeName\":\"n1\"}}");
    assert_identity(object);
    ki_object_unref(object);
}

#define WITH_ALLOCATOR(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_minified),
        cmocka_unit_test(strings_get_their_shortest_spelling),
        cmocka_unit_test(equal_objects_have_equal_bytes_however_they_are_spelt),
        cmocka_unit_test(managed_fields_are_dropped_unless_asked_for),
        cmocka_unit_test(only_what_is_named_is_kept),
        cmocka_unit_test(what_is_dropped_is_not_kept),
        cmocka_unit_test(the_identity_is_there_whatever_is_kept),
        cmocka_unit_test(the_identity_is_unescaped_whatever_is_kept),
        cmocka_unit_test(the_rest_of_the_metadata_is_there_as_far_as_it_is_kept),
        cmocka_unit_test(what_is_not_kept_is_not_judged),
        cmocka_unit_test(a_bad_path_is_named),
        cmocka_unit_test(names_that_are_missing_come_from_the_resource),
        cmocka_unit_test(names_that_are_there_win),
        cmocka_unit_test(without_a_resource_nothing_is_supplied),
        cmocka_unit_test(a_resource_that_is_none_is_refused),
        cmocka_unit_test(bad_metadata_is_an_error_that_names_the_field),
        cmocka_unit_test(bad_names_are_refused_when_they_are_not_kept_as_well),
        cmocka_unit_test(quotes_and_backslashes_may_stand_in_a_name),
        cmocka_unit_test(of_metadata_that_comes_twice_the_first_counts),
        cmocka_unit_test(an_empty_kind_is_not_given_a_second_one),
        cmocka_unit_test(null_is_as_good_as_missing),
        cmocka_unit_test(an_integer_may_be_spelt_in_any_way),
        cmocka_unit_test(the_first_of_equal_names_counts),
        cmocka_unit_test(names_may_be_long_but_not_endless),
        cmocka_unit_test(an_object_of_the_largest_size_is_made_and_one_byte_more_is_not),
        cmocka_unit_test(no_limit_lets_an_object_outgrow_its_places),
        cmocka_unit_test(text_that_is_missing_is_refused),
        cmocka_unit_test(mistakes_of_json_are_told_with_their_offset),
        WITH_ALLOCATOR(an_object_is_one_allocation_of_the_size_it_says),
        cmocka_unit_test(a_projected_pod_is_small),
        WITH_ALLOCATOR(every_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
