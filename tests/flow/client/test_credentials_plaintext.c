/* SPDX-License-Identifier: Apache-2.0 */
/* Servers without TLS get no secrets, unless the program allows it. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/client/certificates.h"
#include "support/client/scripted_http.h"
#include "support/temp_dir.h"
#include "support/unit.h"

#define WITHHELD                                                                                             \
    "no credentials were sent, because its address begins with http:// (use https://, or "                   \
    "set allow_plaintext_credentials in ki_client_options)"

/* ---- setup --------------------------------------------------------------------------------------------- */

typedef struct world {
    temp_dir dir;
    scripted_http *server;
    ki_client *client;
    atomic_int sent; /* requests with an Authorization header */
    const char *status;
    char message[KI_ERROR_MESSAGE_BYTES]; /* of the response to a call */
    int warnings;                         /* that credentials are withheld */
} world;

static scripted_next serve(scripted_connection *connection, const scripted_request *request, void *user)
{
    world *w = user;
    w->sent += strstr(request->head, "Authorization:") != NULL;
    scripted_answer(connection, w->status, NULL, "who are you\n");
    return SCRIPTED_KEEP;
}

static void count_warning(const ki_log_record *record, void *user)
{
    world *w = user;
    w->warnings += record->level == KI_LOG_WARNING && strcmp(record->component, "credentials") == 0 &&
                   strstr(record->message, "http://") != NULL &&
                   strstr(record->message, "set allow_plaintext_credentials") != NULL;
}

static void world_init(world *w, const certificate *own)
{
    *w = (world){.status = "401 Unauthorized"};
    temp_dir_make(&w->dir);
    ki_set_log(count_warning, KI_LOG_WARNING, w);
    scripted_http_options options = {.serve = serve, .user = w};
    if (own != NULL) {
        options.certificate_pem = own->pem;
        options.key_pem = own->key_pem;
    }
    w->server = scripted_http_start(&options);
}

static void world_fini(world *w)
{
    scripted_http_stop(w->server);
    ki_set_log(NULL, KI_LOG_ERROR, NULL);
    temp_dir_remove(&w->dir);
}

/* Makes two requests with a client of these options; the mode is set here. */
static void ask(world *w, ki_client_options options)
{
    ki_error err = {0};
    options.mode = KI_MODE_THREADS;
    w->client = ki_client_new(&options, &err);
    if (w->client == NULL)
        fail_msg("%s", err.message);
    for (int i = 0; i < 2; i++) {
        ki_rest_answer answer = {0};
        ki_rest_request get = {
            .verb = KI_REST_GET, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default", .name = "a"};
        (void)ki_rest_run(w->client, &get, &answer, NULL);
        snprintf(w->message, sizeof(w->message), "%s", answer.error.message);
        ki_rest_answer_fini(&answer);
    }
    ki_client_free(w->client);
}

/* Writes a kubeconfig for the server; `server` NULL: its whole address. */
static const char *kubeconfig(world *w, const char *server, const char *user)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {server: \"%s\"}}]\nusers:\n- name: u\n  user: %s\n",
             server == NULL ? scripted_http_url(w->server) : server, user);
    temp_dir_write(&w->dir, "token", "from-a-file\n");
    temp_dir_script(&w->dir, "plugin",
                    "echo ran >\"${0%/*}/ran\"; echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                    "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"from-a-plug-in\"}}'");
    return temp_dir_write(&w->dir, "config", text);
}

static void expect_withheld(const world *w)
{
    assert_true(scripted_http_requests(w->server) >= 2); /* each request is retried once */
    assert_int_equal(w->sent, 0);
    assert_int_equal(w->warnings, 1);
    assert_string_equal(w->message, "the server responded with 401, and " WITHHELD ": who are you");
}

/* ---- withheld ------------------------------------------------------------------------------------------ */

static const char *const users[] = {
    "{token: from-the-kubeconfig}",
    "{tokenFile: token}",
    "{username: jane, password: from-the-kubeconfig}",
    "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}}",
};
enum { USERS = sizeof(users) / sizeof(users[0]) };

