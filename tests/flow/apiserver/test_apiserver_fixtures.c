/* SPDX-License-Identifier: Apache-2.0 */
/* The same request gives the same status, fields and types as recorded from a real server. Values are the
 * embedded server's own. Allowed differences are listed here with their reasons. */
#include <kinformer/resources.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support/apiserver/api_rig.h"
#include "support/decode/fixtures.h"
#include "support/unit.h"

/* ---- allowed differences ------------------------------------------------------------------------------- */

typedef struct allowed {
    const char *fixture; /* NULL: all */
    /* Includes everything below the path. "[]" is any index of an array, "[]?" an element that only one side
     * has, "[]!" an element that replaces another one; a path after "*" may occur anywhere. */
    const char *path;
    const char *why;
} allowed;

static const allowed differences[] = {
    {NULL, "*.metadata.managedFields[]?", "one manager puts all objects here"},
    {NULL, "*.metadata.managedFields[].fieldsV1", "and owns what they own there"},
    {NULL, "*.metadata.managedFields[]!.fieldsV1", "likewise"},
    {NULL, "*.metadata.managedFields[]!.subresource", "objects are put as a whole, with their status"},
    {"error-403-list", ".details", "a fault does not look at the request that it refuses"},
    {"error-403-watch", ".details", "likewise"},
    {"discovery-apis", ".groups[]?", "groups and versions that only one of the two servers has"},
    {"discovery-apis", ".groups[].versions[]?", "likewise"},
    {"discovery-core-v1", ".resources[]?", "subresources that need a node: logs, exec, proxies, tokens"},
    {"discovery-core-v1", ".resources[].storageVersionHash",
     "here componentstatuses are stored like all other objects"},
    {"discovery-apps-v1", ".resources[]?", "likewise"},
    {"discovery-aggregated-api", ".items[].versions[].resources[]?", "likewise"},
    {"discovery-aggregated-api", ".items[].versions[].resources[].subresources", "likewise"},
    {"discovery-aggregated-apis", ".items[]?", "groups and versions that only one of the two servers has"},
    {"discovery-aggregated-apis", ".items[].versions[]?", "likewise"},
    {"discovery-aggregated-apis", ".items[].versions[].resources[]?", "likewise"},
    {"discovery-aggregated-apis", ".items[].versions[].resources[].subresources", "likewise"},
    {"widgets-list", ".metadata.continue", "for custom resources Kubernetes writes it even if it is empty"},
};

static int is_allowed(const char *fixture_name, const char *path)
{
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
        const allowed *one = &differences[i];
        if (one->fixture != NULL && strcmp(one->fixture, fixture_name) != 0)
            continue;
        if (one->path[0] == '*' ? strstr(path, one->path + 1) != NULL
                                : strncmp(path, one->path, strlen(one->path)) == 0)
            return 1;
    }
    return 0;
}

/* ---- shapes -------------------------------------------------------------------------------------------- */

typedef struct comparison {
    const char *fixture;
    size_t count; /* differences that are not allowed */
} comparison;

static void differ(comparison *c, const char *path, const char *what)
{
    if (is_allowed(c->fixture, path))
        return;
    c->count++;
    print_error("%s: %s: %s\n", c->fixture, path, what);
}

/* All numbers have the same type, and so have true and false. */
static int type_of(const json_t *value)
{
    if (json_is_number(value))
        return JSON_INTEGER;
    return json_is_boolean(value) ? JSON_TRUE : (int)json_typeof(value);
}

static void compare(comparison *c, const json_t *expected, const json_t *got, const char *path);

static void compare_fields(comparison *c, const json_t *expected, const json_t *got, const char *path)
{
    const char *key;
    json_t *value;
    char below[1024];
    json_object_foreach((json_t *)(uintptr_t)expected, key, value)
    {
        snprintf(below, sizeof(below), "%s.%s", path, key);
        /* Kubernetes writes null for a nil Go slice; here such a field is not stored. */
        if (json_object_get(got, key) == NULL && json_is_null(value))
            continue;
        if (json_object_get(got, key) == NULL)
            differ(c, below, "missing");
        else
            compare(c, value, json_object_get(got, key), below);
    }
    json_object_foreach((json_t *)(uintptr_t)got, key, value)
    {
        snprintf(below, sizeof(below), "%s.%s", path, key);
        if (json_object_get(expected, key) == NULL)
            differ(c, below, "not in the recorded response");
    }
}

