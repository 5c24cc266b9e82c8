/* SPDX-License-Identifier: Apache-2.0 */
/* Which servers are trusted; bodies and broken connections over TLS. */
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/support/http_bench.h"
#include "http/http_parts.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void a_server_of_our_ca_is_trusted(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_expect(&bench, KI_REASON_NONE);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
}

static void a_request_is_sent_once_the_server_is_verified(void **state)
{
    (void)state;
    const certificate *const authorities[] = {&certs.stranger, &certs.authority};
    for (int i = 0; i < 2; i++) {
        http_bench bench = {.config.ca_pem = authorities[i]->pem};
        scripted_http_options server = http_bench_tls_server(&certs.for_address);
        http_bench_init(&bench, &server, NULL);
        for (int again = 0; again < 2; again++) { /* on an open connection */
            fetch f = {0};
            fetch_get(&f, &bench, "/");
            assert_int_equal(f.sends, i);
            fetch_free(&f);
        }
        http_bench_fini(&bench);
    }
}

static void a_server_of_another_ca_is_not_trusted(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.stranger.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_TLS);
    assert_int_equal(scripted_http_requests(bench.server), 0);
    http_bench_fini(&bench);
}

static void without_a_ca_the_systems_cas_are_used(void **state)
{
    (void)state;
    http_bench bench = {0};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

static void a_certificate_of_another_name_is_not_trusted(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_name);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

static void the_expected_name_can_be_set(void **state)
{
    (void)state;
    char name[] = "api.example";
    char host[64];
    http_bench bench = {.config.ca_pem = certs.authority.pem, .config.tls_server_name = name};
    scripted_http_options server = http_bench_tls_server(&certs.for_name);
    fetch f = {0};
    http_bench_init(&bench, &server, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_NONE);
    (void)snprintf(host, sizeof(host), "Host: 127.0.0.1:%d\r\n", scripted_http_port(bench.server));
    assert_non_null(strstr(f.body.text, host));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_wrong_expected_name_is_not_trusted(void **state)
{
    (void)state;
    char name[] = "other.example";
    http_bench bench = {.config.ca_pem = certs.authority.pem, .config.tls_server_name = name};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

/* A slash in the name would change the path on the server. */
static void an_invalid_name_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"kubernetes/x", "a@b", "a:1", "a?b", "a b"};
    char server[] = "https://127.0.0.1:1";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ki_error err = {0};
        ki_loop loop;
        ki_config config = {.server = server, .tls_server_name = (char *)(uintptr_t)names[i]};
        assert_int_equal(
            ki_loop_init(&loop, &(ki_loop_options){.clock = ki_clock_real(), .with_fd = true}, &err), 0);
        assert_null(ki_http_new(&(ki_http_options){.config = &config, .loop = &loop}, &err));
        assert_int_equal(err.code, KI_ERR_CONFIG);
        assert_string_equal(err.message, "tls-server-name: is neither a host name nor an address");
        ki_loop_fini(&loop);
    }
}

static void the_name_may_be_an_address_of_ipv6(void **state)
{
    (void)state;
    certificate own = certificate_make("server", "IP:fd00::1", &certs.authority);
    static const char *const names[] = {"fd00::1", "[fd00::1]"};
    for (size_t i = 0; i < 2; i++) {
        http_bench bench = {.config.ca_pem = certs.authority.pem,
                            .config.tls_server_name = (char *)(uintptr_t)names[i]};
        scripted_http_options server = http_bench_tls_server(&own);
        http_bench_init(&bench, &server, NULL);
        http_bench_expect(&bench, KI_REASON_NONE);
        http_bench_fini(&bench);
    }
    certificate_free(&own);
}

static void a_user_agent_with_a_line_end_is_refused(void **state)
{
    (void)state;
    static const char *const agents[] = {"a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x7f", "\x01"};
    char server[] = "https://127.0.0.1:1";
    ki_config config = {.server = server};
    for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
        ki_error err = {0};
        ki_loop loop;
        assert_int_equal(
            ki_loop_init(&loop, &(ki_loop_options){.clock = ki_clock_real(), .with_fd = true}, &err), 0);
        assert_null(
            ki_http_new(&(ki_http_options){.config = &config, .loop = &loop, .user_agent = agents[i]}, &err));
        assert_int_equal(err.code, KI_ERR_CONFIG);
        assert_string_equal(err.message, "user_agent: contains a character that is not allowed in a header");
        ki_loop_fini(&loop);
    }
}

