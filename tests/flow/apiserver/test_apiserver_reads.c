/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of the embedded server to get, list and discovery. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

enum { PODS = 7 };

#define PODS_PATH "/api/v1/namespaces/default/pods"
#define AS_TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define AS_METADATA "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

static int setup(void **state)
{
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.seed = 1, .allows_debug = 1});
    for (int i = 0; i < PODS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "pod-%d", i);
        api_put_pod(server, name, i % 2 == 0 ? "even" : "odd", i < 3 ? "node-1" : "node-2");
    }
    *state = server;
    return 0;
}

static void expect_failure(const ki_apiserver *server, const char *path, int code, const char *reason)
{
    api_answer answer = api_get(server, path);
    if (answer.status != code || strcmp(api_text(&answer, "reason"), reason) != 0)
        fail_msg("%s: %d %s", path, answer.status, answer.body);
    assert_string_equal(api_text(&answer, "kind"), "Status");
    assert_string_equal(api_text(&answer, "status"), "Failure");
    assert_int_equal(json_integer_value(api_at(answer.tree, "code")), code);
    api_answer_fini(&answer);
}

static size_t count_of(const ki_apiserver *server, const char *path)
{
    api_answer answer = api_get(server, path);
    if (answer.status != 200)
        fail_msg("%s: %d %s", path, answer.status, answer.body);
    size_t count = json_array_size(api_at(answer.tree, "items"));
    api_answer_fini(&answer);
    return count;
}

/* ---- get ----------------------------------------------------------------------------------------------- */

static void an_object_is_found_by_its_name(void **state)
{
    api_answer answer = api_get(*state, PODS_PATH "/pod-1");
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "kind"), "Pod");
    assert_string_equal(api_text(&answer, "apiVersion"), "v1");
    assert_string_equal(api_text(&answer, "metadata.name"), "pod-1");
    assert_int_equal(strlen(api_text(&answer, "metadata.uid")), 36);
    assert_string_equal(api_header(&answer, "Content-Type"), "application/json");
    assert_string_equal(api_header(&answer, "Cache-Control"), "no-cache, private");
    api_answer_fini(&answer);
}

static void missing_objects_are_404(void **state)
{
    expect_failure(*state, PODS_PATH "/none", 404, "NotFound");
    api_answer answer = api_get(*state, "/api/v1/nothings");
    assert_int_equal(answer.status, 404);
    assert_string_equal(answer.body, "404 page not found\n");
    assert_string_equal(api_header(&answer, "Content-Type"), "text/plain; charset=utf-8");
    api_answer_fini(&answer);
    expect_failure(*state, PODS_PATH "/pod-1/log", 404, "NotFound");
}

static void an_unknown_method_is_405(void **state)
{
    api_answer answer = api_call(*state, &(api_request){.path = "/api/v1/pods", .body = "{}"});
    assert_int_equal(answer.status, 405);
    assert_string_equal(api_text(&answer, "reason"), "MethodNotAllowed");
    api_answer_fini(&answer);
}

/* ---- list ---------------------------------------------------------------------------------------------- */

static void a_list_has_all_objects_of_its_namespace(void **state)
{
    api_answer answer = api_get(*state, PODS_PATH);
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "kind"), "PodList");
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), PODS);
    assert_null(api_at(answer.tree, "items.0.kind"));
    assert_null(api_at(answer.tree, "metadata.continue"));
    api_answer_fini(&answer);
    assert_int_equal(count_of(*state, "/api/v1/pods"), PODS);
    assert_int_equal(count_of(*state, "/api/v1/namespaces/kube-system/pods"), 0);
}

static void pages_show_one_version(void **state)
{
    ki_apiserver *server = *state;
    char path[1024] = PODS_PATH "?limit=3";
    char version[64] = "";
    size_t total = 0;
    int pages = 0;
    for (; path[0] != 0; pages++) {
        api_answer answer = api_get(server, path);
        assert_int_equal(answer.status, 200);
        size_t count = json_array_size(api_at(answer.tree, "items"));
        total += count;
        if (pages == 0) {
            snprintf(version, sizeof(version), "%s", api_text(&answer, "metadata.resourceVersion"));
            assert_int_equal(json_integer_value(api_at(answer.tree, "metadata.remainingItemCount")),
                             PODS - 3);
            api_put_pod(server, "pod-3a", "late", "node-1");
        }
        assert_string_equal(api_text(&answer, "metadata.resourceVersion"), version);
        const char *token = api_text(&answer, "metadata.continue");
        path[0] = 0;
        if (token[0] != 0)
            snprintf(path, sizeof(path), PODS_PATH "?limit=3&continue=%s", token);
        else
            assert_null(api_at(answer.tree, "metadata.remainingItemCount"));
        api_answer_fini(&answer);
    }
    assert_int_equal(pages, 3);
    assert_int_equal(total, PODS);
}