static void nothing_of_a_kubeconfig_is_sent_in_plaintext(void **state)
{
    (void)state;
    for (int i = 0; i < USERS; i++) {
        world w;
        world_init(&w, NULL);
        ask(&w, (ki_client_options){.kubeconfig = kubeconfig(&w, NULL, users[i])});
        expect_withheld(&w);
        assert_string_equal(temp_dir_read(&w.dir, "ran"), "");
        world_fini(&w);
    }
}

static void nothing_of_a_kubeconfig_is_sent_to_another_plaintext_server(void **state)
{
    (void)state;
    for (int i = 0; i < USERS; i++) {
        world w;
        world_init(&w, NULL);
        const char *path = kubeconfig(&w, "https://prod.example:6443", users[i]);
        ask(&w, (ki_client_options){.kubeconfig = path, .server = scripted_http_url(w.server)});
        expect_withheld(&w);
        world_fini(&w);
    }
}

static void a_server_without_a_scheme_is_plaintext(void **state)
{
    (void)state;
    for (int i = 0; i < USERS; i++) {
        world w;
        world_init(&w, NULL);
        const char *address = scripted_http_url(w.server) + strlen("http://");
        ask(&w, (ki_client_options){.kubeconfig = kubeconfig(&w, address, users[i])});
        expect_withheld(&w);
        world_fini(&w);
    }
}

static void nothing_of_the_options_is_sent_in_plaintext(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    ask(&w, (ki_client_options){.server = scripted_http_url(w.server), .token = "from-an-option"});
    expect_withheld(&w);
    world_fini(&w);
    world_init(&w, NULL);
    ask(&w, (ki_client_options){
                .server = scripted_http_url(w.server), .username = "jane", .password = "from-an-option"});
    expect_withheld(&w);
    world_fini(&w);
}

/* A server that does not allow impersonation responds with 403. */
static void a_403_reports_withheld_credentials(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    w.status = "403 Forbidden";
    ask(&w, (ki_client_options){.server = scripted_http_url(w.server), .token = "from-an-option"});
    assert_string_equal(w.message, "the server responded with 403, and " WITHHELD ": who are you");
    world_fini(&w);
}

/* Runs until the first response. */
static void expect_informer_says_so(ki_client *client)
{
    ki_informer_status status = {0};
    ki_informer *informer = ki_informer_new(client, &KI_CORE_V1_CONFIGMAPS, NULL, NULL);
    assert_int_equal(ki_informer_start(informer, NULL), 0);
    while (status.reason != KI_REASON_UNAUTHORIZED) {
        assert_true(ki_client_dispatch(client, 10) >= 0);
        ki_informer_read_status(informer, &status);
    }
    assert_string_equal(status.message, "the server responded with 401, and " WITHHELD ": who are you");
    ki_informer_free(informer);
}

static void an_informer_reports_withheld_credentials(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    ki_client_options options = {
        .server = scripted_http_url(w.server), .token = "t", .mode = KI_MODE_EVENT_LOOP};
    ki_client *client = ki_client_new(&options, NULL);
    expect_informer_says_so(client);
    ki_client_free(client);
    world_fini(&w);
}

