/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations that are loaded before they are used, or given as text,
 * and tokens that the program renews. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clearenv; NOLINT(bugprone-reserved-identifier) */
#endif
#include <kinformer.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/client/certificates.h"
#include "support/client/scripted_http.h"
#include "support/temp_dir.h"
#include "support/unit.h"

/* ---- setup --------------------------------------------------------------------------------------------- */

typedef struct world {
    temp_dir dir;
    certificate authority;
    certificate own;
    certificate client;
    scripted_http *server; /* with TLS and client certificates; NULL: it runs in another process */
    pid_t server_pid;      /* that process; 0: none */
    char url[64];
} world;

/* Accepts any token except "old", and responds with the client's name and token. */
static scripted_next serve(scripted_connection *connection, const scripted_request *request, void *user)
{
    (void)user;
    char body[512];
    const char *sent = strstr(request->head, "Authorization: ");
    sent = sent == NULL ? "nothing\r" : sent + strlen("Authorization: ");
    bool is_old = strncmp(sent, "Bearer old\r", 11) == 0;
    snprintf(body, sizeof(body), "%s with %.*s", request->client, (int)strcspn(sent, "\r"), sent);
    scripted_answer(connection, is_old ? "401 Unauthorized" : "200 OK", NULL, body);
    return SCRIPTED_KEEP;
}

static scripted_http *start_server(const world *w)
{
    return scripted_http_start(&(scripted_http_options){.serve = serve,
                                                        .certificate_pem = w->own.pem,
                                                        .key_pem = w->own.key_pem,
                                                        .client_ca_pem = w->authority.pem});
}

static world *make_world(void)
{
    static world w;
    w = (world){0};
    temp_dir_make(&w.dir);
    w.authority = certificate_make("authority", NULL, NULL);
    w.own = certificate_make("server", "IP:127.0.0.1", &w.authority);
    w.client = certificate_make("jane", NULL, &w.authority);
    return &w;
}

static int set_up(void **state)
{
    world *w = make_world();
    w->server = start_server(w);
    snprintf(w->url, sizeof(w->url), "%s", scripted_http_url(w->server));
    *state = w;
    return 0;
}

/* A process that will fork must not have threads: locks that they hold at that moment would be held for
 * ever. */
static int set_up_apart(void **state)
{
    world *w = make_world();
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    w->server_pid = fork();
    if (w->server_pid == 0) {
        const char *url = scripted_http_url(start_server(w));
        (void)!write(ends[1], url, strlen(url));
        for (;;)
            pause();
    }
    ssize_t n = read(ends[0], w->url, sizeof(w->url) - 1);
    close(ends[0]);
    close(ends[1]);
    *state = w;
    return n > 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    world *w = *state;
    if (w->server_pid > 0) {
        kill(w->server_pid, SIGKILL);
        (void)waitpid(w->server_pid, NULL, 0);
    } else {
        scripted_http_stop(w->server);
    }
    certificate_free(&w->own);
    certificate_free(&w->client);
    certificate_free(&w->authority);
    temp_dir_remove(&w->dir);
    return 0;
}

typedef struct heard {
    bool is_over;
    char text[KI_ERROR_MESSAGE_BYTES];
} heard;

static void on_answer(const ki_rest_answer *answer, void *user)
{
    heard *what = user;
    what->is_over = true;
    snprintf(what->text, sizeof(what->text), "%.*s", KI_STR_ARGS(answer->body));
    if (answer->error.code != 0)
        snprintf(what->text, sizeof(what->text), "%s", answer->error.message);
}

static void ask(ki_client *client, heard *what)
{
    *what = (heard){0};
    ki_rest_request get = {.verb = KI_REST_GET, .path = "/who", .on_answer = on_answer, .user = what};
    assert_int_equal(ki_rest_begin(client, &get, NULL, NULL), 0);
    while (!what->is_over) {
        struct pollfd polled = {.fd = ki_client_fd(client), .events = POLLIN};
        (void)poll(&polled, 1, ki_client_timeout_ms(client));
        assert_true(ki_client_dispatch(client, KI_BUDGET_NONE) >= 0);
    }
}

static ki_client *client_of(ki_client_options options)
{
    ki_error err = {0};
    options.mode = KI_MODE_EVENT_LOOP;
    ki_client *client = ki_client_new(&options, &err);
    if (client == NULL)
        fail_msg("%s", err.message);
    return client;
}

