/* SPDX-License-Identifier: Apache-2.0 */
/* Which party an informer's error handler gets: the server, a proxy or this program. */
#include <kinformer.h>
#include <poll.h>
#include <stdio.h>

#include "support/client/scripted_http.h"
#include "support/patience.h"
#include "support/unit.h"

#define HTTPS "https://api.example:6443"

/* The responses, and what the handler must get. */
typedef struct scene {
    const char *status;    /* of each response; NULL: nothing listens */
    const char *user_yaml; /* of the kubeconfig */
    const char *behind;    /* it is a proxy for this server; NULL: it is the server */
    ki_party party;
    int http_status;
} scene;

typedef struct heard {
    ki_party party;
    int http_status;
    char message[KI_ERROR_MESSAGE_BYTES];
    int count;
} heard;

static void hear(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    heard *h = user;
    if (h->count++ > 0)
        return;
    h->party = error->party;
    h->http_status = error->http_status;
    snprintf(h->message, sizeof(h->message), "%s", error->error->message);
}

static scripted_next serve(scripted_connection *connection, const scripted_request *request, void *user)
{
    (void)request;
    const scene *s = user;
    (void)scripted_answer(connection, s->status, "", "");
    return SCRIPTED_CLOSE;
}

static void expect_party(const scene *s)
{
    scripted_http *server = NULL;
    const char *url = "http://127.0.0.1:1";
    char kubeconfig[1024];
    heard h = {0};
    ki_error err = {0};
    if (s->status != NULL) {
        server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = (void *)(uintptr_t)s});
        url = scripted_http_url(server);
    }
    snprintf(kubeconfig, sizeof(kubeconfig),
             "current-context: c\ncontexts: [{name: c, context: {cluster: s, user: u}}]\n"
             "clusters: [{name: s, cluster: {server: \"%s\"%s%s%s}}]\nusers: [{name: u, user: {%s}}]\n",
             s->behind != NULL ? s->behind : url, s->behind != NULL ? ", proxy-url: \"" : "",
             s->behind != NULL ? url : "", s->behind != NULL ? "\"" : "",
             s->user_yaml == NULL ? "" : s->user_yaml);
    ki_client *client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP,
                                                           .kubeconfig_text = kubeconfig,
                                                           .allow_plaintext_credentials = 1},
                                      &err);
    ki_informer *pods = ki_informer_new(client, &KI_CORE_V1_PODS, NULL, &err);
    assert_int_equal(ki_informer_set_error_handler(pods, hear, &h), 0);
    assert_int_equal(ki_informer_start(pods, &err), 0);
    struct pollfd polled = {.fd = ki_client_fd(client), .events = POLLIN};
    while (h.count == 0) {
        assert_int_equal(poll(&polled, 1, HANG_MS), 1);
        assert_true(ki_client_dispatch(client, 0) >= 0);
    }
    if (h.party != s->party || h.http_status != s->http_status)
        fail_msg("party %d, status %d: %s", h.party, h.http_status, h.message);
    ki_informer_free(pods);
    ki_client_free(client);
    scripted_http_stop(server);
}

static void a_missing_proxy_is_the_party(void **state)
{
    (void)state;
    expect_party(&(scene){.behind = HTTPS, .party = KI_PARTY_PROXY});
}

static void a_proxy_that_requires_credentials_is_the_party(void **state)
{
    (void)state;
    expect_party(&(scene){.behind = HTTPS, .status = "407 Who", .party = KI_PARTY_PROXY});
    expect_party(&(scene){
        .behind = "http://api.example", .status = "407 Who", .party = KI_PARTY_PROXY, .http_status = 407});
}

static void a_proxy_that_does_not_connect_is_the_party(void **state)
{
    (void)state;
    expect_party(&(scene){.behind = HTTPS, .status = "503 No", .party = KI_PARTY_PROXY});
}

static void a_missing_server_is_the_party(void **state)
{
    (void)state;
    expect_party(&(scene){.party = KI_PARTY_SERVER});
}

static void a_server_that_responds_with_an_error_is_the_party(void **state)
{
    (void)state;
    expect_party(&(scene){.status = "503 No", .party = KI_PARTY_SERVER, .http_status = 503});
}

static void for_a_missing_plug_in_this_program_is_the_party(void **state)
{
    (void)state;
    expect_party(&(scene){.status = "200 OK",
                          .user_yaml =
                              "exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/x, "
                              "interactiveMode: Never}",
                          .party = KI_PARTY_SELF});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_proxy_is_the_party),
        cmocka_unit_test(a_proxy_that_requires_credentials_is_the_party),
        cmocka_unit_test(a_proxy_that_does_not_connect_is_the_party),
        cmocka_unit_test(a_missing_server_is_the_party),
        cmocka_unit_test(a_server_that_responds_with_an_error_is_the_party),
        cmocka_unit_test(for_a_missing_plug_in_this_program_is_the_party),
    };
    return RUN_TESTS(tests);
}
