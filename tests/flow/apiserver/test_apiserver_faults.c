/* SPDX-License-Identifier: Apache-2.0 */
/* Each fault of the embedded server as a client sees it. */
#include <errno.h>
#include <kinformer/resources.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"
#include "util/clock.h"

#define LIST "/api/v1/pods"
#define WATCH "/api/v1/pods?watch=1&timeoutSeconds=1"
#define WATCH_LIST WATCH "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

static int setup(void **state)
{
    *state = api_rig_start_with_pods(&(ki_apiserver_options){.seed = 7, .allows_debug = 1});
    return 0;
}

static void add(ki_apiserver *server, ki_fault fault)
{
    assert_int_equal(ki_apiserver_fault(server, &fault, NULL), 0);
}

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

/* Returns the raw response, and how it ended. */
static char *raw_get(ki_apiserver *server, const char *path, int *out_error)
{
    char request[256];
    int fd = api_connect(server);
    int n = snprintf(request, sizeof(request),
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    api_send(fd, request, (size_t)n);
    char *got = api_receive(fd, NULL, out_error);
    close(fd);
    return got;
}

static void expect_well(ki_apiserver *server)
{
    api_answer answer = api_get(server, LIST);
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 2);
    api_answer_fini(&answer);
}

/* ---- connections --------------------------------------------------------------------------------------- */

static void close_ends_a_body_too_early(void **state)
{
    int error = -1;
    add(*state, (ki_fault){.on = KI_FAULT_LIST, .action = KI_FAULT_CLOSE, .after_bytes = 100, .times = 1});
    api_answer answer = api_get(*state, LIST);
    assert_true(answer.is_broken);
    assert_int_equal(answer.body_len, 100);
    api_answer_fini(&answer);
    add(*state, (ki_fault){.on = KI_FAULT_WATCH, .action = KI_FAULT_CLOSE, .after_events = 1, .times = 1});
    char *got = raw_get(*state, WATCH, &error);
    assert_int_equal(error, 0);
    assert_non_null(strstr(got, "\"name\":\"a\""));
    assert_null(strstr(got, "\"name\":\"b\""));
    assert_null(strstr(got, "\r\n0\r\n"));
    free(got);
    expect_well(*state);
}

static void close_without_a_number_gives_no_response(void **state)
{
    int error = -1;
    add(*state, (ki_fault){.action = KI_FAULT_CLOSE, .times = 1});
    char *got = raw_get(*state, LIST, &error);
    assert_string_equal(got, "");
    assert_int_equal(error, 0);
    free(got);
    expect_well(*state);
}

static void reset_is_seen_as_a_reset(void **state)
{
    int error = 0;
    add(*state, (ki_fault){.on = KI_FAULT_WATCH, .action = KI_FAULT_RESET, .after_events = 2, .times = 1});
    char *got = raw_get(*state, WATCH, &error);
    assert_int_equal(error, ECONNRESET);
    free(got);
    add(*state, (ki_fault){.on = KI_FAULT_LIST, .action = KI_FAULT_RESET, .times = 1});
    got = raw_get(*state, LIST, &error);
    assert_int_equal(error, ECONNRESET);
    free(got);
    expect_well(*state);
}

static void stall_lasts_until_faults_are_cleared(void **state)
{
    add(*state, (ki_fault){.on = KI_FAULT_WATCH, .action = KI_FAULT_STALL, .after_events = 1});
    add(*state, (ki_fault){.on = KI_FAULT_LIST, .action = KI_FAULT_STALL});
    api_answer answer = api_call(*state, &(api_request){.path = WATCH, .timeout_ms = 1500});
    assert_true(answer.is_broken);
    assert_null(strstr(answer.body, "\"name\":\"b\""));
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = LIST, .timeout_ms = 300});
    assert_int_equal(answer.status, 0);
    api_answer_fini(&answer);
    char request[] = "GET " LIST " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    (void)poll(NULL, 0, 200);
    ki_apiserver_clear_faults(*state);
    char *got = api_receive(fd, NULL, NULL);
    assert_int_equal(strncmp(got, "HTTP/1.1 200", 12), 0);
    free(got);
    close(fd);
}

static void a_stalled_watch_continues_with_its_events(void **state)
{
    static const char request[] =
        "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    add(*state, (ki_fault){.on = KI_FAULT_WATCH, .action = KI_FAULT_STALL, .after_events = 1});
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    char *got = api_receive(fd, "\"name\":\"a\"", NULL);
    assert_null(strstr(got, "\"name\":\"b\""));
    free(got);
    api_put_pod(*state, "c", "web", "node-1");
    ki_apiserver_clear_faults(*state);
    got = api_receive(fd, "\"name\":\"c\"", NULL);
    assert_non_null(strstr(got, "\"name\":\"b\""));
    free(got);
    api_put_pod(*state, "d", "web", "node-1");
    got = api_receive(fd, "\"name\":\"d\"", NULL);
    assert_non_null(strstr(got, "\"name\":\"d\""));
    free(got);
    close(fd);
}

