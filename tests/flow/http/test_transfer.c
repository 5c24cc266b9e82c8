/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and their responses, and the connections that they use. */
#include "http/transfer.h"

#include <stdio.h>
#include <string.h>

#include "flow/support/http_bench.h"
#include "flow/support/target_server.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void a_body_is_complete_however_it_is_sent(void **state)
{
    (void)state;
    static const char *const targets[] = {"/plain", "/chunked", "/until-closed", "/bytewise", "/interim"};
    http_bench bench = {0};
    http_bench_init(&bench, &target_server, NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        assert_int_equal(f.reason, KI_REASON_NONE);
        assert_int_equal(f.ends, 1);
        assert_int_equal(f.head.status, 200);
        assert_int_equal(f.head.retry_after_seconds, 0);
        assert_string_equal(f.body.text, "hello");
        assert_true(f.reads >= 1);
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

static void a_body_that_is_cut_is_a_lost_connection(void **state)
{
    (void)state;
    static const char *const targets[] = {"/cut-head", "/cut-length", "/cut-chunk", "/reset", "/close"};
    http_bench bench = {0};
    http_bench_init(&bench, &target_server, NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
        assert_string_not_equal(f.message, "");
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

static void a_status_is_reported_with_its_retry_after(void **state)
{
    (void)state;
    static const int codes[] = {400, 401, 403, 404, 409, 410, 429, 500, 503, 504};
    http_bench bench = {0};
    http_bench_init(&bench, &target_server, NULL);
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

static void a_redirect_is_reported_and_not_followed(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &target_server, NULL);
    fetch_get(&f, &bench, "/redirect");
    assert_int_equal(f.reason, KI_REASON_REDIRECTED);
    assert_int_equal(f.head.status, 302);
    assert_non_null(strstr(f.message, "https://other.example/x"));
    assert_null(strstr(f.message, "secret"));
    fetch_free(&f);
    f = (fetch){0};
    fetch_get(&f, &bench, "/status/301");
    assert_int_equal(f.reason, KI_REASON_REDIRECTED);
    assert_string_equal(f.message, "the server responded with 301, a redirect; redirects are not followed");
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void connections_are_kept_for_the_next_request(void **state)
{
    (void)state;
    http_bench bench = {0};
    http_bench_init(&bench, &target_server, NULL);
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

static void concurrent_requests_have_a_connection_each(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    http_bench bench = {0};
    fetch f[COUNT] = {0};
    http_bench_init(&bench, &target_server, NULL);
    for (int i = 0; i < COUNT; i++)
        fetch_begin(&f[i], &bench, &(ki_transfer_request){.target = KI_STR("/wait")});
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
    http_bench_init(&bench, &target_server, &(ki_http_options){.connections_max = 1});
    for (int i = 0; i < 3; i++)
        fetch_begin(&f[i], &bench, &(ki_transfer_request){.target = KI_STR("/plain")});
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
    ki_transfer_request request = {
        .method = "PUT", .target = KI_STR("/echo"), .headers = headers, .body = KI_STR("{}")};
    http_bench_init(&bench, &target_server, NULL);
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

static void a_prefix_of_the_server_precedes_the_path(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    char url[128];
    bench.server = scripted_http_start(&target_server);
    (void)snprintf(url, sizeof(url), "%s/k8s/", scripted_http_url(bench.server));
    bench.config.server = url;
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/echo");
    assert_int_equal(f.head.status, 404);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_failed_connection_is_not_reused(void **state)
{
    (void)state;
    http_bench bench = {0};
    static const char *const targets[] = {"/plain", "/cut-length", "/plain", "/plain"};
    http_bench_init(&bench, &target_server, NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        fetch_free(&f);
    }
    assert_int_equal(scripted_http_connections(bench.server), 2);
    http_bench_fini(&bench);
}

static void an_invalid_server_address_is_refused(void **state)
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

static void a_server_without_a_scheme_is_used_over_http(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    bench.server = scripted_http_start(&target_server);
    bench.config.server = (char *)(uintptr_t)(scripted_http_url(bench.server) + strlen("http://"));
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/plain");
    assert_string_equal(f.body.text, "hello");
    fetch_free(&f);
    http_bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_body_is_complete_however_it_is_sent),
        WITH_MEMORY_CHECK(a_body_that_is_cut_is_a_lost_connection),
        WITH_MEMORY_CHECK(a_status_is_reported_with_its_retry_after),
        WITH_MEMORY_CHECK(a_redirect_is_reported_and_not_followed),
        WITH_MEMORY_CHECK(connections_are_kept_for_the_next_request),
        WITH_MEMORY_CHECK(concurrent_requests_have_a_connection_each),
        WITH_MEMORY_CHECK(a_limit_of_connections_makes_requests_wait),
        WITH_MEMORY_CHECK(method_headers_and_body_are_sent),
        WITH_MEMORY_CHECK(a_prefix_of_the_server_precedes_the_path),
        WITH_MEMORY_CHECK(a_failed_connection_is_not_reused),
        WITH_MEMORY_CHECK(an_invalid_server_address_is_refused),
        WITH_MEMORY_CHECK(a_server_without_a_scheme_is_used_over_http),
    };
    return RUN_TESTS(tests);
}
