/* SPDX-License-Identifier: Apache-2.0 */
/* Single calls to a real API server: writes take effect, and refusals give a reason. */
#include <kinformer.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- helpers ------------------------------------------------------------------------------------------- */

static ki_rest_request map(int verb, const char *name)
{
    return (ki_rest_request){
        .verb = (ki_rest_verb)verb, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "rest", .name = name};
}

/* Runs the request, which must end with this code. The caller frees the answer. */
static ki_rest_answer run(ki_client *client, const ki_rest_request *request, int expected)
{
    ki_rest_answer answer = {0};
    ki_error err = {0};
    int rc = ki_rest_run(client, request, &answer, &err);
    if (rc != expected)
        fail_msg("%s instead of %s: %s", ki_error_name(rc), ki_error_name(expected), err.message);
    return answer;
}

static void run_only(ki_client *client, const ki_rest_request *request, int expected)
{
    ki_rest_answer answer = run(client, request, expected);
    ki_rest_answer_fini(&answer);
}

static void assert_field(const ki_object *object, const char *pointer, const char *expected)
{
    ki_str text = ki_object_string(object, pointer);
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("%s is \"%.*s\", not \"%s\"", pointer, KI_STR_ARGS(text), expected);
}

static ki_object *get(ki_client *client, const ki_rest_request *like)
{
    ki_rest_request request = *like;
    request.verb = KI_REST_GET;
    ki_rest_answer answer = run(client, &request, 0);
    ki_object *object = ki_object_ref(answer.object);
    ki_rest_answer_fini(&answer);
    return object;
}

static ki_client *begin(const ki_client_options *options)
{
    ki_client *client = cluster_client("admin", options);
    ki_rest_request create = {.verb = KI_REST_CREATE,
                              .resource = &KI_CORE_V1_NAMESPACES,
                              .body = KI_STR("{\"metadata\":{\"name\":\"rest\"}}")};
    int rc = ki_rest_run(client, &create, NULL, NULL);
    assert_true(rc == 0 || rc == KI_ERR_ALREADY_EXISTS);
    return client;
}

/* ---- the life of an object ----------------------------------------------------------------------------- */

static void update_in_time_and_too_late(ki_client *client)
{
    char body[512];
    ki_rest_request update = map(KI_REST_UPDATE, "a");
    ki_object *object = get(client, &update);
    (void)snprintf(body, sizeof(body),
                   "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%.*s\"},\"data\":{\"x\":\"2\"}}",
                   KI_STR_ARGS(ki_object_resource_version(object)));
    update.body = ki_str_of(body);
    ki_rest_answer answer = run(client, &update, 0);
    assert_field(answer.object, "/data/x", "2");
    ki_rest_answer_fini(&answer);
    answer = run(client, &update, KI_ERR_CONFLICT);
    assert_true(ki_str_equal(answer.status->reason, KI_STR("Conflict")));
    ki_rest_answer_fini(&answer);
    ki_object_unref(object);
}

static void patch_in_four_ways(ki_client *client)
{
    static const struct {
        int patch;
        const char *body;
        const char *pointer;
    } patches[] = {
        {KI_PATCH_JSON, "[{\"op\":\"add\",\"path\":\"/data/json\",\"value\":\"p\"}]", "/data/json"},
        {KI_PATCH_MERGE, "{\"data\":{\"merge\":\"p\",\"x\":null}}", "/data/merge"},
        {KI_PATCH_STRATEGIC, "{\"data\":{\"strategic\":\"p\"}}", "/data/strategic"},
        {KI_PATCH_APPLY,
         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"json\":"
         "\"p\",\"apply\":\"p\"}}",
         "/data/apply"},
    };
    for (size_t i = 0; i < COUNT(patches); i++) {
        ki_rest_request patch = map(KI_REST_PATCH, "a");
        patch.patch = (ki_patch)patches[i].patch;
        patch.body = ki_str_of(patches[i].body);
        patch.field_manager = "tests";
        ki_rest_answer answer = run(client, &patch, 0);
        assert_field(answer.object, patches[i].pointer, "p");
        assert_field(answer.object, "/data/json", "p");
        ki_rest_answer_fini(&answer);
    }
}