static void a_fault_that_is_cleared_in_time_does_not_happen(void **state)
{
    static const char request[] =
        "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    add(*state, (ki_fault){.on = KI_FAULT_WATCH, .action = KI_FAULT_CLOSE, .after_events = 3});
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    free(api_receive(fd, "\"name\":\"b\"", NULL));
    ki_apiserver_clear_faults(*state);
    api_put_pod(*state, "c", "web", "node-1");
    api_put_pod(*state, "d", "web", "node-1");
    char *got = api_receive(fd, "\"name\":\"d\"", NULL);
    assert_non_null(strstr(got, "\"name\":\"d\""));
    free(got);
    close(fd);
}

static void delay_delays_the_response(void **state)
{
    uint64_t begin = now_ms();
    add(*state, (ki_fault){.on = KI_FAULT_LIST, .action = KI_FAULT_DELAY, .delay_ms = 400, .times = 1});
    expect_well(*state);
    assert_true(now_ms() - begin >= 400);
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static void one_byte_sends_single_byte_chunks(void **state)
{
    add(*state, (ki_fault){.action = KI_FAULT_ONE_BYTE, .times = 3});
    char *got = raw_get(*state, LIST, NULL);
    assert_non_null(strstr(got, "1\r\n{\r\n1\r\n\"\r\n1\r\nk\r\n"));
    free(got);
    expect_well(*state);
    static const char request[] =
        "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char its_name[] = "1\r\n:\r\n1\r\n\"\r\n1\r\nb\r\n1\r\n\"\r\n";
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    got = api_receive(fd, its_name, NULL);
    assert_non_null(strstr(got, its_name));
    free(got);
    close(fd);
}

static void garbage_is_not_json(void **state)
{
    add(*state, (ki_fault){.action = KI_FAULT_GARBAGE, .after_bytes = 50, .times = 2});
    api_answer answer = api_get(*state, LIST);
    assert_int_equal(answer.status, 200);
    assert_false(answer.is_broken);
    assert_null(answer.tree);
    api_answer_fini(&answer);
    answer = api_get(*state, WATCH);
    assert_non_null(strstr(answer.body, "<html>"));
    api_answer_fini(&answer);
}

static void a_truncated_body_looks_complete(void **state)
{
    add(*state, (ki_fault){.action = KI_FAULT_TRUNCATE, .after_bytes = 60, .times = 2});
    api_answer answer = api_get(*state, LIST);
    assert_false(answer.is_broken);
    assert_int_equal(answer.body_len, 60);
    api_answer_fini(&answer);
    answer = api_get(*state, WATCH);
    assert_false(answer.is_broken);
    assert_int_equal(answer.body_len, 60);
    api_answer_fini(&answer);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static void a_fault_can_answer_with_any_status(void **state)
{
    add(*state,
        (ki_fault){.action = KI_FAULT_STATUS, .http_status = 503, .retry_after_seconds = 2, .times = 1});
    api_answer answer = api_get(*state, LIST);
    assert_int_equal(answer.status, 503);
    assert_string_equal(api_header(&answer, "Retry-After"), "2");
    assert_string_equal(api_text(&answer, "reason"), "ServiceUnavailable");
    api_answer_fini(&answer);
    expect_well(*state);
}

static void versions_expire_on_request(void **state)
{
    add(*state, (ki_fault){.on = KI_FAULT_LIST | KI_FAULT_WATCH, .action = KI_FAULT_EXPIRED, .times = 2});
    api_answer answer = api_get(*state, LIST);
    assert_int_equal(answer.status, 410);
    api_answer_fini(&answer);
    answer = api_get(*state, WATCH);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"type\":\"ERROR\""));
    assert_non_null(strstr(answer.body, "\"code\":410"));
    api_answer_fini(&answer);
}

static void a_late_replica_shows_an_old_state(void **state)
{
    add(*state,
        (ki_fault){.on = KI_FAULT_LIST | KI_FAULT_GET, .action = KI_FAULT_STALE, .behind = 1, .times = 3});
    api_answer answer = api_get(*state, LIST);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 1);
    api_answer_fini(&answer);
    answer = api_get(*state, "/api/v1/namespaces/default/pods/b");
    assert_int_equal(answer.status, 404);
    api_answer_fini(&answer);
    answer = api_get(*state, "/api/v1/namespaces/default/pods/a");
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    expect_well(*state);
}

