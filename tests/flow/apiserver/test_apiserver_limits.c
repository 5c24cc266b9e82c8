/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a body, of an object, of the history, and of requests in flight. */
#include <kinformer/resources.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/unit.h"
#include "util/clock.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

/* A config map with this many bytes of data; free with free(). */
static char *map_of(const char *name, size_t bytes)
{
    char *body = malloc(bytes + 256);
    int n = sprintf(body, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"a\":\"", name);
    memset(body + n, 'x', bytes);
    memcpy(body + n + bytes, "\"}}", 4);
    return body;
}

static api_answer post_map(ki_apiserver *server, const char *name, size_t bytes)
{
    char *body = map_of(name, bytes);
    api_answer answer = api_call(server, &(api_request){.path = MAPS, .body = body});
    free(body);
    return answer;
}

static void expect_status(api_answer answer, int status)
{
    if (answer.status != status)
        fail_msg("%d: %s", answer.status, answer.body);
    api_answer_fini(&answer);
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static void a_body_that_is_too_large_is_413(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.body_bytes_max = 1000});
    char *body = calloc(1, 5000);
    memset(body, ' ', 4000);
    api_answer answer = api_call(server, &(api_request){.path = "/api/v1/namespaces", .body = body});
    assert_int_equal(answer.status, 413);
    assert_string_equal(api_text(&answer, "reason"), "RequestEntityTooLarge");
    assert_string_equal(api_text(&answer, "message"), "Request entity too large: limit is 1000");
    api_answer_fini(&answer);
    const api_request chunked = {
        .path = "/api/v1/namespaces", .body = body, .headers = {"Transfer-Encoding: chunked"}};
    expect_status(api_call(server, &chunked), 413);
    free(body);
    ki_apiserver_free(server);
}

/* Nothing of the body is sent before the response arrives. */
static void the_body_of_a_rejected_request_is_not_read(void **state)
{
    (void)state;
    static const char *const tokens[] = {"secret", NULL};
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    static const char *const lengths[] = {"Content-Length: 3000000", "Content-Length: 900000000000",
                                          "Transfer-Encoding: chunked"};
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.tokens = tokens});
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            char request[256];
            int fd = api_connect(server);
            snprintf(request, sizeof(request), "%s " MAPS " HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n",
                     methods[i], lengths[j]);
            api_send(fd, request, strlen(request));
            char *got = api_receive(fd, "\"code\":401}", NULL);
            assert_int_equal(strncmp(got, "HTTP/1.1 401", 12), 0);
            free(got);
            close(fd);
        }
    char *body = map_of("a", 2000000);
    expect_status(api_call(server, &(api_request){.path = MAPS, .body = body}), 401);
    free(body);
    ki_apiserver_free(server);
}

static void the_short_body_of_a_rejected_request_leaves_the_connection_open(void **state)
{
    (void)state;
    static const char *const tokens[] = {"secret", NULL};
    static const char request[] =
        "POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345"
        "GET /api/v1/namespaces/default HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n";
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.tokens = tokens});
    int fd = api_connect(server);
    api_send(fd, request, sizeof(request) - 1);
    char *got = api_receive(fd, "\"phase\":\"Active\"", NULL);
    assert_int_equal(strncmp(got, "HTTP/1.1 401", 12), 0);
    assert_non_null(strstr(got, "HTTP/1.1 200"));
    free(got);
    close(fd);
    ki_apiserver_free(server);
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static void one_object_too_many_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.objects_max = 20});
    int rc = 0;
    for (int i = 0; i < 30 && rc == 0; i++) {
        char json[128];
        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"n-%d\"}}", i);
        rc = ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err);
    }
    assert_true(rc < 0);
    assert_true(ki_apiserver_count(server, &KI_CORE_V1_CONFIGMAPS) <= 20);
    ki_apiserver_free(server);
}

static void an_object_cannot_grow_beyond_its_limit(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.object_bytes_max = 10000});
    expect_status(post_map(server, "a", 9000), 201);
    api_answer answer = post_map(server, "b", 10000);
    assert_int_equal(answer.status, 500);
    assert_string_equal(api_text(&answer, "message"), "etcdserver: request is too large: limit is 10000");
    api_answer_fini(&answer);
    char *grown = map_of("a", 2000);
    memcpy(strstr(grown, "\"a\":\"x"), "\"b", 2);
    answer = api_call(server, &(api_request){.method = "PATCH",
                                             .path = MAPS "/a",
                                             .body = grown,
                                             .headers = {"Content-Type: application/merge-patch+json"}});
    expect_status(answer, 500);
    free(grown);
    assert_int_equal(ki_apiserver_count(server, &KI_CORE_V1_CONFIGMAPS), 1);
    ki_apiserver_free(server);
}