/* Two managers want the same field: the second has to force it. */
static void apply_by_force(ki_client *client)
{
    ki_rest_request apply = map(KI_REST_PATCH, "a");
    apply.patch = KI_PATCH_APPLY;
    apply.field_manager = "other";
    apply.body = KI_STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},"
                        "\"data\":{\"apply\":\"mine\"}}");
    ki_rest_answer answer = run(client, &apply, KI_ERR_CONFLICT);
    assert_true(ki_status_has_cause(answer.status, "FieldManagerConflict"));
    ki_rest_answer_fini(&answer);
    apply.force = 1;
    answer = run(client, &apply, 0);
    assert_field(answer.object, "/data/apply", "mine");
    ki_rest_answer_fini(&answer);
}

static void delete_what_is_meant(ki_client *client)
{
    ki_rest_request delete = map(KI_REST_DELETE, "a");
    ki_object *object = get(client, &delete);
    delete.if_uid = KI_STR("another");
    run_only(client, &delete, KI_ERR_CONFLICT);
    delete.if_uid = ki_object_uid(object);
    delete.dry_run = 1;
    run_only(client, &delete, 0);
    delete.dry_run = 0;
    delete.if_resource_version = ki_object_resource_version(object);
    delete.propagation = KI_PROPAGATION_BACKGROUND;
    run_only(client, &delete, 0);
    run_only(client, &delete, KI_ERR_NOT_FOUND);
    ki_object_unref(object);
}

static void an_object_is_created_changed_and_deleted(void **state)
{
    (void)state;
    static const ki_client_options options[] = {{0}, {.gzip = 1}, {.http2 = 1}};
    for (size_t i = 0; i < COUNT(options); i++) {
        ki_client *client = begin(&options[i]);
        ki_rest_request create = map(KI_REST_CREATE, NULL);
        create.body = KI_STR("{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":\"1\"}}");
        create.dry_run = 1;
        run_only(client, &create, 0);
        create.dry_run = 0;
        ki_rest_answer answer = run(client, &create, 0);
        assert_int_equal(answer.http_status, 201);
        assert_true(ki_object_uid(answer.object).len > 0);
        ki_rest_answer_fini(&answer);
        run_only(client, &create, KI_ERR_ALREADY_EXISTS);
        update_in_time_and_too_late(client);
        patch_in_four_ways(client);
        apply_by_force(client);
        delete_what_is_meant(client);
        ki_client_free(client);
    }
}

/* ---- subresources -------------------------------------------------------------------------------------- */

static ki_rest_request pod(int verb)
{
    return (ki_rest_request){
        .verb = (ki_rest_verb)verb, .resource = &KI_CORE_V1_PODS, .ns = "rest", .name = "p"};
}

static void a_pod_has_a_status_and_can_be_evicted(void **state)
{
    (void)state;
    ki_client *client = begin(NULL);
    ki_rest_request create = pod(KI_REST_CREATE);
    create.name = NULL;
    create.body = KI_STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\",\"containers\":["
                         "{\"name\":\"c\",\"image\":\"i\"}]}}");
    run_only(client, &create, 0);
    ki_rest_request update = pod(KI_REST_UPDATE);
    update.subresource = "status";
    update.body = KI_STR("{\"metadata\":{\"name\":\"p\"},\"status\":{\"phase\":\"Running\"}}");
    ki_rest_answer answer = run(client, &update, 0);
    assert_field(answer.object, "/status/phase", "Running");
    assert_field(answer.object, "/spec/nodeName", "n");
    ki_rest_answer_fini(&answer);
    ki_rest_request evict = pod(KI_REST_CREATE);
    evict.subresource = "eviction";
    evict.body = KI_STR("{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\"}}");
    answer = run(client, &evict, 0);
    assert_null(answer.object);
    assert_true(ki_str_equal(answer.status->status, KI_STR("Success")));
    ki_rest_answer_fini(&answer);
    ki_rest_request delete = pod(KI_REST_DELETE);
    delete.has_grace_period = 1;
    run_only(client, &delete, 0);
    run_only(client, &delete, KI_ERR_NOT_FOUND);
    ki_client_free(client);
}

