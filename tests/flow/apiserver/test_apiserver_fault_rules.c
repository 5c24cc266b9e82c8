/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests a rule of the embedded server matches, which rules are rejected, and /debug. */
#include <errno.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

#define LIST "/api/v1/pods"
#define WATCH "/api/v1/pods?watch=1&timeoutSeconds=1"
#define WATCH_LIST WATCH "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
#define POD "/api/v1/namespaces/default/pods/a"

static int setup(void **state)
{
    *state = api_rig_start_with_pods(&(ki_apiserver_options){.seed = 7, .allows_debug = 1});
    return 0;
}

static int get_status(ki_apiserver *server, const char *path)
{
    api_answer answer = api_get(server, path);
    int status = answer.status;
    api_answer_fini(&answer);
    return status;
}

static int call_status(ki_apiserver *server, const char *method, const char *path)
{
    api_answer answer = api_call(server, &(api_request){.method = method, .path = path});
    int status = answer.status;
    api_answer_fini(&answer);
    return status;
}

/* Checks how often the first rule was used; its "on" has `kinds` words. */
static void expect_rule(ki_apiserver *server, int used, size_t kinds)
{
    api_answer answer = api_get(server, "/debug/faults");
    assert_int_equal(json_integer_value(api_at(answer.tree, "faults.0.used")), used);
    assert_int_equal(json_array_size(api_at(answer.tree, "faults.0.on")), kinds);
    api_answer_fini(&answer);
}

/* The response is 400 with a message that contains `part`; no rule is added. */
static void expect_refusal(ki_apiserver *server, const char *rule, const char *part)
{
    api_answer answer = api_call(server, &(api_request){.path = "/debug/faults", .body = rule});
    if (answer.status != 400 || strstr(api_text(&answer, "message"), part) == NULL)
        fail_msg("%s: %d %s", rule, answer.status, answer.body);
    api_answer_fini(&answer);
    answer = api_get(server, "/debug/faults");
    assert_int_equal(json_array_size(api_at(answer.tree, "faults")), 0);
    api_answer_fini(&answer);
}

/* ---- matching ------------------------------------------------------------------------------------------ */

static void a_rule_does_not_hide_another_for_requests_it_cannot_change(void **state)
{
    api_post(
        *state, "/debug/faults",
        "[{\"action\":\"no-watch-list\"},{\"action\":\"status\",\"on\":\"list\",\"code\":503,\"times\":2}]");
    assert_int_equal(get_status(*state, LIST), 503);
    assert_int_equal(get_status(*state, WATCH_LIST), 422);
    assert_int_equal(get_status(*state, LIST), 503);
    assert_int_equal(get_status(*state, LIST), 200);
    expect_rule(*state, 1, 2);
}

/* The rule matches only the last of its requests. */
struct choice {
    const char *rule;
    size_t kinds;
    const char *requests[8]; /* ends with NULL */
};

/* Reads only the start of the response, because a watch does not end. */
static int begin_status(ki_apiserver *server, const char *path)
{
    char request[256];
    int fd = api_connect(server);
    int n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    api_send(fd, request, (size_t)n);
    char *got = api_receive(fd, "\r\n", NULL);
    close(fd);
    int status = strlen(got) < sizeof("HTTP/1.1 200") - 1 ? 0 : atoi(got + sizeof("HTTP/1.1"));
    free(got);
    return status;
}

/* Every request of the kind fails until the rules are removed; other kinds are not affected. */
static void expect_broken(ki_apiserver *server, const char *kind, const char *path)
{
    static const char *const paths[] = {LIST, WATCH_LIST, WATCH, POD, "/version"};
    enum { PATHS = sizeof(paths) / sizeof(paths[0]), ROUNDS = 5 };
    char rule[160];
    snprintf(rule, sizeof(rule), "{\"action\":\"status\",\"on\":\"%s\",\"code\":503}", kind);
    api_post(server, "/debug/faults", rule);
    for (size_t i = 0; i < (size_t)ROUNDS * PATHS; i++) {
        const char *asked = paths[i % PATHS];
        assert_int_equal(begin_status(server, asked), strcmp(asked, path) == 0 ? 503 : 200);
    }
    assert_int_equal(call_status(server, "DELETE", "/debug/faults"), 200);
    assert_int_equal(begin_status(server, path), 200);
}