/* The member that identifies an element; NULL: its index does. */
static const char *name_of(const json_t *element)
{
    static const char *const paths[] = {"name",    "groupVersion",  "resource", "subresource",
                                        "version", "metadata.name", "manager"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (json_is_string(api_at(element, paths[i])))
            return json_string_value(api_at(element, paths[i]));
    return NULL;
}

static const json_t *find_element(const json_t *array, const char *name)
{
    const json_t *element;
    size_t i;
    json_array_foreach(array, i, element)
    {
        const char *other = json_is_object(element) ? name_of(element) : NULL;
        if (other != NULL && strcmp(other, name) == 0)
            return element;
    }
    return NULL;
}

/* Managers differ from those of the recording, except those that wrote the status. */
static const json_t *find_manager(const json_t *got, const char *below)
{
    static const char suffix[] = ".managedFields[]";
    size_t len = strlen(below);
    bool is_managers = len >= sizeof(suffix) - 1 && strcmp(below + len - (sizeof(suffix) - 1), suffix) == 0;
    return is_managers ? find_element(got, "kinformer-apiserver") : NULL;
}

/* Elements with names are matched by name, in any order. */
static void compare_elements(comparison *c, const json_t *expected, const json_t *got, const char *below)
{
    char absent[1032];
    char stand_in[1032];
    snprintf(absent, sizeof(absent), "%s?", below);
    snprintf(stand_in, sizeof(stand_in), "%s!", below);
    if (json_array_size(expected) != json_array_size(got))
        differ(c, absent, "a different number of elements");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *one = json_array_get(expected, i);
        const char *name = json_is_object(one) ? name_of(one) : NULL;
        const json_t *other = name != NULL ? find_element(got, name) : json_array_get(got, i);
        const json_t *instead = other == NULL ? find_manager(got, below) : NULL;
        if (other != NULL)
            compare(c, one, other, below);
        else if (instead != NULL)
            compare(c, one, instead, stand_in);
        else
            differ(c, absent, name != NULL ? name : "missing");
    }
}

static void compare(comparison *c, const json_t *expected, const json_t *got, const char *path)
{
    char below[1024];
    snprintf(below, sizeof(below), "%s[]", path);
    if (is_allowed(c->fixture, path))
        return;
    if (type_of(expected) != type_of(got)) {
        differ(c, path, "another type");
    } else if (json_is_object(expected)) {
        compare_fields(c, expected, got, path);
    } else if (json_is_array(expected)) {
        compare_elements(c, expected, got, below);
    }
}

/* ---- recorded responses -------------------------------------------------------------------------------- */

typedef struct recording {
    fixture file;
    fixture_http http;
    json_t *tree;
} recording;

static void recording_load(recording *r, const char *name)
{
    char file[128];
    ki_error err = {0};
    *r = (recording){0};
    snprintf(file, sizeof(file), "%s.http", name);
    assert_int_equal(fixture_load(&r->file, file, &err), 0);
    assert_int_equal(fixture_split_http((ki_str){r->file.data, r->file.len}, &r->http), 0);
    r->tree = json_loadb(r->http.body.ptr, r->http.body.len, 0, NULL);
}

static void recording_free(recording *r)
{
    json_decref(r->tree);
    fixture_free(&r->file);
}

static void put_items(ki_apiserver *server, const ki_resource *resource, const json_t *list)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(list, "items"), i, item)
    {
        ki_error err = {0};
        char *text = json_dumps(item, 0);
        if (ki_apiserver_put(server, resource, text, &err) < 0)
            fail_msg("%s: %s", resource->plural, err.message);
        free(text);
    }
}