/* A certificate that has only other names is not trusted, either. */
static void a_certificate_without_an_alternative_name_is_not_trusted(void **state)
{
    (void)state;
    static const char *const names[] = {NULL, "email:a@api.example", "URI:https://api.example/"};
    char name[] = "api.example";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        certificate own = certificate_make("api.example", names[i], &certs.authority);
        http_bench bench = {.config.ca_pem = certs.authority.pem, .config.tls_server_name = name};
        scripted_http_options server = http_bench_tls_server(&own);
        fetch f = {0};
        http_bench_init(&bench, &server, NULL);
        fetch_get(&f, &bench, "/");
        assert_string_equal(f.message,
                            "the certificate of the server has no subject alternative name, and its "
                            "common name does not count");
        assert_int_equal(f.reason, KI_REASON_TLS);
        assert_int_equal(scripted_http_requests(bench.server), 0);
        fetch_free(&f);
        http_bench_fini(&bench);
        certificate_free(&own);
    }
}

/* The server's identity is not verified. */
static void without_verification_no_alternative_name_is_needed(void **state)
{
    (void)state;
    certificate own = certificate_make("127.0.0.1", NULL, &certs.authority);
    http_bench bench = {.config.insecure_skip_tls_verify = true};
    scripted_http_options server = http_bench_tls_server(&own);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
    certificate_free(&own);
}

static void verification_can_be_turned_off(void **state)
{
    (void)state;
    http_bench bench = {.config.insecure_skip_tls_verify = true};
    scripted_http_options server = http_bench_tls_server(&certs.for_name);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
}

static void old_versions_of_tls_are_refused(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    server.tls_version_max = TLS1_1_VERSION;
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

static void tls_1_2_is_supported(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    server.tls_version_max = TLS1_2_VERSION;
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
}

static void a_server_without_tls_is_an_error(void **state)
{
    (void)state;
    char url[64];
    http_bench bench = {.config.ca_pem = certs.authority.pem};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = scripted_serve_echo});
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", scripted_http_port(bench.server));
    bench.config.server = url;
    http_bench_init(&bench, NULL, NULL);
    fetch f = {0};
    fetch_begin(&f, &bench, NULL);
    http_bench_run_ms(&bench, 50);
    assert_int_equal(f.heads, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_server_that_requires_tls_is_reported_with_a_hint(void **state)
{
    (void)state;
    char url[64];
    http_bench bench = {0};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    bench.server = scripted_http_start(&server);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", scripted_http_port(bench.server));
    bench.config.server = url;
    http_bench_init(&bench, NULL, NULL);
    fetch f = {0};
    fetch_get(&f, &bench, "/");
    assert_non_null(strstr(f.message, "its address may have to begin with https://"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* ---- a CA file --------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void a_ca_file_is_read_again_after_a_failure(void **state)
{
    (void)state;
    char path[] = "/tmp/kinformer-ca-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    write_file(path, certs.stranger.pem);
    http_bench bench = {.config.ca_file = path};
    scripted_http_options server = http_bench_tls_server(&certs.for_address);
    http_bench_init(&bench, &server, NULL);
    http_bench_expect(&bench, KI_REASON_TLS);
    write_file(path, certs.authority.pem);
    http_bench_expect(&bench, KI_REASON_NONE);
    write_file(path, "-----BEGIN CERTIFICATE-----\nMII");
    bench.http->trust.is_old = true;
    http_bench_expect(&bench, KI_REASON_NONE);
    assert_int_equal(unlink(path), 0);
    http_bench_expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
}

static void a_missing_ca_file_is_a_configuration_error(void **state)
{
    (void)state;
    char path[] = "/nowhere/ca.pem";
    char server[] = "https://127.0.0.1:1";
    ki_config config = {.server = server, .ca_file = path};
    ki_loop loop;
    ki_error err = {0};
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){.with_fd = 1}, NULL), 0);
    assert_null(ki_http_new(&(ki_http_options){.config = &config, .loop = &loop}, &err));
    assert_int_equal(err.code, KI_ERR_CONFIG);
    assert_non_null(strstr(err.message, path));
    ki_loop_fini(&loop);
}

/* ---- pauses ------------------------------------------------------------------------------------------ */

enum { LARGE_BYTES = 6 * 1000 * 1000 };

static scripted_next serve_large(scripted_connection *c, const scripted_request *r, void *user)
{
    char head[128];
    char *body = calloc(1, LARGE_BYTES);
    (void)r;
    (void)user;
    (void)snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", LARGE_BYTES);
    (void)(body != NULL && scripted_send(c, head) && scripted_send_bytes(c, body, LARGE_BYTES));
    free(body);
    return SCRIPTED_KEEP;
}

/* Bytes that TLS has read from the socket and that were not delivered yet must not be lost. */
static void a_body_that_is_paused_at_each_piece_is_complete(void **state)
{
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        http_bench bench = {.config.ca_pem = certs.authority.pem};
        scripted_http_options server = http_bench_tls_server(&certs.for_address);
        fetch f = {.pause_after = 1, .keeps_nothing = true};
        server.serve = serve_large;
        http_bench_init(&bench, &server, NULL);
        fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/"), .is_long = is_long});
        for (size_t bytes = 0; f.transfer != NULL; bytes = f.bytes) {
            fetch_run_until_bytes(&f, bytes + 1);
            if (f.transfer != NULL)
                ki_transfer_resume(f.transfer);
        }
        assert_int_equal(f.reason, KI_REASON_NONE);
        assert_int_equal(f.bytes, LARGE_BYTES);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
}

/* ---- signals ----------------------------------------------------------------------------------------- */

static scripted_next reset_at_once(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)c;
    (void)r;
    (void)user;
    return SCRIPTED_RESET;
}

