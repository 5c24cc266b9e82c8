/* SPDX-License-Identifier: Apache-2.0 */
/* Unusable servers: absent, silent, or sending something that is not HTTP. */
#include "http/transfer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow/support/http_bench.h"
#include "flow/support/target_server.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

static scripted_next serve_long_head(scripted_connection *c, const scripted_request *r, void *user)
{
    char line[1024];
    (void)r;
    (void)user;
    (void)snprintf(line, sizeof(line), "X-Long: %01000d\r\n", 0);
    (void)scripted_send(c, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 80; i++)
        if (!scripted_send(c, line))
            break;
    (void)scripted_send(c, "Content-Length: 0\r\n\r\n");
    return SCRIPTED_KEEP;
}

static void a_head_larger_than_its_limit_is_refused(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_long_head}, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_MALFORMED);
    assert_int_equal(f.heads, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static scripted_next serve_head_of_kilobyte(scripted_connection *c, const scripted_request *r, void *user)
{
    char head[1100];
    (void)r;
    (void)user;
    (void)snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: %01000d\r\n\r\n", 0);
    (void)scripted_send(c, head);
    return SCRIPTED_KEEP;
}

static void the_limit_for_heads_can_be_set(void **state)
{
    (void)state;
    static const struct {
        size_t bytes_max;
        ki_reason reason;
    } cases[] = {{0, KI_REASON_NONE}, {2000, KI_REASON_NONE}, {900, KI_REASON_MALFORMED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        http_bench bench = {0};
        fetch f = {0};
        http_bench_init(&bench, &(scripted_http_options){.serve = serve_head_of_kilobyte},
                        &(ki_http_options){.head_bytes_max = cases[i].bytes_max});
        fetch_get(&f, &bench, "/");
        assert_int_equal(f.reason, cases[i].reason);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
}

static scripted_next serve_long_line(scripted_connection *c, const scripted_request *r, void *user)
{
    char *line = malloc(300 * 1000 + 1);
    (void)r;
    (void)user;
    if (line != NULL) {
        memset(line, 'x', 300 * 1000);
        line[300 * 1000] = 0;
        (void)(scripted_send(c, "HTTP/1.1 200 OK\r\nX: ") && scripted_send(c, line) &&
               scripted_send(c, "\r\n\r\n"));
    }
    free(line);
    return SCRIPTED_CLOSE;
}

/* libcurl frees everything that it allocates for such a response; a program without this library has shown
 * that with 7.88, 8.14 and 8.23, under a leak checker and with a counting allocator. Blocks that are left
 * belong to a test that has failed. */
static void a_line_larger_than_the_limit_is_refused(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_long_line}, NULL);
    fetch_get(&f, &bench, "/");
    assert_string_not_equal(f.message, "");
    assert_int_equal(f.reason, KI_REASON_MALFORMED);
    assert_int_equal(f.heads, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static scripted_next serve_endless_status(scripted_connection *c, const scripted_request *r, void *user)
{
    const char *first = user;
    (void)r;
    if (scripted_send(c, first))
        while (scripted_send(
            c, "OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK OK "))
            continue;
    return SCRIPTED_CLOSE;
}

static void an_endless_status_line_is_not_reported_as_out_of_memory(void **state)
{
    (void)state;
    static const char *const firsts[] = {"HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 ",
                                         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "};
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        http_bench bench = {0};
        fetch f = {0};
        http_bench_init(
            &bench,
            &(scripted_http_options){.serve = serve_endless_status, .user = (void *)(uintptr_t)firsts[i]},
            NULL);
        fetch_get(&f, &bench, "/");
        if (f.reason != KI_REASON_MALFORMED)
            print_error("%s: %s\n", firsts[i], f.message);
        assert_int_equal(f.reason, KI_REASON_MALFORMED);
        assert_string_equal(f.message, "a line in the head of the response is too long");
        assert_int_equal(f.heads, 0);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
}

/* A watch that has ended, and then endless lines. */
static scripted_next serve_trailers(scripted_connection *c, const scripted_request *r, void *user)
{
    char line[1024];
    (void)r;
    (void)user;
    (void)snprintf(line, sizeof(line), "X-Long: %01000d\r\n", 0);
    if (scripted_begin(c, "200 OK") && scripted_chunk(c, "hello") && scripted_send(c, "0\r\n"))
        while (scripted_send(c, line))
            continue;
    return SCRIPTED_CLOSE;
}

static void endless_trailers_are_refused(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_trailers}, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_MALFORMED);
    assert_non_null(strstr(f.message, "the trailers of the response"));
    assert_string_equal(f.body.text, "hello");
    fetch_free(&f);
    http_bench_fini(&bench);
}

static scripted_next serve_noise(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_send(c, "this is not HTTP at all\r\n\r\n");
    return SCRIPTED_CLOSE;
}

static void a_response_that_is_not_http_is_refused(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_noise}, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_MALFORMED);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_server_that_never_responds_is_given_up(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &target_server,
                    &(ki_http_options){.connect_timeout_ms = 20, .head_timeout_ms = 30});
    fetch_get(&f, &bench, "/wait");
    assert_int_equal(f.reason, KI_REASON_TIMEOUT);
    assert_int_equal(f.heads, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* An error whose body does not end. */
static scripted_next serve_stalled_error(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    (void)(scripted_send(c, "HTTP/1.1 ") && scripted_send(c, r->target + 1) &&
           scripted_send(c, "\r\nLocation: /elsewhere\r\nContent-Length: 50\r\n\r\nupstream"));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void an_endless_error_response_ends_with_its_status(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int status;
        ki_reason reason;
    } cases[] = {
        {"/403", 403, KI_REASON_NONE}, {"/503", 503, KI_REASON_NONE}, {"/302", 302, KI_REASON_REDIRECTED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        http_bench bench = {0};
        fetch f = {.pause_after = i == 0}; /* and never resumed */
        http_bench_init(&bench, &(scripted_http_options){.serve = serve_stalled_error},
                        &(ki_http_options){.error_timeout_ms = 30});
        fetch_get(&f, &bench, cases[i].target);
        assert_int_equal(f.reason, cases[i].reason);
        assert_int_equal(f.head.status, cases[i].status);
        assert_string_equal(f.body.text, "upstream");
        assert_int_equal(f.ends, 1);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
}

static void an_endless_success_response_is_waited_for(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_stalled_error},
                    &(ki_http_options){.error_timeout_ms = 1});
    fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/200")});
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 20);
    assert_int_equal(f.ends, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* A port without a listener; it was released just before. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(close(fd), 0);
    return ntohs(address.sin_port);
}

static void a_port_without_a_listener_refuses_the_connection(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    char url[64];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", free_port());
    bench.config.server = url;
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_CONNECTION_REFUSED);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* A socket that listens and never accepts, with a full queue: connecting to it takes for ever. */
typedef struct mute {
    int fd;
    int fillers[8];
    char url[64];
} mute;

static void mute_init(mute *m)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    m->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(m->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(m->fd, 0), 0);
    assert_int_equal(getsockname(m->fd, (struct sockaddr *)&address, &size), 0);
    for (size_t i = 0; i < sizeof(m->fillers) / sizeof(m->fillers[0]); i++) {
        m->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(m->fillers[i], (struct sockaddr *)&address, sizeof(address));
    }
    (void)snprintf(m->url, sizeof(m->url), "http://127.0.0.1:%d", ntohs(address.sin_port));
}

static void mute_fini(mute *m)
{
    for (size_t i = 0; i < sizeof(m->fillers) / sizeof(m->fillers[0]); i++)
        (void)close(m->fillers[i]);
    (void)close(m->fd);
}

static void connecting_takes_no_longer_than_its_timeout(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    mute m;
    mute_init(&m);
    bench.config.server = m.url;
    http_bench_init(&bench, NULL, &(ki_http_options){.connect_timeout_ms = 50});
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_TIMEOUT);
    fetch_free(&f);
    http_bench_fini(&bench);
    mute_fini(&m);
}

