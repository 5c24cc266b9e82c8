/* SPDX-License-Identifier: Apache-2.0 */
/* Building objects: which fields are kept, which may be missing, and memory. */

#include <kinformer/object.h>
#include <kinformer/resources.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/object_make.h"
#include "support/unit.h"

#define PATHS(...) ((const char *[]){__VA_ARGS__, NULL})

/* ---- the text ------------------------------------------------------------------------------------------ */

static void the_text_is_minified(void **state)
{
    (void)state;
    object_assert_kept(
        " {\n \"kind\" : \"Pod\" ,\t\"apiVersion\":\"v1\",\r\n\"metadata\":{ \"name\" : \"a b\" }, \"x\":[ 1 "
        ", { } , \" \" ] }\n",
        NULL, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a b\"},\"x\":[1,{},\" \"]}");
}

static void strings_get_their_shortest_spelling(void **state)
{
    (void)state;
    object_assert_kept(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v\\u0031\",\"metadata\":{\"n\\u0061me\":\"\\u0061\"},"
        "\"x\":\"\\u003c\\/\\u000a\"}",
        NULL, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"x\":\"</\\n\"}");
}

static void equal_objects_have_equal_bytes_whatever_their_spelling(void **state)
{
    (void)state;
    ki_object *a = object_make(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"x\":\"\\u001F<\\n\"}", NULL);
    ki_object *b =
        object_make("{ \"metadata\" : {\"name\":\"\\u0061\"},\"x\":\"\\u001f\\u003c\\u000A\"}", NULL);
    ki_object *c = object_make("{\"metadata\":{\"name\":\"a\"},\"x\":\"\\u001f<\\t\"}", NULL);
    assert_int_equal(ki_object_equal(a, b), 1);
    assert_int_equal(ki_object_equal(a, a), 1);
    assert_int_equal(ki_object_equal(a, c), 0);
    ki_object_unref(a);
    ki_object_unref(b);
    ki_object_unref(c);
}

