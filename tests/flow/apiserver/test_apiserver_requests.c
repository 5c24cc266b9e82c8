/* SPDX-License-Identifier: Apache-2.0 */
/* The request log of the embedded server, and what tests can check with it;
 * a server that is down for a while. */
#include <kinformer/apiserver.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define MAPS "/api/v1/namespaces/default/configmaps"

static int setup(void **state)
{
    *state = api_rig_start(&(ki_apiserver_options){.seed = 7, .allows_debug = 1});
    return 0;
}

static int call_as(ki_apiserver *server, const char *agent, const api_request *like)
{
    char header[64];
    api_request request = *like;
    snprintf(header, sizeof(header), "User-Agent: %s", agent);
    request.headers[0] = header;
    request.headers[1] = "Content-Type: application/json";
    api_answer answer = api_call(server, &request);
    int status = answer.status;
    api_answer_fini(&answer);
    return status;
}

/* ---- the log ------------------------------------------------------------------------------------------- */

enum { REQUESTS_MAX = 32 };

struct notes {
    size_t count;
    struct note {
        uint64_t number;
        int64_t time_us;
        uint64_t version;
        int status;
        char text[256]; /* agent method path group/resource/namespace/name/subresource user fault */
    } at[REQUESTS_MAX];
};

static void note(const ki_apiserver_request *request, void *user)
{
    struct notes *notes = user;
    assert_true(notes->count < REQUESTS_MAX);
    struct note *one = &notes->at[notes->count++];
    *one = (struct note){.number = request->number,
                         .time_us = request->time_us,
                         .version = request->version,
                         .status = request->http_status};
    snprintf(one->text, sizeof(one->text), "%s %s %s %s/%s/%s/%s/%s %s %s", request->user_agent,
             request->method, request->path, request->group, request->resource, request->ns, request->name,
             request->subresource, request->user_name, request->fault);
    assert_int_equal(strncmp(request->remote, "127.0.0.1:", 10), 0);
}

static void each_request_is_logged_with_user_and_object(void **state)
{
    struct notes notes = {0};
    assert_int_equal(call_as(*state, "a", &(api_request){.path = MAPS "?limit=3"}), 200);
    assert_int_equal(
        call_as(*state, "b", &(api_request){.path = MAPS, .body = "{\"metadata\":{\"name\":\"m\"}}"}), 201);
    uint64_t created = ki_apiserver_version(*state);
    assert_int_equal(
        call_as(*state, "b", &(api_request){.path = "/apis/apps/v1/namespaces/x/deployments/d/status"}), 404);
    assert_int_equal(call_as(*state, "b", &(api_request){.path = MAPS "/m", .method = "DELETE"}), 200);
    assert_int_equal(call_as(*state, "c", &(api_request){.path = "/version"}), 200);
    assert_int_equal(call_as(*state, "c", &(api_request){.path = "/debug/faults"}), 200);
    assert_int_equal(ki_apiserver_requests(*state, 0, note, &notes), 5);
    assert_int_equal(ki_apiserver_requests(*state, 0, NULL, NULL), 5);
    assert_int_equal(notes.count, 5);
    assert_string_equal(notes.at[0].text, "a GET " MAPS "?limit=3 /configmaps/default// admin ");
    assert_string_equal(notes.at[1].text, "b POST " MAPS " /configmaps/default/m/ admin ");
    assert_string_equal(notes.at[2].text, "b GET /apis/apps/v1/namespaces/x/deployments/d/status "
                                          "apps/deployments/x/d/status admin ");
    assert_string_equal(notes.at[3].text, "b DELETE " MAPS "/m /configmaps/default/m/ admin ");
    assert_string_equal(notes.at[4].text, "c GET /version //// admin ");
    static const int statuses[] = {200, 201, 404, 200, 200};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(notes.at[i].status, statuses[i]);
        assert_int_equal(notes.at[i].number, i + 1);
        assert_true(i == 0 || notes.at[i].time_us >= notes.at[i - 1].time_us);
    }
    assert_int_equal(notes.at[0].version, 0);
    assert_int_equal(notes.at[1].version, created);
    assert_int_equal(notes.at[2].version, 0);
    assert_int_equal(notes.at[3].version, ki_apiserver_version(*state));
    assert_true((int64_t)time(NULL) - notes.at[0].time_us / 1000000 < 3600);
}