static void expect_same(const ki_apiserver *server, const char *name, const api_request *request)
{
    recording r;
    comparison c = {.fixture = name};
    recording_load(&r, name);
    api_answer answer = api_call(server, request);
    if (answer.status != r.http.status) {
        print_error("%s: %d, not %d: %s\n", name, answer.status, r.http.status, answer.body);
        c.count++;
    } else if (r.tree != NULL && answer.tree != NULL) {
        compare(&c, r.tree, answer.tree, "");
    } else if ((r.tree != NULL) != (answer.tree != NULL)) {
        print_error("%s: one of the two is not JSON\n", name);
        c.count++;
    }
    ki_str type = fixture_http_header(&r.http, "Content-Type");
    if (!ki_str_equal(type, ki_str_of(api_header(&answer, "Content-Type")))) {
        print_error("%s: Content-Type: %s\n", name, api_header(&answer, "Content-Type"));
        c.count++;
    }
    ki_str retry = fixture_http_header(&r.http, "Retry-After");
    assert_true(ki_str_equal(retry, ki_str_of(api_header(&answer, "Retry-After"))));
    api_answer_fini(&answer);
    recording_free(&r);
    assert_int_equal(c.count, 0);
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static const ki_resource definitions = {
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
    KI_SCOPE_CLUSTER,       0};
static const ki_resource widgets = {"example.com", "v1", "widgets", "Widget", KI_SCOPE_NAMESPACED, 0};

typedef struct listing {
    const char *fixture;
    const ki_resource *resource;
    const char *path;
} listing;

static const listing listings[] = {
    {"namespaces-list", &KI_CORE_V1_NAMESPACES, "/api/v1/namespaces"},
    {"crds-list", &definitions, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"},
    {"nodes-list", &KI_CORE_V1_NODES, "/api/v1/nodes"},
    {"pods-list", &KI_CORE_V1_PODS, "/api/v1/namespaces/default/pods"},
    {"services-list", &KI_CORE_V1_SERVICES, "/api/v1/services"},
    {"configmaps-list", &KI_CORE_V1_CONFIGMAPS, "/api/v1/configmaps"},
    {"deployments-list", &KI_APPS_V1_DEPLOYMENTS, "/apis/apps/v1/deployments"},
    {"replicasets-list", &KI_APPS_V1_REPLICASETS, "/apis/apps/v1/replicasets"},
    {"endpointslices-list", &KI_DISCOVERY_V1_ENDPOINTSLICES, "/apis/discovery.k8s.io/v1/endpointslices"},
    {"events-list", &KI_CORE_V1_EVENTS, "/api/v1/events"},
    {"leases-list", &KI_COORDINATION_V1_LEASES, "/apis/coordination.k8s.io/v1/leases"},
    {"widgets-list", &widgets, "/apis/example.com/v1/widgets"},
};

enum { LISTINGS = sizeof(listings) / sizeof(listings[0]) };

static int setup(void **state)
{
    *state = api_rig_start(&(ki_apiserver_options){.seed = 1, .bookmark_ms = 300});
    for (size_t i = 0; i < LISTINGS; i++) {
        recording r;
        recording_load(&r, listings[i].fixture);
        put_items(*state, listings[i].resource, r.tree);
        recording_free(&r);
    }
    return 0;
}

static void lists_have_the_recorded_shape(void **state)
{
    for (size_t i = 0; i < LISTINGS; i++)
        expect_same(*state, listings[i].fixture, &(api_request){.path = listings[i].path});
    expect_same(*state, "pods-list-empty", &(api_request){.path = "/api/v1/namespaces/kube-public/pods"});
    expect_same(*state, "pods-list-pretty",
                &(api_request){.path = "/api/v1/namespaces/default/pods?limit=2&pretty=true"});
}

/* Returns a new tree; NULL if it is not compressed JSON. */
static json_t *gunzip(const char *bytes, size_t n)
{
    enum { GZIP = 16, TEXT_BYTES = 4 * 1024 * 1024 };
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n};
    char *text = malloc(TEXT_BYTES);
    stream.next_out = (Bytef *)text;
    stream.avail_out = TEXT_BYTES;
    assert_int_equal(inflateInit2(&stream, MAX_WBITS + GZIP), Z_OK);
    int rc = inflate(&stream, Z_FINISH);
    json_t *tree = rc == Z_STREAM_END ? json_loadb(text, stream.total_out, 0, NULL) : NULL;
    (void)inflateEnd(&stream);
    free(text);
    return tree;
}

static void a_compressed_list_has_the_recorded_shape(void **state)
{
    recording r;
    comparison c = {.fixture = "pods-list-gzip"};
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    recording_load(&r, "namespaces-list");
    put_items(server, &KI_CORE_V1_NAMESPACES, r.tree);
    recording_free(&r);
    recording_load(&r, c.fixture);
    json_t *expected = gunzip(r.http.body.ptr, r.http.body.len);
    put_items(server, &KI_CORE_V1_PODS, expected);
    api_answer answer =
        api_call(server, &(api_request){.path = "/api/v1/pods", .headers = {"Accept-Encoding: gzip"}});
    assert_int_equal(answer.status, r.http.status);
    static const char *const headers[] = {"Content-Encoding", "Content-Type", "Vary", "Cache-Control"};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        assert_true(ki_str_equal(fixture_http_header(&r.http, headers[i]),
                                 ki_str_of(api_header(&answer, headers[i]))));
    json_t *got = gunzip(answer.body, answer.body_len);
    compare(&c, expected, got, "");
    assert_int_equal(c.count, 0);
    json_decref(expected);
    json_decref(got);
    api_answer_fini(&answer);
    recording_free(&r);
    ki_apiserver_free(server);
}

static void objects_and_pages_have_the_recorded_shape(void **state)
{
    char path[1024];
    recording r;
    recording_load(&r, "pods-one");
    snprintf(path, sizeof(path), "/api/v1/namespaces/default/pods/%s",
             json_string_value(api_at(r.tree, "metadata.name")));
    recording_free(&r);
    expect_same(*state, "pods-one", &(api_request){.path = path});
    snprintf(path, sizeof(path), "/api/v1/pods?limit=3");
    for (int i = 1; i <= 3; i++) {
        static const char *const pages[] = {"pods-page-1", "pods-page-2", "pods-page-3-last"};
        expect_same(*state, pages[i - 1], &(api_request){.path = path});
        api_answer answer = api_get(*state, path);
        snprintf(path, sizeof(path), "/api/v1/pods?limit=3&continue=%s",
                 api_text(&answer, "metadata.continue"));
        api_answer_fini(&answer);
    }
}

/* A limit is ignored if any version is acceptable, because a real server then responds from its cache. */
static void limits_count_as_recorded(void **state)
{
    (void)state;
    char path[128];
    recording r;
    ki_apiserver *server = api_rig_start(NULL);
    recording_load(&r, "pods-limit-rv0");
    put_items(server, &KI_CORE_V1_PODS, r.tree);
    recording_free(&r);
    snprintf(path, sizeof(path),
             "/api/v1/pods?limit=2&resourceVersion=%llu&resourceVersionMatch=NotOlderThan",
             (unsigned long long)ki_apiserver_version(server));
    expect_same(server, "pods-limit-not-older-than", &(api_request){.path = path});
    expect_same(server, "pods-limit-rv0", &(api_request){.path = "/api/v1/pods?limit=2&resourceVersion=0"});
    ki_apiserver_free(server);
}

static void other_representations_have_the_recorded_shape(void **state)
{
    static const char *const headers[] = {
        "Accept: application/json;as=Table;v=v1;g=meta.k8s.io",
        "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"};
    expect_same(*state, "pods-table",
                &(api_request){.path = "/api/v1/pods?limit=2", .headers = {headers[0]}});
    expect_same(*state, "pods-metadata-only",
                &(api_request){.path = "/api/v1/pods?limit=2", .headers = {headers[1]}});
}

static void refusals_have_the_recorded_shape(void **state)
{
    static const struct {
        const char *fixture;
        api_request request;
    } cases[] = {
        {"error-400-continue", {.path = "/api/v1/pods?limit=1&continue=gQ"}},
        {"error-400-field-selector", {.path = "/api/v1/pods?fieldSelector=spec.nothing%3D1"}},
        {"error-400-rv", {.path = "/api/v1/pods?resourceVersion=abc"}},
        {"error-400-selector", {.path = "/api/v1/pods?labelSelector=a%3D%3Db%3D%3Dc"}},
        {"error-404-object", {.path = "/api/v1/namespaces/default/pods/missing"}},
        {"error-404-resource", {.path = "/api/v1/nothings"}},
        {"error-405", {.path = "/api/v1/pods", .body = "{}"}},
        {"error-409-create", {.path = "/api/v1/namespaces", .body = "{\"metadata\":{\"name\":\"default\"}}"}},
        {"error-409-update",
         {.path = "/api/v1/namespaces/default/configmaps/odd",
          .method = "PUT",
          .body = "{\"metadata\":{\"name\":\"odd\",\"namespace\":\"default\",\"resourceVersion\":\"1\"}}"}},
        {"error-422-create",
         {.path = "/api/v1/namespaces", .body = "{\"metadata\":{\"name\":\"Bad_Name\"}}"}},
        {"error-422-watchlist", {.path = "/api/v1/pods?watch=1&sendInitialEvents=true"}},
        {"error-504-rv-too-large", {.path = "/api/v1/pods?resourceVersion=9999999999999999999"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_same(*state, cases[i].fixture, &cases[i].request);
}

/* Here every client may do everything: only a fault can forbid a request that a real server forbids. */
static void forbidden_requests_are_refused_as_recorded(void **state)
{
    const ki_fault fault = {.action = KI_FAULT_STATUS, .http_status = 403};
    assert_int_equal(ki_apiserver_fault(*state, &fault, NULL), 0);
    expect_same(*state, "error-403-list", &(api_request){.path = "/api/v1/pods"});
    expect_same(*state, "error-403-watch", &(api_request){.path = "/api/v1/pods?watch=1"});
}

static void unknown_users_are_refused_as_recorded(void **state)
{
    (void)state;
    static const char *const tokens[] = {"secret", NULL};
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.tokens = tokens});
    expect_same(server, "error-401",
                &(api_request){.path = "/api/v1/pods", .headers = {"Authorization: Bearer wrong"}});
    ki_apiserver_free(server);
}

static void expired_versions_are_refused_as_recorded(void **state)
{
    char path[1024];
    uint64_t version = ki_apiserver_version(*state);
    api_answer answer = api_get(*state, "/api/v1/pods?limit=3");
    snprintf(path, sizeof(path), "/api/v1/pods?limit=3&continue=%s", api_text(&answer, "metadata.continue"));
    api_answer_fini(&answer);
    api_put_pod(*state, "late", "web", "node-1");
    ki_apiserver_compact(*state);
    expect_same(*state, "error-410-continue", &(api_request){.path = path});
    snprintf(path, sizeof(path), "/api/v1/pods?resourceVersion=%llu&resourceVersionMatch=Exact",
             (unsigned long long)version);
    expect_same(*state, "error-410-list-exact", &(api_request){.path = path});
    snprintf(path, sizeof(path), "/api/v1/pods?watch=1&resourceVersion=%llu", (unsigned long long)version);
    expect_same(*state, "watch-410-in-stream", &(api_request){.path = path});
}

static void discovery_has_the_recorded_shape(void **state)
{
    static const char aggregated[] =
        "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    expect_same(*state, "version", &(api_request){.path = "/version"});
    expect_same(*state, "discovery-api", &(api_request){.path = "/api"});
    expect_same(*state, "discovery-apis", &(api_request){.path = "/apis"});
    expect_same(*state, "discovery-core-v1", &(api_request){.path = "/api/v1"});
    expect_same(*state, "discovery-apps-v1", &(api_request){.path = "/apis/apps/v1"});
    expect_same(*state, "discovery-aggregated-api", &(api_request){.path = "/api", .headers = {aggregated}});
    expect_same(*state, "discovery-aggregated-apis",
                &(api_request){.path = "/apis", .headers = {aggregated}});
}

/* Compares the first event of each type that both have. */
static void compare_streams(const char *name, const api_answer *answer)
{
    recording r;
    comparison c = {.fixture = name};
    recording_load(&r, name);
    api_answer recorded = {.body = strndup(r.http.body.ptr, r.http.body.len)};
    json_t *expected;
    for (size_t at = 0; (expected = api_next_event(&recorded, &at)) != NULL; json_decref(expected)) {
        json_t *got;
        for (size_t ours = 0; (got = api_next_event(answer, &ours)) != NULL; json_decref(got))
            if (json_equal(json_object_get(expected, "type"), json_object_get(got, "type")) &&
                json_equal(api_at(expected, "object.metadata.name"), api_at(got, "object.metadata.name")) &&
                (api_at(expected, "object.metadata.annotations") != NULL) ==
                    (api_at(got, "object.metadata.annotations") != NULL))
                compare(&c, expected, got, "");
    }
    assert_int_equal(c.count, 0);
    free(recorded.body);
    recording_free(&r);
}

static void streams_have_the_recorded_shape(void **state)
{
    static const char options[] = "watch=1&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&"
                                  "resourceVersionMatch=NotOlderThan";
    char path[512];
    snprintf(path, sizeof(path), "/api/v1/namespaces/default/pods?%s", options);
    api_answer answer = api_get(*state, path);
    assert_non_null(strstr(answer.body, "BOOKMARK"));
    compare_streams("pods-watchlist", &answer);
    compare_streams("pods-watch", &answer);
    api_answer_fini(&answer);
    snprintf(path, sizeof(path), "/apis/example.com/v1/widgets?%s", options);
    answer = api_get(*state, path);
    assert_non_null(strstr(answer.body, "BOOKMARK"));
    compare_streams("widgets-watch", &answer);
    api_answer_fini(&answer);
    answer = api_get(*state, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=9999999999999999999");
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body_len, 0);
    api_answer_fini(&answer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compressed_list_has_the_recorded_shape),
        TEST(forbidden_requests_are_refused_as_recorded),
        TEST(lists_have_the_recorded_shape),
        TEST(objects_and_pages_have_the_recorded_shape),
        cmocka_unit_test(limits_count_as_recorded),
        TEST(other_representations_have_the_recorded_shape),
        TEST(refusals_have_the_recorded_shape),
        TEST(unknown_users_are_refused_as_recorded),
        TEST(expired_versions_are_refused_as_recorded),
        TEST(discovery_has_the_recorded_shape),
        TEST(streams_have_the_recorded_shape),
    };
    return RUN_TESTS(tests);
}