static void an_expired_continue_token_is_410_with_a_new_one(void **state)
{
    ki_apiserver *server = *state;
    char path[1024];
    api_answer answer = api_get(server, PODS_PATH "?limit=3");
    snprintf(path, sizeof(path), PODS_PATH "?limit=3&continue=%s", api_text(&answer, "metadata.continue"));
    api_answer_fini(&answer);
    api_put_pod(server, "pod-9", "late", "node-1");
    ki_apiserver_compact(server);
    answer = api_get(server, path);
    assert_int_equal(answer.status, 410);
    assert_string_equal(api_text(&answer, "reason"), "Expired");
    snprintf(path, sizeof(path), PODS_PATH "?limit=30&continue=%s", api_text(&answer, "metadata.continue"));
    api_answer_fini(&answer);
    answer = api_get(server, path);
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "items.0.metadata.name"), "pod-3");
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), PODS - 3 + 1);
    api_answer_fini(&answer);
}

static void selectors_filter_lists(void **state)
{
    assert_int_equal(count_of(*state, "/api/v1/pods?labelSelector=app%3Deven"), 4);
    assert_int_equal(count_of(*state, "/api/v1/pods?labelSelector=app+in+(odd,other)"), 3);
    assert_int_equal(count_of(*state, "/api/v1/pods?labelSelector=!app"), 0);
    assert_int_equal(count_of(*state, "/api/v1/pods?fieldSelector=spec.nodeName=node-1"), 3);
    assert_int_equal(count_of(*state, "/api/v1/pods?fieldSelector=metadata.name=pod-5"), 1);
    assert_int_equal(
        count_of(*state, "/api/v1/pods?fieldSelector=spec.nodeName!=node-1&labelSelector=app=odd"), 2);
    expect_failure(*state, "/api/v1/pods?labelSelector=a==b==c", 400, "BadRequest");
    expect_failure(*state, "/api/v1/pods?fieldSelector=spec.nothing=1", 400, "BadRequest");
}

static void versions_are_interpreted_as_in_kubernetes(void **state)
{
    ki_apiserver *server = *state;
    char path[256];
    unsigned long long before = ki_apiserver_version(server);
    api_put_pod(server, "pod-8", "late", "node-1");
    assert_int_equal(count_of(server, "/api/v1/pods?resourceVersion=0&limit=1"), PODS + 1);
    snprintf(path, sizeof(path), "/api/v1/pods?resourceVersion=%llu&resourceVersionMatch=Exact", before);
    assert_int_equal(count_of(server, path), PODS);
    snprintf(path, sizeof(path), "/api/v1/pods?resourceVersion=%llu&resourceVersionMatch=NotOlderThan",
             before);
    assert_int_equal(count_of(server, path), PODS + 1);
    snprintf(path, sizeof(path), "/api/v1/pods?resourceVersion=%llu&limit=100", before);
    assert_int_equal(count_of(server, path), PODS);
    ki_apiserver_compact(server);
    expect_failure(server, path, 410, "Expired");
    expect_failure(server, "/api/v1/pods?resourceVersion=abc", 500, "");
    expect_failure(server, "/api/v1/pods?resourceVersionMatch=Exact", 422, "Invalid");
    expect_failure(server, "/api/v1/pods?resourceVersion=0&resourceVersionMatch=Exact", 422, "Invalid");
    expect_failure(server, "/api/v1/pods?resourceVersion=1&resourceVersionMatch=Other", 422, "Invalid");
    expect_failure(server, "/api/v1/pods?limit=x", 400, "BadRequest");
    expect_failure(server, "/api/v1/pods?continue=x", 400, "BadRequest");
}

static void a_future_version_is_504_after_three_seconds(void **state)
{
    char path[256];
    snprintf(path, sizeof(path), "/api/v1/pods?resourceVersion=%llu",
             (unsigned long long)ki_apiserver_version(*state) + 1000);
    api_answer answer = api_get(*state, path);
    assert_int_equal(answer.status, 504);
    assert_string_equal(api_text(&answer, "reason"), "Timeout");
    assert_string_equal(api_text(&answer, "details.causes.0.reason"), "ResourceVersionTooLarge");
    assert_string_equal(api_header(&answer, "Retry-After"), "1");
    api_answer_fini(&answer);
}