static void a_request_with_a_fault_is_logged_with_it(void **state)
{
    struct notes notes = {0};
    const ki_fault refuse = {.action = KI_FAULT_STATUS, .http_status = 503, .times = 1};
    const ki_fault cut = {.action = KI_FAULT_CLOSE, .times = 1};
    assert_int_equal(ki_apiserver_fault(*state, &refuse, NULL), 0);
    assert_int_equal(ki_apiserver_fault(*state, &cut, NULL), 0);
    assert_int_equal(call_as(*state, "a", &(api_request){.path = "/version"}), 503);
    assert_int_equal(call_as(*state, "a", &(api_request){.path = "/version"}), 0);
    for (int i = 0; ki_apiserver_requests(*state, 0, note, &notes) < 2; i++) {
        assert_true(i < HANG_MS / 5);
        notes.count = 0;
        usleep(5 * 1000);
    }
    assert_int_equal(notes.at[0].status, 503);
    assert_string_equal(notes.at[0].text, "a GET /version //// admin status");
    assert_int_equal(notes.at[1].status, 0);
    assert_string_equal(notes.at[1].text, "a GET /version //// admin close");
}

static void an_unknown_client_has_no_user(void **state)
{
    static const char *const tokens[] = {"secret", NULL};
    struct notes notes = {0};
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.tokens = tokens});
    assert_int_equal(call_as(server, "a", &(api_request){.path = MAPS}), 401);
    (void)ki_apiserver_requests(server, 0, note, &notes);
    assert_int_equal(notes.count, 1);
    assert_int_equal(notes.at[0].status, 401);
    assert_string_equal(notes.at[0].text, "a GET " MAPS " /configmaps/default//  ");
    ki_apiserver_free(server);
}

static void a_watch_is_logged_when_it_begins(void **state)
{
    struct notes notes = {0};
    static const char request[] = "GET " MAPS "?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    free(api_receive(fd, "\r\n\r\n", NULL));
    assert_int_equal(ki_apiserver_requests(*state, 0, note, &notes), 1);
    assert_int_equal(notes.at[0].status, 200);
    close(fd);
}

static void the_log_is_read_as_lines_of_json(void **state)
{
    assert_int_equal(call_as(*state, "a", &(api_request){.path = "/version"}), 200);
    assert_int_equal(call_as(*state, "b", &(api_request){.path = MAPS}), 200);
    api_answer all = api_get(*state, "/debug/requests");
    assert_int_equal(all.status, 200);
    assert_string_equal(api_header(&all, "Content-Type"), "application/jsonl");
    size_t at = 0;
    json_t *first = api_next_event(&all, &at);
    json_t *second = api_next_event(&all, &at);
    assert_null(api_next_event(&all, &at));
    assert_string_equal(json_string_value(json_object_get(first, "userAgent")), "a");
    assert_string_equal(json_string_value(json_object_get(second, "resource")), "configmaps");
    assert_int_equal(strlen(json_string_value(json_object_get(second, "time"))),
                     strlen("2026-11-17T15:21:53.123456Z"));
    json_decref(first);
    json_decref(second);
    api_answer_fini(&all);
    api_answer rest = api_get(*state, "/debug/requests?since=1");
    assert_string_equal(api_text(&rest, "userAgent"), "b");
    api_answer_fini(&rest);
    rest = api_get(*state, "/debug/requests?since=2");
    assert_int_equal(rest.body_len, 0);
    api_answer_fini(&rest);
    rest = api_get(*state, "/debug/requests?since=yesterday");
    assert_int_equal(rest.status, 400);
    api_answer_fini(&rest);
    assert_int_equal(call_as(*state, "a", &(api_request){.path = "/debug/requests", .method = "DELETE"}),
                     405);
}

/* ---- who held a Lease ---------------------------------------------------------------------------------- */

static void hold_lease(ki_apiserver *server, const char *holder)
{
    char body[160];
    ki_error err = {0};
    snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"%s\"}}",
             holder);
    assert_int_equal(ki_apiserver_put(server, &KI_COORDINATION_V1_LEASES, body, &err), 0);
}

/* The holder at the time of the change `version`, from the history of the Lease. */
static void holder_at(const api_answer *history, uint64_t version, char out[32])
{
    size_t at = 0;
    json_t *event;
    out[0] = 0;
    while ((event = api_next_event(history, &at)) != NULL) {
        const char *text = json_string_value(api_at(event, "object.metadata.resourceVersion"));
        if (strtoull(text, NULL, 10) < version)
            snprintf(out, 32, "%s", json_string_value(api_at(event, "object.spec.holderIdentity")));
        json_decref(event);
    }
}

