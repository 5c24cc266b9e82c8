/* SPDX-License-Identifier: Apache-2.0 */
/* Informers with a real kubeconfig, whose credentials change while they watch. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/client/certificates.h"
#include "support/client/scripted_http.h"
#include "support/patience.h"
#include "support/temp_dir.h"
#include "support/text_log.h"
#include "support/unit.h"
#include "util/clock.h"

#define ITEM(name, version)                                                                                  \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"" name                         \
    "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"
#define REFUSAL                                                                                              \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"Unauthorized\","        \
    "\"reason\":\"Unauthorized\",\"code\":401}"
#define CREDENTIAL(token)                                                                                    \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","                       \
    "\"status\":{\"token\":\"" token "\"}}\n"

/* ---- setup --------------------------------------------------------------------------------------------- */

typedef struct world {
    temp_dir dir;
    scripted_http *server;
    ki_client *client;
    ki_informer *informer;
    atomic_int lists;
    atomic_int refusals; /* by the server */
    atomic_int from_11;  /* watches from version 11 */
    ki_informer_error last;
    char message[KI_ERROR_MESSAGE_BYTES];
    int failures;                        /* reported to the error handler */
    char answer[KI_ERROR_MESSAGE_BYTES]; /* the result of a call */
} world;

static bool has(const scripted_request *request, const char *text)
{
    return strstr(request->head, text) != NULL;
}

/* Replaces a file by the one that the test has prepared, if there is one. Runs on a thread of the server. */
static void replace(const world *w, const char *name)
{
    char next[256];
    char path[256];
    snprintf(next, sizeof(next), "%s/%s.next", w->dir.path, name);
    snprintf(path, sizeof(path), "%s/%s", w->dir.path, name);
    (void)rename(next, path);
}

static void send_back(scripted_connection *connection, const scripted_request *request)
{
    char body[512];
    const char *sent = strstr(request->head, "Bearer ");
    snprintf(body, sizeof(body), "I do not know %.*s\n", (int)strcspn(sent, "\r"), sent);
    scripted_answer(connection, "401 Unauthorized", NULL, body);
}

/* The first watch delivers b and ends; from then on a different token is required,
 * with which c is delivered. */
static scripted_next serve(scripted_connection *connection, const scripted_request *request, void *user)
{
    world *w = user;
    int is_watch = strstr(request->target, "watch=true") != NULL;
    int is_second = has(request, "Authorization: Bearer second\r\n");
    int is_late = strstr(request->target, "resourceVersion=11") != NULL;
    if (has(request, "Bearer sent-back")) {
        send_back(connection, request);
        return SCRIPTED_KEEP;
    }
    if (is_watch && is_late)
        w->from_11++;
    if ((!is_second && is_late) || (!is_second && !has(request, "Authorization: Bearer first\r\n"))) {
        replace(w, "token");
        replace(w, "answer");
        w->refusals++;
        scripted_answer(connection, "401 Unauthorized", NULL, REFUSAL);
        return SCRIPTED_KEEP;
    }
    if (!is_watch) {
        w->lists++;
        scripted_answer(connection, "200 OK", NULL,
                        "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                        "\"10\"},\"items\":[" ITEM("a", "9") "]}");
        return SCRIPTED_KEEP;
    }
    scripted_begin(connection, "200 OK");
    scripted_chunk(connection, is_second ? EVENT("ADDED", ITEM("c", "12")) : EVENT("ADDED", ITEM("b", "11")));
    if (is_second)
        scripted_wait_for_end(connection);
    return SCRIPTED_CLOSE;
}

static void on_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    world *w = user;
    (void)informer;
    w->failures++;
    w->last = *error;
    snprintf(w->message, sizeof(w->message), "%s", error->error->message);
}

static ki_informer *follow(world *w)
{
    ki_error err = {0};
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER, .backoff_ms = 10, .backoff_max_ms = 50};
    ki_informer *informer = ki_informer_new(w->client, &KI_CORE_V1_CONFIGMAPS, &options, &err);
    assert_non_null(informer);
    assert_int_equal(ki_informer_set_error_handler(informer, on_error, w), 0);
    assert_int_equal(ki_informer_start(informer, &err), 0);
    return informer;
}