/* ---- representations ----------------------------------------------------------------------------------- */

static void a_table_has_a_row_for_each_object(void **state)
{
    api_answer answer = api_call(*state, &(api_request){.path = "/api/v1/pods", .headers = {AS_TABLE}});
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "kind"), "Table");
    assert_string_equal(api_text(&answer, "columnDefinitions.0.name"), "Name");
    assert_int_equal(json_array_size(api_at(answer.tree, "rows")), PODS);
    assert_string_equal(api_text(&answer, "rows.0.cells.0"), "pod-0");
    assert_string_equal(api_text(&answer, "rows.0.object.kind"), "PartialObjectMetadata");
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = PODS_PATH "/pod-1", .headers = {AS_TABLE}});
    assert_int_equal(json_array_size(api_at(answer.tree, "rows")), 1);
    api_answer_fini(&answer);
}

static void partial_metadata_is_a_list_of_its_own_kind(void **state)
{
    api_answer answer = api_call(*state, &(api_request){.path = "/api/v1/pods", .headers = {AS_METADATA}});
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_text(&answer, "kind"), "PartialObjectMetadataList");
    assert_string_equal(api_text(&answer, "items.1.kind"), "PartialObjectMetadata");
    assert_string_equal(api_text(&answer, "items.1.metadata.name"), "pod-1");
    assert_null(api_at(answer.tree, "items.1.spec"));
    api_answer_fini(&answer);
}

static void an_unsupported_format_is_406(void **state)
{
    api_answer answer =
        api_call(*state, &(api_request){.path = "/api/v1/pods", .headers = {"Accept: application/cbor"}});
    assert_int_equal(answer.status, 406);
    assert_string_equal(api_text(&answer, "reason"), "NotAcceptable");
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = "/api/v1/pods",
                                             .headers = {"Accept: application/cbor,application/json"}});
    assert_int_equal(answer.status, 200);
    assert_non_null(answer.tree);
    api_answer_fini(&answer);
}

static void curl_gets_indented_text(void **state)
{
    const api_request curl = {.path = PODS_PATH "/pod-1", .headers = {"User-Agent: curl/8.0"}};
    const api_request not_pretty = {.path = PODS_PATH "/pod-1?pretty=false",
                                    .headers = {"User-Agent: curl/8.0"}};
    const api_request pretty = {.path = PODS_PATH "/pod-1?pretty=true"};
    api_answer answer = api_call(*state, &curl);
    assert_int_equal(strncmp(answer.body, "{\n  \"kind\": \"Pod\",\n  \"apiVersion\"", 30), 0);
    assert_non_null(answer.tree);
    api_answer_fini(&answer);
    answer = api_call(*state, &not_pretty);
    assert_int_equal(strncmp(answer.body, "{\"kind\":\"Pod\"", 13), 0);
    api_answer_fini(&answer);
    answer = api_call(*state, &pretty);
    assert_int_equal(strncmp(answer.body, "{\n  \"kind\"", 10), 0);
    api_answer_fini(&answer);
}

static void a_large_list_is_compressed_when_asked_for(void **state)
{
    ki_apiserver *server = *state;
    ki_error err = {0};
    char *json = calloc(1, 200 * 1024);
    size_t at = (size_t)sprintf(json, "{\"metadata\":{\"name\":\"large\"},\"data\":{\"k\":\"");
    memset(json + at, 'x', 150 * 1024);
    strcpy(json + at + 150 * 1024, "\"}}");
    assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err), 0);
    api_answer answer =
        api_call(server, &(api_request){.path = "/api/v1/configmaps", .headers = {"Accept-Encoding: gzip"}});
    assert_string_equal(api_header(&answer, "Content-Encoding"), "gzip");
    assert_true(answer.body_len < 20 * 1024);
    assert_int_equal((unsigned char)answer.body[0], 0x1f);
    api_answer_fini(&answer);
    answer = api_call(server, &(api_request){.path = "/api/v1/pods", .headers = {"Accept-Encoding: gzip"}});
    assert_string_equal(api_header(&answer, "Content-Encoding"), "");
    api_answer_fini(&answer);
    free(json);
}