static void managed_fields_are_dropped_unless_requested(void **state)
{
    (void)state;
    const char *const json = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
                             "\"manager\":\"m\",\"time\":\"t\"}],"
                             "\"name\":\"a\"},\"managedFields\":1}";
    object_assert_kept(
        json, NULL,
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"managedFields\":1}");
    object_assert_kept(json, &(ki_object_options){.keep_managed_fields = 1}, json);
    object_assert_kept(json, &(ki_object_options){.keep = PATHS("/metadata")},
                       "{\"metadata\":{\"name\":\"a\"}}");
    object_assert_kept(
        json, &(ki_object_options){.keep = PATHS("/metadata"), .keep_managed_fields = 1},
        "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"time\":\"t\"}],\"name\":\"a\"}}");
    object_assert_kept(json, &(ki_object_options){.keep = PATHS("", "/metadata/managedFields/*/manager")},
                       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
                       "\"manager\":\"m\"}],\"name\":\"a\"},"
                       "\"managedFields\":1}");
    object_assert_kept(json, &(ki_object_options){.keep = PATHS("/metadata/managedFields/*/manager")},
                       "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\"}]}}");
    object_assert_kept(
        json, &(ki_object_options){.drop = PATHS("/metadata/managedFields")},
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
    object_assert_text(ki_object_key_str(object), "n/a");
    object_assert_text(ki_object_namespace(object), "n");
    object_assert_text(ki_object_name(object), "a");
    object_assert_text(ki_object_uid(object), "u1");
    object_assert_text(ki_object_resource_version(object), "17");
    object_assert_text(ki_object_kind(object), "Pod");
    object_assert_text(ki_object_api_version(object), "v1");
}

static void only_named_paths_are_kept(void **state)
{
    (void)state;
    object_assert_kept(
        pod, &(ki_object_options){.keep = PATHS("/spec/nodeName", "/status/podIP", "/metadata/labels")},
        "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},\"spec\":{\"nodeName\":"
        "\"n1\"},\"status\":{\"podIP\":"
        "\"10.0.0.1\"}}");
    object_assert_kept(
        pod, &(ki_object_options){.keep = PATHS("/spec/containers/*/image", "/kind", "/metadata/labels/app")},
        "{\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"image\":"
        "\"i\"},{\"image\":"
        "\"j\"}]}}");
    object_assert_kept(pod, &(ki_object_options){.keep = PATHS("/no/such"), .drop = PATHS("/nor/this")},
                       "{}");
    object_assert_kept(pod, &(ki_object_options){.keep = PATHS("/apiVersion")}, "{\"apiVersion\":\"v1\"}");
    object_assert_kept(pod, &(ki_object_options){.keep = PATHS("/apiVersion", "/kind")},
                       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}");
}

static void dropped_paths_are_not_kept(void **state)
{
    (void)state;
    object_assert_kept(
        pod, &(ki_object_options){.drop = PATHS("/metadata", "/spec/containers/*/name", "/status")},
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{"
        "\"image\":\"i\"},{\"image\":\"j\"}]}}");
    object_assert_kept(
        pod, &(ki_object_options){.drop = PATHS("/metadata", "/spec", "/status", "/kind", "/apiVersion")},
        "{}");
    object_assert_kept(pod, &(ki_object_options){.keep = PATHS("/spec"), .drop = PATHS("/spec/containers")},
                       "{\"spec\":{\"nodeName\":\"n1\"}}");
}

static void the_identity_is_available_whatever_is_kept(void **state)
{
    (void)state;
    const char *const *const keeps[] = {PATHS("/spec/nodeName"), PATHS("/metadata/uid"), PATHS("/kind"),
                                        PATHS("/metadata/name", "/apiVersion"), PATHS("/x")};
    for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
        ki_object *object = object_make(pod, &(ki_object_options){.keep = keeps[i]});
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
        ki_object *object = object_make(json, &(ki_object_options){.keep = keeps[i]});
        assert_string_equal(ki_object_key(object), "<n/a&b");
        object_assert_text(ki_object_name(object), "a&b");
        object_assert_text(ki_object_namespace(object), "<n");
        object_assert_text(ki_object_uid(object), "u\n");
        object_assert_text(ki_object_resource_version(object), "7");
        object_assert_text(ki_object_kind(object), "P\"d");
        object_assert_text(ki_object_api_version(object), "v1");
        ki_object_unref(object);
    }
}

static void the_rest_of_the_metadata_is_available_if_it_is_kept(void **state)
{
    (void)state;
    ki_timestamp time = {0};
    ki_str text = {0};
    ki_owner owner = {0};
    ki_object *none = object_make(pod, &(ki_object_options){.keep = PATHS("/spec/nodeName")});
    assert_int_equal(ki_object_generation(none), 0);
    assert_int_equal(ki_object_creation_time(none, &time), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_json_type_of(ki_object_labels(none)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_annotations(none)), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(ki_object_finalizers(none)), KI_JSON_NONE);
    assert_int_equal(ki_object_label(none, KI_STR("app"), &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_owner(none, 0, &owner), KI_ERR_NOT_FOUND);
    ki_object_unref(none);
    ki_object *some =
        object_make(pod, &(ki_object_options){.keep = PATHS("/metadata/labels/tier", "/metadata/generation",
                                                            "/metadata/ownerReferences/*/name")});
    assert_int_equal(ki_object_generation(some), 3);
    assert_int_equal(ki_object_label(some, KI_STR("app"), &text), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_label(some, KI_STR("tier"), &text), 0);
    object_assert_text(text, "front");
    assert_int_equal(ki_object_owner(some, 0, &owner), 0);
    object_assert_text(owner.name, "r");
    assert_int_equal(owner.kind.len, 0);
    assert_int_equal(ki_object_creation_time(some, &time), KI_ERR_NOT_FOUND);
    ki_object_unref(some);
}

static void fields_that_are_not_kept_are_not_checked(void **state)
{
    (void)state;
    object_assert_kept(
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

static void missing_names_come_from_the_resource(void **state)
{
    (void)state;
    object_assert_kept("{\"metadata\":{\"name\":\"a\"}}", NULL,
                       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}");
    object_assert_kept("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", NULL,
                       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
    object_assert_kept("{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}", NULL,
                       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}");
    ki_object *lease =
        ki_object_new(&KI_COORDINATION_V1_LEASES, KI_STR("{\"metadata\":{\"name\":\"a\"}}"), NULL, NULL);
    object_assert_json(
        lease,
        "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"a\"}}");
    object_assert_text(ki_object_kind(lease), "Lease");
    object_assert_text(ki_object_api_version(lease), "coordination.k8s.io/v1");
    ki_object_unref(lease);
}

static void existing_names_are_kept(void **state)
{
    (void)state;
    ki_object *object =
        object_make("{\"kind\":\"Service\",\"apiVersion\":\"v9\",\"metadata\":{\"name\":\"a\"}}", NULL);
    object_assert_text(ki_object_kind(object), "Service");
    object_assert_text(ki_object_api_version(object), "v9");
    ki_object_unref(object);
}

static void without_a_resource_nothing_is_supplied(void **state)
{
    (void)state;
    ki_object *object = ki_object_new(NULL, KI_STR("{\"metadata\":{\"name\":\"a\"}}"), NULL, NULL);
    assert_non_null(object);
    object_assert_json(object, "{\"metadata\":{\"name\":\"a\"}}");
    assert_int_equal(ki_object_kind(object).len, 0);
    assert_int_equal(ki_object_api_version(object).len, 0);
    ki_object_unref(object);
}

static void an_invalid_resource_is_refused(void **state)
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

/* ---- memory -------------------------------------------------------------------------------------------- */

static void an_object_is_one_allocation_of_the_reported_size(void **state)
{
    (void)state;
    const char *const *const keeps[] = {NULL, PATHS("/spec/nodeName", "/metadata/labels"), PATHS("/x")};
    for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
        ki_object *object = object_make(pod, &(ki_object_options){.keep = keeps[i]});
        assert_int_equal(failing_allocator_live_count(), 1);
        assert_int_equal(failing_allocator_live_bytes(), ki_object_bytes(object));
        ki_object_unref(object);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
}

static void a_projected_pod_is_small(void **state)
{
    (void)state;
    ki_object *object =
        object_make(pod, &(ki_object_options){.keep = PATHS("/spec/nodeName", "/status/podIP")});
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
    object_assert_json(
        object,
        "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},\"spec\":{\"nodeName\":\"n1\"}}");
    assert_identity(object);
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_minified),
        cmocka_unit_test(strings_get_their_shortest_spelling),
        cmocka_unit_test(equal_objects_have_equal_bytes_whatever_their_spelling),
        cmocka_unit_test(managed_fields_are_dropped_unless_requested),
        cmocka_unit_test(only_named_paths_are_kept),
        cmocka_unit_test(dropped_paths_are_not_kept),
        cmocka_unit_test(the_identity_is_available_whatever_is_kept),
        cmocka_unit_test(the_identity_is_unescaped_whatever_is_kept),
        cmocka_unit_test(the_rest_of_the_metadata_is_available_if_it_is_kept),
        cmocka_unit_test(fields_that_are_not_kept_are_not_checked),
        cmocka_unit_test(a_bad_path_is_named),
        cmocka_unit_test(missing_names_come_from_the_resource),
        cmocka_unit_test(existing_names_are_kept),
        cmocka_unit_test(without_a_resource_nothing_is_supplied),
        cmocka_unit_test(an_invalid_resource_is_refused),
        WITH_MEMORY_CHECK(an_object_is_one_allocation_of_the_reported_size),
        cmocka_unit_test(a_projected_pod_is_small),
        WITH_MEMORY_CHECK(every_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
