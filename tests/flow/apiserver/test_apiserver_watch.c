/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of the embedded server: where they start, what they send, how they end. */
#include <kinformer/resources.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

static int setup(void **state)
{
    *state =
        api_rig_start_with_pods(&(ki_apiserver_options){.seed = 1, .bookmark_ms = 200, .history_events = 50});
    return 0;
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Changes that another thread makes while a watch is read. */
typedef struct script {
    ki_apiserver *server;
    void (*play)(ki_apiserver *server);
} script;

static void *on_script(void *user)
{
    script *s = user;
    s->play(s->server);
    return NULL;
}

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* Writes the events of a watch of one second as "ADDED a,BOOKMARK,". */
static void tell(const api_answer *answer, char *out, size_t out_bytes)
{
    size_t at = 0;
    size_t len = 0;
    json_t *event;
    out[0] = 0;
    while ((event = api_next_event(answer, &at)) != NULL) {
        const char *name = json_string_value(api_at(event, "object.metadata.name"));
        len +=
            (size_t)snprintf(out + len, out_bytes - len, "%s%s%s,", json_string_value(api_at(event, "type")),
                             name == NULL ? "" : " ", name == NULL ? "" : name);
        json_decref(event);
    }
}

static void expect_told(const ki_apiserver *server, const char *path, const char *expected)
{
    char told[4096];
    api_answer answer = api_get(server, path);
    assert_int_equal(answer.status, 200);
    assert_false(answer.is_broken);
    tell(&answer, told, sizeof(told));
    assert_string_equal(told, expected);
    api_answer_fini(&answer);
}

static const char *watch_from(const ki_apiserver *server, uint64_t version, const char *more)
{
    static char path[512];
    (void)server;
    snprintf(path, sizeof(path), "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=%llu%s",
             (unsigned long long)version, more);
    return path;
}

/* ---- beginnings ---------------------------------------------------------------------------------------- */

static void a_watch_without_a_version_begins_with_all_objects(void **state)
{
    expect_told(*state, "/api/v1/pods?watch=1&timeoutSeconds=1", "ADDED a,ADDED b,");
    expect_told(*state, "/api/v1/namespaces/default/pods/b?watch=1&timeoutSeconds=1", "ADDED b,");
    expect_told(*state, "/api/v1/watch/namespaces/default/pods?timeoutSeconds=1", "ADDED a,ADDED b,");
}

static void a_watch_from_a_version_sends_later_changes(void **state)
{
    ki_error err = {0};
    uint64_t version = ki_apiserver_version(*state);
    api_put_pod(*state, "c", "web", "node-1");
    api_put_pod(*state, "a", "web", "node-2");
    assert_int_equal(ki_apiserver_delete(*state, &KI_CORE_V1_PODS, "default", "b", &err), 0);
    expect_told(*state, watch_from(*state, version, ""), "ADDED c,MODIFIED a,DELETED b,");
}

static void a_streamed_list_ends_with_its_marker(void **state)
{
    char told[4096];
    api_answer answer = api_get(*state, "/api/v1/pods?watch=1&timeoutSeconds=1&sendInitialEvents=true&"
                                        "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    size_t at = 0;
    tell(&answer, told, sizeof(told));
    assert_int_equal(strncmp(told, "ADDED a,ADDED b,BOOKMARK,BOOKMARK,", 34), 0);
    json_decref(api_next_event(&answer, &at));
    json_decref(api_next_event(&answer, &at));
    json_t *marker = api_next_event(&answer, &at);
    const json_t *annotations = api_at(marker, "object.metadata.annotations");
    assert_string_equal(json_string_value(json_object_get(annotations, "k8s.io/initial-events-end")), "true");
    assert_string_equal(json_string_value(api_at(marker, "object.kind")), "Pod");
    json_decref(marker);
    api_answer_fini(&answer);
}

static void a_streamed_list_needs_resource_version_match(void **state)
{
    api_answer answer = api_get(*state, "/api/v1/pods?watch=1&sendInitialEvents=true");
    assert_int_equal(answer.status, 422);
    assert_string_equal(api_text(&answer, "details.causes.0.field"), "resourceVersionMatch");
    api_answer_fini(&answer);
}

/* The refusal comes at once, and the response ends. */
static void a_websocket_is_refused_in_an_error_event(void **state)
{
    api_answer answer =
        api_call(*state, &(api_request){.path = "/api/v1/namespaces/default/pods?watch=1",
                                        .headers = {"Connection: Upgrade", "Upgrade: WebSocket"}});
    assert_int_equal(answer.status, 200);
    size_t at = 0;
    json_t *event = api_next_event(&answer, &at);
    assert_string_equal(json_string_value(api_at(event, "type")), "ERROR");
    assert_string_equal(json_string_value(api_at(event, "object.message")),
                        "this server does not support watches over WebSocket");
    json_decref(event);
    api_answer_fini(&answer);
}

static void an_old_version_is_410_in_the_stream(void **state)
{
    uint64_t version = ki_apiserver_version(*state);
    api_put_pod(*state, "c", "web", "node-1");
    ki_apiserver_compact(*state);
    size_t at = 0;
    api_answer answer = api_get(*state, watch_from(*state, version, ""));
    assert_int_equal(answer.status, 200);
    json_t *event = api_next_event(&answer, &at);
    assert_string_equal(json_string_value(api_at(event, "type")), "ERROR");
    assert_string_equal(json_string_value(api_at(event, "object.kind")), "Status");
    assert_int_equal(json_integer_value(api_at(event, "object.code")), 410);
    assert_null(api_next_event(&answer, &at));
    json_decref(event);
    api_answer_fini(&answer);
}

static void a_watch_from_a_future_version_is_silent(void **state)
{
    expect_told(*state, watch_from(*state, ki_apiserver_version(*state) + 1000, ""), "");
}

/* ---- while it runs ------------------------------------------------------------------------------------- */

static void move_through_a_selector(ki_apiserver *server)
{
    pause_ms(300);
    api_put_pod(server, "b", "web", "node-2");
    api_put_pod(server, "a", "db", "node-1");
    api_put_pod(server, "c", "db", "node-1");
}

static void objects_are_added_and_deleted_as_they_match(void **state)
{
    pthread_t thread;
    script s = {*state, move_through_a_selector};
    assert_int_equal(pthread_create(&thread, NULL, on_script, &s), 0);
    expect_told(*state, watch_from(*state, ki_apiserver_version(*state), "&labelSelector=app%3Dweb"),
                "ADDED b,DELETED a,");
    (void)pthread_join(thread, NULL);
}

static void bookmarks_come_periodically_and_at_the_end(void **state)
{
    char told[4096];
    api_answer answer =
        api_get(*state, watch_from(*state, ki_apiserver_version(*state), "&allowWatchBookmarks=true"));
    tell(&answer, told, sizeof(told));
    assert_non_null(strstr(told, "BOOKMARK,BOOKMARK,BOOKMARK,"));
    api_answer_fini(&answer);
}

static void a_table_sends_its_columns_once(void **state)
{
    size_t at = 0;
    api_answer answer =
        api_call(*state, &(api_request){.path = "/api/v1/pods?watch=1&timeoutSeconds=1",
                                        .headers = {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io"}});
    json_t *first = api_next_event(&answer, &at);
    json_t *second = api_next_event(&answer, &at);
    assert_string_equal(json_string_value(api_at(first, "object.kind")), "Table");
    assert_true(json_array_size(api_at(first, "object.columnDefinitions")) > 0);
    assert_int_equal(json_array_size(api_at(second, "object.columnDefinitions")), 0);
    assert_int_equal(json_array_size(api_at(second, "object.rows")), 1);
    json_decref(first);
    json_decref(second);
    api_answer_fini(&answer);
}

static void an_event_is_sent_at_once(void **state)
{
    static const char request[] =
        "GET /api/v1/pods?watch=1&resourceVersion=%llu HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char text[256];
    int fd = api_connect(*state);
    int n = snprintf(text, sizeof(text), request, (unsigned long long)ki_apiserver_version(*state));
    uint64_t begin_ms = ki_clock_now_ms(ki_clock_real());
    api_send(fd, text, (size_t)n);
    free(api_receive(fd, "\r\n\r\n", NULL));
    api_put_pod(*state, "c", "web", "node-1");
    free(api_receive(fd, "\"name\":\"c\"", NULL));
    assert_true(ki_clock_now_ms(ki_clock_real()) - begin_ms < AT_ONCE_MS);
    close(fd);
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

static const ki_resource definitions = {
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
    KI_SCOPE_CLUSTER,       0};

static void define(ki_apiserver *server)
{
    ki_error err = {0};
    int rc = ki_apiserver_put(server, &definitions,
                              "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":"
                              "\"example.com\",\"scope\":\"Namespaced\","
                              "\"names\":{\"plural\":\"widgets\",\"singular\":\"widget\",\"kind\":\"Widget\","
                              "\"listKind\":\"WidgetList\"},"
                              "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
                              "\"openAPIV3Schema\":{\"type\":"
                              "\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}",
                              &err);
    if (rc < 0)
        fail_msg("%s", err.message);
}

static void undefine(ki_apiserver *server)
{
    assert_int_equal(ki_apiserver_delete(server, &definitions, "", "widgets.example.com", NULL), 0);
}

static void undefine_later(ki_apiserver *server)
{
    pause_ms(300);
    (void)ki_apiserver_delete(server, &definitions, "", "widgets.example.com", NULL);
}

static void a_watch_ends_with_its_definition(void **state)
{
    pthread_t thread;
    script s = {*state, undefine_later};
    define(*state);
    uint64_t begin_ms = ki_clock_now_ms(ki_clock_real());
    assert_int_equal(pthread_create(&thread, NULL, on_script, &s), 0);
    api_answer answer = api_get(*state, "/apis/example.com/v1/widgets?watch=1&timeoutSeconds=20");
    assert_int_equal(answer.status, 200);
    assert_true(ki_clock_now_ms(ki_clock_real()) - begin_ms < 10000);
    api_answer_fini(&answer);
    (void)pthread_join(thread, NULL);
    answer = api_get(*state, "/apis/example.com/v1/widgets");
    assert_int_equal(answer.status, 404);
    api_answer_fini(&answer);
}

/* The definition is deleted before, during or after the opening: each watch gets 404, or ends. */
static void a_watch_ends_if_its_definition_is_deleted_while_it_opens(void **state)
{
    enum { ROUNDS = 30, WATCHES = 4 };
    static const char request[] = "GET /apis/example.com/v1/widgets?watch=1&timeoutSeconds=60 HTTP/1.1\r\n"
                                  "Host: localhost\r\nConnection: close\r\n\r\n";
    for (int round = 0; round < ROUNDS; round++) {
        int fds[WATCHES];
        define(*state);
        for (int i = 0; i < WATCHES; i++) {
            fds[i] = api_connect(*state);
            api_send(fds[i], request, sizeof(request) - 1);
        }
        if (round % 3 == 0)
            free(api_receive(fds[0], "\r\n\r\n", NULL));
        undefine(*state);
        for (int i = 0; i < WATCHES; i++) {
            int error = -1;
            char *got = api_receive(fds[i], NULL, &error);
            assert_int_equal(error, 0);
            free(got);
            close(fds[i]);
        }
    }
}

static size_t watches_accepted(const ki_apiserver *server)
{
    api_answer answer = api_get(server, "/api/v1/pods?watch=1&timeoutSeconds=1");
    int status = answer.status;
    api_answer_fini(&answer);
    return status == 200;
}

static void a_client_that_leaves_is_forgotten(void **state)
{
    (void)state;
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.watches_max = 1});
    int fd = api_connect(server);
    api_send(fd, request, sizeof(request) - 1);
    free(api_receive(fd, "\r\n\r\n", NULL));
    api_answer answer = api_get(server, "/api/v1/pods?watch=1");
    assert_int_equal(answer.status, 429);
    assert_string_equal(api_header(&answer, "Retry-After"), "1");
    api_answer_fini(&answer);
    close(fd);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!watches_accepted(server))
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    ki_apiserver_free(server);
}

/* Opens a watch whose client reads nothing while more events occur than the kernel and the history can
 * hold. */
static int open_slow_watch(ki_apiserver *server)
{
    enum { DATA_BYTES = 100 * 1024, CHANGES = 100 };
    static const char request[] = "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = api_connect(server);
    api_send(fd, request, sizeof(request) - 1);
    char *json = calloc(1, DATA_BYTES + 1024);
    size_t at = (size_t)sprintf(json, "{\"metadata\":{\"name\":\"large\"},\"data\":{\"k\":\"");
    memset(json + at, 'x', DATA_BYTES);
    for (int i = 0; i < CHANGES; i++) {
        sprintf(json + at + DATA_BYTES, "%d\"}}", i);
        assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, NULL), 0);
    }
    free(json);
    return fd;
}

/* The client reads nothing, so the server sends nothing more, until the history has dropped what it missed.
 * On a busy machine the connection may be cut first: then the test tries again. */
static void a_client_that_is_too_slow_gets_an_error(void **state)
{
    bool is_told = false;
    for (int tries = 0; !is_told && tries < 20; tries++) {
        int fd = open_slow_watch(*state);
        int error = 0;
        char *got = api_receive(fd, "\"code\":410", &error);
        is_told = strstr(got, "\"type\":\"ERROR\"") != NULL;
        free(got);
        close(fd);
    }
    assert_true(is_told);
}

static void a_client_that_never_reads_is_cut(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.watches_max = 1, .history_events = 10});
    int fd = open_slow_watch(server);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!watches_accepted(server))
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    close(fd);
    ki_apiserver_free(server);
}

