/* SPDX-License-Identifier: Apache-2.0 */
/* What calls send, and what is never sent. */
#include "rest/rest_message.h"

#include <kinformer/resources.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

#define OBJECT KI_STR("{\"metadata\":{\"name\":\"a\"}}")

static void assert_buf(const ki_buf *buf, const char *expected)
{
    assert_int_equal(buf->len, strlen(expected));
    if (buf->len > 0)
        assert_memory_equal(buf->data, expected, buf->len);
}

typedef struct sent {
    ki_rest_request request;
    const char *method;
    const char *target;
    const char *content_type;
    const char *body;
} sent;

static void check_sent(const sent *s)
{
    ki_rest_message message;
    ki_error err = {0};
    if (ki_rest_message_init(&message, &s->request, &err) < 0)
        fail_msg("%s: %s", s->target, err.message);
    assert_string_equal(message.method, s->method);
    assert_buf(&message.target, s->target);
    assert_buf(&message.body, s->body);
    if (s->content_type == NULL)
        assert_null(message.content_type);
    else
        assert_string_equal(message.content_type, s->content_type);
    ki_rest_message_fini(&message);
}

#define JSON_TYPE "Content-Type: application/json"

static void a_collection_is_deleted_by_its_selectors(void **state)
{
    (void)state;
    const sent rows[] = {
        {{.verb = KI_REST_DELETE_COLLECTION,
          .resource = &KI_CORE_V1_PODS,
          .ns = "web",
          .list = {.label_selector = KI_STR("app=x"), .field_selector = KI_STR("status.phase=Failed")}},
         "DELETE",
         "/api/v1/namespaces/web/pods?labelSelector=app%3Dx&fieldSelector=status.phase%3DFailed",
         NULL,
         ""},
        {{.verb = KI_REST_DELETE_COLLECTION,
          .resource = &KI_CORE_V1_NODES,
          .propagation = KI_PROPAGATION_FOREGROUND},
         "DELETE",
         "/api/v1/nodes",
         JSON_TYPE,
         "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Foreground\"}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_sent(&rows[i]);
}

static void reading_calls_have_no_body(void **state)
{
    (void)state;
    const sent rows[] = {
        {{.verb = KI_REST_GET, .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a"},
         "GET",
         "/api/v1/namespaces/web/pods/a",
         NULL,
         ""},
        {{.verb = KI_REST_GET,
          .resource = &KI_APPS_V1_DEPLOYMENTS,
          .ns = "web",
          .name = "a",
          .subresource = "scale",
          .list = {.resource_version = KI_STR("0")}},
         "GET",
         "/apis/apps/v1/namespaces/web/deployments/a/scale?resourceVersion=0",
         NULL,
         ""},
        {{.verb = KI_REST_GET, .resource = &KI_CORE_V1_NODES, .ns = "", .name = "n 1"},
         "GET",
         "/api/v1/nodes/n%201",
         NULL,
         ""},
        {{.verb = KI_REST_LIST, .resource = &KI_CORE_V1_PODS}, "GET", "/api/v1/pods", NULL, ""},
        {{.verb = KI_REST_LIST,
          .resource = &KI_CORE_V1_PODS,
          .ns = "web",
          .list = {.limit = 2, .label_selector = KI_STR("app=x"), .continue_token = KI_STR("t=")}},
         "GET",
         "/api/v1/namespaces/web/pods?labelSelector=app%3Dx&limit=2&continue=t%3D",
         NULL,
         ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_sent(&rows[i]);
}

static void writing_calls_have_their_body(void **state)
{
    (void)state;
    const sent rows[] = {
        {{.verb = KI_REST_CREATE,
          .resource = &KI_CORE_V1_PODS,
          .ns = "web",
          .body = OBJECT,
          .field_manager = "me & you",
          .field_validation = "Strict",
          .dry_run = 1},
         "POST",
         "/api/v1/namespaces/web/pods?fieldManager=me%20%26%20you&fieldValidation=Strict&dryRun=All",
         JSON_TYPE,
         "{\"metadata\":{\"name\":\"a\"}}"},
        {{.verb = KI_REST_CREATE, .resource = &KI_CORE_V1_NAMESPACES, .body = OBJECT},
         "POST",
         "/api/v1/namespaces",
         JSON_TYPE,
         "{\"metadata\":{\"name\":\"a\"}}"},
        {{.verb = KI_REST_CREATE,
          .resource = &KI_CORE_V1_PODS,
          .ns = "web",
          .name = "a",
          .subresource = "eviction",
          .body = KI_STR("{}")},
         "POST",
         "/api/v1/namespaces/web/pods/a/eviction",
         JSON_TYPE,
         "{}"},
        {{.verb = KI_REST_UPDATE, .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a", .body = OBJECT},
         "PUT",
         "/api/v1/namespaces/web/pods/a",
         JSON_TYPE,
         "{\"metadata\":{\"name\":\"a\"}}"},
        {{.verb = KI_REST_UPDATE,
          .resource = &KI_CORE_V1_PODS,
          .ns = "web",
          .name = "a",
          .subresource = "status",
          .body = KI_STR("{}")},
         "PUT",
         "/api/v1/namespaces/web/pods/a/status",
         JSON_TYPE,
         "{}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_sent(&rows[i]);
}

static void a_body_is_sent_as_its_text_or_fails_the_call(void **state)
{
    (void)state;
    ki_rest_request request = {.verb = KI_REST_UPDATE, .resource = &KI_CORE_V1_NODES, .name = "n"};
    ki_rest_message message;
    ki_error err = {0};
    ki_body *body = ki_body_format("{a:%d}", 1);
    request.content = body;
    check_sent(&(sent){request, "PUT", "/api/v1/nodes/n", JSON_TYPE, "{\"a\":1}"});
    request.body = OBJECT;
    assert_int_equal(ki_rest_message_init(&message, &request, &err), KI_ERR_INVALID);
    request.body = (ki_str){0};
    assert_int_equal(ki_body_set(body, "/a/b", "2"), KI_ERR_TYPE);
    assert_int_equal(ki_rest_message_init(&message, &request, &err), KI_ERR_TYPE);
    assert_non_null(strstr(err.message, "/a/b"));
    ki_body_free(body);
    body = ki_body_format("{}");
    request =
        (ki_rest_request){.verb = KI_REST_GET, .resource = &KI_CORE_V1_NODES, .name = "n", .content = body};
    assert_int_equal(ki_rest_message_init(&message, &request, &err), KI_ERR_INVALID);
    ki_body_free(body);
}

static void each_kind_of_patch_has_its_type(void **state)
{
    (void)state;
    static const char *const types[] = {"Content-Type: application/json-patch+json",
                                        "Content-Type: application/merge-patch+json",
                                        "Content-Type: application/strategic-merge-patch+json"};
    for (int patch = KI_PATCH_JSON; patch <= KI_PATCH_STRATEGIC; patch++)
        check_sent(&(sent){{.verb = KI_REST_PATCH,
                            .patch = (ki_patch)patch,
                            .resource = &KI_CORE_V1_NODES,
                            .name = "n",
                            .body = KI_STR("{}")},
                           "PATCH",
                           "/api/v1/nodes/n",
                           types[patch - 1],
                           "{}"});
    check_sent(&(sent){{.verb = KI_REST_PATCH,
                        .patch = KI_PATCH_APPLY,
                        .resource = &KI_CORE_V1_NODES,
                        .name = "n",
                        .body = KI_STR("{}"),
                        .field_manager = "me",
                        .force = 1},
                       "PATCH",
                       "/api/v1/nodes/n?fieldManager=me&force=true",
                       "Content-Type: application/apply-patch+yaml",
                       "{}"});
}

static void the_options_of_a_delete_are_its_body(void **state)
{
    (void)state;
    const char *target = "/api/v1/namespaces/web/pods/a";
    ki_rest_request plain = {.verb = KI_REST_DELETE, .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a"};
    ki_rest_request full = plain;
    full.has_grace_period = 1;
    full.if_uid = KI_STR("u\"1");
    full.if_resource_version = KI_STR("7");
    full.propagation = KI_PROPAGATION_FOREGROUND;
    full.dry_run = 1;
    ki_rest_request orphan = plain;
    orphan.propagation = KI_PROPAGATION_ORPHAN;
    check_sent(&(sent){plain, "DELETE", target, NULL, ""});
    check_sent(&(sent){full, "DELETE", target, JSON_TYPE,
                       "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
                       "\"preconditions\":{\"uid\":\"u\\\"1\",\"resourceVersion\":\"7\"},"
                       "\"propagationPolicy\":\"Foreground\",\"dryRun\":[\"All\"]}"});
    check_sent(
        &(sent){orphan, "DELETE", target, JSON_TYPE,
                "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Orphan\"}"});
}

static void invalid_calls_are_refused(void **state)
{
    (void)state;
#define PODS .resource = &KI_CORE_V1_PODS, .ns = "web"
    const ki_rest_request rows[] = {
        {.verb = KI_REST_GET},
        {PODS, .name = "a"},
        {.verb = 7, PODS, .name = "a"},
        {.verb = KI_REST_GET, PODS},
        {.verb = KI_REST_GET, PODS, .name = ""},
        {.verb = KI_REST_DELETE, PODS, .name = ""},
        {.verb = KI_REST_UPDATE, PODS, .body = OBJECT},
        {.verb = KI_REST_PATCH, PODS, .patch = KI_PATCH_JSON, .body = OBJECT},
        {.verb = KI_REST_GET, PODS, .name = "a/b"},
        {.verb = KI_REST_GET, PODS, .name = ".."},
        {.verb = KI_REST_GET, PODS, .name = "a%2fb"},
        {.verb = KI_REST_GET, .resource = &KI_CORE_V1_PODS, .ns = "../..", .name = "a"},
        {.verb = KI_REST_GET, .resource = &KI_CORE_V1_PODS, .name = "a"},
        {.verb = KI_REST_GET, .resource = &KI_CORE_V1_NODES, .ns = "web", .name = "a"},
        {.verb = KI_REST_GET, PODS, .name = "a", .subresource = "a/b"},
        {.verb = KI_REST_GET, PODS, .name = "a", .body = OBJECT},
        {.verb = KI_REST_GET, PODS, .name = "a", .patch = KI_PATCH_JSON},
        {.verb = KI_REST_DELETE_COLLECTION, PODS, .name = "a"},
        {.verb = KI_REST_DELETE_COLLECTION, PODS, .subresource = "status"},
        {.verb = KI_REST_DELETE_COLLECTION, PODS, .if_uid = KI_STR("u")},
        {.verb = KI_REST_DELETE_COLLECTION, PODS, .list = {.watch = 1}},
        {.verb = KI_REST_DELETE_COLLECTION, PODS, .body = KI_STR("{}")},
        {.verb = KI_REST_DELETE_COLLECTION, .resource = &KI_CORE_V1_PODS},
        {.verb = KI_REST_LIST, PODS, .name = "a"},
        {.verb = KI_REST_LIST, PODS, .subresource = "status"},
        {.verb = KI_REST_LIST, PODS, .list = {.watch = 1}},
        {.verb = KI_REST_LIST, PODS, .list = {.send_initial_events = 1}},
        {.verb = KI_REST_CREATE, PODS},
        {.verb = KI_REST_CREATE, PODS, .name = "a", .body = OBJECT},
        {.verb = KI_REST_CREATE, .resource = &KI_CORE_V1_PODS, .body = OBJECT},
        {.verb = KI_REST_CREATE, PODS, .subresource = "eviction", .body = OBJECT},
        {.verb = KI_REST_CREATE, PODS, .body = {NULL, 3}},
        {.verb = KI_REST_PATCH, PODS, .name = "a", .body = OBJECT},
        {.verb = KI_REST_PATCH, PODS, .name = "a", .body = OBJECT, .patch = 5},
        {.verb = KI_REST_PATCH, PODS, .name = "a", .body = OBJECT, .patch = KI_PATCH_APPLY},
        {.verb = KI_REST_PATCH, PODS, .name = "a", .body = OBJECT, .patch = KI_PATCH_MERGE, .force = 1},
        {.verb = KI_REST_DELETE, PODS, .name = "a", .propagation = 4},
        {.verb = KI_REST_DELETE, PODS, .name = "a", .has_grace_period = 1, .grace_period_seconds = -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_rest_message message = {0};
        ki_error err = {0};
        if (ki_rest_message_init(&message, &rows[i], &err) != KI_ERR_INVALID)
            fail_msg("row %zu was accepted", i);
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_true(err.message[0] != 0);
        assert_null(message.method);
    }
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    ki_rest_request request = {.verb = KI_REST_DELETE,
                               .resource = &KI_CORE_V1_PODS,
                               .ns = "web",
                               .name = "a",
                               .has_grace_period = 1};
    int rc = KI_ERR_NO_MEMORY;
    for (size_t n = 1; rc < 0; n++) {
        ki_rest_message message;
        ki_error err = {0};
        failing_allocator_fail_at(n);
        rc = ki_rest_message_init(&message, &request, &err);
        if (rc == 0)
            ki_rest_message_fini(&message);
        else
            assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_int_equal(err.code, rc);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    assert_false(failing_allocator_has_failed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_calls_have_no_body),
        cmocka_unit_test(a_collection_is_deleted_by_its_selectors),
        cmocka_unit_test(writing_calls_have_their_body),
        cmocka_unit_test(a_body_is_sent_as_its_text_or_fails_the_call),
        cmocka_unit_test(each_kind_of_patch_has_its_type),
        cmocka_unit_test(the_options_of_a_delete_are_its_body),
        cmocka_unit_test(invalid_calls_are_refused),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
