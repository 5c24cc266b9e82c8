/* SPDX-License-Identifier: Apache-2.0 */
/* A client that gets its response before it has sent everything sees the response,
 * not a broken connection. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define HEAD "POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#define MIB ((size_t)1 << 20)

enum { TIMES = 20 };

/* Opens a connection and sends the headers of a body of this many bytes. */
static int begin(const ki_apiserver *server, size_t bytes, const char *more)
{
    char head[512];
    int n = snprintf(head, sizeof(head), HEAD "%sContent-Length: %zu\r\n\r\n", more, bytes);
    int fd = api_connect(server);
    api_send(fd, head, (size_t)n);
    return fd;
}

/* Does not read before everything is sent. */
static void send_blindly(int fd, size_t bytes)
{
    static char piece[64 * 1024];
    for (size_t sent = 0; sent < bytes;) {
        size_t n = bytes - sent < sizeof(piece) ? bytes - sent : sizeof(piece);
        ssize_t rc = send(fd, piece, n, MSG_NOSIGNAL);
        assert_true(rc > 0);
        sent += (size_t)rc;
    }
}

static void expect_413(int fd)
{
    int error = 0;
    char *answer = api_receive(fd, NULL, &error);
    assert_int_equal(error, 0);
    assert_int_equal(strncmp(answer, "HTTP/1.1 413 ", 13), 0);
    assert_non_null(strstr(answer, "\"reason\":\"RequestEntityTooLarge\""));
    free(answer);
    close(fd);
}

static void a_client_that_sends_everything_before_reading_gets_its_response(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    for (int i = 0; i < TIMES; i++) {
        size_t bytes = i % 4 == 0 ? 50 * MIB : 4 * MIB;
        int fd = begin(server, bytes, "");
        send_blindly(fd, bytes);
        expect_413(fd);
    }
    ki_apiserver_free(server);
}

static void post_with_curl(ki_apiserver *server, const char *authority)
{
    char *body = malloc(50 * MIB + 1);
    memset(body, ' ', 50 * MIB);
    for (int i = 0; i < TIMES; i++) {
        body[(i % 4 == 0 ? 50 : 4) * MIB] = '\0';
        api_answer answer =
            api_call(server, &(api_request){.path = MAPS,
                                            .body = body,
                                            .headers = {"Content-Type: application/json", "Expect:"},
                                            .authority = authority});
        assert_int_equal(answer.status, 413);
        assert_string_equal(api_text(&answer, "reason"), "RequestEntityTooLarge");
        api_answer_fini(&answer);
        body[(i % 4 == 0 ? 50 : 4) * MIB] = ' ';
    }
    free(body);
}

static void a_client_gets_its_response_while_it_sends(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    post_with_curl(server, NULL);
    ki_apiserver_free(server);
}

static void a_client_gets_its_response_over_tls(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.is_tls = 1});
    post_with_curl(server, ki_apiserver_certificate(server));
    ki_apiserver_free(server);
}

static void a_client_that_expects_100_need_not_send(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.body_bytes_max = 1000});
    expect_413(begin(server, 2000, "Expect: 100-continue\r\n"));
    expect_413(begin(server, 50 * MIB, "Expect: 100-continue\r\n"));
    ki_apiserver_free(server);
}

static void a_stop_does_not_wait_for_clients_that_send(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    int fds[80];
    for (size_t i = 0; i < 80; i++) {
        fds[i] = begin(server, 50 * MIB, "");
        send_blindly(fds[i], 1000);
        free(api_receive(fds[i], "\r\n\r\n", NULL));
    }
    ki_apiserver_free(server);
    for (size_t i = 0; i < 80; i++) {
        int error = 0;
        char *rest = api_receive(fds[i], NULL, &error);
        assert_true(error == 0 || error == ECONNRESET);
        free(rest);
        close(fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_sends_everything_before_reading_gets_its_response),
        cmocka_unit_test(a_client_gets_its_response_while_it_sends),
        cmocka_unit_test(a_client_gets_its_response_over_tls),
        cmocka_unit_test(a_client_that_expects_100_need_not_send),
        cmocka_unit_test(a_stop_does_not_wait_for_clients_that_send),
    };
    return RUN_TESTS(tests);
}
