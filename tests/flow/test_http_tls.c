/* SPDX-License-Identifier: Apache-2.0 */
/* Which servers are trusted, and as whom requests are sent. */
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/support/fake_credentials.h"
#include "flow/support/http_bench.h"
#include "http/http_parts.h"
#include "support/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static certificate authority;
static certificate stranger; /* another authority */
static certificate for_address;
static certificate for_name;
static certificate client_one;
static certificate client_two;

static int make_certificates(void **state)
{
    (void)state;
    authority = certificate_make("authority", NULL, NULL);
    stranger = certificate_make("stranger", NULL, NULL);
    for_address = certificate_make("server", "IP:127.0.0.1", &authority);
    for_name = certificate_make("server", "DNS:api.example", &authority);
    client_one = certificate_make("one", NULL, &authority);
    client_two = certificate_make("two", NULL, &authority);
    return 0;
}

static int free_certificates(void **state)
{
    (void)state;
    certificate *const all[] = {&authority, &stranger, &for_address, &for_name, &client_one, &client_two};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        certificate_free(all[i]);
    return 0;
}

static scripted_next serve_echo(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    (void)scripted_answer(c, "200 OK", "", r->head);
    return SCRIPTED_KEEP;
}

static scripted_http_options server_with(const certificate *own)
{
    return (scripted_http_options){.serve = serve_echo, .certificate_pem = own->pem, .key_pem = own->key_pem};
}

static void expect(http_bench *bench, ki_reason reason)
{
    fetch f = {0};
    fetch_get(&f, bench, "/");
    if (f.reason != reason)
        print_error("%s\n", f.message);
    assert_int_equal(f.reason, reason);
    assert_int_equal(f.heads, reason == KI_REASON_NONE);
    fetch_free(&f);
}

static void a_server_of_our_authority_is_trusted(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_NONE);
    expect(&bench, KI_REASON_NONE);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
}

static void a_request_is_sent_once_there_is_trust(void **state)
{
    (void)state;
    const certificate *const authorities[] = {&stranger, &authority};
    for (int i = 0; i < 2; i++) {
        http_bench bench = {.config.ca_pem = authorities[i]->pem};
        scripted_http_options server = server_with(&for_address);
        http_bench_init(&bench, &server, NULL);
        for (int again = 0; again < 2; again++) { /* on a connection that is there */
            fetch f = {0};
            fetch_get(&f, &bench, "/");
            assert_int_equal(f.sends, i);
            fetch_free(&f);
        }
        http_bench_fini(&bench);
    }
}

static void a_server_of_another_authority_is_not(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = stranger.pem};
    scripted_http_options server = server_with(&for_address);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_TLS);
    assert_int_equal(scripted_http_requests(bench.server), 0);
    http_bench_fini(&bench);
}