/* The history drops changes that these watches have not taken, but their clients had nothing to read. With
 * many watches, some are parked again before the timer of a lost client is set. */
static void a_stalled_watch_is_not_cut(void **state)
{
    enum { STALLED = 100, CHANGES = 120, LOST_MS = 5000 };
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static struct pollfd polled[STALLED];
    const ki_fault stall = {.on = KI_FAULT_WATCH, .action = KI_FAULT_STALL, .after_events = 1};
    assert_int_equal(ki_apiserver_fault(*state, &stall, NULL), 0);
    for (int i = 0; i < STALLED; i++) {
        polled[i] = (struct pollfd){.fd = api_connect(*state), .events = POLLIN};
        assert_true(polled[i].fd >= 0);
        api_send(polled[i].fd, request, sizeof(request) - 1);
        free(api_receive(polled[i].fd, "}\n\r\n", NULL));
    }
    for (int i = 0; i < CHANGES; i++)
        api_put_pod(*state, "c", i % 2 == 0 ? "web" : "db", "node-1");
    assert_int_equal(poll(polled, STALLED, LOST_MS + 1000), 0);
    for (int i = 0; i < STALLED; i++)
        close(polled[i].fd);
}

/* ---- many clients -------------------------------------------------------------------------------------- */

enum { MANY = 1000 };

