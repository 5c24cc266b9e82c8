/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded server responds to the writes of controllers like a real server: Leases, Events of both
 * groups, and the status of objects. */
#include <kinformer/apiserver.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/decode/fixtures.h"
#include "support/unit.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define LEASE LEASES "/kinformer-sample"
#define CORE_EVENTS "/api/v1/namespaces/default/events"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define FOOS "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"

#define JSON "Content-Type: application/json"
#define MERGE "Content-Type: application/merge-patch+json"
#define STRATEGIC "Content-Type: application/strategic-merge-patch+json"
#define AGENT "User-Agent: kinformer/0.1"

static int setup(void **state)
{
    *state = api_rig_start(&(ki_apiserver_options){.seed = 3});
    return 0;
}

static api_answer send(ki_apiserver *server, const char *method, const char *path, const char *body)
{
    const char *type = strcmp(method, "PATCH") != 0               ? JSON
                       : strstr(path, "samplecontroller") != NULL ? MERGE
                                                                  : STRATEGIC;
    return api_call(server,
                    &(api_request){.method = method, .path = path, .body = body, .headers = {type, AGENT}});
}

/* The same; frees the body. */
static api_answer send_tree(ki_apiserver *server, const char *method, const char *path, json_t *tree)
{
    char *body = json_dumps(tree, JSON_COMPACT);
    api_answer answer = send(server, method, path, body);
    free(body);
    json_decref(tree);
    return answer;
}

static int status_of(api_answer answer)
{
    int status = answer.status;
    if (status >= 500)
        print_error("%s\n", answer.body);
    api_answer_fini(&answer);
    return status;
}

static json_t *load(const char *name, int *out_status)
{
    fixture file;
    fixture_http http;
    ki_error err = {0};
    assert_int_equal(fixture_load(&file, name, &err), 0);
    assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &http), 0);
    json_t *tree = json_loadb(http.body.ptr, http.body.len, 0, NULL);
    assert_non_null(tree);
    *out_status = http.status;
    fixture_free(&file);
    return tree;
}

/* The object as its client sent it, without what the server adds. */
static json_t *load_body(const char *name)
{
    static const char *const drawn[] = {"uid", "resourceVersion", "creationTimestamp", "managedFields"};
    int status = 0;
    json_t *tree = load(name, &status);
    for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
        assert_int_equal(json_object_del(json_object_get(tree, "metadata"), drawn[i]), 0);
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(tree, next, key, value)
    {
        bool is_empty = json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0) ||
                        (json_is_string(value) && json_string_length(value) == 0);
        if (is_empty)
            (void)json_object_del(tree, key);
    }
    return tree;
}

/* Replaces a value that each server generates by that of the other. */
static void take_over(json_t *to, const json_t *from, const char *name)
{
    json_t *value = json_object_get(from, name);
    assert_true(json_is_string(value));
    assert_int_equal(json_object_set(to, name, value), 0);
}