static void without_an_authority_the_system_decides(void **state)
{
    (void)state;
    http_bench bench = {0};
    scripted_http_options server = server_with(&for_address);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

static void a_certificate_of_another_name_is_not_trusted(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_name);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

static void the_name_to_expect_can_be_told(void **state)
{
    (void)state;
    char name[] = "api.example";
    char host[64];
    http_bench bench = {.config.ca_pem = authority.pem, .config.tls_server_name = name};
    scripted_http_options server = server_with(&for_name);
    fetch f = {0};
    http_bench_init(&bench, &server, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_NONE);
    (void)snprintf(host, sizeof(host), "Host: 127.0.0.1:%d\r\n", scripted_http_port(bench.server));
    assert_non_null(strstr(f.body.text, host));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_name_that_is_told_and_wrong_is_not_trusted(void **state)
{
    (void)state;
    char name[] = "other.example";
    http_bench bench = {.config.ca_pem = authority.pem, .config.tls_server_name = name};
    scripted_http_options server = server_with(&for_address);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

/* A slash in it would lead to another path of the server. */
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
    certificate own = certificate_make("server", "IP:fd00::1", &authority);
    static const char *const names[] = {"fd00::1", "[fd00::1]"};
    for (size_t i = 0; i < 2; i++) {
        http_bench bench = {.config.ca_pem = authority.pem,
                            .config.tls_server_name = (char *)(uintptr_t)names[i]};
        scripted_http_options server = server_with(&own);
        http_bench_init(&bench, &server, NULL);
        expect(&bench, KI_REASON_NONE);
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

/* Nor one that has other names only. */
static void a_certificate_without_an_alternative_name_is_not_trusted(void **state)
{
    (void)state;
    static const char *const names[] = {NULL, "email:a@api.example", "URI:https://api.example/"};
    char name[] = "api.example";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        certificate own = certificate_make("api.example", names[i], &authority);
        http_bench bench = {.config.ca_pem = authority.pem, .config.tls_server_name = name};
        scripted_http_options server = server_with(&own);
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
static void without_verification_no_alternative_name_is_wanted(void **state)
{
    (void)state;
    certificate own = certificate_make("127.0.0.1", NULL, &authority);
    http_bench bench = {.config.insecure_skip_tls_verify = true};
    scripted_http_options server = server_with(&own);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
    certificate_free(&own);
}

static void verification_can_be_turned_off(void **state)
{
    (void)state;
    http_bench bench = {.config.insecure_skip_tls_verify = true};
    scripted_http_options server = server_with(&for_name);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
}

static void old_versions_of_tls_are_not_spoken(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    server.tls_version_max = TLS1_1_VERSION;
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_TLS);
    http_bench_fini(&bench);
}

static void tls_1_2_is_spoken(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    server.tls_version_max = TLS1_2_VERSION;
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
}

static void a_server_without_tls_is_an_error(void **state)
{
    (void)state;
    char url[64];
    http_bench bench = {.config.ca_pem = authority.pem};
    bench.server = scripted_http_start(&(scripted_http_options){.serve = serve_echo});
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

static void a_server_that_wants_tls_is_asked_for_by_https(void **state)
{
    (void)state;
    char url[64];
    http_bench bench = {0};
    scripted_http_options server = server_with(&for_address);
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

/* ---- a file of authorities --------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void a_file_of_authorities_is_read_again_after_a_failure(void **state)
{
    (void)state;
    char path[] = "/tmp/kinformer-ca-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    write_file(path, stranger.pem);
    http_bench bench = {.config.ca_file = path};
    scripted_http_options server = server_with(&for_address);
    http_bench_init(&bench, &server, NULL);
    expect(&bench, KI_REASON_TLS);
    write_file(path, authority.pem);
    expect(&bench, KI_REASON_NONE);
    write_file(path, "-----BEGIN CERTIFICATE-----\nMII");
    bench.http->trust.is_old = true;
    expect(&bench, KI_REASON_NONE);
    assert_int_equal(unlink(path), 0);
    expect(&bench, KI_REASON_NONE);
    http_bench_fini(&bench);
}

static void a_file_that_is_not_there_is_a_bad_configuration(void **state)
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

/* ---- as whom ----------------------------------------------------------------------------------------- */

static void the_server_sees_our_certificate(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    ki_credentials *credentials = fake_credentials_new();
    server.client_ca_pem = authority.pem;
    http_bench_init(&bench, &server, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity =
        (ki_identity){.certificate_pem = client_one.pem, .key_pem = client_one.key_pem};
    expect(&bench, KI_REASON_NONE);
    expect(&bench, KI_REASON_NONE);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static void a_new_certificate_makes_a_new_connection(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    ki_credentials *credentials = fake_credentials_new();
    server.client_ca_pem = authority.pem;
    http_bench_init(&bench, &server, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity =
        (ki_identity){.certificate_pem = client_one.pem, .key_pem = client_one.key_pem};
    expect(&bench, KI_REASON_NONE);
    fake_credentials.identity = (ki_identity){
        .certificate_pem = client_two.pem, .key_pem = client_two.key_pem, .certificate_generation = 1};
    expect(&bench, KI_REASON_NONE);
    expect(&bench, KI_REASON_NONE);
    assert_int_equal(scripted_http_connections(bench.server), 2);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

/* Nor does libcurl keep anything here: see a_line_larger_than_the_limit_is_refused. */
static void a_key_of_another_certificate_is_named(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    ki_credentials *credentials = fake_credentials_new();
    fetch f = {0};
    http_bench_init(&bench, &server, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity =
        (ki_identity){.certificate_pem = client_one.pem, .key_pem = client_two.key_pem};
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_TLS);
    assert_string_equal(f.message, "client-key /fake/key does not match client-certificate /fake/crt");
    fetch_free(&f);
    http_bench_fini(&bench);
    ki_credentials_free(credentials);
}

static void without_a_certificate_that_is_asked_for_it_fails(void **state)
{
    (void)state;
    http_bench bench = {.config.ca_pem = authority.pem};
    scripted_http_options server = server_with(&for_address);
    fetch f = {0};
    server.client_ca_pem = authority.pem;
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
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_echo},
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

static void a_request_waits_until_it_is_known_who_we_are(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    fetch dropped = {0};
    ki_credentials *credentials = fake_credentials_new();
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_echo},
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
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_echo},
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

static void credentials_hear_that_they_were_refused(void **state)
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

/* What TLS has read from the socket and the caller has not taken yet must not be forgotten. */
static void a_body_that_is_paused_at_each_piece_comes_whole(void **state)
{
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        http_bench bench = {.config.ca_pem = authority.pem};
        scripted_http_options server = server_with(&for_address);
        fetch f = {.pause_after = 1, .keeps_nothing = true};
        server.serve = serve_large;
        http_bench_init(&bench, &server, NULL);
        fetch_begin(&f, &bench, &(ki_request){.target = KI_STR("/"), .is_long = is_long});
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
        http_bench bench = {.config.ca_pem = authority.pem};
        scripted_http_options server = {.serve = reset_at_once};
        fetch f = {0};
        if (with_tls)
            server = server_with(&for_address);
        server.serve = reset_at_once;
        http_bench_init(&bench, &server, NULL);
        fetch_begin(&f, &bench,
                    &(ki_request){.method = "PUT", .target = KI_STR("/"), .body = {body, BODY_BYTES}});
        fetch_run(&f);
        assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
        fetch_free(&f);
        http_bench_fini(&bench);
    }
    free(body);
}

#define FLOW_TEST(test)                                                                                      \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(a_server_of_our_authority_is_trusted),
        FLOW_TEST(a_request_is_sent_once_there_is_trust),
        FLOW_TEST(a_server_of_another_authority_is_not),
        FLOW_TEST(without_an_authority_the_system_decides),
        FLOW_TEST(a_certificate_of_another_name_is_not_trusted),
        FLOW_TEST(the_name_to_expect_can_be_told),
        FLOW_TEST(a_name_that_is_told_and_wrong_is_not_trusted),
        FLOW_TEST(an_invalid_name_is_refused),
        FLOW_TEST(the_name_may_be_an_address_of_ipv6),
        FLOW_TEST(a_user_agent_with_a_line_end_is_refused),
        FLOW_TEST(a_certificate_without_an_alternative_name_is_not_trusted),
        FLOW_TEST(without_verification_no_alternative_name_is_wanted),
        FLOW_TEST(verification_can_be_turned_off),
        FLOW_TEST(old_versions_of_tls_are_not_spoken),
        FLOW_TEST(tls_1_2_is_spoken),
        FLOW_TEST(a_server_without_tls_is_an_error),
        FLOW_TEST(a_server_that_wants_tls_is_asked_for_by_https),
        FLOW_TEST(a_file_of_authorities_is_read_again_after_a_failure),
        FLOW_TEST(a_file_that_is_not_there_is_a_bad_configuration),
        FLOW_TEST(the_server_sees_our_certificate),
        FLOW_TEST(a_new_certificate_makes_a_new_connection),
        FLOW_TEST(a_key_of_another_certificate_is_named),
        FLOW_TEST(without_a_certificate_that_is_asked_for_it_fails),
        FLOW_TEST(authorization_and_impersonation_are_sent),
        FLOW_TEST(a_request_waits_until_it_is_known_who_we_are),
        FLOW_TEST(credentials_that_cannot_be_read_end_the_request),
        FLOW_TEST(credentials_hear_that_they_were_refused),
        FLOW_TEST(a_body_that_is_paused_at_each_piece_comes_whole),
        FLOW_TEST(a_connection_that_breaks_while_sending_raises_no_signal),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, make_certificates, free_certificates);
}