static void one_kind_of_request_is_broken_until_rules_are_removed(void **state)
{
    expect_broken(*state, "list", LIST);
    expect_broken(*state, "streamed-list", WATCH_LIST);
    expect_broken(*state, "watch", WATCH);
}

static void run_choice(ki_apiserver *server, const struct choice *choice)
{
    size_t i = 0;
    api_post(server, "/debug/faults", choice->rule);
    for (; choice->requests[i + 1] != NULL; i++) {
        assert_int_equal(begin_status(server, choice->requests[i]), 200);
        expect_rule(server, 0, choice->kinds);
    }
    assert_int_not_equal(begin_status(server, choice->requests[i]), 0);
    expect_rule(server, 1, choice->kinds);
    assert_int_equal(call_status(server, "DELETE", "/debug/faults"), 200);
}

static void a_rule_is_not_used_up_by_requests_it_cannot_change(void **state)
{
    char later[160];
    char from[160];
    snprintf(from, sizeof(from), WATCH "&allowWatchBookmarks=true&resourceVersion=%llu",
             (unsigned long long)ki_apiserver_version(*state));
    snprintf(later, sizeof(later), LIST "?resourceVersion=%llu",
             (unsigned long long)ki_apiserver_version(*state));
    const struct choice choices[] = {
        {"{\"action\":\"no-end-marker\",\"times\":1}", 1, {"/version", LIST, POD, from, WATCH_LIST}},
        {"{\"action\":\"no-watch-list\",\"times\":1}", 2, {"/api", LIST, POD, from, WATCH_LIST}},
        {"{\"action\":\"no-bookmarks\",\"on\":\"any\",\"times\":1}", 2, {"/apis", LIST, WATCH, from}},
        {"{\"action\":\"endless-pages\",\"times\":1}", 1, {"/version", POD, WATCH, LIST "?limit=1"}},
        {"{\"action\":\"expired\",\"times\":1}", 3, {"/version", POD, LIST}},
        {"{\"action\":\"stale\",\"behind\":1,\"times\":1}", 4, {"/version", later, from, POD}},
        {"{\"action\":\"stale\",\"behind\":1,\"times\":1}", 4, {later, from, LIST "?resourceVersion=0"}},
        {"{\"action\":\"stale\",\"behind\":1,\"times\":1}", 4, {from, WATCH_LIST}},
        {"{\"action\":\"close\",\"afterEvents\":1,\"times\":1}", 2, {"/version", LIST, POD, WATCH}},
        {"{\"action\":\"garbage\",\"afterEvents\":9,\"afterBytes\":9,\"times\":1}", 6, {LIST}},
    };
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
        run_choice(*state, &choices[i]);
}

static void a_rule_for_bodies_ignores_head_requests(void **state)
{
    api_post(*state, "/debug/faults", "{\"action\":\"truncate\",\"times\":1}");
    assert_int_equal(call_status(*state, "HEAD", "/version"), 200);
    expect_rule(*state, 0, 6);
    assert_int_equal(call_status(*state, "DELETE", "/debug/faults"), 200);
    api_post(*state, "/debug/faults", "{\"action\":\"status\",\"code\":500,\"times\":1}");
    assert_int_equal(call_status(*state, "HEAD", "/version"), 500);
}