static void an_object_of_the_maximum_size_can_be_deleted(void **state)
{
    (void)state;
    ki_error err = {0};
    char *json = map_of("a\",\"finalizers\":[\"x.y/z\"],\"uid\":\"", 5000);
    ki_apiserver *server = api_rig_start(NULL);
    assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err), 0);
    api_answer answer = api_get(server, MAPS "/a");
    size_t bytes = answer.body_len;
    api_answer_fini(&answer);
    ki_apiserver_free(server);
    /* The limit is exactly the size of the object. */
    server = api_rig_start(&(ki_apiserver_options){.object_bytes_max = bytes});
    assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err), 0);
    expect_status(api_call(server, &(api_request){.method = "DELETE", .path = MAPS "/a"}), 200);
    answer = api_get(server, MAPS "/a");
    assert_string_not_equal(api_text(&answer, "metadata.deletionTimestamp"), "");
    api_answer_fini(&answer);
    free(json);
    ki_apiserver_free(server);
}

static void a_limit_below_the_initial_objects_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_apiserver_start(&(ki_apiserver_options){.object_bytes_max = 10}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "limit is 10"));
}

/* ---- the history --------------------------------------------------------------------------------------- */

static void the_history_has_a_limit_in_bytes(void **state)
{
    (void)state;
    ki_error err = {0};
    char path[128];
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.history_bytes = 100000});
    uint64_t first = ki_apiserver_version(server);
    for (int i = 0; i < 20; i++) {
        char *json = map_of("a", 10000 + (size_t)i);
        assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err), 0);
        free(json);
    }
    uint64_t last = ki_apiserver_version(server);
    snprintf(path, sizeof(path), MAPS "?watch=1&timeoutSeconds=1&resourceVersion=%llu",
             (unsigned long long)first);
    api_answer answer = api_get(server, path);
    assert_non_null(strstr(answer.body, "\"code\":410"));
    api_answer_fini(&answer);
    snprintf(path, sizeof(path), MAPS "?watch=1&timeoutSeconds=1&resourceVersion=%llu",
             (unsigned long long)last - 5);
    answer = api_get(server, path);
    size_t at = 0;
    int count = 0;
    for (json_t *event = NULL; (event = api_next_event(&answer, &at)) != NULL; count++)
        json_decref(event);
    assert_int_equal(count, 5);
    api_answer_fini(&answer);
    ki_apiserver_free(server);
}

/* ---- requests in flight -------------------------------------------------------------------------------- */

static int ask_for_all(ki_apiserver *server)
{
    static const char request[] = "GET " MAPS " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int small = 4096;
    int fd = api_connect(server);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    api_send(fd, request, sizeof(request) - 1);
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&polled, 1, 10000), 1);
    return fd;
}

/* Twenty megabytes, some of which the kernel buffers for a client that does not read. */
static void responses_in_flight_are_bounded(void **state)
{
    (void)state;
    enum { MAP_BYTES = 1000000, MAP_COUNT = 20 };
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.in_flight_bytes_max = 3 * MAP_BYTES});
    for (int i = 0; i < MAP_COUNT; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m-%d", i);
        char *json = map_of(name, MAP_BYTES);
        assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err), 0);
        free(json);
    }
    int fd = ask_for_all(server); /* a single one may have any size */
    api_answer answer = api_get(server, MAPS);
    assert_int_equal(answer.status, 429);
    assert_string_equal(api_text(&answer, "reason"), "TooManyRequests");
    assert_string_equal(api_header(&answer, "Retry-After"), "1");
    api_answer_fini(&answer);
    expect_status(api_get(server, "/api/v1/namespaces/default"), 200);
    expect_status(post_map(server, "b", 1000), 429); /* request bodies count, too */
    close(fd);
    for (int tries = 0; tries < 1000; tries++) {
        answer = api_get(server, MAPS);
        int status = answer.status;
        api_answer_fini(&answer);
        if (status == 200)
            break;
        assert_int_equal(status, 429);
        assert_true(tries < 999);
        (void)poll(NULL, 0, 5);
    }
    expect_status(post_map(server, "b", 1000), 201);
    ki_apiserver_free(server);
}

static void a_watch_beyond_the_limit_is_429(void **state)
{
    (void)state;
    static const char request[] = "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.watches_max = 1});
    api_put_pod(server, "a", "web", "node-1");
    int fd = api_connect(server);
    api_send(fd, request, sizeof(request) - 1);
    free(api_receive(fd, "\"name\":\"a\"", NULL));
    api_answer answer = api_get(server, "/api/v1/pods?watch=1");
    assert_int_equal(answer.status, 429);
    assert_string_equal(api_header(&answer, "Retry-After"), "1");
    api_answer_fini(&answer);
    close(fd);
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_that_is_too_large_is_413),
        cmocka_unit_test(the_body_of_a_rejected_request_is_not_read),
        cmocka_unit_test(the_short_body_of_a_rejected_request_leaves_the_connection_open),
        cmocka_unit_test(one_object_too_many_is_refused),
        cmocka_unit_test(an_object_cannot_grow_beyond_its_limit),
        cmocka_unit_test(an_object_of_the_maximum_size_can_be_deleted),
        cmocka_unit_test(a_limit_below_the_initial_objects_is_refused),
        cmocka_unit_test(the_history_has_a_limit_in_bytes),
        cmocka_unit_test(responses_in_flight_are_bounded),
        cmocka_unit_test(a_watch_beyond_the_limit_is_429),
    };
    return RUN_TESTS(tests);
}
