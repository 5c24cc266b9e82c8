/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the embedded server for one client, one method or one subresource. */
#include <arpa/inet.h>
#include <kinformer/apiserver.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

#define MAP "/api/v1/namespaces/default/configmaps/a"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define DEPLOYMENT DEPLOYMENTS "/a"

static const char deployment[] =
    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"a\"}},\"template\":{"
    "\"metadata\":{\"labels\":{\"app\":\"a\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}"
    "}";

static int setup(void **state)
{
    *state = api_rig_start(&(ki_apiserver_options){.seed = 7, .allows_debug = 1});
    api_post(*state, "/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"a\"}}");
    api_post(*state, DEPLOYMENTS, deployment);
    return 0;
}

/* Sends a request as the client of this name. */
static int call_as(ki_apiserver *server, const char *agent, const char *method, const char *path)
{
    char header[64];
    snprintf(header, sizeof(header), "User-Agent: %s", agent);
    bool is_patch = strcmp(method, "PATCH") == 0;
    const char *body = is_patch                          ? "{}"
                       : strcmp(method, "PUT") != 0      ? NULL
                       : strstr(path, "/deploy") == NULL ? "{\"metadata\":{\"name\":\"a\"}}"
                                                         : deployment;
    const char *type =
        is_patch ? "Content-Type: application/merge-patch+json" : "Content-Type: application/json";
    api_answer answer = api_call(
        server, &(api_request){.method = method, .path = path, .body = body, .headers = {header, type}});
    int status = answer.status;
    api_answer_fini(&answer);
    return status;
}