/* ---- other paths --------------------------------------------------------------------------------------- */

static void the_server_describes_itself(void **state)
{
    static const struct {
        const char *path;
        const char *kind;
    } pages[] = {
        {"/api", "APIVersions"},        {"/apis", "APIGroupList"},
        {"/apis/apps", "APIGroup"},     {"/apis/apps/v1", "APIResourceList"},
        {"/api/v1", "APIResourceList"},
    };
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        api_answer answer = api_get(*state, pages[i].path);
        assert_int_equal(answer.status, 200);
        assert_string_equal(api_text(&answer, "kind"), pages[i].kind);
        api_answer_fini(&answer);
    }
    const api_request aggregated = {
        .path = "/apis",
        .headers = {"Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}};
    api_answer answer = api_call(*state, &aggregated);
    assert_string_equal(api_text(&answer, "kind"), "APIGroupDiscoveryList");
    assert_string_equal(api_header(&answer, "Content-Type"),
                        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    api_answer_fini(&answer);
    answer = api_get(*state, "/version");
    assert_string_equal(api_text(&answer, "major"), "1");
    api_answer_fini(&answer);
    answer = api_get(*state, "/openapi/v3");
    assert_non_null(json_object_get(api_at(answer.tree, "paths"), "api/v1"));
    api_answer_fini(&answer);
    answer = api_get(*state, "/");
    assert_true(json_array_size(api_at(answer.tree, "paths")) > 10);
    api_answer_fini(&answer);
}

/* kubectl looks here for a kind that version 3 lacks. */
static void the_old_openapi_exists_and_is_empty(void **state)
{
    static const char bytes[] = "\012\0032.0\022\025\012\012Kubernetes\022\007v1.36.3\102";
    api_answer answer = api_get(*state, "/openapi/v2");
    assert_string_equal(api_text(&answer, "swagger"), "2.0");
    assert_string_equal(api_text(&answer, "info.title"), "Kubernetes");
    assert_string_equal(api_header(&answer, "Content-Type"), "application/json");
    api_answer_fini(&answer);
    answer = api_call(
        *state,
        &(api_request){.path = "/openapi/v2",
                       .headers = {"Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_header(&answer, "Content-Type"),
                        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    assert_int_equal(answer.body_len, sizeof(bytes));
    assert_memory_equal(answer.body, bytes, sizeof(bytes));
    api_answer_fini(&answer);
}

static void the_server_reports_its_health(void **state)
{
    static const char *const paths[] = {"/healthz", "/livez", "/readyz"};
    for (size_t i = 0; i < 3; i++) {
        api_answer answer = api_get(*state, paths[i]);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body, "ok");
        api_answer_fini(&answer);
    }
}

/* A test writes no more than it needs; other clients may still change such an object. */
static void a_program_may_put_incomplete_objects(void **state)
{
    ki_error err = {0};
    assert_int_equal(ki_apiserver_put(*state, &KI_CORE_V1_PODS, "{\"metadata\":{\"name\":\"bare\"}}", &err),
                     0);
    api_answer answer =
        api_call(*state, &(api_request){.method = "PATCH",
                                        .path = "/api/v1/namespaces/default/pods/bare",
                                        .body = "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}",
                                        .headers = {"Content-Type: application/merge-patch+json"}});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = "/api/v1/namespaces/default/pods",
                                             .body = "{\"metadata\":{\"name\":\"other\"}}"});
    assert_int_equal(answer.status, 422);
    api_answer_fini(&answer);
}

static void a_program_counts_and_deletes(void **state)
{
    ki_error err = {0};
    assert_int_equal(ki_apiserver_count(*state, &KI_CORE_V1_PODS), PODS);
    assert_int_equal(ki_apiserver_delete(*state, &KI_CORE_V1_PODS, "default", "pod-2", &err), 0);
    assert_int_equal(ki_apiserver_count(*state, &KI_CORE_V1_PODS), PODS - 1);
    assert_int_equal(ki_apiserver_delete(*state, &KI_CORE_V1_PODS, "default", "pod-2", &err),
                     KI_ERR_NOT_FOUND);
    assert_int_equal(ki_apiserver_put(*state, &KI_CORE_V1_PODS, "{", &err), KI_ERR_INVALID);
    assert_int_equal(ki_apiserver_put(*state, &KI_CORE_V1_PODS, "{\"metadata\":{\"name\":\"_\"}}", &err),
                     KI_ERR_INVALID);
}

static void a_program_deletes_objects_with_finalizers_in_one_step(void **state)
{
    static const char held[] = "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"example.com/f\"]}}";
    ki_error err = {0};
    assert_int_equal(ki_apiserver_put(*state, &KI_CORE_V1_CONFIGMAPS, held, &err), 0);
    uint64_t version = ki_apiserver_version(*state);
    assert_int_equal(ki_apiserver_delete(*state, &KI_CORE_V1_CONFIGMAPS, "default", "held", &err), 0);
    assert_int_equal(ki_apiserver_count(*state, &KI_CORE_V1_CONFIGMAPS), 0);
    assert_int_equal(ki_apiserver_version(*state), version + 1);
}

/* ---- reviews ------------------------------------------------------------------------------------------- */

static void an_accepted_client_may_do_everything(void **state)
{
    static const char path[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    api_answer answer = api_call(
        *state, &(api_request){.path = path,
                               .body = "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":"
                                       "\"authorization.k8s.io/v1\",\"spec\":{\"resourceAttributes\":{"
                                       "\"verb\":\"get\",\"resource\":\"pods\"}}}"});
    assert_int_equal(answer.status, 201);
    assert_true(json_is_true(api_at(answer.tree, "status.allowed")));
    assert_string_equal(api_text(&answer, "spec.resourceAttributes.resource"), "pods");
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = path, .body = "{\"kind\":\"Pod\"}"});
    assert_int_equal(answer.status, 400);
    api_answer_fini(&answer);
    answer = api_get(*state, path);
    assert_int_equal(answer.status, 405);
    api_answer_fini(&answer);
}

static void a_client_can_ask_for_its_user(void **state)
{
    api_answer answer =
        api_call(*state, &(api_request){.path = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                        .body = "k8s",
                                        .headers = {"Content-Type: application/vnd.kubernetes.protobuf"}});
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_text(&answer, "kind"), "SelfSubjectReview");
    assert_string_equal(api_text(&answer, "status.userInfo.username"), "admin");
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                                             .body = "{\"spec\":{\"namespace\":\"default\"}}"});
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_text(&answer, "status.resourceRules.0.verbs.0"), "*");
    api_answer_fini(&answer);
}

