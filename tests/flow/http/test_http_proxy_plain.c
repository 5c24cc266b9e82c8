/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP proxies: the requests they get, what they never see, and how their refusals are reported. */
#include <stdio.h>
#include <string.h>

#include "flow/support/fake_credentials.h"
#include "flow/support/http_bench.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void a_proxy_gets_the_whole_url(void **state)
{
    (void)state;
    char server[] = "http://api.example:8080/prefix";
    http_bench bench = {.config.server = server};
    fetch f = {0};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = scripted_serve_echo});
    bench.config.proxy_url = (char *)(uintptr_t)scripted_http_url(bench.server);
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/x?y=z");
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_int_equal(strncmp(f.body.text, "GET http://api.example:8080/prefix/x?y=z HTTP/1.1\r\n", 50), 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static char connect_head[16384];

static scripted_next serve_refused_connect(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    (void)snprintf(connect_head, sizeof(connect_head), "%s", r->head);
    (void)scripted_answer(c, "403 Forbidden", "", "not here");
    return SCRIPTED_CLOSE;
}

static void a_proxy_of_a_tls_server_never_sees_the_credentials(void **state)
{
    (void)state;
    char server[] = "https://api.example:6443";
    http_bench bench = {.config.server = server};
    fetch f = {0};
    ki_credentials *credentials = fake_credentials_new();
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve_refused_connect});
    bench.config.proxy_url = (char *)(uintptr_t)scripted_http_url(bench.server);
    http_bench_init(&bench, NULL, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity = (ki_identity){.authorization = "Bearer secret"};
    fetch_get(&f, &bench, "/");
    assert_int_not_equal(f.reason, KI_REASON_NONE);
    assert_int_equal(f.heads, 0);
    assert_int_equal(strncmp(connect_head, "CONNECT api.example:6443 HTTP/1.1\r\n", 35), 0);
    assert_null(strstr(connect_head, "secret"));
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static scripted_next serve_locked_proxy(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_answer(c, "407 Proxy Authentication Required", "", "");
    return SCRIPTED_CLOSE;
}

static void a_proxy_that_requires_credentials_is_reported(void **state)
{
    (void)state;
    char server[] = "https://api.example:6443";
    http_bench bench = {.config.server = server};
    fetch f = {0};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve_locked_proxy});
    bench.config.proxy_url = (char *)(uintptr_t)scripted_http_url(bench.server);
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_non_null(strstr(f.message, "the proxy http://127.0.0.1:"));
    assert_non_null(strstr(f.message, "requires a user and a password; set them in proxy-url"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_proxy_that_refuses_our_credentials_is_reported_without_them(void **state)
{
    (void)state;
    char server[] = "https://api.example:6443", proxy[64];
    http_bench bench = {.config = {.server = server, .proxy_url = proxy}};
    fetch f = {0};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve_locked_proxy});
    snprintf(proxy, sizeof(proxy), "http://jane:s3cret@127.0.0.1:%d", scripted_http_port(bench.server));
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_non_null(strstr(f.message, "the proxy http://<masked>@127.0.0.1:"));
    assert_non_null(strstr(f.message, "does not accept the user and the password in proxy-url"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* libcurl reads such a body as a whole, to its end. */
static scripted_next serve_endless_refusal(scripted_connection *c, const scripted_request *r, void *user)
{
    const char *first = user;
    (void)r;
    if (scripted_send(c, first))
        while (scripted_send(c, "5\r\nhello\r\n5\r\nhello\r\n5\r\nhello\r\n5\r\nhello\r\n"))
            continue;
    return SCRIPTED_CLOSE;
}

static void a_proxy_with_an_endless_refusal_is_given_up(void **state)
{
    (void)state;
    static const char *const firsts[] = {
        "HTTP/1.1 407 Who are you\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 407 Who are you\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        char server[] = "https://api.example:6443", proxy[64];
        http_bench bench = {.config = {.server = server, .proxy_url = proxy}};
        fetch f = {0};
        bench.server = scripted_http_start(
            &(scripted_http_options){.serve = serve_endless_refusal, .user = (void *)(uintptr_t)firsts[i]});
        snprintf(proxy, sizeof(proxy), "http://jane:s3cret@127.0.0.1:%d", scripted_http_port(bench.server));
        http_bench_init(&bench, NULL, NULL);
        fetch_get(&f, &bench, "/");
        assert_string_equal(f.message, "the response of the proxy to CONNECT exceeds its limit");
        assert_int_equal(f.reason, KI_REASON_MALFORMED);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
}

static scripted_next serve_503(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_answer(c, "503 No", "", "");
    return SCRIPTED_CLOSE;
}

static void a_proxy_that_cannot_reach_the_server_is_reported(void **state)
{
    (void)state;
    char server[] = "https://api.example:6443";
    http_bench bench = {.config.server = server};
    fetch f = {0};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve_503});
    bench.config.proxy_url = (char *)(uintptr_t)scripted_http_url(bench.server);
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
    assert_non_null(strstr(f.message, "the proxy http://127.0.0.1:"));
    assert_non_null(strstr(f.message, " does not connect to the server: "));
    assert_non_null(strstr(f.message, "503"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static scripted_next serve_redirect(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_answer(c, "302 Found", "Location: http://other.example/s3cret%2Dword/s3cret-word\r\n", "");
    return SCRIPTED_CLOSE;
}

static void a_redirect_is_reported_without_the_password_of_the_proxy(void **state)
{
    (void)state;
    char server[] = "http://api.example", proxy[64];
    http_bench bench = {.config = {.server = server, .proxy_url = proxy}};
    fetch f = {0};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve_redirect});
    snprintf(proxy, sizeof(proxy), "http://jane:s3cret-word@127.0.0.1:%d", scripted_http_port(bench.server));
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_REDIRECTED);
    assert_non_null(strstr(f.message, "\"http://other.example/<masked>/<masked>\""));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_missing_proxy_is_reported_without_its_password(void **state)
{
    (void)state;
    char server[] = "https://api.example:6443", proxy[] = "http://jane:s3cret@127.0.0.1:1";
    http_bench bench = {.config = {.server = server, .proxy_url = proxy}};
    fetch f = {0};
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_CONNECTION_REFUSED);
    assert_non_null(strstr(f.message, "the proxy http://<masked>@127.0.0.1:1 cannot be reached: "));
    assert_null(strstr(f.message, "s3cret"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_proxy_gets_the_whole_url),
        WITH_MEMORY_CHECK(a_proxy_that_requires_credentials_is_reported),
        WITH_MEMORY_CHECK(a_proxy_that_refuses_our_credentials_is_reported_without_them),
        WITH_MEMORY_CHECK(a_proxy_with_an_endless_refusal_is_given_up),
        WITH_MEMORY_CHECK(a_proxy_that_cannot_reach_the_server_is_reported),
        WITH_MEMORY_CHECK(a_redirect_is_reported_without_the_password_of_the_proxy),
        WITH_MEMORY_CHECK(a_missing_proxy_is_reported_without_its_password),
        WITH_MEMORY_CHECK(a_proxy_of_a_tls_server_never_sees_the_credentials),
    };
    return RUN_TESTS(tests);
}
