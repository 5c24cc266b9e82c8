/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that no client should send: they get an error, and the server keeps running. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"
#include "util/random.h"

static int setup(void **state)
{
    *state = api_rig_start(&(ki_apiserver_options){.body_bytes_max = 64 * 1024, .allows_debug = 1});
    api_put_pod(*state, "a", "web", "node-1");
    return 0;
}

/* Whatever was sent before, this request must succeed. */
static int teardown(void **state)
{
    api_answer answer = api_get(*state, "/api/v1/pods");
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), 1);
    api_answer_fini(&answer);
    ki_apiserver_free(*state);
    return 0;
}

static int status_of(ki_apiserver *server, const char *method, const char *path, const char *body)
{
    api_answer answer = api_call(server, &(api_request){.method = method, .path = path, .body = body});
    int status = answer.status;
    if (status >= 400 && status != 404 && answer.tree != NULL)
        assert_string_equal(api_text(&answer, "kind"), "Status");
    api_answer_fini(&answer);
    return status;
}

static char *send_raw(ki_apiserver *server, const char *bytes, size_t n)
{
    int fd = api_connect(server);
    assert_true(fd >= 0);
    api_send(fd, bytes, n);
    (void)shutdown(fd, SHUT_WR);
    char *got = api_receive(fd, NULL, NULL);
    close(fd);
    return got;
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static void bodies_that_are_not_objects_are_400(void **state)
{
    static const char *const bodies[] = {"{",
                                         "[]",
                                         "null",
                                         "\"a\"",
                                         "{\"metadata\":",
                                         "{\"metadata\":{}} x",
                                         "\xff\xfe",
                                         "{\"kind\":\"Node\",\"apiVersion\":\"v1\"}"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        int status = status_of(*state, "POST", "/api/v1/namespaces/default/pods", bodies[i]);
        if (status != 400)
            fail_msg("%s: %d", bodies[i], status);
    }
    assert_int_equal(status_of(*state, "POST", "/api/v1/namespaces/default/pods", ""), 400);
    assert_int_equal(status_of(*state, "POST", "/debug/faults", "{"), 400);
    assert_int_equal(status_of(*state, "POST", "/debug/faults", "[1]"), 400);
}

static void a_body_in_an_unknown_format_is_415(void **state)
{
    api_answer answer = api_call(*state, &(api_request){.path = "/api/v1/namespaces/default/pods",
                                                        .body = "{}",
                                                        .headers = {"Content-Type: application/cbor"}});
    assert_int_equal(answer.status, 415);
    assert_string_equal(api_text(&answer, "reason"), "UnsupportedMediaType");
    api_answer_fini(&answer);
    assert_int_equal(status_of(*state, "PATCH", "/api/v1/namespaces/default/pods/a", "{}"), 415);
}

static void deep_nesting_is_refused(void **state)
{
    enum { DEPTH = 20000 };
    char *body = malloc(2 * DEPTH + 16);
    memset(body, '[', DEPTH);
    memset(body + DEPTH, ']', DEPTH);
    body[2L * DEPTH] = 0;
    assert_int_equal(status_of(*state, "POST", "/api/v1/namespaces/default/pods", body), 400);
    free(body);
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

static void unknown_addresses_are_404(void **state)
{
    static const char *const paths[] = {"/nothing",
                                        "/api/v2/pods",
                                        "/apis/none/v1/pods",
                                        "/api/v1/namespaces//pods",
                                        "/api/v1/namespaces/default/nodes",
                                        "/api/v1/pods/a",
                                        "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p",
                                        "/openapi/v9",
                                        "/debug/nothing",
                                        "/api/v1/namespaces/default/pods/a/b/c/d"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int status = status_of(*state, NULL, paths[i], NULL);
        if (status != 404)
            fail_msg("%s: %d", paths[i], status);
    }
}

static void addresses_that_cannot_be_decoded_are_400(void **state)
{
    static const char *const paths[] = {"/api/v1/%",
                                        "/api/v1/%zz",
                                        "/api/v1/pods/%00",
                                        "/api/v1/%ff%fe",
                                        "/api/v1/namespaces/default/pods/a%2Fb",
                                        "/api/v1/pods?limit=%",
                                        "/api/v1/pods?labelSelector=%c3%28",
                                        "/api/v1/pods?limit=99999999999999999999",
                                        "/api/v1/pods?timeoutSeconds=a"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int status = status_of(*state, NULL, paths[i], NULL);
        if (status != 400)
            fail_msg("%s: %d", paths[i], status);
    }
}

static void odd_methods_are_405(void **state)
{
    static const char *const methods[] = {"FROB", "OPTIONS", "TRACE", "HEAD"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        assert_int_equal(status_of(*state, methods[i], "/api/v1/pods", NULL), 405);
    assert_int_equal(status_of(*state, "PUT", "/api/v1/namespaces/default/pods", "{}"), 405);
    assert_int_equal(status_of(*state, "DELETE", "/version", NULL), 405);
    assert_int_equal(status_of(*state, "DELETE", "/api/v1/namespaces", NULL), 405);
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static void huge_headers_are_an_error(void **state)
{
    enum { BYTES = 300 * 1024 };
    char *request = malloc(BYTES + 64);
    int n = sprintf(request, "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\nX-Large: ");
    memset(request + n, 'x', BYTES);
    memcpy(request + n + BYTES - 4, "\r\n\r\n", 4);
    char *got = send_raw(*state, request, (size_t)n + BYTES);
    assert_true(got[0] == 0 || strncmp(got, "HTTP/1.1 4", 10) == 0);
    free(got);
    n = sprintf(request, "GET /");
    memset(request + n, 'x', BYTES);
    got = send_raw(*state, request, (size_t)n + BYTES);
    assert_true(got[0] == 0 || strncmp(got, "HTTP/1.1 4", 10) == 0 || strncmp(got, "HTTP/1.0 4", 10) == 0);
    free(got);
    free(request);
}

static void garbage_after_a_request_does_not_affect_it(void **state)
{
    static const char request[] =
        "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\n\r\n\x01\x02\x03garbage\r\n\r\n";
    char *got = send_raw(*state, request, sizeof(request) - 1);
    assert_int_equal(strncmp(got, "HTTP/1.1 200", 12), 0);
    free(got);
}

static void pipelined_requests_are_answered_in_turn(void **state)
{
    static const char request[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"
        "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    char *got = api_receive(fd, NULL, NULL);
    char *version = strstr(got, "gitVersion");
    assert_non_null(version);
    assert_non_null(strstr(version, "PodList"));
    free(got);
    close(fd);
}

static void half_a_request_does_no_harm(void **state)
{
    static const char *const parts[] = {
        "",
        "G",
        "GET",
        "GET /api/v1/pods HTTP/1.1\r\nHo",
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"a",
        "GET /api/v1/pods?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int fd = api_connect(*state);
        assert_true(fd >= 0);
        api_send(fd, parts[i], strlen(parts[i]));
        (void)shutdown(fd, SHUT_WR);
        assert_int_equal(status_of(*state, "GET", "/healthz", NULL), 200); /* a second request meanwhile */
        close(fd);
    }
}

static void clients_that_leave_at_once_leave_nothing_behind(void **state)
{
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct linger reset = {1, 0};
    for (int i = 0; i < 200; i++) {
        int fd = api_connect(*state);
        assert_true(fd >= 0);
        if (i % 4 != 0)
            api_send(fd, request, sizeof(request) - 1);
        if (i % 2 == 0)
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
    }
    ki_apiserver_cut(*state, 1);
}

static void the_server_survives_random_bytes(void **state)
{
    static const char *const starts[] = {"GET /", "GET /api/v1/pods?", "POST /api/v1/namespaces HTTP/1.1\r\n",
                                         "", "\r\n"};
    ki_random random;
    ki_random_init(&random, 5);
    for (int i = 0; i < 100; i++) {
        char bytes[512];
        const char *start = starts[ki_random_below(&random, 5)];
        size_t n = strlen(start);
        memcpy(bytes, start, n);
        size_t end = n + ki_random_below(&random, 400);
        while (n < end)
            bytes[n++] = (char)ki_random_below(&random, i % 2 == 0 ? 256 : 96);
        memcpy(bytes + n, "\r\n\r\n", 4);
        free(send_raw(*state, bytes, n + 4));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bodies_that_are_not_objects_are_400),
        TEST(a_body_in_an_unknown_format_is_415),
        TEST(deep_nesting_is_refused),
        TEST(unknown_addresses_are_404),
        TEST(addresses_that_cannot_be_decoded_are_400),
        TEST(odd_methods_are_405),
        TEST(huge_headers_are_an_error),
        TEST(garbage_after_a_request_does_not_affect_it),
        TEST(pipelined_requests_are_answered_in_turn),
        TEST(half_a_request_does_no_harm),
        TEST(clients_that_leave_at_once_leave_nothing_behind),
        TEST(the_server_survives_random_bytes),
    };
    return RUN_TESTS(tests);
}