static void each_write_can_be_compared_with_the_history_of_a_lease(void **state)
{
    static const char *const writers[] = {"a", "b", "a"}; /* the last one is too late */
    char path[256];
    struct notes notes = {0};
    uint64_t before = ki_apiserver_version(*state);
    for (size_t i = 0; i < 3; i++) {
        char body[64];
        if (i < 2)
            hold_lease(*state, writers[i]);
        snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"m%zu\"}}", i);
        assert_int_equal(call_as(*state, writers[i], &(api_request){.path = MAPS, .body = body}), 201);
    }
    (void)ki_apiserver_requests(*state, 0, note, &notes);
    snprintf(path, sizeof(path),
             LEASES "?watch=1&timeoutSeconds=1&resourceVersion=%llu&fieldSelector=metadata.name%%3Dl",
             (unsigned long long)before);
    api_answer history = api_get(*state, path);
    for (size_t i = 0; i < 3; i++) {
        char holder[32];
        holder_at(&history, notes.at[i].version, holder);
        assert_string_equal(holder, i == 0 ? "a" : "b");
    }
    api_answer_fini(&history);
}

/* ---- down for a while ---------------------------------------------------------------------------------- */

static int get_status(ki_apiserver *server, const char *path)
{
    return call_as(server, "a", &(api_request){.path = path});
}

static void wait_until_up(ki_apiserver *server)
{
    for (int i = 0; get_status(server, "/version") != 200; i++) {
        assert_true(i < HANG_MS / 10);
        usleep(10 * 1000);
    }
}

/* Takes the server down while a watch is open; the watch ends with it. */
static void go_down(ki_apiserver *server, const char *path)
{
    static const char watch[] = "GET " MAPS "?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = api_connect(server);
    api_send(fd, watch, sizeof(watch) - 1);
    free(api_receive(fd, "ADDED", NULL));
    assert_int_equal(call_as(server, "a", &(api_request){.method = "POST", .path = path}), 200);
    free(api_receive(fd, NULL, NULL));
    close(fd);
}

static void a_server_goes_down_on_request_and_comes_back(void **state)
{
    char path[256];
    ki_error err = {0};
    uint64_t version = ki_apiserver_version(*state);
    api_post(*state, MAPS, "{\"metadata\":{\"name\":\"m\"}}");
    go_down(*state, "/debug/down?ms=3600000");
    assert_int_equal(get_status(*state, "/version"), 0);
    assert_int_equal(ki_apiserver_up(*state, &err), 0);
    go_down(*state, "/debug/down?ms=300");
    wait_until_up(*state);
    assert_int_equal(get_status(*state, MAPS "/m"), 200);
    snprintf(path, sizeof(path), MAPS "?watch=1&timeoutSeconds=1&resourceVersion=%llu",
             (unsigned long long)version);
    api_answer history = api_get(*state, path);
    assert_string_equal(api_text(&history, "type"), "ADDED");
    api_answer_fini(&history);
}

static void the_duration_of_going_down_is_checked(void **state)
{
    static const char *const paths[] = {"/debug/down", "/debug/down?ms=0", "/debug/down?ms=-1",
                                        "/debug/down?ms=3600001", "/debug/down?ms=3s"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(call_as(*state, "a", &(api_request){.method = "POST", .path = paths[i]}), 400);
    assert_int_equal(get_status(*state, "/debug/down?ms=3"), 405);
    assert_int_equal(get_status(*state, "/version"), 200);
}

static void a_server_comes_back_by_itself_by_default(void **state)
{
    ki_error err = {0};
    ki_apiserver_down_for(*state, 3600 * 1000);
    assert_int_equal(get_status(*state, "/version"), 0);
    ki_apiserver_down_for(*state, 1);
    wait_until_up(*state);
    ki_apiserver_down_for(*state, 3600 * 1000);
    assert_int_equal(ki_apiserver_up(*state, &err), 0);
    assert_int_equal(get_status(*state, "/version"), 200);
    ki_apiserver_down_for(*state, 20);
    ki_apiserver_down(*state);
    usleep(200 * 1000);
    assert_int_equal(get_status(*state, "/version"), 0);
    ki_apiserver_down_for(*state, 3600 * 1000); /* it is freed while it is down */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_request_is_logged_with_user_and_object),
        TEST(a_request_with_a_fault_is_logged_with_it),
        cmocka_unit_test(an_unknown_client_has_no_user),
        TEST(a_watch_is_logged_when_it_begins),
        TEST(the_log_is_read_as_lines_of_json),
        TEST(each_write_can_be_compared_with_the_history_of_a_lease),
        TEST(a_server_goes_down_on_request_and_comes_back),
        TEST(the_duration_of_going_down_is_checked),
        TEST(a_server_comes_back_by_itself_by_default),
    };
    return RUN_TESTS(tests);
}