static void programs_can_add_the_same_rules(void **state)
{
    ki_fault rule = {.action = KI_FAULT_NO_END_MARKER, .on = KI_FAULT_ANY, .times = 1};
    assert_int_equal(ki_apiserver_fault(*state, &rule, NULL), 0);
    assert_int_equal(get_status(*state, "/version"), 200);
    expect_rule(*state, 0, 1);
    const ki_fault wrong[] = {
        {.action = KI_FAULT_STALE, .on = KI_FAULT_LIST | KI_FAULT_WRITE, .behind = 1},
        {.action = KI_FAULT_ENDLESS_PAGES, .on = KI_FAULT_WATCH},
        {.action = KI_FAULT_CLOSE, .on = KI_FAULT_LIST, .after_events = 1},
        {.action = KI_FAULT_DELAY, .delay_ms = 5, .after_bytes = 3},
        {.action = KI_FAULT_ONE_BYTE, .after_events = 1},
        {.action = KI_FAULT_RESET, .http_status = 500},
        {.action = KI_FAULT_STATUS, .http_status = 600},
        {.action = KI_FAULT_DELAY},
        {.action = KI_FAULT_STALE},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        assert_int_equal(ki_apiserver_fault(*state, &wrong[i], NULL), KI_ERR_INVALID);
        assert_int_equal(ki_apiserver_fault_check(&wrong[i], &err), KI_ERR_INVALID);
        assert_string_not_equal(err.message, "");
    }
    assert_int_equal(ki_apiserver_fault_check(NULL, NULL), KI_ERR_INVALID);
}

/* ---- refused ------------------------------------------------------------------------------------------- */

static void rules_that_would_do_nothing_are_refused(void **state)
{
    expect_refusal(*state, "{\"action\":\"no-bookmarks\",\"on\":\"list\"}",
                   "on: \"no-bookmarks\" has no effect on list; it applies to watch, streamed-list");
    expect_refusal(*state, "{\"action\":\"expired\",\"on\":[\"list\",\"get\",\"write\"]}",
                   "on: \"expired\" has no effect on get, write; it applies to list, watch, streamed-list");
    expect_refusal(*state, "{\"action\":\"close\",\"on\":\"get\",\"afterEvents\":2}",
                   "on: \"close\" with afterEvents has no effect on get; it applies to watch, streamed-list");
    expect_refusal(*state, "{\"action\":\"no-end-marker\",\"on\":\"watch\"}",
                   "on: \"no-end-marker\" has no effect on watch; it applies to streamed-list");
    expect_refusal(*state, "{\"action\":\"delay\"}", "delayMs: \"delay\" needs a duration");
    expect_refusal(*state, "{\"action\":\"status\"}", "code: \"status\" needs a code");
    expect_refusal(*state, "{\"action\":\"status\",\"code\":99}", "code: 99 is not an HTTP status");
    expect_refusal(*state, "{\"action\":\"stale\"}", "behind: \"stale\" needs a number of versions");
    expect_refusal(*state, "{\"action\":\"reset\",\"on\":[]}", "on: the list is empty");
    expect_refusal(*state, "{\"action\":\"reset\",\"on\":\"wacth\"}",
                   "on: \"wacth\" is not a kind of request");
    expect_refusal(*state, "{\"action\":\"reset\",\"on\":[3]}", "on: must be");
}

static void fields_that_mean_nothing_are_refused_by_name(void **state)
{
    expect_refusal(*state, "{\"action\":\"close\",\"aftrBytes\":3}", "aftrBytes: unknown field");
    expect_refusal(*state, "{\"action\":\"delay\",\"delayMs\":5,\"afterBytes\":3}",
                   "afterBytes: \"delay\" does not use it");
    expect_refusal(*state, "{\"action\":\"reset\",\"code\":0}", "code: \"reset\" does not use it");
    expect_refusal(*state, "{\"action\":\"reset\",\"times\":\"3\"}", "times: must be a number");
    expect_refusal(*state, "{\"action\":\"reset\",\"percent\":101}",
                   "percent: must be a number from 0 to 100");
    expect_refusal(*state, "{\"action\":\"reset\",\"path\":3}", "path: must be a string");
}

static void a_list_of_rules_is_added_completely_or_not_at_all(void **state)
{
    expect_refusal(*state, "[{\"action\":\"reset\"},{\"action\":\"frob\"}]", "action: \"frob\" is unknown");
    expect_refusal(
        *state, "{\"action\":\"frob\"}",
        "use one of close, reset, stall, delay, one-byte, garbage, truncate, status, expired, stale, "
        "endless-pages, no-watch-list, no-end-marker, no-bookmarks");
}