static void pages_never_end(void **state)
{
    char path[512] = LIST "?limit=1";
    char last[256] = "";
    add(*state, (ki_fault){.action = KI_FAULT_ENDLESS_PAGES});
    for (int i = 0; i < 10; i++) {
        api_answer answer = api_get(*state, path);
        assert_int_equal(json_array_size(api_at(answer.tree, "items")), 1);
        const char *token = api_text(&answer, "metadata.continue");
        assert_string_not_equal(token, "");
        if (i > 0)
            assert_string_equal(token, last);
        snprintf(last, sizeof(last), "%s", token);
        snprintf(path, sizeof(path), LIST "?limit=1&continue=%s", token);
        api_answer_fini(&answer);
    }
}

static void an_older_server_has_no_streamed_lists(void **state)
{
    add(*state, (ki_fault){.action = KI_FAULT_NO_WATCH_LIST, .times = 1});
    api_answer answer = api_get(*state, WATCH_LIST);
    assert_int_equal(answer.status, 422);
    api_answer_fini(&answer);
}

static void markers_and_bookmarks_can_be_left_out(void **state)
{
    add(*state, (ki_fault){.action = KI_FAULT_NO_END_MARKER, .times = 1});
    api_answer answer = api_get(*state, WATCH_LIST);
    assert_non_null(strstr(answer.body, "\"name\":\"b\""));
    assert_null(strstr(answer.body, "initial-events-end"));
    api_answer_fini(&answer);
    add(*state, (ki_fault){.action = KI_FAULT_NO_BOOKMARKS, .times = 1});
    answer = api_get(*state, WATCH "&allowWatchBookmarks=true");
    assert_null(strstr(answer.body, "BOOKMARK"));
    api_answer_fini(&answer);
}

/* ---- rules --------------------------------------------------------------------------------------------- */

static void a_rule_matches_only_some_requests(void **state)
{
    add(*state,
        (ki_fault){.on = KI_FAULT_ANY, .path = "configmaps", .action = KI_FAULT_STATUS, .http_status = 500});
    expect_well(*state);
    api_answer answer = api_get(*state, "/api/v1/configmaps");
    assert_int_equal(answer.status, 500);
    api_answer_fini(&answer);
    ki_apiserver_clear_faults(*state);
    answer = api_get(*state, "/api/v1/configmaps");
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
}

static int count_failures(ki_apiserver *server)
{
    int count = 0;
    for (int i = 0; i < 100; i++) {
        api_answer answer = api_get(server, LIST "?limit=1");
        count += answer.status == 500;
        api_answer_fini(&answer);
    }
    return count;
}

static void a_seed_decides_which_requests_fail(void **state)
{
    ki_apiserver *other = api_rig_start(&(ki_apiserver_options){.seed = 7});
    ki_fault fault = {.action = KI_FAULT_STATUS, .http_status = 500, .percent = 30};
    add(*state, fault);
    add(other, fault);
    int count = count_failures(*state);
    assert_true(count > 10 && count < 60);
    assert_int_equal(count_failures(other), count);
    ki_apiserver_free(other);
}