static void subresources_that_need_a_node_are_refused_by_name(void **state)
{
    static const char *const subresources[] = {"log",   "exec",    "attach",   "portforward",
                                               "proxy", "binding", "eviction", "ephemeralcontainers",
                                               "resize"};
    for (size_t i = 0; i < sizeof(subresources) / sizeof(subresources[0]); i++) {
        char path[128];
        char message[128];
        snprintf(path, sizeof(path), "/api/v1/namespaces/default/pods/a/%s", subresources[i]);
        snprintf(message, sizeof(message), "this server does not serve the subresource \"%s\" of pods",
                 subresources[i]);
        api_answer answer = api_get(*state, path);
        assert_int_equal(answer.status, 404);
        assert_string_equal(api_text(&answer, "kind"), "Status");
        assert_string_equal(api_text(&answer, "message"), message);
        assert_true(json_is_object(api_at(answer.tree, "details")));
        api_answer_fini(&answer);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_accepted_client_may_do_everything),
        TEST(a_client_can_ask_for_its_user),
        TEST(subresources_that_need_a_node_are_refused_by_name),
        TEST(an_object_is_found_by_its_name),
        TEST(missing_objects_are_404),
        TEST(an_unknown_method_is_405),
        TEST(a_list_has_all_objects_of_its_namespace),
        TEST(pages_show_one_version),
        TEST(an_expired_continue_token_is_410_with_a_new_one),
        TEST(selectors_filter_lists),
        TEST(versions_are_interpreted_as_in_kubernetes),
        TEST(a_future_version_is_504_after_three_seconds),
        TEST(a_table_has_a_row_for_each_object),
        TEST(partial_metadata_is_a_list_of_its_own_kind),
        TEST(an_unsupported_format_is_406),
        TEST(curl_gets_indented_text),
        TEST(a_large_list_is_compressed_when_asked_for),
        TEST(the_server_describes_itself),
        TEST(the_old_openapi_exists_and_is_empty),
        TEST(the_server_reports_its_health),
        TEST(a_program_may_put_incomplete_objects),
        TEST(a_program_counts_and_deletes),
        TEST(a_program_deletes_objects_with_finalizers_in_one_step),
    };
    return RUN_TESTS(tests);
}