/* The user and the cluster of the kubeconfig, in YAML; and the server's certificate. */
typedef struct scene {
    const char *user;
    const char *trust; /* "" without TLS, like the next */
    const certificate *server;
} scene;

static void world_open(world *w, const scene *with)
{
    char text[2048];
    ki_error err = {0};
    scripted_http_options options = {.serve = serve, .user = w};
    if (with->server != NULL) {
        options.certificate_pem = with->server->pem;
        options.key_pem = with->server->key_pem;
    }
    w->server = scripted_http_start(&options);
    snprintf(text, sizeof(text),
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {server: \"%s\"%s}}]\nusers:\n- name: u\n  user: %s\n",
             scripted_http_url(w->server), with->trust, with->user);
    const char *path = temp_dir_write(&w->dir, "config", text);
    temp_dir_write(&w->dir, "token", "first\n"); /* for a user with a token file */
    w->client = ki_client_new(&(ki_client_options){.kubeconfig = path,
                                                   .mode = KI_MODE_EVENT_LOOP,
                                                   .allow_plaintext_credentials = with->server == NULL},
                              &err);
    if (w->client == NULL)
        fail_msg("%s", err.message);
    w->informer = follow(w);
}

static void world_init(world *w, const char *user)
{
    *w = (world){0};
    temp_dir_make(&w->dir);
    world_open(w, &(scene){.user = user, .trust = ""});
}

static void world_fini(world *w)
{
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
    temp_dir_remove(&w->dir);
}

static bool has_object(ki_informer *informer, const char *name)
{
    ki_object *object = ki_store_get(ki_informer_store(informer), KI_STR("default"), ki_str_of(name));
    ki_object_unref(object);
    return object != NULL;
}

static void live(world *w)
{
    struct pollfd polled = {.fd = ki_client_fd(w->client), .events = POLLIN};
    (void)poll(&polled, 1, ki_client_timeout_ms(w->client));
    assert_true(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
}

static void wait_for(world *w, ki_informer *informer, const char *name)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!has_object(informer, name)) {
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        live(w);
    }
}

/* ---- credentials that are refused during a watch ----------------------------------------------------- */

static void expect_the_same_watch(world *w)
{
    wait_for(w, w->informer, "c");
    assert_int_equal(w->refusals, 1);
    assert_int_equal(w->lists, 1);
    assert_int_equal(w->from_11, 2);
    assert_int_equal(w->last.reason, KI_REASON_UNAUTHORIZED);
    assert_int_equal(w->last.http_status, 401);
    assert_string_equal(w->message, "the server responded with 401 Unauthorized: Unauthorized");
    ki_informer_status status;
    ki_informer_read_status(w->informer, &status);
    assert_int_equal(status.reason, KI_REASON_NONE);
    assert_int_equal(status.phase, KI_PHASE_WATCHING);
}

static void a_watch_resumes_with_a_changed_token_file(void **state)
{
    (void)state;
    static world w;
    world_init(&w, "{tokenFile: token}");
    temp_dir_write(&w.dir, "token.next", "second\n");
    expect_the_same_watch(&w);
    world_fini(&w);
}

static void keep_message(const ki_rest_answer *answer, void *user)
{
    world *w = user;
    snprintf(w->answer, sizeof(w->answer), "%s", answer->error.message);
}

static void a_token_that_the_server_sends_back_is_masked(void **state)
{
    (void)state;
    static world w;
    const char *const expected = "the server responded with 401: I do not know Bearer <masked>";
    ki_rest_request get = {.verb = KI_REST_GET,
                           .resource = &KI_CORE_V1_CONFIGMAPS,
                           .ns = "default",
                           .name = "a",
                           .on_answer = keep_message,
                           .user = &w};
    world_init(&w, "{token: sent-back-0123456789}");
    assert_int_equal(ki_rest_begin(w.client, &get, NULL, NULL), 0);
    while (w.failures == 0 || w.answer[0] == 0)
        live(&w);
    assert_string_equal(w.message, expected);
    assert_string_equal(w.answer, expected);
    ki_informer_status status;
    ki_informer_read_status(w.informer, &status);
    assert_string_equal(status.message, expected);
    world_fini(&w);
}