static void add(ki_apiserver *server, const ki_fault *fault)
{
    ki_error err = {0};
    if (ki_apiserver_fault_check(fault, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(ki_apiserver_fault(server, fault, NULL), 0);
}

/* ---- matching ------------------------------------------------------------------------------------------ */

static void a_rule_can_match_one_client(void **state)
{
    add(*state, &(ki_fault){.action = KI_FAULT_STATUS, .http_status = 503, .user_agent = "replica-2"});
    assert_int_equal(call_as(*state, "sample-controller/replica-1", "GET", MAP), 200);
    assert_int_equal(call_as(*state, "sample-controller/replica-2", "GET", MAP), 503);
    assert_int_equal(call_as(*state, "sample-controller/replica-2", "PUT", MAP), 503);
    assert_int_equal(call_as(*state, "", "GET", MAP), 200);
}

static void a_rule_can_match_one_method(void **state)
{
    static const char *const methods[] = {"GET", "PUT", "PATCH", "DELETE"};
    static const uint32_t bits[] = {KI_FAULT_METHOD_GET, KI_FAULT_METHOD_PUT, KI_FAULT_METHOD_PATCH,
                                    KI_FAULT_METHOD_DELETE};
    for (size_t rule = 0; rule < 4; rule++) {
        add(*state, &(ki_fault){.action = KI_FAULT_STATUS, .http_status = 500, .methods = bits[rule]});
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(call_as(*state, "a", methods[i], MAP), i == rule ? 500 : 200);
        if (rule == 3)
            assert_int_equal(call_as(*state, "a", "DELETE", MAP), 500);
        ki_apiserver_clear_faults(*state);
    }
    add(*state, &(ki_fault){.action = KI_FAULT_STATUS, .http_status = 500, .methods = KI_FAULT_METHOD_POST});
    api_answer answer = api_call(*state, &(api_request){.path = DEPLOYMENTS, .body = deployment});
    assert_int_equal(answer.status, 500);
    api_answer_fini(&answer);
}

static void a_rule_can_match_a_subresource_or_none(void **state)
{
    add(*state, &(ki_fault){.action = KI_FAULT_STATUS, .http_status = 409, .subresource = "status"});
    assert_int_equal(call_as(*state, "a", "GET", DEPLOYMENT), 200);
    assert_int_equal(call_as(*state, "a", "GET", DEPLOYMENT "/scale"), 200);
    assert_int_equal(call_as(*state, "a", "GET", DEPLOYMENT "/status"), 409);
    assert_int_equal(call_as(*state, "a", "PATCH", DEPLOYMENT "/status"), 409);
    ki_apiserver_clear_faults(*state);
    add(*state, &(ki_fault){.action = KI_FAULT_STATUS, .http_status = 409, .subresource = ""});
    assert_int_equal(call_as(*state, "a", "GET", DEPLOYMENT), 409);
    assert_int_equal(call_as(*state, "a", "GET", DEPLOYMENT "/status"), 200);
    assert_int_equal(call_as(*state, "a", "GET", "/version"), 200);
}

static void all_conditions_of_a_rule_must_match(void **state)
{
    add(*state, &(ki_fault){.action = KI_FAULT_STATUS,
                            .http_status = 409,
                            .methods = KI_FAULT_METHOD_PUT,
                            .subresource = "status",
                            .user_agent = "replica-2",
                            .path = "/deployments/",
                            .remote = "127.0.0.1",
                            .times = 1});
    assert_int_equal(call_as(*state, "replica-1", "PUT", DEPLOYMENT "/status"), 200);
    assert_int_equal(call_as(*state, "replica-2", "PATCH", DEPLOYMENT "/status"), 200);
    assert_int_equal(call_as(*state, "replica-2", "PUT", DEPLOYMENT), 200);
    assert_int_equal(call_as(*state, "replica-2", "PUT", DEPLOYMENT "/status"), 409);
    assert_int_equal(call_as(*state, "replica-2", "PUT", DEPLOYMENT "/status"), 200);
}

/* The status of one request over a connection that stays open. */
static int ask(int fd)
{
    static const char request[] = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";
    api_send(fd, request, sizeof(request) - 1);
    char *got = api_receive(fd, "\"}", NULL);
    int status = strlen(got) < sizeof("HTTP/1.1 200") - 1 ? 0 : atoi(got + sizeof("HTTP/1.1"));
    free(got);
    return status;
}

static void a_rule_can_match_one_connection(void **state)
{
    char remote[64];
    struct sockaddr_in own;
    socklen_t bytes = sizeof(own);
    int first = api_connect(*state);
    int second = api_connect(*state);
    assert_int_equal(getsockname(first, (struct sockaddr *)(void *)&own, &bytes), 0);
    snprintf(remote, sizeof(remote), "127.0.0.1:%u", (unsigned)ntohs(own.sin_port));
    add(*state, &(ki_fault){.action = KI_FAULT_CLOSE, .remote = remote});
    assert_int_equal(ask(second), 200);
    assert_int_equal(ask(first), 0);
    ki_apiserver_clear_faults(*state);
    add(*state, &(ki_fault){.action = KI_FAULT_CLOSE, .remote = "127.0.0.2"});
    assert_int_equal(ask(second), 200);
    ki_apiserver_clear_faults(*state);
    add(*state, &(ki_fault){.action = KI_FAULT_CLOSE, .remote = "127.0.0.1"});
    assert_int_equal(ask(second), 0);
    close(first);
    close(second);
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static void a_rule_is_read_and_shown_as_json(void **state)
{
    api_post(*state, "/debug/faults",
             "{\"action\":\"status\",\"code\":409,\"method\":[\"PUT\",\"PATCH\"],\"subresource\":\"status\","
             "\"userAgent\":\"replica-2\",\"remote\":\"127.0.0.1\"}");
    assert_int_equal(call_as(*state, "replica-2", "PATCH", DEPLOYMENT "/status"), 409);
    api_answer answer = api_get(*state, "/debug/faults");
    assert_int_equal(json_integer_value(api_at(answer.tree, "faults.0.used")), 1);
    assert_string_equal(api_text(&answer, "faults.0.method.1"), "PATCH");
    assert_string_equal(api_text(&answer, "faults.0.on.0"), "write");
    assert_string_equal(api_text(&answer, "faults.0.subresource"), "status");
    assert_string_equal(api_text(&answer, "faults.0.userAgent"), "replica-2");
    assert_string_equal(api_text(&answer, "faults.0.remote"), "127.0.0.1");
    api_answer_fini(&answer);
}

static void rules_that_cannot_match_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *rule;
        const char *reason;
    } cases[] = {
        {"\"action\":\"reset\",\"method\":\"PUT\",\"on\":\"list\"",
         "method: PUT is never used by list requests"},
        {"\"action\":\"expired\",\"method\":\"PUT\"",
         "method: PUT is never used by list, watch, streamed-list requests"},
        {"\"action\":\"reset\",\"method\":[\"GET\",\"PUT\"],\"on\":\"write\"",
         "method: GET is never used by write requests"},
        {"\"action\":\"reset\",\"method\":\"GET\",\"on\":[\"get\",\"write\"]",
         "on: none of the methods is used by write requests"},
        {"\"action\":\"reset\",\"method\":\"get\"", "method: \"get\" is not a method; use GET"},
        {"\"action\":\"reset\",\"method\":[]", "method: the list is empty"},
        {"\"action\":\"reset\",\"method\":3", "method: must be a string or a list of strings"},
        {"\"action\":\"reset\",\"subresource\":\"status\",\"on\":\"watch\"",
         "subresource: watch requests never have one"},
        {"\"action\":\"expired\",\"subresource\":\"status\"",
         "subresource: list, watch, streamed-list requests never have one"},
        {"\"action\":\"reset\",\"subresource\":\"pods/log\"", "subresource: \"pods/log\" is not a name"},
        {"\"action\":\"reset\",\"subresource\":\"\",\"on\":\"discovery\"",
         "subresource: discovery requests never have an object"},
        {"\"action\":\"reset\",\"remote\":\"localhost\"", "remote: \"localhost\" is not an address"},
        {"\"action\":\"reset\",\"remote\":\"127.0.0.1:\"", "remote: \"127.0.0.1:\" is not an address"},
        {"\"action\":\"reset\",\"remote\":\"::1\"", "remote: \"::1\" is not an address"},
        {"\"action\":\"reset\",\"userAgent\":3", "userAgent: must be a string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char rule[256];
        snprintf(rule, sizeof(rule), "{%s}", cases[i].rule);
        api_answer answer = api_call(*state, &(api_request){.path = "/debug/faults", .body = rule});
        if (answer.status != 400 || strstr(api_text(&answer, "message"), cases[i].reason) == NULL)
            fail_msg("%s: %d %s", rule, answer.status, answer.body);
        api_answer_fini(&answer);
    }
    static const char *const good[] = {"[::1]", "[::1]:80", "10.0.0.1:65535"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        add(*state, &(ki_fault){.action = KI_FAULT_RESET, .remote = good[i]});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_rule_can_match_one_client),
        TEST(a_rule_can_match_one_method),
        TEST(a_rule_can_match_a_subresource_or_none),
        TEST(all_conditions_of_a_rule_must_match),
        TEST(a_rule_can_match_one_connection),
        TEST(a_rule_is_read_and_shown_as_json),
        TEST(rules_that_cannot_match_are_refused_with_the_reason),
    };
    return RUN_TESTS(tests);
}