static void expect(ki_client_options options, const char *expected)
{
    heard what;
    ki_client *client = client_of(options);
    ask(client, &what);
    assert_string_equal(what.text, expected);
    ki_client_free(client);
}

/* Everything that a client needs, in files beside a kubeconfig. */
static const char *write_files(const world *w)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: web}}]\n"
             "clusters: [{name: k, cluster: {server: '%s', certificate-authority: ca}}]\n"
             "users: [{name: u, user: {client-certificate: crt, client-key: key, tokenFile: token}}]\n",
             w->url);
    temp_dir_write(&w->dir, "ca", w->authority.pem);
    temp_dir_write(&w->dir, "crt", w->client.pem);
    temp_dir_write(&w->dir, "key", w->client.key_pem);
    temp_dir_write(&w->dir, "token", "from-the-file\n");
    return temp_dir_write(&w->dir, "config", text);
}

static ki_config *config_of(ki_client_options options)
{
    ki_error err = {0};
    ki_config *config = ki_config_new(&options, &err);
    if (config == NULL)
        fail_msg("%s", err.message);
    return config;
}

/* ---- loaded in advance --------------------------------------------------------------------------------- */

/* The work of a worker: without permissions, if the system allows dropping them; without an environment, and
 * without files. Ends the process. */
static void work(const ki_config *config, const char *root)
{
    heard what = {0};
    ki_error err = {0};
    (void)clearenv();
    if (geteuid() == 0 && (chroot(root) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        _exit(2);
    ki_client *client =
        ki_client_new(&(ki_client_options){.config = config, .mode = KI_MODE_EVENT_LOOP}, &err);
    if (client == NULL)
        _exit(3);
    ask(client, &what);
    bool is_good = strcmp(what.text, "jane with Bearer from-the-file") == 0 &&
                   strcmp(ki_client_namespace(client), "web") == 0;
    ki_client_free(client);
    _exit(is_good ? 0 : 4);
}

static void a_worker_without_permissions_uses_the_masters_configuration(void **state)
{
    world *w = *state;
    ki_config *config = config_of((ki_client_options){.kubeconfig = write_files(w)});
    static const char *const names[] = {"config", "ca", "crt", "key", "token"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(unlink(temp_dir_path(&w->dir, names[i])), 0);
    for (int i = 0; i < 2; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
            work(config, w->dir.path);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    ki_config_free(config);
}

static void a_configuration_may_be_freed_once_the_client_exists(void **state)
{
    world *w = *state;
    heard what;
    ki_config *config = config_of((ki_client_options){.kubeconfig = write_files(w)});
    ki_client *client = client_of((ki_client_options){.config = config});
    ki_config_free(config);
    ask(client, &what);
    assert_string_equal(what.text, "jane with Bearer from-the-file");
    ki_client_free(client);
}

static void readable_files_are_read_again(void **state)
{
    world *w = *state;
    ki_config *config = config_of((ki_client_options){.kubeconfig = write_files(w)});
    certificate other = certificate_make("joe", NULL, &w->authority);
    temp_dir_write(&w->dir, "crt", other.pem);
    temp_dir_write(&w->dir, "key", other.key_pem);
    temp_dir_write(&w->dir, "token", "the-next");
    expect((ki_client_options){.config = config}, "joe with Bearer the-next");
    certificate_free(&other);
    ki_config_free(config);
}

static void other_options_are_refused_beside_a_configuration(void **state)
{
    world *w = *state;
    ki_config *config = config_of((ki_client_options){.kubeconfig = write_files(w)});
    const struct {
        ki_client_options options;
        const char *named;
    } cases[] = {
        {{.config = config, .token = "t"}, "token"},
        {{.config = config, .kubeconfig_text = ""}, "kubeconfig_text"},
        {{.config = config, .as_groups = (const char *[]){"g", NULL}}, "as_groups"},
        {{.config = config, .ns = "web"}, "ns"},
        {{.config = config, .insecure_skip_tls_verify = 1}, "insecure_skip_tls_verify"},
        {{.config = config, .allow_plaintext_credentials = 1}, "allow_plaintext_credentials"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        char expected[200];
        snprintf(expected, sizeof(expected),
                 "client: `%s` cannot be used with `config`: pass it to ki_config_new() instead",
                 cases[i].named);
        assert_null(ki_client_new(&cases[i].options, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_string_equal(err.message, expected);
    }
    ki_config_free(config);
    ki_config_free(NULL);
}

static void a_configuration_that_cannot_be_loaded_is_an_error(void **state)
{
    const world *w = *state;
    ki_error err = {0};
    const char *path = write_files(w);
    temp_dir_write(&w->dir, "token", "");
    assert_null(ki_config_new(&(ki_client_options){.kubeconfig = path}, &err));
    assert_int_equal(err.code, KI_ERR_CONFIG);
    assert_non_null(strstr(err.message, "tokenFile: "));
}

/* ---- as text ------------------------------------------------------------------------------------------- */

static void everything_can_be_given_as_text(void **state)
{
    const world *w = *state;
    ki_client_options options = {.server = w->url,
                                 .token = "from-memory",
                                 .certificate_authority_pem = w->authority.pem,
                                 .client_certificate_pem = w->client.pem,
                                 .client_key_pem = w->client.key_pem};
    expect(options, "jane with Bearer from-memory");
    ki_config *config = config_of(options);
    expect((ki_client_options){.config = config}, "jane with Bearer from-memory");
    ki_config_free(config);
}

static void a_kubeconfig_can_be_given_as_text(void **state)
{
    const world *w = *state;
    char text[512];
    snprintf(
        text, sizeof(text),
        "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
        "clusters: [{name: k, cluster: {server: '%s'}}]\nusers: [{name: u, user: {token: of-the-text}}]\n",
        w->url);
    expect((ki_client_options){.kubeconfig_text = text,
                               .certificate_authority_pem = w->authority.pem,
                               .client_certificate_pem = w->client.pem,
                               .client_key_pem = w->client.key_pem},
           "jane with Bearer of-the-text");
}

static void errors_in_a_text_are_described(void **state)
{
    (void)state;
    static const struct {
        ki_client_options options;
        const char *message;
    } cases[] = {
        {{.kubeconfig_text = "a: b\n- c"}, "kubeconfig_text:"},
        {{.kubeconfig_text = "{}", .kubeconfig = "/x"},
         "kubeconfig_text: cannot be combined with kubeconfig"},
        {{.server = "https://k", .client_key_pem = "x", .client_certificate_pem = "y"},
         "client-certificate-data: "},
        {{.server = "https://k", .certificate_authority_pem = "x"}, "certificate-authority-data: "},
        {{.server = "https://k", .token_file = "/nowhere/token"}, "token-file: /nowhere/token: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        assert_null(ki_client_new(&cases[i].options, &err));
        assert_int_equal(err.code, KI_ERR_CONFIG);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s", err.message);
    }
}

/* ---- renewed tokens ------------------------------------------------------------------------------------ */

static ki_client_options trusting(const world *w)
{
    return (ki_client_options){.server = w->url,
                               .certificate_authority_pem = w->authority.pem,
                               .client_certificate_pem = w->client.pem,
                               .client_key_pem = w->client.key_pem};
}

static void a_token_file_needs_no_kubeconfig(void **state)
{
    const world *w = *state;
    heard what;
    ki_client_options options = trusting(w);
    options.token_file = temp_dir_write(&w->dir, "token", "first\n");
    ki_client *client = client_of(options);
    ask(client, &what);
    assert_string_equal(what.text, "jane with Bearer first");
    ki_client_free(client);
    temp_dir_write(&w->dir, "token", "old\n");
    client = client_of(options);
    ask(client, &what); /* the token is refused, and the file is read again */
    assert_string_equal(what.text, "the server responded with 401: jane with Bearer old");
    temp_dir_write(&w->dir, "token", "second\n");
    ask(client, &what);
    assert_string_equal(what.text, "jane with Bearer second");
    ki_client_free(client);
}

static void a_program_may_renew_the_token(void **state)
{
    const world *w = *state;
    heard what;
    ki_client_options all[3] = {trusting(w), trusting(w), trusting(w)};
    all[0].token = "first";
    all[1].token_file = temp_dir_write(&w->dir, "token", "first");
    all[2].username = "jane";
    for (int i = 0; i < 3; i++) {
        ki_client *client = client_of(all[i]);
        ask(client, &what);
        assert_null(strstr(what.text, "second"));
        assert_int_equal(ki_client_set_token(client, "not-taken"), 0);
        assert_int_equal(ki_client_set_token(client, "second"), 0);
        ask(client, &what);
        assert_string_equal(what.text, "jane with Bearer second");
        assert_int_equal(ki_client_set_token(client, "third"), 0);
        ask(client, &what);
        assert_string_equal(what.text, "jane with Bearer third");
        assert_int_equal(ki_client_set_token(client, "never-taken"), 0);
        ki_client_free(client);
    }
}

static void a_client_without_a_token_can_get_one(void **state)
{
    const world *w = *state;
    heard what;
    ki_client *client = client_of(trusting(w));
    ask(client, &what);
    assert_string_equal(what.text, "jane with nothing");
    assert_int_equal(ki_client_set_token(client, "one"), 0);
    ask(client, &what);
    assert_string_equal(what.text, "jane with Bearer one");
    ki_client_free(client);
}

static void an_invalid_token_is_refused(void **state)
{
    const world *w = *state;
    heard what;
    ki_client_options options = trusting(w);
    options.token = "first";
    ki_client *client = client_of(options);
    assert_int_equal(ki_client_set_token(client, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_client_set_token(client, ""), KI_ERR_INVALID);
    assert_int_equal(ki_client_set_token(client, "a\r\nb"), KI_ERR_INVALID);
    assert_int_equal(ki_client_set_token(NULL, "a"), KI_ERR_INVALID);
    ask(client, &what);
    assert_string_equal(what.text, "jane with Bearer first");
    ki_client_free(client);
    client = client_of((ki_client_options){.no_cluster = 1});
    assert_int_equal(ki_client_set_token(client, "a"), KI_ERR_INVALID);
    ki_client_free(client);
}

typedef struct renewer {
    ki_client *client;
    atomic_bool is_over;
} renewer;

static void *renew(void *user)
{
    renewer *r = user;
    for (unsigned i = 0; !r->is_over; i++) {
        char token[32];
        snprintf(token, sizeof(token), "token-%08u", i % 1000);
        if (ki_client_set_token(r->client, token) < 0)
            return NULL;
    }
    return r;
}

static void tokens_may_be_renewed_while_requests_are_made(void **state)
{
    const world *w = *state;
    pthread_t thread;
    void *ended = NULL;
    ki_client_options options = trusting(w);
    options.token = "token-00000000";
    renewer r = {.client = client_of(options)};
    assert_int_equal(pthread_create(&thread, NULL, renew, &r), 0);
    for (int i = 0; i < 100; i++) {
        heard what;
        unsigned number = 0;
        char digits[16] = "";
        ask(r.client, &what);
        assert_int_equal(sscanf(what.text, "jane with Bearer token-%15s", digits), 1);
        assert_int_equal(strlen(digits), 8);
        number = (unsigned)strtoul(digits, NULL, 10);
        assert_true(number < 1000);
    }
    r.is_over = true;
    assert_int_equal(pthread_join(thread, &ended), 0);
    assert_ptr_equal(ended, &r);
    ki_client_free(r.client);
}

static void a_token_of_the_program_is_not_sent_in_plaintext(void **state)
{
    (void)state;
    heard what;
    scripted_http *plain = scripted_http_start(&(scripted_http_options){.serve = serve});
    ki_client *client = client_of((ki_client_options){.server = scripted_http_url(plain)});
    assert_int_equal(ki_client_set_token(client, "secret"), 0);
    ask(client, &what);
    assert_string_equal(what.text, " with nothing");
    ki_client_free(client);
    scripted_http_stop(plain);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_without_permissions_uses_the_masters_configuration,
                                        set_up_apart, tear_down),
        TEST(a_configuration_may_be_freed_once_the_client_exists),
        TEST(readable_files_are_read_again),
        TEST(other_options_are_refused_beside_a_configuration),
        TEST(a_configuration_that_cannot_be_loaded_is_an_error),
        TEST(everything_can_be_given_as_text),
        TEST(a_kubeconfig_can_be_given_as_text),
        TEST(errors_in_a_text_are_described),
        TEST(a_token_file_needs_no_kubeconfig),
        TEST(a_program_may_renew_the_token),
        TEST(a_client_without_a_token_can_get_one),
        TEST(an_invalid_token_is_refused),
        TEST(tokens_may_be_renewed_while_requests_are_made),
        TEST(a_token_of_the_program_is_not_sent_in_plaintext),
    };
    return RUN_TESTS(tests);
}
