/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on an object that could not be created: each fails, and keeps the error that says why. */
#include <kinformer.h>
#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static int write_text(ki_str name, ki_str text, void *user)
{
    (void)name;
    (void)text;
    (void)user;
    return 0;
}

static int attempt(ki_error *err, void *user)
{
    (void)err;
    (void)user;
    return 0;
}

static ki_result reconcile(ki_request *request, void *user)
{
    (void)request;
    (void)user;
    return ki_done();
}

static void found(ki_resource *resource, const ki_error *err, void *user)
{
    (void)resource;
    (void)err;
    (void)user;
}

static const ki_rest_request get = {
    .verb = KI_REST_GET, .resource = &KI_CORE_V1_PODS, .ns = "default", .name = "a"};
static const ki_handler handler = {0};
static const ki_fault fault = {.action = KI_FAULT_CLOSE};
static ki_rest_answer answer;
static ki_resource *resource;
static ki_metrics_text text;
static ki_apiserver_loaded loaded;
static ki_str json;
static uint64_t id;

/* Each is a call on NULL, true if it has failed. */
#define CALLS(X)                                                                                             \
    X(ki_informer_new(NULL, &KI_CORE_V1_PODS, NULL, err) == NULL)                                            \
    X(ki_informer_add_handler(NULL, &handler, err) == NULL)                                                  \
    X(ki_informer_start(NULL, err) < 0)                                                                      \
    X(ki_informer_wait_for_sync(NULL, 0, err) < 0)                                                           \
    X(ki_informer_wait_for_version(NULL, KI_STR("1"), 0, err) < 0)                                           \
    X(ki_registration_wait_for_sync(NULL, 0, err) < 0)                                                       \
    X(ki_factory_start(NULL, err) < 0)                                                                       \
    X(ki_factory_wait_for_sync(NULL, 0, err) < 0)                                                            \
    X(ki_feed_new(NULL, &KI_CORE_V1_PODS, NULL, err) == NULL)                                                \
    X(ki_feed_start(NULL, err) < 0)                                                                          \
    X(ki_feed_wait_for_sync(NULL, 0, err) < 0)                                                               \
    X(ki_rest_run(NULL, &get, &answer, err) < 0)                                                             \
    X(ki_rest_begin(NULL, &get, &id, err) < 0)                                                               \
    X(ki_retry_on_conflict(NULL, attempt, err, NULL) < 0)                                                    \
    X(ki_discovery_run(NULL, KI_STR("wd"), &resource, err) < 0)                                              \
    X(ki_discovery_begin(NULL, &(ki_discovery_request){.name = KI_STR("wd"), .on_end = found}, err) < 0)     \
    X(ki_controller_new(NULL, &(ki_controller_options){.name = "c", .reconcile = reconcile}, err) == NULL)   \
    X(ki_controller_start(NULL, err) < 0)                                                                    \
    X(ki_controller_run(NULL, err) < 0)                                                                      \
    X(ki_leader_new(NULL, &(ki_leader_options){.name = "l"}, err) == NULL)                                   \
    X(ki_leader_start(NULL, err) < 0)                                                                        \
    X(ki_recorder_new(NULL, &(ki_recorder_options){.component = "c"}, err) == NULL)                          \
    X(ki_metrics_write(NULL, write_text, err, NULL) < 0)                                                     \
    X(ki_metrics_render(NULL, &text, err) < 0)                                                               \
    X(ki_workqueue_fd(NULL, err) < 0)                                                                        \
    X(ki_limiter_new_max_wait(NULL, 1, err) == NULL)                                                         \
    X(ki_json_writer_finish(NULL, &json, err) < 0)                                                           \
    X(ki_apiserver_write_kubeconfig(NULL, "/nowhere/x", err) < 0)                                            \
    X(ki_apiserver_put(NULL, &KI_CORE_V1_PODS, "{}", err) < 0)                                               \
    X(ki_apiserver_delete(NULL, &KI_CORE_V1_PODS, "default", "a", err) < 0)                                  \
    X(ki_apiserver_load(NULL, "/nowhere/x", &loaded, err) < 0)                                               \
    X(ki_apiserver_fault(NULL, &fault, err) < 0)                                                             \
    X(ki_apiserver_rewind(NULL, 1, err) < 0)                                                                 \
    X(ki_apiserver_up(NULL, err) < 0)                                                                        \
    X(ki_client_new(&(ki_client_options){.server = ki_apiserver_url(NULL)}, err) == NULL)                    \
    X(ki_config_new(&(ki_client_options){.server = ki_apiserver_url(NULL)}, err) == NULL)