/* This includes the first response: the token was set before the request. */
static void a_token_that_is_set_later_is_withheld(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    ki_client *client = ki_client_new(&(ki_client_options){.server = scripted_http_url(w.server)}, NULL);
    assert_int_equal(ki_client_set_token(client, "set-later"), 0);
    ki_rest_answer answer = {0};
    ki_rest_request get = {
        .verb = KI_REST_GET, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default", .name = "a"};
    assert_int_equal(ki_rest_run(client, &get, &answer, NULL), KI_ERR_UNAUTHORIZED);
    snprintf(w.message, sizeof(w.message), "%s", answer.error.message);
    ki_rest_answer_fini(&answer);
    ki_client_free(client);
    assert_int_equal(w.sent, 0);
    assert_int_equal(w.warnings, 1);
    assert_string_equal(w.message, "the server responded with 401, and " WITHHELD ": who are you");
    world_fini(&w);
}

/* However often a token is set. */
static void withheld_tokens_are_logged_once(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    ki_client *client =
        ki_client_new(&(ki_client_options){.server = scripted_http_url(w.server), .token = "one"}, NULL);
    for (int i = 0; i < 3; i++) {
        ki_rest_answer answer = {0};
        ki_rest_request get = {
            .verb = KI_REST_GET, .resource = &KI_CORE_V1_CONFIGMAPS, .ns = "default", .name = "a"};
        assert_int_equal(ki_client_set_token(client, "another"), 0);
        assert_int_equal(ki_rest_run(client, &get, &answer, NULL), KI_ERR_UNAUTHORIZED);
        ki_rest_answer_fini(&answer);
    }
    ki_client_free(client);
    assert_int_equal(w.sent, 0);
    assert_int_equal(w.warnings, 1);
    world_fini(&w);
}

static void an_informer_reports_a_withheld_token_that_is_set_later(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    ki_client_options options = {.server = scripted_http_url(w.server), .mode = KI_MODE_EVENT_LOOP};
    ki_client *client = ki_client_new(&options, NULL);
    assert_int_equal(ki_client_set_token(client, "set-later"), 0);
    expect_informer_says_so(client);
    ki_client_free(client);
    world_fini(&w);
}

/* ---- sent ---------------------------------------------------------------------------------------------- */

static void credentials_are_sent_in_plaintext_if_allowed(void **state)
{
    (void)state;
    for (int i = 0; i < USERS; i++) {
        world w;
        world_init(&w, NULL);
        const char *path = kubeconfig(&w, NULL, users[i]);
        ask(&w, (ki_client_options){.kubeconfig = path, .allow_plaintext_credentials = 1});
        assert_int_equal(w.sent, scripted_http_requests(w.server));
        assert_int_equal(w.warnings, 0);
        assert_string_equal(w.message, "the server responded with 401: who are you");
        world_fini(&w);
    }
}

static void credentials_are_sent_over_tls(void **state)
{
    (void)state;
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    for (int has_scheme = 0; has_scheme < 2; has_scheme++) {
        world w;
        world_init(&w, &own);
        const char *address = scripted_http_url(w.server) + (has_scheme ? 0 : strlen("https://"));
        const char *ca = temp_dir_write(&w.dir, "ca", authority.pem);
        ask(&w, (ki_client_options){.server = address, .token = "secret", .certificate_authority = ca});
        assert_int_equal(w.sent, scripted_http_requests(w.server));
        assert_int_equal(w.warnings, 0);
        world_fini(&w);
    }
    certificate_free(&own);
    certificate_free(&authority);
}

static void without_credentials_there_is_no_warning(void **state)
{
    (void)state;
    world w;
    world_init(&w, NULL);
    ask(&w, (ki_client_options){.server = scripted_http_url(w.server)});
    assert_int_equal(w.warnings, 0);
    assert_string_equal(w.message, "the server responded with 401: who are you");
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_a_kubeconfig_is_sent_in_plaintext),
        cmocka_unit_test(nothing_of_a_kubeconfig_is_sent_to_another_plaintext_server),
        cmocka_unit_test(a_server_without_a_scheme_is_plaintext),
        cmocka_unit_test(nothing_of_the_options_is_sent_in_plaintext),
        cmocka_unit_test(a_403_reports_withheld_credentials),
        cmocka_unit_test(an_informer_reports_withheld_credentials),
        cmocka_unit_test(a_token_that_is_set_later_is_withheld),
        cmocka_unit_test(withheld_tokens_are_logged_once),
        cmocka_unit_test(an_informer_reports_a_withheld_token_that_is_set_later),
        cmocka_unit_test(credentials_are_sent_in_plaintext_if_allowed),
        cmocka_unit_test(credentials_are_sent_over_tls),
        cmocka_unit_test(without_credentials_there_is_no_warning),
    };
    return RUN_TESTS(tests);
}
