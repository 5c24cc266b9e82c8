/* SPDX-License-Identifier: Apache-2.0 */
/* Proxies with an invalid address: nothing is sent past them, and their password is not revealed. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/client/certificates.h"
#include "support/client/scripted_http.h"
#include "support/temp_dir.h"
#include "support/unit.h"

static const char *const malformed[] = {
    "http://bob:hush%0ahush@127.0.0.1:1",   "http://bob:hush%00hush@127.0.0.1:1",
    "http://bob:hushhush%1f@127.0.0.1:1",   "http://b%0aob:hushhush@127.0.0.1:1",
    "http://b%00:hushhush@127.0.0.1:1",     "http://%1f:hushhush@127.0.0.1:1",
    "http://bob:hushhush%7F@127.0.0.1:1",   "http://bob:hushhush%zz@127.0.0.1:1",
    "http://bob:hushhush%4@127.0.0.1:1",    "http://bob:hushhush@ho{st:3128",
    "https://bob:hush%0ahush@127.0.0.1:1",  "socks5://bob:hush%0ahush@127.0.0.1:1",
    "socks5://bob:hush%00hush@127.0.0.1:1", "socks5://bob:hushhush@ho{st:1080",
    "http://bob:hushhush@ho%41st:3128",
};
enum { MALFORMED = sizeof(malformed) / sizeof(malformed[0]) };

static scripted_next serve(scripted_connection *connection, const scripted_request *request, void *user)
{
    (void)request;
    (void)user;
    scripted_answer(connection, "404 Not Found", NULL, "");
    return SCRIPTED_KEEP;
}

static void try_once(const ki_client_options *options, ki_error *err)
{
    ki_client *client = ki_client_new(options, err);
    if (client == NULL)
        return;
    ki_rest_answer answer = {0};
    ki_rest_request get = {.verb = KI_REST_GET,
                           .resource = &KI_CORE_V1_CONFIGMAPS,
                           .ns = "default",
                           .name = "a",
                           .timeout_ms = 500};
    (void)ki_rest_run(client, &get, &answer, NULL);
    *err = answer.error;
    ki_rest_answer_fini(&answer);
    ki_client_free(client);
}

static void expect_refusal(const ki_error *err, const char *field, const char *address)
{
    if (err->code != KI_ERR_CONFIG || strstr(err->message, field) == NULL ||
        strstr(err->message, "hush") != NULL)
        fail_msg("%s: %d %s", address, err->code, err->message);
}

static void a_malformed_proxy_is_refused_before_anything_is_sent(void **state)
{
    (void)state;
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    temp_dir dir;
    temp_dir_make(&dir);
    temp_dir_write(&dir, "ca", authority.pem);
    scripted_http *server = scripted_http_start(
        &(scripted_http_options){.serve = serve, .certificate_pem = own.pem, .key_pem = own.key_pem});
    for (int i = 0; i < MALFORMED; i++) {
        char text[1024];
        ki_error err = {0};
        snprintf(
            text, sizeof(text),
            "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
            "clusters: [{name: k, cluster: {server: '%s', certificate-authority: ca, proxy-url: '%s'}}]\n"
            "users: [{name: u, user: {token: the-token}}]\n",
            scripted_http_url(server), malformed[i]);
        try_once(&(ki_client_options){.kubeconfig = temp_dir_write(&dir, "config", text)}, &err);
        assert_int_equal(scripted_http_requests(server), 0);
        expect_refusal(&err, "proxy-url", malformed[i]);
    }
    scripted_http_stop(server);
    temp_dir_remove(&dir);
    certificate_free(&own);
    certificate_free(&authority);
}

static void a_malformed_proxy_of_the_environment_is_refused(void **state)
{
    (void)state;
    unsetenv("NO_PROXY");
    unsetenv("no_proxy");
    for (int i = 0; i < MALFORMED; i++) {
        ki_error err = {0};
        setenv("HTTPS_PROXY", malformed[i], 1);
        try_once(&(ki_client_options){.server = "https://192.0.2.1:6443", .token = "the-token"}, &err);
        expect_refusal(&err, "$HTTPS_PROXY: ", malformed[i]);
    }
    unsetenv("HTTPS_PROXY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_malformed_proxy_is_refused_before_anything_is_sent),
        cmocka_unit_test(a_malformed_proxy_of_the_environment_is_refused),
    };
    return RUN_TESTS(tests);
}