static void a_body_that_is_not_a_rule_gets_an_explanation(void **state)
{
    expect_refusal(*state, "x", "the body is not JSON");
    expect_refusal(*state, "x", "expected a fault such as {\"action\":\"reset\"");
    api_answer answer = api_call(*state, &(api_request){.method = "POST", .path = "/debug/faults"});
    assert_int_equal(answer.status, 400);
    assert_non_null(strstr(api_text(&answer, "message"), "the body is empty"));
    api_answer_fini(&answer);
}

/* ---- the rest of /debug -------------------------------------------------------------------------------- */

static void a_request_that_cuts_all_others_gets_its_response(void **state)
{
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        int error = -1;
        int fd = api_connect(*state);
        api_send(fd, request, sizeof(request) - 1);
        free(api_receive(fd, "\"name\":\"b\"", NULL));
        assert_int_equal(call_status(*state, "POST", is_reset ? "/debug/cut?reset=1" : "/debug/cut"), 200);
        free(api_receive(fd, NULL, &error));
        assert_int_equal(error, is_reset ? ECONNRESET : 0);
        close(fd);
    }
}

static void a_rewind_needs_a_number(void **state)
{
    static const char *const paths[] = {"/debug/rewind",
                                        "/debug/rewind?by=",
                                        "/debug/rewind?by=x",
                                        "/debug/rewind?by=-1",
                                        "/debug/rewind?by=99999999999999999999999",
                                        "/debug/rewind?by=18446744073709551615"};
    uint64_t version = ki_apiserver_version(*state);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        api_answer answer = api_call(*state, &(api_request){.method = "POST", .path = paths[i]});
        if (answer.status != 400 || strncmp(api_text(&answer, "message"), "by: ", 4) != 0)
            fail_msg("%s: %d %s", paths[i], answer.status, answer.body);
        api_answer_fini(&answer);
    }
    assert_int_equal(ki_apiserver_version(*state), version);
}

static void actions_are_refused_with_get(void **state)
{
    static const char *const paths[] = {"/debug/compact", "/debug/cut", "/debug/rewind?by=1"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(call_status(*state, "GET", paths[i]), 405);
        assert_int_equal(call_status(*state, "DELETE", paths[i]), 405);
    }
    assert_int_equal(call_status(*state, "PUT", "/debug/faults"), 405);
    assert_int_equal(call_status(*state, "POST", "/debug/nothing"), 404);
}

static void each_action_has_its_own_name(void **state)
{
    (void)state;
    assert_string_equal(ki_apiserver_fault_name(KI_FAULT_CLOSE), "close");
    for (uint32_t a = KI_FAULT_CLOSE; a <= KI_FAULT_NO_BOOKMARKS; a++)
        for (uint32_t b = KI_FAULT_CLOSE; b < a; b++)
            assert_string_not_equal(ki_apiserver_fault_name(a), ki_apiserver_fault_name(b));
    assert_null(ki_apiserver_fault_name(KI_FAULT_NO_BOOKMARKS + 1));
    assert_null(ki_apiserver_fault_name(0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_rule_does_not_hide_another_for_requests_it_cannot_change),
        TEST(one_kind_of_request_is_broken_until_rules_are_removed),
        TEST(a_rule_is_not_used_up_by_requests_it_cannot_change),
        TEST(a_rule_for_bodies_ignores_head_requests),
        TEST(programs_can_add_the_same_rules),
        TEST(rules_that_would_do_nothing_are_refused),
        TEST(fields_that_mean_nothing_are_refused_by_name),
        TEST(a_list_of_rules_is_added_completely_or_not_at_all),
        TEST(a_body_that_is_not_a_rule_gets_an_explanation),
        TEST(a_request_that_cuts_all_others_gets_its_response),
        TEST(a_rewind_needs_a_number),
        TEST(actions_are_refused_with_get),
        cmocka_unit_test(each_action_has_its_own_name),
    };
    return RUN_TESTS(tests);
}