/* Makes call number `i`. Returns its text and whether it has failed, or NULL after the last one. */
static const char *make_call(int i, ki_error *err, int *has_failed)
{
    int n = 0;
#define MAKE(call)                                                                                           \
    if (n++ == i) {                                                                                          \
        *has_failed = (call);                                                                                \
        return #call;                                                                                        \
    }
    CALLS(MAKE)
#undef MAKE
    return NULL;
}

static void a_call_on_null_keeps_the_first_error(void **state)
{
    (void)state;
    int has_failed = 0;
    for (int i = 0;; i++) {
        ki_error err = {.code = KI_ERR_CONFIG, .message = "the first"};
        const char *call = make_call(i, &err, &has_failed);
        if (call == NULL)
            break;
        if (!has_failed || err.code != KI_ERR_CONFIG || strcmp(err.message, "the first") != 0)
            fail_msg("%s: %d, %d %s", call, has_failed, err.code, err.message);
    }
}

static void a_call_on_null_reports_an_error_if_there_is_none(void **state)
{
    (void)state;
    int has_failed = 0;
    int calls = 0;
    for (;; calls++) {
        ki_error err = {0};
        const char *call = make_call(calls, &err, &has_failed);
        if (call == NULL)
            break;
        if (!has_failed || err.code >= 0 || err.message[0] == 0)
            fail_msg("%s: %d, %d %s", call, has_failed, err.code, err.message);
        assert_non_null(make_call(calls, NULL, &has_failed));
        assert_true(has_failed);
    }
    assert_true(calls > 30);
}

static void a_chain_of_calls_ends_with_the_reason_of_the_first(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.kubeconfig = "/nowhere"}, &err);
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    assert_null(ki_informer_add_handler(pods, &handler, &err));
    assert_true(ki_informer_add_index_path(pods, "node", KI_PATH_NODE) < 0);
    assert_true(ki_factory_start(factory, &err) < 0);
    assert_true(ki_factory_wait_for_sync(factory, 0, &err) < 0);
    assert_int_equal(err.code, KI_ERR_CONFIG);
    assert_non_null(strstr(err.message, "/nowhere"));
    ki_factory_free(factory);
    ki_client_free(client);
}

static void a_server_that_did_not_start_is_not_mistaken_for_another(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(&(ki_apiserver_options){.bind = "nonsense"}, &err);
    assert_null(server);
    ki_apiserver_clear_faults(server);
    ki_apiserver_compact(server);
    ki_apiserver_cut(server, 0);
    ki_apiserver_down(server);
    ki_apiserver_down_for(server, 1);
    assert_int_equal(ki_apiserver_count(server, &KI_CORE_V1_PODS), 0);
    assert_int_equal(ki_apiserver_version(server), 0);
    assert_int_equal(ki_apiserver_requests(server, 7, NULL, NULL), 7);
    assert_null(ki_apiserver_certificate(server));
    /* NULL would mean the cluster of the kubeconfig. */
    ki_client_options options = {.server = ki_apiserver_url(server)};
    ki_error another = {0};
    assert_null(ki_client_new(&options, &another));
    assert_int_equal(another.code, KI_ERR_CONFIG);
    assert_null(ki_client_new(&options, NULL));
    assert_null(ki_client_new(&options, &err)); /* says why there is no server */
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "nonsense"));
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_on_null_keeps_the_first_error),
        cmocka_unit_test(a_call_on_null_reports_an_error_if_there_is_none),
        cmocka_unit_test(a_server_that_did_not_start_is_not_mistaken_for_another),
        cmocka_unit_test(a_chain_of_calls_ends_with_the_reason_of_the_first),
    };
    return RUN_TESTS(tests);
}
