/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of the embedded server in protobuf, read by the library's decoders. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "proto/typed.h"
#include "support/apiserver/api_rig.h"
#include "support/decode/decode_run.h"
#include "support/unit.h"

enum { PODS = 7 };

#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define STREAM PROTOBUF ";stream=watch"
#define JSON "application/json"
#define METADATA ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define TABLE ";as=Table;g=meta.k8s.io;v=v1"
#define PODS_PATH "/api/v1/namespaces/default/pods"
#define WIDGETS_PATH "/apis/example.com/v1/namespaces/default/widgets"
#define INITIAL_WATCH                                                                                        \
    PODS_PATH "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"           \
              "&allowWatchBookmarks=true"

static const char definition[] =
    "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"names\":"
    "{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"scope\":\"Namespaced\",\"versions\":[{\"name\":\"v1\","
    "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}";
static const char widget[] =
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"}}";

static int setup(void **state)
{
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.seed = 1, .bookmark_ms = 100});
    for (int i = 0; i < PODS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "pod-%d", i);
        api_put_pod(server, name, "web", "node-1");
    }
    api_post(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    api_post(server, WIDGETS_PATH, widget);
    *state = server;
    return 0;
}

static api_answer get_as(const ki_apiserver *server, const char *path, const char *accept)
{
    char header[256];
    snprintf(header, sizeof(header), "Accept: %s", accept);
    return api_call(server, &(api_request){.path = path, .headers = {header}});
}

static ki_str body_of(const api_answer *answer)
{
    return (ki_str){answer->body, answer->body_len};
}

/* ---- choosing the format ------------------------------------------------------------------------------- */

/* Copies the kind of a response in either format. */
static void read_kind(const api_answer *answer, char *out, size_t bytes)
{
    ki_proto_typed typed = {0};
    if (answer->tree != NULL)
        snprintf(out, bytes, "%s", api_text(answer, "kind"));
    else if (ki_proto_typed_read(body_of(answer), 0, &typed, NULL) == 0)
        snprintf(out, bytes, "%.*s", KI_STR_ARGS(typed.kind));
}

typedef struct negotiation {
    const char *path;
    const char *accept;
    int status;
    const char *content_type;
    const char *kind;
} negotiation;

static const negotiation negotiations[] = {
    {PODS_PATH "/pod-1", PROTOBUF, 200, PROTOBUF, "Pod"},
    {PODS_PATH "/pod-1", PROTOBUF "," JSON, 200, PROTOBUF, "Pod"},
    {PODS_PATH "/pod-1", JSON "," PROTOBUF, 200, JSON, "Pod"},
    {PODS_PATH "/pod-1", "*/*", 200, JSON, "Pod"},
    {PODS_PATH "/pod-1", PROTOBUF METADATA, 200, PROTOBUF, "PartialObjectMetadata"},
    {PODS_PATH, STREAM, 200, PROTOBUF, "PodList"},
    {PODS_PATH, PROTOBUF METADATA, 200, PROTOBUF, "PartialObjectMetadataList"},
    {PODS_PATH, PROTOBUF TABLE "," JSON TABLE, 200, JSON, "Table"},
    {PODS_PATH, PROTOBUF TABLE, 406, JSON, "Status"},
    {PODS_PATH "/none", PROTOBUF, 404, PROTOBUF, "Status"},
    {PODS_PATH "/none", PROTOBUF "," JSON, 404, PROTOBUF, "Status"},
    {PODS_PATH "/none", JSON, 404, JSON, "Status"},
    {PODS_PATH "?resourceVersion=x", PROTOBUF, 500, PROTOBUF, "Status"},
    {PODS_PATH "?watch=1&resourceVersion=x", PROTOBUF, 500, PROTOBUF, "Status"},
    {WIDGETS_PATH, PROTOBUF "," JSON, 200, JSON, "WidgetList"},
    {WIDGETS_PATH, PROTOBUF, 406, PROTOBUF, "Status"},
    {WIDGETS_PATH "/none", PROTOBUF "," JSON, 404, PROTOBUF, "Status"},
    {WIDGETS_PATH, PROTOBUF METADATA, 200, PROTOBUF, "PartialObjectMetadataList"},
    {"/apis/apps/v1/namespaces/default/deployments", PROTOBUF, 200, PROTOBUF, "DeploymentList"},
    {"/version", PROTOBUF "," JSON, 200, JSON, ""},
    {"/apis", PROTOBUF "," JSON, 200, JSON, "APIGroupList"},
};

static void the_format_follows_the_order_of_accept(void **state)
{
    for (size_t i = 0; i < sizeof(negotiations) / sizeof(negotiations[0]); i++) {
        const negotiation *n = &negotiations[i];
        char kind[64] = "";
        api_answer answer = get_as(*state, n->path, n->accept);
        const char *type = api_header(&answer, "Content-Type");
        read_kind(&answer, kind, sizeof(kind));
        if (answer.status != n->status || strcmp(type, n->content_type) != 0 || strcmp(kind, n->kind) != 0)
            fail_msg("%s, %s: %d, %s, %s", n->path, n->accept, answer.status, type, kind);
        api_answer_fini(&answer);
    }
}