static void a_deployment_is_scaled(void **state)
{
    (void)state;
    ki_client *client = begin(NULL);
    int64_t replicas = 0;
    ki_rest_request create = {
        .verb = KI_REST_CREATE,
        .resource = &KI_APPS_V1_DEPLOYMENTS,
        .ns = "rest",
        .body =
            KI_STR("{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":"
                   "{\"a\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"d\"}},\"spec\":"
                   "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}")};
    run_only(client, &create, 0);
    ki_rest_request scale = {.verb = KI_REST_PATCH,
                             .patch = KI_PATCH_MERGE,
                             .resource = &KI_APPS_V1_DEPLOYMENTS,
                             .ns = "rest",
                             .name = "d",
                             .subresource = "scale",
                             .body = KI_STR("{\"spec\":{\"replicas\":2}}")};
    ki_rest_answer answer = run(client, &scale, 0);
    assert_true(ki_str_equal(ki_object_kind(answer.object), KI_STR("Scale")));
    assert_int_equal(ki_object_get_int64(answer.object, "/spec/replicas", &replicas), 0);
    assert_int_equal(replicas, 2);
    ki_rest_answer_fini(&answer);
    ki_client_free(client);
}

static void a_review_has_no_name(void **state)
{
    (void)state;
    ki_client *client = begin(NULL);
    ki_resource reviews = {.group = "authorization.k8s.io",
                           .version = "v1",
                           .plural = "selfsubjectaccessreviews",
                           .kind = "SelfSubjectAccessReview",
                           .scope = KI_SCOPE_CLUSTER};
    ki_rest_request create = {.verb = KI_REST_CREATE,
                              .resource = &reviews,
                              .body = KI_STR("{\"spec\":{\"resourceAttributes\":{\"verb\":\"list\","
                                             "\"resource\":\"pods\"}}}")};
    ki_rest_answer answer = run(client, &create, 0);
    int is_allowed = 0;
    assert_null(answer.object);
    assert_int_equal(ki_json_bool(ki_json_find(ki_json_of(answer.body), "/status/allowed"), &is_allowed), 0);
    assert_true(is_allowed);
    ki_rest_answer_fini(&answer);
    ki_client_free(client);
}

/* ---- lists and refusals -------------------------------------------------------------------------------- */

static void a_list_comes_in_pages(void **state)
{
    (void)state;
    ki_client *client = begin(NULL);
    cluster_make_config_maps("rest", "page", 25, 100);
    ki_rest_request list = map(KI_REST_LIST, NULL);
    ki_rest_answer answer = {0};
    size_t objects = 0;
    size_t pages = 0;
    list.list.limit = 10;
    list.list.label_selector = KI_STR("app in (page,none)");
    do {
        list.list.continue_token = answer.continue_token;
        ki_rest_answer next = run(client, &list, 0);
        ki_rest_answer_fini(&answer);
        answer = next;
        objects += answer.object_count;
        pages++;
        assert_true(answer.resource_version.len > 0);
    } while (answer.continue_token.len > 0);
    assert_int_equal(objects, 25);
    assert_int_equal(pages, 3);
    ki_rest_answer_fini(&answer);
    ki_client_free(client);
}

static void refusals_give_a_reason(void **state)
{
    (void)state;
    ki_client *client = begin(NULL);
    ki_client *bob = cluster_client("bob", NULL);
    ki_client *nobody = cluster_client("bob", &(ki_client_options){.token = "wrong"});
    ki_rest_request list = map(KI_REST_LIST, NULL);
    run_only(bob, &list, KI_ERR_FORBIDDEN);
    run_only(nobody, &list, KI_ERR_UNAUTHORIZED);
    ki_rest_request create = pod(KI_REST_CREATE);
    create.name = NULL;
    create.body = KI_STR("{\"metadata\":{\"name\":\"bad\"},\"spec\":{}}");
    ki_rest_answer answer = run(client, &create, KI_ERR_HTTP);
    assert_int_equal(answer.http_status, 422);
    assert_true(ki_status_has_cause(answer.status, "FieldValueRequired"));
    assert_true(ki_str_equal(answer.status->causes[0].field, KI_STR("spec.containers")));
    ki_rest_answer_fini(&answer);
    list.list.continue_token = KI_STR("nonsense");
    answer = run(client, &list, KI_ERR_HTTP);
    assert_int_equal(answer.http_status, 400);
    ki_rest_answer_fini(&answer);
    ki_client_free(nobody);
    ki_client_free(bob);
    ki_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_created_changed_and_deleted),
        cmocka_unit_test(a_pod_has_a_status_and_can_be_evicted),
        cmocka_unit_test(a_deployment_is_scaled),
        cmocka_unit_test(a_review_has_no_name),
        cmocka_unit_test(a_list_comes_in_pages),
        cmocka_unit_test(refusals_give_a_reason),
    };
    return RUN_TESTS(tests);
}
