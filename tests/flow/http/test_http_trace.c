/* SPDX-License-Identifier: Apache-2.0 */
/* What the log shows about requests at its most detailed level. */
#include <kinformer/log.h>
#include <stdio.h>
#include <string.h>

#include "flow/support/fake_credentials.h"
#include "flow/support/http_bench.h"
#include "http/trace.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static text_log logged;

static void keep(const ki_log_record *record, void *user)
{
    (void)user;
    text_log_add(&logged, "%s\n", record->message);
}

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    static const char lines[] =
        "Set-Cookie: s3cret\r\nLocation: https://u:s3cret@h/p?token=s3cret\r\nX-Y: z\r\n"
        "X-Echo: s3cret!\r\nX-Basic: bWU6czNjcmV0\r\nX-Other: Basic (czNjcmV0)\r\n";
    char headers[sizeof(lines)];
    (void)user;
    (void)snprintf(headers, sizeof(headers), "%s", lines);
    if (strstr(r->head, "Proxy-Authorization") == NULL)
        *strstr(headers, "X-Echo") = 0;
    (void)scripted_answer(c, "200 OK", headers, "{\"data\":\"s3cret\"}");
    return SCRIPTED_KEEP;
}

/* Makes one request with credentials, with or without a proxy, at this log level. */
static void get(ki_log_level level, bool with_proxy)
{
    http_bench bench = {0};
    fetch f = {0};
    char proxy[128];
    ki_credentials *credentials = fake_credentials_new();
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve});
    bench.config.server = (char *)(uintptr_t)scripted_http_url(bench.server);
    (void)snprintf(proxy, sizeof(proxy), "http://me:s3cret@127.0.0.1:%d", scripted_http_port(bench.server));
    if (with_proxy)
        bench.config.proxy_url = proxy;
    http_bench_init(&bench, NULL, &(ki_http_options){.credentials = credentials});
    fake_credentials_reset();
    fake_credentials.identity = (ki_identity){.authorization = "Bearer s3cret"};
    ki_set_log(keep, level, NULL);
    fetch_get(&f, &bench, "/api/v1/pods?limit=5");
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    assert_int_equal(f.reason, KI_REASON_NONE);
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static bool has(const char *part)
{
    return logged.text != NULL && strstr(logged.text, part) != NULL;
}

static void heads_are_shown_without_their_secrets(void **state)
{
    (void)state;
    get(KI_LOG_TRACE, false);
    assert_true(has("> GET /api/v1/pods?limit=5 HTTP/1.1\n"));
    assert_true(has("> Authorization: Bearer <masked>\n"));
    assert_true(has("< HTTP/1.1 200 OK\n"));
    assert_true(has("< Set-Cookie: <masked>\n"));
    assert_true(has("< Location: https://<masked>@h/p\n"));
    assert_true(has("< X-Y: z\n"));
    assert_false(has("s3cret"));
    text_log_free(&logged);
}

static void credentials_for_a_proxy_are_not_shown(void **state)
{
    (void)state;
    get(KI_LOG_TRACE, true);
    assert_true(has("> Proxy-Authorization: Basic <masked>\n"));
    assert_true(has("< X-Echo: ***!\n")); /* in both directions */
    assert_true(has("< X-Basic: <masked>\n"));
    assert_true(has("< X-Other: Basic (<masked>)\n"));
    assert_false(has("s3cret"));
    text_log_free(&logged);
}

static void no_secret_is_shown_however_a_head_is_sent(void **state)
{
    (void)state;
    static const char head[] = "GET / HTTP/1.1\r\nAuthorization: Bearer s3cret\r\nX-Y: z\r\n\r\n";
    ki_set_log(keep, KI_LOG_TRACE, NULL);
    for (size_t first = 1; first < sizeof(head) - 1; first++)
        for (size_t second = first; second < sizeof(head) - 1; second++) {
            ki_trace trace = {0};
            ki_trace_take(&trace, true, (ki_str){head, first});
            ki_trace_take(&trace, true, (ki_str){head + first, second - first});
            ki_trace_take(&trace, true, (ki_str){head + second, sizeof(head) - 1 - second});
            assert_false(has("cret"));
            assert_true(has("> G"));
            text_log_free(&logged);
        }
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
}

static void nothing_is_shown_at_other_levels(void **state)
{
    (void)state;
    get(KI_LOG_DEBUG, false);
    assert_null(logged.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(heads_are_shown_without_their_secrets),
        WITH_MEMORY_CHECK(credentials_for_a_proxy_are_not_shown),
        WITH_MEMORY_CHECK(no_secret_is_shown_however_a_head_is_sent),
        WITH_MEMORY_CHECK(nothing_is_shown_at_other_levels),
    };
    return RUN_TESTS(tests);
}