static void writes_are_answered_in_the_format_they_accept(void **state)
{
    char kind[64] = "";
    api_request create = {.path = "/api/v1/namespaces/default/configmaps",
                          .body = "{\"metadata\":{\"name\":\"a\"}}",
                          .headers = {"Accept: " PROTOBUF, "Content-Type: " JSON}};
    api_answer answer = api_call(*state, &create);
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_header(&answer, "Content-Type"), PROTOBUF);
    read_kind(&answer, kind, sizeof(kind));
    assert_string_equal(kind, "ConfigMap");
    api_answer_fini(&answer);
    api_request delete = {.method = "DELETE",
                          .path = "/api/v1/namespaces/default/configmaps/a",
                          .headers = {"Accept: " PROTOBUF}};
    answer = api_call(*state, &delete);
    assert_int_equal(answer.status, 200);
    read_kind(&answer, kind, sizeof(kind));
    assert_string_equal(kind, "Status");
    api_answer_fini(&answer);
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static void run_list(decode_run *out, const api_answer *answer)
{
    ki_error err = {0};
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, &err);
    assert_non_null(plan);
    int is_proto = answer->tree == NULL;
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, is_proto ? KI_BODY_PROTO_LIST : KI_BODY_JSON_LIST, plan);
    decode_run_decoder(out, &decoder, body_of(answer), (decode_split){0});
    assert_true(!is_proto || ki_body_decoder_unknown(&decoder)->count == 0);
    ki_body_decoder_fini(&decoder);
    ki_object_plan_free(plan);
    assert_int_equal(out->code, 0);
}

static void expect_same_page(const ki_apiserver *server, const char *path, size_t objects)
{
    decode_run runs[2];
    api_answer proto = get_as(server, path, PROTOBUF);
    api_answer json = get_as(server, path, JSON);
    run_list(&runs[0], &proto);
    run_list(&runs[1], &json);
    assert_int_equal(runs[0].object_count, objects);
    assert_int_equal(runs[1].object_count, objects);
    for (size_t i = 0; i < objects; i++) {
        ki_json ours = {ki_object_json(runs[0].objects[i])};
        ki_json other = {ki_object_json(runs[1].objects[i])};
        if (ki_json_equal(ours, other) != 1)
            fail_msg("%.*s\n%.*s", KI_STR_ARGS(ours.raw), KI_STR_ARGS(other.raw));
    }
    /* The metadata of the list is the first line: its version, its continue token, the remaining count. */
    assert_int_equal(strncmp(runs[0].log, "METADATA ", 9), 0);
    assert_int_equal(strncmp(runs[0].log, runs[1].log, strcspn(runs[1].log, "\n")), 0);
    decode_run_fini(&runs[0]);
    decode_run_fini(&runs[1]);
    api_answer_fini(&proto);
    api_answer_fini(&json);
}

static void a_page_is_the_same_in_both_formats(void **state)
{
    expect_same_page(*state, PODS_PATH, PODS);
    expect_same_page(*state, PODS_PATH "?limit=3", 3);
    expect_same_page(*state, PODS_PATH "?labelSelector=app%3Dnone", 0);
}

static void a_large_list_is_compressed(void **state)
{
    ki_apiserver *server = *state;
    for (int i = 0; i < 1000; i++) {
        char name[24];
        snprintf(name, sizeof(name), "more-%d", i);
        api_put_pod(server, name, "web", "node-1");
    }
    api_answer answer = api_call(
        server, &(api_request){.path = PODS_PATH, .headers = {"Accept: " PROTOBUF, "Accept-Encoding: gzip"}});
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_header(&answer, "Content-Encoding"), "gzip");
    assert_string_equal(api_header(&answer, "Content-Type"), PROTOBUF);
    api_answer_fini(&answer);
}

/* ---- watches ------------------------------------------------------------------------------------------- */

static void run_watch(decode_run *out, const api_answer *answer)
{
    ki_error err = {0};
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, &err);
    assert_non_null(plan);
    assert_int_equal(answer->status, 200);
    assert_string_equal(api_header(answer, "Content-Type"), STREAM);
    decode_run_form(out, KI_BODY_PROTO_WATCH, plan, body_of(answer), (decode_split){0});
    ki_object_plan_free(plan);
    assert_int_equal(out->code, 0);
}

static void a_watch_has_frames_with_events_and_bookmarks(void **state)
{
    decode_run run;
    api_answer answer = get_as(*state, INITIAL_WATCH, PROTOBUF "," JSON);
    run_watch(&run, &answer);
    assert_int_equal(run.object_count, PODS);
    assert_int_equal(run.refused_count, 0);
    assert_int_equal(strncmp(run.log, "ADDED default/pod-0 ", 20), 0);
    const char *marker = strstr(run.log, " INITIAL\n");
    assert_non_null(marker);
    assert_non_null(strstr(marker, "\nBOOKMARK "));
    decode_run_fini(&run);
    api_answer_fini(&answer);
}

static void an_expired_watch_has_its_error_in_a_frame(void **state)
{
    decode_run run;
    ki_fault expired = {.on = KI_FAULT_WATCH, .action = KI_FAULT_EXPIRED, .times = 1};
    assert_int_equal(ki_apiserver_fault(*state, &expired, NULL), 0);
    api_answer answer = get_as(*state, PODS_PATH "?watch=1&resourceVersion=1", PROTOBUF);
    run_watch(&run, &answer);
    assert_int_equal(strncmp(run.log, "ERROR 410 Expired ", 18), 0);
    decode_run_fini(&run);
    api_answer_fini(&answer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_format_follows_the_order_of_accept),
        TEST(writes_are_answered_in_the_format_they_accept),
        TEST(a_page_is_the_same_in_both_formats),
        TEST(a_large_list_is_compressed),
        TEST(a_watch_has_frames_with_events_and_bookmarks),
        TEST(an_expired_watch_has_its_error_in_a_frame),
    };
    return RUN_TESTS(tests);
}