static void a_thousand_clients_watch_at_once(void **state)
{
    static const char request[] =
        "GET /api/v1/pods?watch=1&resourceVersion=%llu HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static int fds[MANY];
    char text[256];
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 3 * MANY)
        skip();
    ki_apiserver *server = api_rig_start(NULL);
    (void)state;
    int n = snprintf(text, sizeof(text), request, (unsigned long long)ki_apiserver_version(server));
    for (int i = 0; i < MANY; i++) {
        fds[i] = api_connect(server);
        assert_true(fds[i] >= 0);
        api_send(fds[i], text, (size_t)n);
    }
    for (int i = 0; i < MANY; i++)
        free(api_receive(fds[i], "\r\n\r\n", NULL));
    api_put_pod(server, "first", "web", "node-1");
    api_put_pod(server, "last", "web", "node-1");
    for (int i = 0; i < MANY; i++) {
        char *got = api_receive(fds[i], "\"name\":\"last\"", NULL);
        assert_non_null(strstr(got, "\"name\":\"last\""));
        free(got);
    }
    ki_apiserver_free(server);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_watch_without_a_version_begins_with_all_objects),
        TEST(a_watch_from_a_version_sends_later_changes),
        TEST(a_streamed_list_ends_with_its_marker),
        TEST(a_streamed_list_needs_resource_version_match),
        TEST(a_websocket_is_refused_in_an_error_event),
        TEST(an_old_version_is_410_in_the_stream),
        TEST(a_watch_from_a_future_version_is_silent),
        TEST(objects_are_added_and_deleted_as_they_match),
        TEST(bookmarks_come_periodically_and_at_the_end),
        TEST(a_table_sends_its_columns_once),
        TEST(an_event_is_sent_at_once),
        TEST(a_watch_ends_with_its_definition),
        TEST(a_watch_ends_if_its_definition_is_deleted_while_it_opens),
        TEST(a_client_that_leaves_is_forgotten),
        TEST(a_client_that_is_too_slow_gets_an_error),
        cmocka_unit_test(a_client_that_never_reads_is_cut),
        TEST(a_stalled_watch_is_not_cut),
        cmocka_unit_test(a_thousand_clients_watch_at_once),
    };
    return RUN_TESTS(tests);
}