/* The response equals the recorded one, value by value, except for generated values. */
static void expect_recorded(api_answer answer, const char *name)
{
    int status = 0;
    json_t *recorded = load(name, &status);
    json_t *metadata = json_object_get(recorded, "metadata");
    const json_t *ours = api_at(answer.tree, "metadata");
    assert_int_equal(answer.status, status);
    take_over(metadata, ours, "uid");
    take_over(metadata, ours, "resourceVersion");
    take_over(metadata, ours, "creationTimestamp");
    assert_int_equal(json_array_size(api_at(recorded, "metadata.managedFields")),
                     json_array_size(api_at(answer.tree, "metadata.managedFields")));
    take_over((json_t *)(uintptr_t)api_at(recorded, "metadata.managedFields.0"),
              api_at(answer.tree, "metadata.managedFields.0"), "time");
    /* Here the creator of an event also owns the two strings that the server adds, which does not matter. */
    json_t *fields = (json_t *)(uintptr_t)api_at(answer.tree, "metadata.managedFields.0.fieldsV1");
    if (strstr(name, "core") != NULL || strstr(name, "aggregate") != NULL) {
        assert_int_equal(json_object_del(fields, "f:reportingComponent"), 0);
        assert_int_equal(json_object_del(fields, "f:reportingInstance"), 0);
    }
    char *expected = json_dumps(recorded, JSON_COMPACT | JSON_SORT_KEYS);
    char *got = json_dumps(answer.tree, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(got, expected);
    free(expected);
    free(got);
    json_decref(recorded);
    api_answer_fini(&answer);
}

/* ---- Leases -------------------------------------------------------------------------------------------- */

static void a_lease_is_created_and_read_as_recorded(void **state)
{
    expect_recorded(send_tree(*state, "POST", LEASES, load_body("lease-create.http")), "lease-create.http");
    expect_recorded(api_get(*state, LEASE), "lease-get.http");
}

static void a_lease_with_an_old_version_is_refused(void **state)
{
    static const char message[] =
        "Operation cannot be fulfilled on leases.coordination.k8s.io \"kinformer-sample\": the object has "
        "been modified; please apply your changes to the latest version and try again";
    api_answer created = send_tree(*state, "POST", LEASES, load_body("lease-create.http"));
    assert_int_equal(created.status, 201);
    assert_int_equal(status_of(send(*state, "PUT", LEASE, created.body)), 200);
    json_t *spec = json_object_get(created.tree, "spec");
    assert_int_equal(json_object_set_new(spec, "holderIdentity", json_string("b")), 0);
    assert_int_equal(status_of(send_tree(*state, "PUT", LEASE, json_incref(created.tree))), 200);
    api_answer late = send(*state, "PUT", LEASE, created.body);
    assert_int_equal(late.status, 409);
    assert_string_equal(api_text(&late, "reason"), "Conflict");
    assert_string_equal(api_text(&late, "message"), message);
    assert_string_equal(api_text(&late, "details.name"), "kinformer-sample");
    assert_string_equal(api_text(&late, "details.group"), "coordination.k8s.io");
    assert_string_equal(api_text(&late, "details.kind"), "leases");
    api_answer_fini(&late);
    api_answer_fini(&created);
    api_answer again = send_tree(*state, "POST", LEASES, load_body("lease-create.http"));
    assert_int_equal(again.status, 409);
    assert_string_equal(api_text(&again, "reason"), "AlreadyExists");
    api_answer_fini(&again);
    api_answer now = api_get(*state, LEASE);
    assert_string_equal(api_text(&now, "spec.holderIdentity"), "b");
    api_answer_fini(&now);
}

static void microseconds_are_kept_exactly(void **state)
{
    static const char *const times[] = {"2026-11-16T20:00:00.000001Z", "2026-11-16T20:00:00.123400Z",
                                        "2026-11-16T20:00:00.999999Z"};
    assert_int_equal(status_of(send_tree(*state, "POST", LEASES, load_body("lease-create.http"))), 201);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char patch[128];
        snprintf(patch, sizeof(patch), "{\"spec\":{\"renewTime\":\"%s\"}}", times[i]);
        assert_int_equal(status_of(send(*state, "PATCH", LEASE, patch)), 200);
        api_answer answer = api_get(*state, LEASE);
        assert_string_equal(api_text(&answer, "spec.renewTime"), times[i]);
        api_answer_fini(&answer);
    }
}

/* ---- Events -------------------------------------------------------------------------------------------- */

static void events_of_both_groups_are_created_as_recorded(void **state)
{
    expect_recorded(send_tree(*state, "POST", CORE_EVENTS, load_body("event-create-core.http")),
                    "event-create-core.http");
    expect_recorded(send_tree(*state, "POST", EVENTS, load_body("event-create-events.http")),
                    "event-create-events.http");
}

static void an_event_is_counted_as_recorded(void **state)
{
    assert_int_equal(status_of(send_tree(*state, "POST", CORE_EVENTS, load_body("event-create-core.http"))),
                     201);
    expect_recorded(send(*state, "PATCH", CORE_EVENTS "/web.1",
                         "{\"count\":2,\"lastTimestamp\":\"2026-11-16T20:00:05Z\"}"),
                    "event-aggregate-patch.http");
}

static void an_event_becomes_a_series_in_both_groups(void **state)
{
    assert_int_equal(status_of(send_tree(*state, "POST", EVENTS, load_body("event-create-events.http"))),
                     201);
    assert_int_equal(status_of(send(*state, "PATCH", EVENTS "/web.2",
                                    "{\"series\":{\"count\":3,\"lastObservedTime\":"
                                    "\"2026-11-16T20:00:09.000007Z\"}}")),
                     200);
    static const char *const paths[] = {EVENTS "/web.2", CORE_EVENTS "/web.2"};
    for (size_t i = 0; i < 2; i++) {
        api_answer answer = api_get(*state, paths[i]);
        assert_int_equal(answer.status, 200);
        assert_int_equal(json_integer_value(api_at(answer.tree, "series.count")), 3);
        assert_string_equal(api_text(&answer, "series.lastObservedTime"), "2026-11-16T20:00:09.000007Z");
        api_answer_fini(&answer);
    }
}

/* ---- status -------------------------------------------------------------------------------------------- */