#define PLUGIN                                                                                               \
    "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never, "       \
    "installHint: \"get it at example.com\"}}"

static void write_plugin(world *w)
{
    temp_dir_write(&w->dir, "answer", CREDENTIAL("first"));
    temp_dir_write(&w->dir, "answer.next", CREDENTIAL("second"));
    temp_dir_script(&w->dir, "plugin", "cd \"${0%/*}\"; echo run >>runs; cat answer");
}

static void a_plug_in_is_run_again_and_the_watch_resumes(void **state)
{
    (void)state;
    static world w;
    world_init(&w, PLUGIN);
    write_plugin(&w);
    expect_the_same_watch(&w);
    assert_string_equal(temp_dir_read(&w.dir, "runs"), "run\nrun\n");
    world_fini(&w);
}

static void one_run_of_a_plug_in_is_enough_for_all_informers(void **state)
{
    (void)state;
    static world w;
    ki_informer *others[4];
    world_init(&w, PLUGIN);
    write_plugin(&w);
    for (int i = 0; i < 4; i++)
        others[i] = follow(&w);
    wait_for(&w, w.informer, "a");
    for (int i = 0; i < 4; i++)
        wait_for(&w, others[i], "a");
    assert_string_equal(temp_dir_read(&w.dir, "runs"), "run\n");
    for (int i = 0; i < 4; i++)
        ki_informer_free(others[i]);
    world_fini(&w);
}

static void a_missing_plug_in_is_reported_with_its_hint(void **state)
{
    (void)state;
    static world w;
    ki_informer_status status;
    world_init(&w, PLUGIN);
    while (w.failures == 0)
        live(&w);
    ki_informer_read_status(w.informer, &status);
    assert_int_equal(status.reason, KI_REASON_NO_CREDENTIALS);
    assert_int_equal(status.http_status, 0);
    assert_non_null(strstr(w.message, "/plugin\" of user \"u\": No such file or directory; get it at"));
    assert_string_equal(status.message, w.message);
    assert_int_equal(scripted_http_requests(w.server), 0);
    world_fini(&w);
}

/* ---- trusted servers ----------------------------------------------------------------------------------- */

static void a_replaced_ca_is_trusted(void **state)
{
    (void)state;
    static world w;
    ki_informer_status status;
    certificate old = certificate_make("old", NULL, NULL);
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    w = (world){0};
    temp_dir_make(&w.dir);
    temp_dir_write(&w.dir, "ca", old.pem);
    world_open(&w,
               &(scene){.user = "{token: first}", .trust = ", certificate-authority: ca", .server = &own});
    while (w.failures < 2)
        live(&w);
    ki_informer_read_status(w.informer, &status);
    assert_int_equal(w.last.reason, KI_REASON_TLS);
    assert_int_equal(status.reason, KI_REASON_TLS);
    assert_int_equal(w.lists, 0);
    temp_dir_write(&w.dir, "ca", authority.pem);
    wait_for(&w, w.informer, "b");
    assert_int_equal(w.lists, 1);
    world_fini(&w);
    certificate_free(&own);
    certificate_free(&authority);
    certificate_free(&old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_resumes_with_a_changed_token_file),
        cmocka_unit_test(a_token_that_the_server_sends_back_is_masked),
        cmocka_unit_test(a_plug_in_is_run_again_and_the_watch_resumes),
        cmocka_unit_test(one_run_of_a_plug_in_is_enough_for_all_informers),
        cmocka_unit_test(a_missing_plug_in_is_reported_with_its_hint),
        cmocka_unit_test(a_replaced_ca_is_trusted),
    };
    return RUN_TESTS(tests);
}