/* A SIGPIPE would end the program. */
static void a_connection_that_breaks_while_sending_raises_no_signal(void **state)
{
    (void)state;
    enum { BODY_BYTES = 8 * 1000 * 1000 };
    char *body = calloc(1, BODY_BYTES);
    for (int with_tls = 0; with_tls < 2; with_tls++) {
        http_bench bench = {.config.ca_pem = certs.authority.pem};
        scripted_http_options server = {.serve = reset_at_once};
        fetch f = {0};
        if (with_tls)
            server = http_bench_tls_server(&certs.for_address);
        server.serve = reset_at_once;
        http_bench_init(&bench, &server, NULL);
        fetch_begin(
            &f, &bench,
            &(ki_transfer_request){.method = "PUT", .target = KI_STR("/"), .body = {body, BODY_BYTES}});
        fetch_run(&f);
        assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_server_of_our_ca_is_trusted),
        WITH_MEMORY_CHECK(a_request_is_sent_once_the_server_is_verified),
        WITH_MEMORY_CHECK(a_server_of_another_ca_is_not_trusted),
        WITH_MEMORY_CHECK(without_a_ca_the_systems_cas_are_used),
        WITH_MEMORY_CHECK(a_certificate_of_another_name_is_not_trusted),
        WITH_MEMORY_CHECK(the_expected_name_can_be_set),
        WITH_MEMORY_CHECK(a_wrong_expected_name_is_not_trusted),
        WITH_MEMORY_CHECK(an_invalid_name_is_refused),
        WITH_MEMORY_CHECK(the_name_may_be_an_address_of_ipv6),
        WITH_MEMORY_CHECK(a_user_agent_with_a_line_end_is_refused),
        WITH_MEMORY_CHECK(a_certificate_without_an_alternative_name_is_not_trusted),
        WITH_MEMORY_CHECK(without_verification_no_alternative_name_is_needed),
        WITH_MEMORY_CHECK(verification_can_be_turned_off),
        WITH_MEMORY_CHECK(old_versions_of_tls_are_refused),
        WITH_MEMORY_CHECK(tls_1_2_is_supported),
        WITH_MEMORY_CHECK(a_server_without_tls_is_an_error),
        WITH_MEMORY_CHECK(a_server_that_requires_tls_is_reported_with_a_hint),
        WITH_MEMORY_CHECK(a_ca_file_is_read_again_after_a_failure),
        WITH_MEMORY_CHECK(a_missing_ca_file_is_a_configuration_error),
        WITH_MEMORY_CHECK(a_body_that_is_paused_at_each_piece_is_complete),
        WITH_MEMORY_CHECK(a_connection_that_breaks_while_sending_raises_no_signal),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