static const char deployment[] =
    "{\"apiVersion\":\"apps/"
    "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":"
    "2,\"selector\":{\"matchLabels\":{\"app\":\"a\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"a\"}"
    "},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";

static const char definition[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/"
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
    "\"foos.samplecontroller.k8s.io\",\"annotations\":{\"api-approved.kubernetes.io\":\"unapproved\"}},"
    "\"spec\":{\"group\":\"samplecontroller.k8s.io\",\"scope\":"
    "\"Namespaced\",\"names\":{\"kind\":\"Foo\",\"plural\":\"foos\"},\"versions\":[{\"name\":\"v1alpha1\","
    "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{"
    "\"spec\":{\"type\":\"object\",\"properties\":{\"replicas\":{\"type\":\"integer\"}}},\"status\":{"
    "\"type\":"
    "\"object\",\"properties\":{\"availableReplicas\":{\"type\":\"integer\"}}}}}},\"subresources\":{"
    "\"status\":{}}}]}}";

static const char foo[] = "{\"apiVersion\":\"samplecontroller.k8s.io/v1alpha1\",\"kind\":\"Foo\","
                          "\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":2}}";

/* Both parts of an object, and whether its generation was incremented. */
static void expect_parts(ki_apiserver *server, const char *path, int replicas, int available, int generation)
{
    api_answer answer = api_get(server, path);
    assert_int_equal(json_integer_value(api_at(answer.tree, "spec.replicas")), replicas);
    assert_int_equal(json_integer_value(api_at(answer.tree, "status.availableReplicas")), available);
    assert_int_equal(json_integer_value(api_at(answer.tree, "metadata.generation")), generation);
    api_answer_fini(&answer);
}

/* A body with `replicas` and `available`, and the version of `like`. */
static json_t *with_parts(const api_answer *like, int replicas, int available)
{
    json_t *tree = json_deep_copy(like->tree);
    json_t *spec = json_object_get(tree, "spec");
    assert_int_equal(json_object_set_new(spec, "replicas", json_integer(replicas)), 0);
    assert_int_equal(json_object_set_new(tree, "status", json_pack("{s:i}", "availableReplicas", available)),
                     0);
    return tree;
}

static void check_status_subresource(ki_apiserver *server, const char *collection, const char *body)
{
    char path[128];
    char status[160];
    snprintf(path, sizeof(path), "%s/a", collection);
    snprintf(status, sizeof(status), "%s/status", path);
    assert_int_equal(status_of(send(server, "POST", collection, body)), 201);
    api_answer first = api_get(server, path);
    assert_int_equal(status_of(send_tree(server, "PUT", status, with_parts(&first, 9, 1))), 200);
    expect_parts(server, path, 2, 1, 1);
    assert_int_equal(status_of(send_tree(server, "PUT", status, with_parts(&first, 9, 2))), 409);
    assert_int_equal(status_of(send_tree(server, "PUT", path, with_parts(&first, 3, 3))), 409);
    api_answer_fini(&first);
    api_answer second = api_get(server, path);
    assert_int_equal(status_of(send_tree(server, "PUT", path, with_parts(&second, 3, 7))), 200);
    expect_parts(server, path, 3, 1, 2);
    api_answer_fini(&second);
    static const char patch[] = "{\"spec\":{\"replicas\":9},\"status\":{\"availableReplicas\":4}}";
    assert_int_equal(status_of(send(server, "PATCH", status, patch)), 200);
    expect_parts(server, path, 3, 4, 2);
    assert_int_equal(status_of(send(server, "PATCH", path, patch)), 200);
    expect_parts(server, path, 9, 4, 3);
    static const char old[] =
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"status\":{\"availableReplicas\":5}}";
    assert_int_equal(status_of(send(server, "PATCH", status, old)), 409);
    expect_parts(server, path, 9, 4, 3);
}

static void the_status_of_a_deployment_is_written_only_by_its_subresource(void **state)
{
    check_status_subresource(*state, DEPLOYMENTS, deployment);
}

static void the_status_of_a_custom_object_is_written_only_by_its_subresource(void **state)
{
    api_post(*state, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    check_status_subresource(*state, FOOS, foo);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lease_is_created_and_read_as_recorded),
        TEST(a_lease_with_an_old_version_is_refused),
        TEST(microseconds_are_kept_exactly),
        TEST(events_of_both_groups_are_created_as_recorded),
        TEST(an_event_is_counted_as_recorded),
        TEST(an_event_becomes_a_series_in_both_groups),
        TEST(the_status_of_a_deployment_is_written_only_by_its_subresource),
        TEST(the_status_of_a_custom_object_is_written_only_by_its_subresource),
    };
    return RUN_TESTS(tests);
}