static void impossible_rules_are_refused(void **state)
{
    assert_int_equal(ki_apiserver_fault(*state, &(ki_fault){0}, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_apiserver_fault(*state, &(ki_fault){.action = 99}, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_apiserver_fault(*state, &(ki_fault){.action = KI_FAULT_STATUS}, NULL),
                     KI_ERR_INVALID);
    assert_int_equal(ki_apiserver_fault(*state, &(ki_fault){.action = KI_FAULT_CLOSE, .percent = 101}, NULL),
                     KI_ERR_INVALID);
}

static void rules_that_are_used_up_do_not_count(void **state)
{
    enum { MANY = 1000 };
    ki_fault once = {.on = KI_FAULT_DISCOVERY, .action = KI_FAULT_STATUS, .http_status = 413, .times = 1};
    ki_fault other = {.on = KI_FAULT_GET, .action = KI_FAULT_STATUS, .http_status = 500, .times = 1};
    add(*state, once);
    for (int i = 1; i < MANY; i++)
        add(*state, other);
    assert_int_equal(ki_apiserver_fault(*state, &other, NULL), KI_ERR_TOO_LARGE);
    api_answer answer = api_get(*state, "/version");
    assert_int_equal(answer.status, 413);
    assert_string_equal(api_text(&answer, "reason"), "RequestEntityTooLarge");
    api_answer_fini(&answer);
    add(*state, other); /* replaces the rule that is used up */
    assert_int_equal(ki_apiserver_fault(*state, &other, NULL), KI_ERR_TOO_LARGE);
}

static void faults_are_added_by_http(void **state)
{
    api_post(*state, "/debug/faults", "{\"action\":\"status\",\"on\":[\"list\"],\"code\":429,\"times\":1}");
    api_answer answer = api_get(*state, "/debug/faults");
    assert_string_equal(api_text(&answer, "faults.0.action"), "status");
    api_answer_fini(&answer);
    answer = api_get(*state, LIST);
    assert_int_equal(answer.status, 429);
    api_answer_fini(&answer);
    expect_well(*state);
    answer = api_call(*state, &(api_request){.path = "/debug/faults", .body = "{\"action\":\"frob\"}"});
    assert_int_equal(answer.status, 400);
    api_answer_fini(&answer);
    answer = api_call(*state, &(api_request){.path = "/debug/faults", .method = "DELETE"});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    api_post(*state, "/debug/compact", "");
    answer = api_call(*state, &(api_request){.path = "/debug/rewind?by=1", .method = "POST"});
    assert_int_equal(answer.status, 200);
    api_answer_fini(&answer);
    expect_well(*state);
}

static void debug_is_off_unless_enabled(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    api_answer answer = api_get(server, "/debug/faults");
    assert_int_equal(answer.status, 404);
    api_answer_fini(&answer);
    ki_apiserver_free(server);
}

/* ---- all connections at once --------------------------------------------------------------------------- */

static void all_connections_can_be_cut(void **state)
{
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        int error = -1;
        int fd = api_connect(*state);
        api_send(fd, request, sizeof(request) - 1);
        free(api_receive(fd, "\"name\":\"b\"", NULL));
        ki_apiserver_cut(*state, is_reset);
        free(api_receive(fd, NULL, &error));
        assert_int_equal(error, is_reset ? ECONNRESET : 0);
        close(fd);
        expect_well(*state);
    }
}

static void a_server_goes_down_and_comes_back(void **state)
{
    ki_error err = {0};
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    free(api_receive(fd, "\"name\":\"b\"", NULL));
    ki_apiserver_down(*state);
    ki_apiserver_down(*state);
    free(api_receive(fd, NULL, NULL));
    close(fd);
    assert_int_equal(api_connect(*state), -1);
    assert_int_equal(ki_apiserver_up(*state, &err), 0);
    assert_int_equal(ki_apiserver_up(*state, &err), 0);
    expect_well(*state);
}

static void a_server_that_starts_down_has_its_objects_when_up(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.starts_down = 1});
    assert_int_equal(api_connect(server), -1);
    api_put_pod(server, "a", "web", "node-1");
    api_put_pod(server, "b", "db", "node-2");
    assert_int_equal(api_connect(server), -1);
    assert_int_equal(ki_apiserver_up(server, &err), 0);
    expect_well(server);
    ki_apiserver_free(server);
}

static void a_rewound_history_ends_watches(void **state)
{
    static const char request[] =
        "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    ki_error err = {0};
    uint64_t version = ki_apiserver_version(*state);
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    free(api_receive(fd, "\"name\":\"b\"", NULL));
    assert_int_equal(ki_apiserver_rewind(*state, 5, &err), 0);
    assert_int_equal(ki_apiserver_version(*state), version - 5);
    free(api_receive(fd, NULL, NULL));
    close(fd);
    expect_well(*state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(close_ends_a_body_too_early),
        TEST(close_without_a_number_gives_no_response),
        TEST(reset_is_seen_as_a_reset),
        TEST(stall_lasts_until_faults_are_cleared),
        TEST(a_stalled_watch_continues_with_its_events),
        TEST(a_fault_that_is_cleared_in_time_does_not_happen),
        TEST(delay_delays_the_response),
        TEST(one_byte_sends_single_byte_chunks),
        TEST(garbage_is_not_json),
        TEST(a_truncated_body_looks_complete),
        TEST(a_fault_can_answer_with_any_status),
        TEST(versions_expire_on_request),
        TEST(a_late_replica_shows_an_old_state),
        TEST(pages_never_end),
        TEST(an_older_server_has_no_streamed_lists),
        TEST(markers_and_bookmarks_can_be_left_out),
        TEST(a_rule_matches_only_some_requests),
        TEST(a_seed_decides_which_requests_fail),
        TEST(impossible_rules_are_refused),
        TEST(rules_that_are_used_up_do_not_count),
        TEST(faults_are_added_by_http),
        TEST(debug_is_off_unless_enabled),
        TEST(all_connections_can_be_cut),
        TEST(a_server_goes_down_and_comes_back),
        cmocka_unit_test(a_server_that_starts_down_has_its_objects_when_up),
        TEST(a_rewound_history_ends_watches),
    };
    return RUN_TESTS(tests);
}
