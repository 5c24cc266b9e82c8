/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that seem dead, or belong to another identity,
 * are not reused: under a clock that the test moves. */
#include "http/pool.h"

#include <stdio.h>
#include <string.h>

#include "flow/support/fake_credentials.h"
#include "flow/support/http_bench.h"
#include "flow/support/nghttpx.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

enum { AT_A_TIME = 4 };

/* Responds with the number of the connection; "/silent" sends only half of it,
 * and "/nothing" sends nothing. */
static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    char text[128];
    const char *link = strstr(r->head, "Forwarded: ");
    (void)user;
    if (link != NULL)
        (void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(link, "\r\n"), link);
    else
        (void)snprintf(text, sizeof(text), "%d", r->connection);
    if (strcmp(r->target, "/nothing") == 0) {
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    if (strcmp(r->target, "/silent") == 0) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, text));
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    (void)scripted_answer(c, "200 OK", "", text);
    return SCRIPTED_KEEP;
}

static const scripted_http_options server = {.serve = serve};

static ki_clock clock_of_test;

static void bench_init(http_bench *bench)
{
    ki_clock_init_virtual(&clock_of_test, ki_ns_of_ms(1000), 0);
    *bench = (http_bench){.clock = &clock_of_test};
    http_bench_init(bench, &server, &(ki_http_options){.connect_timeout_ms = 5000, .head_timeout_ms = 5000});
}

/* Makes several requests at a time; each returns the number of its connection. */
static void ask(http_bench *bench, char (*out_links)[64], const ki_transfer_request *request)
{
    fetch f[AT_A_TIME] = {0};
    for (int i = 0; i < AT_A_TIME; i++)
        fetch_begin(&f[i], bench, request);
    for (int i = 0; i < AT_A_TIME; i++) {
        fetch_run(&f[i]);
        assert_int_equal(f[i].reason, KI_REASON_NONE);
        (void)snprintf(out_links[i], sizeof(out_links[i]), "%s", f[i].body.text);
        fetch_free(&f[i]);
    }
}

static const ki_transfer_request plain = {.target = {"/", 1}};

static bool is_among(const char *link, char (*links)[64])
{
    for (int i = 0; i < AT_A_TIME; i++)
        if (strcmp(links[i], link) == 0)
            return true;
    return false;
}

static void expect_others(char (*links)[64], char (*before)[64])
{
    for (int i = 0; i < AT_A_TIME; i++)
        assert_false(is_among(links[i], before));
}

static void expect_the_same(char (*links)[64], char (*before)[64])
{
    for (int i = 0; i < AT_A_TIME; i++)
        assert_true(is_among(links[i], before));
}

/* ---- HTTP/1.1 ---------------------------------------------------------------------------------------- */

static void connections_are_reused_while_nothing_fails(void **state)
{
    (void)state;
    http_bench bench;
    char links[2][AT_A_TIME][64];
    bench_init(&bench);
    ask(&bench, links[0], &plain);
    ki_clock_advance_ms(&clock_of_test, 30 * 1000);
    ask(&bench, links[1], &plain);
    expect_the_same(links[1], links[0]);
    http_bench_fini(&bench);
}

static void after_a_suspend_no_connection_is_reused(void **state)
{
    (void)state;
    http_bench bench;
    char links[2][AT_A_TIME][64];
    bench_init(&bench);
    ask(&bench, links[0], &plain);
    ki_clock_advance_ms(&clock_of_test, 3600 * 1000);
    ask(&bench, links[1], &plain);
    expect_others(links[1], links[0]);
    http_bench_fini(&bench);
}

static void the_wall_clock_may_jump_in_either_direction(void **state)
{
    (void)state;
    http_bench bench;
    char links[2][AT_A_TIME][64];
    bench_init(&bench);
    ask(&bench, links[0], &plain);
    ki_clock_set_wall_ns(&clock_of_test, INT64_C(4000000000) * 1000000000);
    ask(&bench, links[1], &plain);
    expect_the_same(links[1], links[0]);
    ki_clock_set_wall_ns(&clock_of_test, 0);
    ask(&bench, links[1], &plain);
    expect_the_same(links[1], links[0]);
    http_bench_fini(&bench);
}

/* A request that gives up a silent connection takes the network to be gone: all idle connections are closed,
 * too. */
static void after_a_silent_connection_none_is_reused(void **state)
{
    (void)state;
    http_bench bench;
    fetch silent = {0};
    char links[2][AT_A_TIME][64];
    bench_init(&bench);
    fetch_begin(&silent, &bench, &(ki_transfer_request){.target = KI_STR("/silent")});
    fetch_run_until_bytes(&silent, 1);
    ask(&bench, links[0], &plain);
    ki_clock_advance_ms(&clock_of_test, 20 * 1000);
    fetch_free(&silent);
    ask(&bench, links[1], &plain);
    expect_others(links[1], links[0]);
    http_bench_fini(&bench);
}

