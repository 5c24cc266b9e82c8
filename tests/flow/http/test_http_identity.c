/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of requests: certificates, tokens and impersonation. */
#include <string.h>

#include "flow/support/fake_credentials.h"
#include "flow/support/http_bench.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* A server that asks for a certificate, and credentials that have one. */
static ki_credentials *begin(http_bench *bench)
{
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    ki_credentials *credentials = fake_credentials_new();
    server.client_ca_pem = certs.authority.pem;
    *bench = (http_bench){.config.ca_pem = certs.authority.pem};
    http_bench_init(bench, &server, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity =
        (ki_identity){.certificate_pem = certs.client.pem, .key_pem = certs.client.key_pem};
    return credentials;
}

static void the_server_gets_our_certificate(void **state)
{
    (void)state;
    http_bench bench;
    ki_credentials *credentials = begin(&bench);
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_expect(&bench, KI_REASON_NONE);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static void a_new_certificate_needs_a_new_connection(void **state)
{
    (void)state;
    http_bench bench;
    ki_credentials *credentials = begin(&bench);
    http_bench_expect(&bench, KI_REASON_NONE);
    fake_credentials.identity = (ki_identity){.certificate_pem = certs.other_client.pem,
                                              .key_pem = certs.other_client.key_pem,
                                              .certificate_generation = 1};
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_expect(&bench, KI_REASON_NONE);
    assert_int_equal(scripted_http_connections(bench.server), 2);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

/* libcurl does not keep memory here, either: see a_line_larger_than_the_limit_is_refused. */
static void a_key_of_another_certificate_is_reported(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    ki_credentials *credentials = fake_credentials_new();
    fetch f = {0};
    http_bench_init(&bench, &server, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity =
        (ki_identity){.certificate_pem = certs.client.pem, .key_pem = certs.other_client.key_pem};
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_TLS);
    assert_string_equal(f.message, "client-key /fake/key does not match client-certificate /fake/crt");
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static void a_missing_client_certificate_is_a_failure(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    fetch f = {0};
    server.client_ca_pem = certs.authority.pem;
    http_bench_init(&bench, &server, NULL);
    fetch_get(&f, &bench, "/");
    assert_true(f.reason == KI_REASON_TLS || f.reason == KI_REASON_CONNECTION_LOST);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void authorization_and_impersonation_are_sent(void **state)
{
    (void)state;
    static const char *const headers[] = {"Impersonate-User: jane", "Impersonate-Group: x", NULL};
    http_bench bench = {0};
    fetch f = {0};
    ki_credentials *credentials = fake_credentials_new();
    http_bench_init(&bench, &(scripted_http_options){.serve = scripted_serve_echo},
                    &(ki_http_options){.credentials = credentials});
    fake_credentials.identity = (ki_identity){.authorization = "Bearer abc", .headers = headers};
    fetch_get(&f, &bench, "/");
    assert_non_null(strstr(f.body.text, "Authorization: Bearer abc\r\n"));
    assert_non_null(strstr(f.body.text, "Impersonate-User: jane\r\n"));
    assert_non_null(strstr(f.body.text, "Impersonate-Group: x\r\n"));
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static void a_request_waits_for_its_credentials(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    fetch dropped = {0};
    ki_credentials *credentials = fake_credentials_new();
    http_bench_init(&bench, &(scripted_http_options){.serve = scripted_serve_echo},
                    &(ki_http_options){.credentials = credentials});
    fake_credentials.result = 1;
    fetch_begin(&f, &bench, NULL);
    http_bench_run_ms(&bench, 20);
    assert_int_equal(scripted_http_requests(bench.server), 0);
    fake_credentials.result = 0;
    ki_job_wake(fake_credentials.waiter);
    fetch_run(&f);
    assert_int_equal(f.reason, KI_REASON_NONE);
    fake_credentials.result = 1;
    fetch_begin(&dropped, &bench, NULL);
    http_bench_run_ms(&bench, 5);
    assert_non_null(fake_credentials.waiter);
    fetch_free(&dropped);
    assert_null(fake_credentials.waiter);
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static void credentials_that_cannot_be_read_end_the_request(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    ki_credentials *credentials = fake_credentials_new();
    http_bench_init(&bench, &(scripted_http_options){.serve = scripted_serve_echo},
                    &(ki_http_options){.credentials = credentials});
    fake_credentials.result = KI_ERR_CONFIG;
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_NO_CREDENTIALS);
    assert_string_equal(f.message, "the plug-in has failed");
    assert_int_equal(scripted_http_requests(bench.server), 0);
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static scripted_next serve_401(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_answer(c, "401 Unauthorized", "", "{}");
    return SCRIPTED_KEEP;
}

static void credentials_are_notified_of_a_refusal(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    ki_credentials *credentials = fake_credentials_new();
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_401},
                    &(ki_http_options){.credentials = credentials});
    fake_credentials.identity = (ki_identity){.authorization = "Bearer secret", .generation = 42};
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.head.status, 401);
    assert_int_equal(fake_credentials.refused, 1);
    assert_int_equal(fake_credentials.refused_generation, 42);
    assert_null(strstr(f.message, "secret"));
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_server_gets_our_certificate),
        WITH_MEMORY_CHECK(a_new_certificate_needs_a_new_connection),
        WITH_MEMORY_CHECK(a_key_of_another_certificate_is_reported),
        WITH_MEMORY_CHECK(a_missing_client_certificate_is_a_failure),
        WITH_MEMORY_CHECK(authorization_and_impersonation_are_sent),
        WITH_MEMORY_CHECK(a_request_waits_for_its_credentials),
        WITH_MEMORY_CHECK(credentials_that_cannot_be_read_end_the_request),
        WITH_MEMORY_CHECK(credentials_are_notified_of_a_refusal),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
