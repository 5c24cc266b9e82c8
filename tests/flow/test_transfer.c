/* SPDX-License-Identifier: Apache-2.0 */
#include "http/transfer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "flow/support/http_bench.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* What the server of a test does with its requests: the answer is in the target. */
static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (strcmp(r->target, "/plain") == 0) {
        (void)scripted_answer(c, "200 OK", "", "hello");
    } else if (strcmp(r->target, "/chunked") == 0) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, "hel") && scripted_chunk(c, "lo") &&
               scripted_chunk(c, ""));
    } else if (strcmp(r->target, "/until-closed") == 0) {
        (void)scripted_send(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/bytewise") == 0) {
        const char *text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        for (const char *at = text; *at != 0; at++)
            if (!scripted_send_bytes(c, at, 1))
                return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/cut-head") == 0) {
        (void)scripted_send(c, "HTTP/1.1 200 OK\r\nContent-Le");
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/cut-length") == 0) {
        (void)scripted_send(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello");
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/cut-chunk") == 0) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, "hello"));
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/reset") == 0) {
        return SCRIPTED_RESET;
    } else if (strcmp(r->target, "/close") == 0) {
        return SCRIPTED_CLOSE;
    } else if (strcmp(r->target, "/wait") == 0) {
        (void)scripted_wait(c, 1);
        (void)scripted_answer(c, "200 OK", "", "late");
    } else if (strcmp(r->target, "/echo") == 0) {
        (void)scripted_answer(c, "200 OK", "", r->head);
    } else if (strncmp(r->target, "/status/", 8) == 0) {
        (void)scripted_answer(c, r->target + 8, "Retry-After: 7\r\n", "no");
    } else if (strcmp(r->target, "/redirect") == 0) {
        (void)scripted_answer(c, "302 Found", "Location: https://u:secret@other.example/x?token=secret\r\n",
                              "");
    } else if (strcmp(r->target, "/interim") == 0) {
        (void)(scripted_send(c, "HTTP/1.1 103 Early Hints\r\nRetry-After: 3\r\n\r\n") &&
               scripted_answer(c, "200 OK", "", "hello"));
    } else {
        (void)scripted_answer(c, "404 Not Found", "", "");
    }
    return SCRIPTED_KEEP;
}

static const scripted_http_options server_options = {.serve = serve};

static void a_body_comes_whole_however_it_is_sent(void **state)
{
    (void)state;
    static const char *const targets[] = {"/plain", "/chunked", "/until-closed", "/bytewise", "/interim"};
    http_bench bench = {0};
    http_bench_init(&bench, &server_options, NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        assert_int_equal(f.reason, KI_REASON_NONE);
        assert_int_equal(f.ends, 1);
        assert_int_equal(f.head.status, 200);
        assert_int_equal(f.head.retry_after_seconds, 0);
        assert_string_equal(f.body.text, "hello");
        assert_true(f.pauses >= 1);
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

static void a_body_that_is_cut_is_a_lost_connection(void **state)
{
    (void)state;
    static const char *const targets[] = {"/cut-head", "/cut-length", "/cut-chunk", "/reset", "/close"};
    http_bench bench = {0};
    http_bench_init(&bench, &server_options, NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
        assert_string_not_equal(f.message, "");
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

static void a_status_is_told_with_its_retry_after(void **state)
{
    (void)state;
    static const int codes[] = {400, 401, 403, 404, 409, 410, 429, 500, 503, 504};
    http_bench bench = {0};
    http_bench_init(&bench, &server_options, NULL);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        char target[32];
        fetch f = {0};
        (void)snprintf(target, sizeof(target), "/status/%d", codes[i]);
        fetch_get(&f, &bench, target);
        assert_int_equal(f.reason, KI_REASON_NONE);
        assert_int_equal(f.head.status, codes[i]);
        assert_int_equal(f.head.retry_after_seconds, 7);
        assert_string_equal(f.head.content_type, "application/json");
        assert_string_equal(f.body.text, "no");
        fetch_free(&f);
    }
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
}

static void a_redirect_is_told_and_not_followed(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &server_options, NULL);
    fetch_get(&f, &bench, "/redirect");
    assert_int_equal(f.reason, KI_REASON_REDIRECTED);
    assert_int_equal(f.head.status, 302);
    assert_non_null(strstr(f.message, "https://other.example/x"));
    assert_null(strstr(f.message, "secret"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void connections_are_kept_for_the_next_request(void **state)
{
    (void)state;
    http_bench bench = {0};
    http_bench_init(&bench, &server_options, NULL);
    for (int i = 0; i < 5; i++) {
        fetch f = {0};
        fetch_get(&f, &bench, i % 2 == 0 ? "/plain" : "/chunked");
        assert_int_equal(f.reason, KI_REASON_NONE);
        fetch_free(&f);
    }
    assert_int_equal(scripted_http_requests(bench.server), 5);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
}

static void requests_at_a_time_have_a_connection_each(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    http_bench bench = {0};
    fetch f[COUNT] = {0};
    http_bench_init(&bench, &server_options, NULL);
    for (int i = 0; i < COUNT; i++)
        fetch_begin(&f[i], &bench, &(ki_request){.target = KI_STR("/wait")});
    while (scripted_http_requests(bench.server) < COUNT)
        http_bench_run_ms(&bench, 1);
    assert_int_equal(scripted_http_connections(bench.server), COUNT);
    scripted_http_poke(bench.server, 1);
    for (int i = 0; i < COUNT; i++) {
        fetch_run(&f[i]);
        assert_string_equal(f[i].body.text, "late");
        fetch_free(&f[i]);
    }
    http_bench_fini(&bench);
}

static void a_limit_of_connections_makes_requests_wait(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f[3] = {0};
    http_bench_init(&bench, &server_options, &(ki_http_options){.connections_max = 1});
    for (int i = 0; i < 3; i++)
        fetch_begin(&f[i], &bench, &(ki_request){.target = KI_STR("/plain")});
    for (int i = 0; i < 3; i++) {
        fetch_run(&f[i]);
        assert_string_equal(f[i].body.text, "hello");
        fetch_free(&f[i]);
    }
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
}

static void method_headers_and_body_are_sent(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    static const char *const headers[] = {"Accept: application/json", "X-One: 1", NULL};
    ki_request request = {
        .method = "PUT", .target = KI_STR("/echo"), .headers = headers, .body = KI_STR("{}")};
    http_bench_init(&bench, &server_options, NULL);
    fetch_begin(&f, &bench, &request);
    fetch_run(&f);
    assert_int_equal(strncmp(f.body.text, "PUT /echo HTTP/1.1\r\n", 20), 0);
    assert_non_null(strstr(f.body.text, "Accept: application/json\r\n"));
    assert_non_null(strstr(f.body.text, "X-One: 1\r\n"));
    assert_non_null(strstr(f.body.text, "Content-Length: 2\r\n"));
    assert_null(strstr(f.body.text, "Accept-Encoding"));
    assert_null(strstr(f.body.text, "Expect"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_prefix_of_the_server_stands_before_the_path(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    char url[128];
    bench.server = scripted_http_start(&server_options);
    (void)snprintf(url, sizeof(url), "%s/k8s/", scripted_http_url(bench.server));
    bench.config.server = url;
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/echo");
    assert_int_equal(f.head.status, 404);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static scripted_next serve_forever(scripted_connection *c, const scripted_request *r, void *user)
{
    char block[16 * 1024 + 1];
    (void)r;
    (void)user;
    memset(block, 'x', sizeof(block) - 1);
    block[sizeof(block) - 1] = 0;
    if (scripted_begin(c, "200 OK"))
        while (scripted_chunk(c, block))
            continue;
    return SCRIPTED_CLOSE;
}

static void a_pause_stops_the_server_and_a_resume_lets_it_go_on(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 3, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever}, NULL);
    fetch_begin(&f, &bench, NULL);
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 100);
    int pieces = f.pieces;
    size_t bytes = f.bytes;
    assert_true(pieces <= 4 && bytes <= (size_t)4 * 16 * 1024);
    http_bench_run_ms(&bench, 100);
    assert_int_equal(f.pieces, pieces);
    for (int i = 0; i < 50; i++) {
        bytes = f.bytes;
        ki_transfer_resume(f.transfer);
        fetch_run_until_bytes(&f, bytes + 1);
        assert_true(f.bytes > bytes);
    }
    f.pause_after = 0;
    ki_transfer_resume(f.transfer);
    fetch_run_until_bytes(&f, bytes + 10 * 1000 * 1000);
    assert_int_equal(f.ends, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void pieces_that_come_together_are_followed_by_one_pause(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.keeps_nothing = true, .pause_after = 1};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever}, NULL);
    fetch_begin(&f, &bench, &(ki_request){.target = KI_STR("/"), .is_long = true});
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 100); /* the server fills what the system holds for us */
    int pauses = f.pauses;
    int pieces = f.pieces;
    f.pause_after = 0;
    ki_transfer_resume(f.transfer);
    fetch_run_until_bytes(&f, f.bytes + 192 * 1024);
    assert_true(f.pauses > pauses && f.pauses - pauses < (f.pieces - pieces) / 2);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_paused_request_that_is_complete_ends_after_its_resume(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 1};
    http_bench_init(&bench, &server_options, NULL);
    fetch_begin(&f, &bench, &(ki_request){.target = KI_STR("/chunked")});
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 50);
    f.pause_after = 0;
    if (f.transfer != NULL)
        ki_transfer_resume(f.transfer);
    fetch_run(&f);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_string_equal(f.body.text, "hello");
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void nothing_is_called_after_a_cancel(void **state)
{
    (void)state;
    http_bench bench = {0};
    http_bench_init(&bench, &server_options, NULL);
    for (int when = 0; when < 3; when++) {
        fetch f = {0};
        fetch_begin(&f, &bench, &(ki_request){.target = KI_STR("/wait")});
        if (when > 0)
            http_bench_run_ms(&bench, when == 1 ? 1 : 20);
        ki_transfer_cancel(f.transfer);
        f.transfer = NULL;
        http_bench_run_ms(&bench, 10);
        assert_int_equal(f.heads + f.pieces + f.ends, 0);
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

static void a_request_may_be_cancelled_while_its_body_comes(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.cancel_after = 2, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever}, NULL);
    fetch_begin(&f, &bench, NULL);
    fetch_run(&f);
    http_bench_run_ms(&bench, 10);
    assert_int_equal(f.pieces, 2);
    assert_int_equal(f.ends, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

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

static scripted_next serve_noise(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_send(c, "this is no HTTP at all\r\n\r\n");
    return SCRIPTED_CLOSE;
}

static void what_is_no_http_is_refused(void **state)
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

static void a_server_that_never_answers_is_given_up(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &server_options,
                    &(ki_http_options){.connect_timeout_ms = 20, .head_timeout_ms = 30});
    fetch_get(&f, &bench, "/wait");
    assert_int_equal(f.reason, KI_REASON_TIMEOUT);
    assert_int_equal(f.heads, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* A port at which nobody listens; it was just given back. */
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

static void nobody_there_is_a_refused_connection(void **state)
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

/* A socket that listens and never accepts, with its queue full: connecting to it takes for ever. */
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

static void connecting_takes_no_longer_than_its_limit(void **state)
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
    assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms < 1000);
    mute_fini(&m);
}

static void a_failed_connection_is_not_used_again(void **state)
{
    (void)state;
    http_bench bench = {0};
    static const char *const targets[] = {"/plain", "/cut-length", "/plain", "/plain"};
    http_bench_init(&bench, &server_options, NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        fetch_free(&f);
    }
    assert_int_equal(scripted_http_connections(bench.server), 2);
    http_bench_fini(&bench);
}

static void a_server_that_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const servers[] = {"ftp://host", "http://user:secret@host", "http://", "https://a b",
                                          "",           "http://host/?x=secret"};
    ki_loop loop;
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){.with_fd = 1}, NULL), 0);
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        ki_config config = {.server = (char *)(uintptr_t)servers[i]};
        ki_error err = {0};
        assert_null(ki_http_new(&(ki_http_options){.config = &config, .loop = &loop}, &err));
        assert_int_equal(err.code, KI_ERR_CONFIG);
    }
    ki_loop_fini(&loop);
}

static void a_server_without_a_scheme_speaks_http(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    bench.server = scripted_http_start(&server_options);
    bench.config.server = (char *)(uintptr_t)(scripted_http_url(bench.server) + strlen("http://"));
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/plain");
    assert_string_equal(f.body.text, "hello");
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* ---- gzip ------------------------------------------------------------------------------------------------ */

enum { ZEROES = 4 * 1000 * 1000 };

/* A small body that is a large one. */
static scripted_next serve_gzip(scripted_connection *c, const scripted_request *r, void *user)
{
    char head[256];
    z_stream stream = {0};
    unsigned char *zeroes = calloc(1, ZEROES);
    unsigned char *packed = calloc(1, ZEROES);
    (void)user;
    bool is_asked_for = strstr(r->head, "Accept-Encoding: gzip\r\n") != NULL;
    if (zeroes != NULL && packed != NULL && deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, 0) == Z_OK) {
        stream.next_in = zeroes;
        stream.avail_in = ZEROES;
        stream.next_out = packed;
        stream.avail_out = ZEROES;
        (void)deflate(&stream, Z_FINISH);
        size_t n = stream.total_out;
        size_t sent = strcmp(r->target, "/cut") == 0 ? n / 2 : n;
        (void)deflateEnd(&stream);
        (void)snprintf(head, sizeof(head),
                       "HTTP/1.1 %s\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                       is_asked_for ? "200 OK" : "400 Bad Request", sent);
        (void)(scripted_send(c, head) && scripted_send_bytes(c, packed, sent));
    }
    free(zeroes);
    free(packed);
    return SCRIPTED_KEEP;
}

static void a_gzip_body_is_opened_in_steps_that_can_be_paused(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 1, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true});
    fetch_begin(&f, &bench, NULL);
    fetch_run_until_bytes(&f, 1);
    while (f.transfer != NULL) {
        size_t bytes = f.bytes;
        ki_transfer_resume(f.transfer);
        fetch_run_until_bytes(&f, bytes + 1);
        assert_true(f.bytes <= bytes + (size_t)32 * 1024);
    }
    assert_int_equal(f.head.status, 200);
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_int_equal(f.bytes, ZEROES);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_gzip_body_that_is_cut_is_a_lost_connection(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true});
    fetch_get(&f, &bench, "/cut");
    assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_configuration_without_compression_has_the_last_word(void **state)
{
    (void)state;
    http_bench bench = {.config.disable_compression = true};
    fetch f = {0};
    http_bench_init(&bench, &server_options, &(ki_http_options){.use_gzip = true});
    fetch_get(&f, &bench, "/echo");
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_null(strstr(f.body.text, "Accept-Encoding"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_gzip_body_that_nobody_asked_for_is_refused(void **state)
{
    (void)state;
    http_bench bench = {.config.disable_compression = true};
    fetch f = {.keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true});
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_MALFORMED);
    assert_int_equal(f.bytes, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

#define FLOW_TEST(test)                                                                                      \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(a_body_comes_whole_however_it_is_sent),
        FLOW_TEST(a_body_that_is_cut_is_a_lost_connection),
        FLOW_TEST(a_status_is_told_with_its_retry_after),
        FLOW_TEST(a_redirect_is_told_and_not_followed),
        FLOW_TEST(connections_are_kept_for_the_next_request),
        FLOW_TEST(requests_at_a_time_have_a_connection_each),
        FLOW_TEST(a_limit_of_connections_makes_requests_wait),
        FLOW_TEST(method_headers_and_body_are_sent),
        FLOW_TEST(a_prefix_of_the_server_stands_before_the_path),
        FLOW_TEST(a_pause_stops_the_server_and_a_resume_lets_it_go_on),
        FLOW_TEST(pieces_that_come_together_are_followed_by_one_pause),
        FLOW_TEST(a_paused_request_that_is_complete_ends_after_its_resume),
        FLOW_TEST(nothing_is_called_after_a_cancel),
        FLOW_TEST(a_request_may_be_cancelled_while_its_body_comes),
        FLOW_TEST(a_head_larger_than_its_limit_is_refused),
        FLOW_TEST(a_line_larger_than_the_limit_is_refused),
        FLOW_TEST(what_is_no_http_is_refused),
        FLOW_TEST(a_server_that_never_answers_is_given_up),
        FLOW_TEST(nobody_there_is_a_refused_connection),
        FLOW_TEST(connecting_takes_no_longer_than_its_limit),
        FLOW_TEST(a_cancel_while_connecting_does_not_wait),
        FLOW_TEST(a_failed_connection_is_not_used_again),
        FLOW_TEST(a_server_that_is_no_address_is_refused),
        FLOW_TEST(a_server_without_a_scheme_speaks_http),
        FLOW_TEST(a_gzip_body_is_opened_in_steps_that_can_be_paused),
        FLOW_TEST(a_gzip_body_that_is_cut_is_a_lost_connection),
        FLOW_TEST(a_configuration_without_compression_has_the_last_word),
        FLOW_TEST(a_gzip_body_that_nobody_asked_for_is_refused),
    };
    return RUN_TESTS(tests);
}