static void a_cancel_while_connecting_does_not_wait(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    mute m;
    mute_init(&m);
    bench.config.server = m.url;
    http_bench_init(&bench, NULL, NULL);
    fetch_begin(&f, &bench, NULL);
    http_bench_run_ms(&bench, 20);
    uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
    fetch_free(&f);
    http_bench_fini(&bench);
    assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms < AT_ONCE_MS);
    mute_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_head_larger_than_its_limit_is_refused),
        WITH_MEMORY_CHECK(the_limit_for_heads_can_be_set),
        WITH_MEMORY_CHECK(a_line_larger_than_the_limit_is_refused),
        WITH_MEMORY_CHECK(an_endless_status_line_is_not_reported_as_out_of_memory),
        WITH_MEMORY_CHECK(endless_trailers_are_refused),
        WITH_MEMORY_CHECK(a_response_that_is_not_http_is_refused),
        WITH_MEMORY_CHECK(a_server_that_never_responds_is_given_up),
        WITH_MEMORY_CHECK(an_endless_error_response_ends_with_its_status),
        WITH_MEMORY_CHECK(an_endless_success_response_is_waited_for),
        WITH_MEMORY_CHECK(a_port_without_a_listener_refuses_the_connection),
        WITH_MEMORY_CHECK(connecting_takes_no_longer_than_its_timeout),
        WITH_MEMORY_CHECK(a_cancel_while_connecting_does_not_wait),
    };
    return RUN_TESTS(tests);
}
