/* SPDX-License-Identifier: Apache-2.0 */
/* SOCKS5 and HTTPS proxies: the requests they get, how they are verified, and what they never see. */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "flow/support/fake_credentials.h"
#include "flow/support/http_bench.h"
#include "flow/support/proxies.h"
#include "http/http_parts.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* ---- a server behind a proxy ------------------------------------------------------------------------- */

static char server_url[] = "https://api.example:6443";

typedef struct scene {
    proxied notes;
    scripted_http *proxy;
    char proxy_url[128];
    http_bench bench; /* its server is behind the proxy */
    fetch f;
} scene;

/* `prefix` precedes the address of the proxy. The scene's configuration is kept. */
static void scene_init(scene *s, const scripted_http_options *proxy, const char *prefix)
{
    scripted_http_options used = *proxy;
    scripted_http_options server = {.serve = scripted_serve_echo,
                                    .certificate_pem = certs.for_name.pem,
                                    .key_pem = certs.for_name.key_pem};
    used.user = &s->notes;
    s->proxy = scripted_http_start(&used);
    (void)snprintf(s->proxy_url, sizeof(s->proxy_url), "%s127.0.0.1:%d", prefix,
                   scripted_http_port(s->proxy));
    if (s->bench.config.server == NULL)
        s->bench.config.server = server_url;
    if (s->bench.config.ca_pem == NULL && !s->bench.config.insecure_skip_tls_verify)
        s->bench.config.ca_pem = certs.authority.pem;
    s->bench.config.proxy_url = s->proxy_url;
    bool is_tls = strncmp(s->bench.config.server, "https", 5) == 0;
    s->bench.server =
        scripted_http_start(is_tls ? &server : &(scripted_http_options){.serve = scripted_serve_echo});
    if (s->notes.port == 0)
        s->notes.port = scripted_http_port(s->bench.server);
}

static void scene_run(scene *s, const ki_http_options *options)
{
    http_bench_init(&s->bench, NULL, options);
    fetch_get(&s->f, &s->bench, "/");
}

static void scene_fini(scene *s)
{
    fetch_free(&s->f);
    http_bench_fini(&s->bench);
    scripted_http_stop(s->proxy);
}

static void expect_answer(const scene *s)
{
    if (s->f.reason != KI_REASON_NONE)
        print_error("%s\n", s->f.message);
    assert_int_equal(s->f.reason, KI_REASON_NONE);
    assert_int_equal(s->f.head.status, 200);
}

/* "%s" in the format is the address of the proxy. */
static void expect_failure(const scene *s, ki_reason reason, const char *format)
{
    char begin[256];
    const char *mark = strstr(format, "%s");
    (void)snprintf(begin, sizeof(begin), "%.*s127.0.0.1:%d%s", (int)(mark - format), format,
                   scripted_http_port(s->proxy), mark + 2);
    assert_int_equal(s->f.heads, 0);
    if (strncmp(s->f.message, begin, strlen(begin)) != 0)
        assert_string_equal(s->f.message, begin);
    assert_int_equal(s->f.reason, reason);
}

static const scripted_http_options socks5 = {.serve_bytes = proxies_socks5};

static scripted_http_options https_with(const certificate *own)
{
    return (scripted_http_options){
        .serve = proxies_connect, .certificate_pem = own->pem, .key_pem = own->key_pem};
}

/* ---- SOCKS5 ------------------------------------------------------------------------------------------ */

/* The names of a cluster may be known only behind the proxy. */
static void a_socks5_proxy_resolves_names_itself(void **state)
{
    (void)state;
    scene s = {0};
    scene_init(&s, &socks5, "socks5://");
    scene_run(&s, NULL);
    expect_answer(&s);
    fetch again = {0};
    fetch_get(&again, &s.bench, "/");
    assert_int_equal(again.reason, KI_REASON_NONE);
    fetch_free(&again);
    scene_fini(&s);
    assert_string_equal(s.notes.asked, "name api.example:6443");
    assert_int_equal(s.notes.tunnels, 1);
}

static void the_scheme_of_a_proxy_may_be_in_capitals(void **state)
{
    (void)state;
    scene s = {0};
    scene_init(&s, &socks5, "SOCKS5://");
    scene_run(&s, NULL);
    expect_answer(&s);
    scene_fini(&s);
    assert_string_equal(s.notes.asked, "name api.example:6443");
}

static void a_socks5_proxy_gets_user_and_password(void **state)
{
    (void)state;
    scene s = {.notes.wants_user = true};
    scene_init(&s, &socks5, "socks5://jane:s%40cret@");
    scene_run(&s, NULL);
    expect_answer(&s);
    scene_fini(&s);
    assert_string_equal(s.notes.user, "jane:s@cret");
}

