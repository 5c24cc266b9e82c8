/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/failure.h"

#include <stdlib.h>

#include "apiserver/kind/resource.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/alloc.h"

static const struct ki_as_resource pods = {.group = "", .plural = "pods", .kind = "Pod", .qualified = "pods"};
static const struct ki_as_resource deployments = {
    .group = "apps", .plural = "deployments", .kind = "Deployment", .qualified = "deployments.apps"};

/* Checks the text of the Status, and frees the failure. */
static void assert_status(struct ki_as_failure *failure, int code, const char *text)
{
    assert_int_equal(failure->code, code);
    char *written = json_dumps(failure->status, JSON_COMPACT);
    assert_string_equal(written, text);
    free(written);
    ki_as_failure_fini(failure);
    assert_int_equal(failure->code, 0);
    assert_null(failure->status);
}

static void a_missing_object_is_refused_as_kubernetes_does(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_fail_not_found(&failure, &pods, KI_STR("missing")), -1);
    assert_status(
        &failure, 404,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
        "\"pods "
        "\\\"missing\\\" not found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"missing\",\"kind\":"
        "\"pods\"},\"code\":404}");
}

static void a_group_is_named_in_message_and_details(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_fail_already_exists(&failure, &deployments, KI_STR("a"), false), -1);
    assert_status(
        &failure, 409,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
        "\"deployments.apps \\\"a\\\" already "
        "exists\",\"reason\":\"AlreadyExists\",\"details\":{\"name\":\"a\","
        "\"group\":\"apps\",\"kind\":\"deployments\"},\"code\":409}");
}

static void a_wrong_method_has_empty_details(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_fail_method(&failure), -1);
    assert_status(
        &failure, 405,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"the "
        "server does not allow this method on the requested "
        "resource\",\"reason\":\"MethodNotAllowed\",\"details\":{},\"code\":405}");
}

static void a_reason_may_be_left_out(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_fail(&failure, 500, "", NULL, "no %s", "luck"), -1);
    assert_status(
        &failure, 500,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"no "
        "luck\",\"code\":500}");
}

static void one_cause_is_written_without_brackets(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    json_t *causes = NULL;
    ki_as_cause_add(&causes, "FieldValueRequired", "spec.a", "Required value");
    assert_int_equal(ki_as_fail_invalid(&failure, &deployments, KI_STR("d"), causes), -1);
    const char *message = json_string_value(json_object_get(failure.status, "message"));
    assert_string_equal(message, "Deployment.apps \"d\" is invalid: spec.a: Required value");
    ki_as_failure_fini(&failure);
}

static void several_causes_are_written_in_brackets_each_once(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    json_t *causes = NULL;
    ki_as_cause_add(&causes, "FieldValueRequired", "spec.a", "Required value");
    ki_as_cause_add(&causes, "FieldValueRequired", "spec.b", "Required value: %d", 3);
    ki_as_cause_add(&causes, "FieldValueRequired", "spec.a", "Required value");
    assert_int_equal(ki_as_fail_invalid(&failure, &pods, KI_STR("p"), causes), -1);
    const char *message = json_string_value(json_object_get(failure.status, "message"));
    assert_string_equal(message, "Pod \"p\" is invalid: [spec.a: Required value, spec.b: Required value: 3]");
    const json_t *details = json_object_get(failure.status, "details");
    assert_int_equal(json_array_size(json_object_get(details, "causes")), 3);
    assert_string_equal(json_string_value(json_object_get(details, "kind")), "Pod");
    ki_as_failure_fini(&failure);
}

static void a_name_that_is_not_utf8_is_still_refused(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_fail_not_found(&failure, &pods, KI_STR("a\xff")), -1);
    assert_string_equal(json_string_value(json_object_get(failure.status, "message")),
                        "pods \"a?\" not found");
    ki_as_failure_fini(&failure);
}

static void a_later_failure_replaces_an_earlier_one(void **state)
{
    (void)state;
    struct ki_as_failure failure = {0};
    assert_int_equal(ki_as_fail_bad_request(&failure, "first"), -1);
    assert_int_equal(ki_as_fail_no_such_path(&failure), -1);
    assert_int_equal(failure.code, 404);
    assert_null(failure.status);
    assert_string_equal(failure.plain_text, "404 page not found\n");
    ki_as_failure_fini(&failure);
}

static void when_out_of_memory_the_code_is_kept(void **state)
{
    (void)state;
    json_set_alloc_funcs(ki_malloc, ki_free);
    for (size_t n = 1;; n++) {
        struct ki_as_failure failure = {0};
        json_t *causes = NULL;
        failing_allocator_fail_at(n);
        ki_as_cause_add(&causes, "FieldValueRequired", "spec.a", "Required value");
        assert_int_equal(ki_as_fail_invalid(&failure, &deployments, KI_STR("d"), causes), -1);
        assert_in_range(failure.code, 422, 500);
        ki_as_failure_fini(&failure);
        if (!failing_allocator_has_failed())
            break;
    }
    failing_allocator_fail_at(0);
    assert_int_equal(failing_allocator_live_count(), 0);
    json_set_alloc_funcs(malloc, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_object_is_refused_as_kubernetes_does),
        cmocka_unit_test(a_group_is_named_in_message_and_details),
        cmocka_unit_test(a_wrong_method_has_empty_details),
        cmocka_unit_test(a_reason_may_be_left_out),
        cmocka_unit_test(one_cause_is_written_without_brackets),
        cmocka_unit_test(several_causes_are_written_in_brackets_each_once),
        cmocka_unit_test(a_name_that_is_not_utf8_is_still_refused),
        cmocka_unit_test(a_later_failure_replaces_an_earlier_one),
        WITH_MEMORY_CHECK(when_out_of_memory_the_code_is_kept),
    };
    return RUN_TESTS(tests);
}