static void a_connection_that_is_given_up_at_once_does_not_affect_others(void **state)
{
    (void)state;
    http_bench bench;
    fetch f = {0};
    char links[2][AT_A_TIME][64];
    bench_init(&bench);
    fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/silent")});
    fetch_run_until_bytes(&f, 1);
    ask(&bench, links[0], &plain);
    fetch_free(&f);
    ask(&bench, links[1], &plain);
    expect_the_same(links[1], links[0]);
    http_bench_fini(&bench);
}

static void without_a_response_no_connection_is_reused(void **state)
{
    (void)state;
    http_bench bench;
    fetch f = {0};
    char links[2][AT_A_TIME][64];
    bench_init(&bench);
    ask(&bench, links[0], &plain);
    fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/nothing")});
    for (int i = 0; i < 20; i++)
        http_bench_step(&bench);
    ki_clock_advance_ms(&clock_of_test, 11 * 1000);
    fetch_run(&f);
    assert_int_equal(f.reason, KI_REASON_TIMEOUT);
    fetch_free(&f);
    ask(&bench, links[1], &plain);
    expect_others(links[1], links[0]);
    http_bench_fini(&bench);
}

/* ---- HTTP/2 ------------------------------------------------------------------------------------------ */

static const ki_transfer_request watch = {.target = {"/", 1}, .may_be_cut = true};
static const ki_transfer_request silent_watch = {.target = {"/silent", 7}, .may_be_cut = true};

typedef struct proxied {
    http_bench bench;
    nghttpx proxy;
} proxied;

static void proxied_init(proxied *p, ki_credentials *credentials)
{
    ki_clock_init_virtual(&clock_of_test, ki_ns_of_ms(1000), 0);
    *p = (proxied){.bench.clock = &clock_of_test, .bench.config.ca_pem = certs.authority.pem};
    p->bench.server = scripted_http_start(&server);
    nghttpx_init(&p->proxy, scripted_http_port(p->bench.server), &certs.for_address);
    nghttpx_start(&p->proxy);
    p->bench.config.server = p->proxy.url;
    http_bench_init(&p->bench, NULL, &(ki_http_options){.use_http2 = true, .credentials = credentials});
}

static void proxied_fini(proxied *p)
{
    http_bench_fini(&p->bench);
    nghttpx_fini(&p->proxy);
}

/* The requests that share a silent connection notice it one after the other;
 * meanwhile no new request uses it. */
static void no_request_joins_a_connection_that_seems_dead(void **state)
{
    (void)state;
    proxied p;
    fetch silent[2] = {0};
    char links[2][AT_A_TIME][64];
    proxied_init(&p, NULL);
    for (int i = 0; i < 2; i++) {
        fetch_begin(&silent[i], &p.bench, &silent_watch);
        fetch_run_until_bytes(&silent[i], 1);
    }
    ask(&p.bench, links[0], &watch);
    assert_string_equal(silent[0].body.text, silent[1].body.text);
    assert_true(is_among(silent[0].body.text, links[0]));
    ki_clock_advance_ms(&clock_of_test, 20 * 1000);
    fetch_free(&silent[0]);
    ask(&p.bench, links[1], &watch);
    expect_others(links[1], links[0]);
    assert_int_equal(silent[1].ends, 0);
    fetch_free(&silent[1]);
    ask(&p.bench, links[0], &watch);
    expect_the_same(links[0], links[1]);
    proxied_fini(&p);
}

static void requests_with_another_certificate_do_not_join(void **state)
{
    (void)state;
    proxied p;
    char links[2][AT_A_TIME][64];
    ki_credentials *credentials = fake_credentials_new();
    proxied_init(&p, credentials);
    ask(&p.bench, links[0], &watch);
    fake_credentials.identity.certificate_generation = 1;
    ask(&p.bench, links[1], &watch);
    expect_others(links[1], links[0]);
    proxied_fini(&p);
    ki_credentials_free(credentials);
}

static void a_watch_does_not_get_the_connection_of_a_list(void **state)
{
    (void)state;
    proxied p;
    char links[2][AT_A_TIME][64];
    proxied_init(&p, NULL);
    ask(&p.bench, links[0], &plain);
    ask(&p.bench, links[1], &watch);
    expect_others(links[1], links[0]);
    for (int i = 1; i < AT_A_TIME; i++)
        assert_string_equal(links[1][i], links[1][0]);
    proxied_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(connections_are_reused_while_nothing_fails),
        WITH_MEMORY_CHECK(after_a_suspend_no_connection_is_reused),
        WITH_MEMORY_CHECK(the_wall_clock_may_jump_in_either_direction),
        WITH_MEMORY_CHECK(after_a_silent_connection_none_is_reused),
        WITH_MEMORY_CHECK(a_connection_that_is_given_up_at_once_does_not_affect_others),
        WITH_MEMORY_CHECK(without_a_response_no_connection_is_reused),
        WITH_MEMORY_CHECK(no_request_joins_a_connection_that_seems_dead),
        WITH_MEMORY_CHECK(requests_with_another_certificate_do_not_join),
        WITH_MEMORY_CHECK(a_watch_does_not_get_the_connection_of_a_list),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