/* Whichever characters this version of libcurl decodes. */
static void user_and_password_may_contain_any_character(void **state)
{
    (void)state;
    static const struct {
        const char *written;
        const char *user;
    } cases[] = {
        {"ja%6Ee:100%2541@", "jane:100%41"}, {"j%3Aa:b%3Ac%40%2f@", "j:a:b:c@/"}, {"jane@", "jane:"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char prefix[64];
        scene s = {.notes.wants_user = true};
        (void)snprintf(prefix, sizeof(prefix), "socks5://%s", cases[i].written);
        scene_init(&s, &socks5, prefix);
        scene_run(&s, NULL);
        if (cases[i].user[strlen(cases[i].user) - 1] != ':') /* SOCKS does not allow an empty password */
            expect_answer(&s);
        scene_fini(&s);
        if (cases[i].user[strlen(cases[i].user) - 1] != ':')
            assert_string_equal(s.notes.user, cases[i].user);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static const char *const lines[] = {"Basic amFuZToxMDAlNDE=\r\n", "Basic ajphOmI6Y0Av\r\n",
                                            "Basic amFuZTo=\r\n"};
        char prefix[64];
        scene s = {0};
        scripted_http_options proxy = {.serve = proxies_connect};
        (void)snprintf(prefix, sizeof(prefix), "http://%s", cases[i].written);
        scene_init(&s, &proxy, prefix);
        scene_run(&s, NULL);
        expect_answer(&s);
        scene_fini(&s);
        assert_non_null(strstr(s.notes.head, lines[i]));
    }
}

static void a_socks5_proxy_leads_to_a_server_without_tls(void **state)
{
    (void)state;
    char server[] = "http://10.1.2.3:8080";
    scene s = {.bench.config.server = server};
    scene_init(&s, &socks5, "socks5://");
    scene_run(&s, NULL);
    expect_answer(&s);
    assert_ptr_equal(strstr(s.f.body.text, "GET / HTTP/1.1\r\nHost: 10.1.2.3:8080\r\n"), s.f.body.text);
    scene_fini(&s);
    assert_string_equal(s.notes.asked, "address 10.1.2.3:8080");
}

static void the_tls_server_name_is_not_the_target_of_a_socks5_proxy(void **state)
{
    (void)state;
    char server[] = "https://10.1.2.3:6443", name[] = "api.example";
    scene s = {.bench.config = {.server = server, .tls_server_name = name}};
    scene_init(&s, &socks5, "socks5://");
    scene_run(&s, NULL);
    expect_answer(&s);
    scene_fini(&s);
    assert_string_equal(s.notes.asked, "address 10.1.2.3:6443");
}

static void a_socks5_proxy_that_refuses_is_reported_without_its_password(void **state)
{
    (void)state;
    scene s = {.notes.wants_user = true, .notes.port = 1};
    scene_init(&s, &socks5, "socks5://jane:s3cret@");
    scene_run(&s, NULL);
    expect_failure(&s, KI_REASON_CONNECTION_LOST,
                   "the proxy socks5://<masked>@%s does not connect to the server: ");
    assert_null(strstr(s.f.message, "s3cret"));
    scene_fini(&s);
}

static void a_socks5_proxy_that_requires_a_user_is_reported(void **state)
{
    (void)state;
    scene s = {.notes.wants_user = true};
    scene_init(&s, &socks5, "socks5://");
    scene_run(&s, NULL);
    expect_failure(&s, KI_REASON_CONNECTION_LOST,
                   "the proxy socks5://%s requires a user and a password; set them in proxy-url");
    scene_fini(&s);
}

/* ---- https ------------------------------------------------------------------------------------------- */

static void an_https_proxy_is_verified_with_the_cas_of_the_cluster(void **state)
{
    (void)state;
    scene s = {0};
    scripted_http_options proxy = https_with(&certs.for_address);
    scene_init(&s, &proxy, "https://");
    scene_run(&s, NULL);
    expect_answer(&s);
    fetch again = {0};
    fetch_get(&again, &s.bench, "/");
    assert_int_equal(again.reason, KI_REASON_NONE);
    fetch_free(&again);
    scene_fini(&s);
    assert_string_equal(s.notes.asked, "api.example:6443");
    assert_int_equal(s.notes.tunnels, 1);
}

static void an_https_proxy_of_another_ca_is_not_trusted(void **state)
{
    (void)state;
    scene s = {.bench.config.ca_pem = certs.stranger.pem};
    scripted_http_options proxy = https_with(&certs.for_address);
    scene_init(&s, &proxy, "https://");
    scene_run(&s, NULL);
    expect_failure(&s, KI_REASON_TLS, "the proxy https://%s cannot be reached: SSL certificate ");
    scene_fini(&s);
    assert_string_equal(s.notes.asked, "");
}

static void an_https_proxy_needs_no_alternative_name_but_the_server_does(void **state)
{
    (void)state;
    certificate plain = certificate_make("127.0.0.1", NULL, &certs.authority);
    certificate nameless = certificate_make("api.example", NULL, &certs.authority);
    for (int i = 0; i < 2; i++) {
        scene s = {0};
        scripted_http_options proxy = https_with(&plain);
        scripted_http *other = scripted_http_start(&(scripted_http_options){
            .serve = scripted_serve_echo, .certificate_pem = nameless.pem, .key_pem = nameless.key_pem});
        s.notes.port = i == 0 ? 0 : scripted_http_port(other);
        scene_init(&s, &proxy, "https://");
        scene_run(&s, NULL);
        if (i == 0)
            expect_answer(&s);
        else
            assert_int_equal(s.f.reason, KI_REASON_TLS); /* libcurl 7.88 has no clearer message here */
        assert_int_equal(scripted_http_requests(other), 0);
        scene_fini(&s);
        scripted_http_stop(other);
    }
    certificate_free(&plain);
    certificate_free(&nameless);
}

static void a_server_of_another_ca_behind_an_https_proxy_is_not_taken_for_the_proxy(void **state)
{
    (void)state;
    scene s = {0};
    scripted_http_options proxy = https_with(&certs.for_address);
    certificate other = certificate_make("server", "DNS:api.example", &certs.stranger);
    scripted_http *server = scripted_http_start(&(scripted_http_options){
        .serve = scripted_serve_echo, .certificate_pem = other.pem, .key_pem = other.key_pem});
    s.notes.port = scripted_http_port(server);
    scene_init(&s, &proxy, "https://");
    scene_run(&s, NULL);
    assert_int_equal(s.f.reason, KI_REASON_TLS);
    assert_null(strstr(s.f.message, "the proxy"));
    scene_fini(&s);
    scripted_http_stop(server);
    certificate_free(&other);
}

/* This is also true if tls-server-name is set: it does not apply to the proxy. */
static void an_https_proxy_must_prove_its_own_name(void **state)
{
    (void)state;
    char name[] = "api.example";
    const struct {
        const certificate *own;
        bool is_trusted;
    } cases[] = {{&certs.for_address, true}, {&certs.for_name, false}};
    for (size_t i = 0; i < 2; i++) {
        scene s = {.bench.config.tls_server_name = name};
        scripted_http_options proxy = https_with(cases[i].own);
        scene_init(&s, &proxy, "https://");
        scene_run(&s, NULL);
        if (cases[i].is_trusted)
            expect_answer(&s);
        else
            expect_failure(&s, KI_REASON_TLS, "the proxy https://%s cannot be reached: SSL: ");
        scene_fini(&s);
    }
}

static void disabled_verification_also_applies_to_an_https_proxy(void **state)
{
    (void)state;
    scene s = {.bench.config.insecure_skip_tls_verify = true};
    scripted_http_options proxy = https_with(&certs.for_name);
    scene_init(&s, &proxy, "https://");
    scene_run(&s, NULL);
    expect_answer(&s);
    scene_fini(&s);
}

static void an_https_proxy_that_asks_gets_our_certificate_and_no_token(void **state)
{
    (void)state;
    scene s = {0};
    scripted_http_options proxy = https_with(&certs.for_address);
    ki_credentials *credentials = fake_credentials_new();
    proxy.client_ca_pem = certs.authority.pem;
    scene_init(&s, &proxy, "https://jane:s3cret@");
    http_bench_init(&s.bench, NULL, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity = (ki_identity){.authorization = "Bearer token-1",
                                              .certificate_pem = certs.client.pem,
                                              .key_pem = certs.client.key_pem};
    fetch_get(&s.f, &s.bench, "/");
    expect_answer(&s);
    assert_non_null(strstr(s.f.body.text, "Bearer token-1"));
    assert_null(strstr(s.f.body.text, "Proxy-Authorization"));
    scene_fini(&s);
    ki_credentials_free(credentials);
    assert_string_equal(s.notes.client, "client");
    assert_null(strstr(s.notes.head, "token-1"));
    assert_non_null(strstr(s.notes.head, "Proxy-Authorization: Basic amFuZTpzM2NyZXQ=\r\n"));
}

static void a_key_of_another_certificate_is_not_blamed_on_an_https_proxy(void **state)
{
    (void)state;
    scene s = {0};
    scripted_http_options proxy = https_with(&certs.for_address);
    ki_credentials *credentials = fake_credentials_new();
    scene_init(&s, &proxy, "https://");
    http_bench_init(&s.bench, NULL, &(ki_http_options){.credentials = credentials});
    fake_credentials.identity =
        (ki_identity){.certificate_pem = certs.client.pem, .key_pem = certs.for_name.key_pem};
    fetch_get(&s.f, &s.bench, "/");
    assert_int_equal(s.f.reason, KI_REASON_TLS);
    assert_string_equal(s.f.message, "client-key /fake/key does not match client-certificate /fake/crt");
    scene_fini(&s);
    ki_credentials_free(credentials);
}

static void answer_plainly(scripted_connection *c, void *user)
{
    char bytes[16];
    (void)user;
    if (scripted_read_bytes(c, bytes, sizeof(bytes)))
        (void)scripted_answer(c, "400 Bad Request", "", "");
}

static void an_https_proxy_without_tls_is_reported_with_a_hint(void **state)
{
    (void)state;
    scene s = {0};
    scene_init(&s, &(scripted_http_options){.serve_bytes = answer_plainly}, "https://");
    scene_run(&s, NULL);
    expect_failure(&s, KI_REASON_TLS,
                   "the proxy https://%s does not use TLS; its address may have to begin with http://");
    scene_fini(&s);
}

static void an_https_proxy_that_refuses_the_tunnel_is_not_a_tls_failure(void **state)
{
    (void)state;
    scene s = {.notes.port = 1};
    scripted_http_options proxy = https_with(&certs.for_address);
    scene_init(&s, &proxy, "https://");
    scene_run(&s, NULL);
    assert_int_equal(s.f.reason, KI_REASON_CONNECTION_LOST);
    assert_non_null(strstr(s.f.message, "403"));
    scene_fini(&s);
}

/* ---- ports ------------------------------------------------------------------------------------------- */

static void a_proxy_without_a_port_has_the_same_default_as_in_kubectl(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        long port;        /* the port that we pass to libcurl; 0: its own default is the same */
        const char *said; /* the message of libcurl, always of 8.14 and before */
    } cases[] = {{"http://127.0.0.1", 80, " port 80 "},
                 {"http://[::1]/", 80, " port 80 "},
                 {"https://127.0.0.1", 0, " port 443 "},
                 {"socks5://127.0.0.1", 0, " port 1080 "}};
    int says_ports = curl_version_info(CURLVERSION_NOW)->version_num < 0x080f00;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        http_bench bench = {.config = {.server = server_url, .proxy_url = (char *)(uintptr_t)cases[i].url}};
        fetch f = {0};
        http_bench_init(&bench, NULL, NULL);
        fetch_get(&f, &bench, "/");
        assert_int_not_equal(f.reason, KI_REASON_NONE);
        assert_int_equal(bench.http->proxy.port, cases[i].port);
        if (says_ports || strstr(f.message, " port ") != NULL)
            assert_non_null(strstr(f.message, cases[i].said));
        fetch_free(&f);
        http_bench_fini(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_socks5_proxy_resolves_names_itself),
        WITH_MEMORY_CHECK(the_scheme_of_a_proxy_may_be_in_capitals),
        WITH_MEMORY_CHECK(a_socks5_proxy_gets_user_and_password),
        WITH_MEMORY_CHECK(user_and_password_may_contain_any_character),
        WITH_MEMORY_CHECK(a_socks5_proxy_leads_to_a_server_without_tls),
        WITH_MEMORY_CHECK(the_tls_server_name_is_not_the_target_of_a_socks5_proxy),
        WITH_MEMORY_CHECK(a_socks5_proxy_that_refuses_is_reported_without_its_password),
        WITH_MEMORY_CHECK(a_socks5_proxy_that_requires_a_user_is_reported),
        WITH_MEMORY_CHECK(an_https_proxy_is_verified_with_the_cas_of_the_cluster),
        WITH_MEMORY_CHECK(an_https_proxy_of_another_ca_is_not_trusted),
        WITH_MEMORY_CHECK(an_https_proxy_needs_no_alternative_name_but_the_server_does),
        WITH_MEMORY_CHECK(a_server_of_another_ca_behind_an_https_proxy_is_not_taken_for_the_proxy),
        WITH_MEMORY_CHECK(an_https_proxy_must_prove_its_own_name),
        WITH_MEMORY_CHECK(disabled_verification_also_applies_to_an_https_proxy),
        WITH_MEMORY_CHECK(an_https_proxy_that_asks_gets_our_certificate_and_no_token),
        WITH_MEMORY_CHECK(a_key_of_another_certificate_is_not_blamed_on_an_https_proxy),
        WITH_MEMORY_CHECK(an_https_proxy_without_tls_is_reported_with_a_hint),
        WITH_MEMORY_CHECK(an_https_proxy_that_refuses_the_tunnel_is_not_a_tls_failure),
        WITH_MEMORY_CHECK(a_proxy_without_a_port_has_the_same_default_as_in_kubectl),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
