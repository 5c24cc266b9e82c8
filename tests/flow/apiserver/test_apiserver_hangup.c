/* SPDX-License-Identifier: Apache-2.0 */
/* Clients stop sending or go away: their connections end at once, unless they wait for a response. */
#include <kinformer/resources.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

#define LIST "GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define WATCH "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"

static int setup(void **state)
{
    *state = api_rig_start(NULL);
    api_put_pod(*state, "a", "web", "node-1");
    return 0;
}

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

static void add(ki_apiserver *server, ki_fault fault)
{
    assert_int_equal(ki_apiserver_fault(server, &fault, NULL), 0);
}

/* Sends the request, shuts down the sending side, and must soon see the other side close. Returns the
 * received text; free it with free(). */
static char *send_and_shut(ki_apiserver *server, const char *request)
{
    int error = -1;
    uint64_t begin_ms = now_ms();
    int fd = api_connect(server);
    assert_true(fd >= 0);
    /* In one packet, so that the server sees both at the same time. */
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL | MSG_MORE), strlen(request));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    char *got = api_receive(fd, NULL, &error);
    if (error != 0)
        fail_msg("\"%s\" ends with %s", request, strerror(error));
    assert_true(now_ms() - begin_ms < AT_ONCE_MS);
    close(fd);
    return got;
}

static void half_a_request_ends_its_connection(void **state)
{
    static const char *const parts[] = {
        "",
        "G",
        "GET /api/v1/pods HTTP/1.1\r\nHo",
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"a",
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char *got = send_and_shut(*state, parts[i]);
        assert_true(got[0] == 0 || strncmp(got, "HTTP/1.1 4", 10) == 0);
        free(got);
    }
}

static void half_a_request_and_a_pause_end_the_connection(void **state)
{
    static const char part[] =
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"a";
    int error = -1;
    uint64_t begin_ms = now_ms();
    int fd = api_connect(*state);
    api_send(fd, part, sizeof(part) - 1);
    (void)poll(NULL, 0, 50);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    free(api_receive(fd, NULL, &error));
    assert_int_equal(error, 0);
    assert_true(now_ms() - begin_ms < AT_ONCE_MS);
    close(fd);
}

static void a_whole_request_gets_its_response(void **state)
{
    char *got = send_and_shut(*state, LIST);
    assert_int_equal(strncmp(got, "HTTP/1.1 200", 12), 0);
    assert_non_null(strstr(got, "\"name\":\"a\""));
    free(got);
    got = send_and_shut(
        *state, "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Content-Length: 27\r\n\r\n{\"metadata\":{\"name\":\"half\"}}");
    assert_int_equal(strncmp(got, "HTTP/1.1 4", 10), 0); /* the body lacks its last byte, so it is not JSON */
    free(got);
    got = send_and_shut(
        *state, "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Content-Length: 28\r\n\r\n{\"metadata\":{\"name\":\"half\"}}");
    assert_int_equal(strncmp(got, "HTTP/1.1 201", 12), 0);
    free(got);
}

static void a_late_response_is_still_sent(void **state)
{
    add(*state, (ki_fault){.on = KI_FAULT_LIST, .action = KI_FAULT_DELAY, .delay_ms = 200, .times = 1});
    char *got = send_and_shut(*state, LIST);
    assert_int_equal(strncmp(got, "HTTP/1.1 200", 12), 0);
    free(got);
}

static void a_watch_ends_with_its_client(void **state)
{
    free(send_and_shut(*state, WATCH));
    int error = -1;
    int fd = api_connect(*state);
    api_send(fd, WATCH, sizeof(WATCH) - 1);
    free(api_receive(fd, "\"name\":\"a\"", NULL));
    uint64_t begin_ms = now_ms();
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    free(api_receive(fd, NULL, &error));
    assert_int_equal(error, 0);
    assert_true(now_ms() - begin_ms < AT_ONCE_MS);
    close(fd);
}

/* Whether the server accepts a watch that exceeded the limit before. */
static int has_space(ki_apiserver *server)
{
    api_answer answer = api_get(server, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=1");
    int status = answer.status;
    api_answer_fini(&answer);
    return status == 200;
}

/* The client does not read, so libmicrohttpd waits for it; the memory kept for it is freed nevertheless. */
static void a_watch_that_is_not_read_ends_with_its_client(void **state)
{
    (void)state;
    enum { PODS = 2000 };
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.watches_max = 1});
    for (int i = 0; i < PODS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p-%d", i);
        api_put_pod(server, name, "web", "node-1");
    }
    int small = 4096;
    int fd = api_connect(server);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    api_send(fd, WATCH, sizeof(WATCH) - 1);
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&polled, 1, 10000), 1);
    assert_false(has_space(server));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    uint64_t begin_ms = now_ms();
    while (!has_space(server)) {
        assert_true(now_ms() - begin_ms < AT_ONCE_MS);
        (void)poll(NULL, 0, 5);
    }
    close(fd);
    ki_apiserver_free(server);
}

static void a_stalled_write_is_not_done_for_a_client_that_left(void **state)
{
    static const char request[] =
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 28\r\n\r\n{\"metadata\":{\"name\":\"gone\"}}";
    add(*state, (ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL});
    size_t count = ki_apiserver_count(*state, &KI_CORE_V1_NAMESPACES);
    char *got = send_and_shut(*state, request);
    assert_string_equal(got, "");
    free(got);
    ki_apiserver_clear_faults(*state);
    api_answer answer = api_get(*state, "/api/v1/namespaces/gone");
    assert_int_equal(answer.status, 404);
    api_answer_fini(&answer);
    assert_int_equal(ki_apiserver_count(*state, &KI_CORE_V1_NAMESPACES), count);
}

static void a_stalled_write_is_not_done_when_the_server_ends(void **state)
{
    static const char request[] =
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 28\r\n\r\n{\"metadata\":{\"name\":\"gone\"}}";
    ki_error err = {0};
    add(*state, (ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL});
    int fd = api_connect(*state);
    api_send(fd, request, sizeof(request) - 1);
    (void)poll(NULL, 0, 50);
    ki_apiserver_down(*state);
    assert_int_equal(ki_apiserver_up(*state, &err), 0);
    api_answer answer = api_get(*state, "/api/v1/namespaces/gone");
    assert_int_equal(answer.status, 404);
    api_answer_fini(&answer);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, api_rig_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(half_a_request_ends_its_connection),
        TEST(half_a_request_and_a_pause_end_the_connection),
        TEST(a_whole_request_gets_its_response),
        TEST(a_late_response_is_still_sent),
        TEST(a_watch_ends_with_its_client),
        TEST(a_watch_that_is_not_read_ends_with_its_client),
        TEST(a_stalled_write_is_not_done_for_a_client_that_left),
        TEST(a_stalled_write_is_not_done_when_the_server_ends),
    };
    return RUN_TESTS(tests);
}
