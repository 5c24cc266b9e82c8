/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer watch` with servers that have several resources, kinds of lists, and users. */
#include <kinformer/apiserver.h>
#include <kinformer/resources.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "flow/support/cli_process.h"
#include "support/client/certificates.h"
#include "support/temp_dir.h"
#include "support/unit.h"

/* ---- the server -------------------------------------------------------------------------------------- */

typedef struct world {
    scripted_http *server;
    atomic_int lists;
    atomic_int streams; /* streamed lists requested */
    atomic_int refusals_left;
    char last_list[4096]; /* the last list request and its user; read after the program has ended */
    char last_client[64];
    atomic_bool is_rotated; /* only the second certificate or token is accepted */
} world;

#define OBJECT(kind, name, version)                                                                          \
    "{\"kind\":\"" kind "\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\",\"name\":\"" name  \
    "\",\"uid\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define LIST(kind, items)                                                                                    \
    "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" \
    "" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define END_OF_LIST                                                                                          \
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"               \
    "\"resourceVersion\":\"10\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define STATUS(code, reason, message)                                                                        \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"" message               \
    "\",\"reason\":\"" reason "\",\"code\":" code "}"

#define NODE                                                                                                 \
    "{\"metadata\":{\"name\":\"n\",\"uid\":\"n\",\"resourceVersion\":\"5\",\"labels\":{\"x\":\"y\"},"        \
    "\"managedFields\":["                                                                                    \
    "{\"manager\":\"m\"}]},\"spec\":{\"podCIDR\":\"10.0.0.0/24\",\"unschedulable\":true}}"

static bool asks(const scripted_request *r, const char *part)
{
    return strstr(r->target, part) != NULL;
}

/* A streamed list, if the server supports it at the moment. */
static scripted_next serve_stream(world *w, scripted_connection *c)
{
    w->streams++;
    if (w->refusals_left > 0) {
        w->refusals_left--;
        (void)scripted_answer(c, "422 Unprocessable Entity", NULL,
                              STATUS("422", "Invalid", "sendInitialEvents is forbidden here"));
        return SCRIPTED_KEEP;
    }
    (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", OBJECT("Pod", "a", "5"))) &&
           scripted_chunk(c, END_OF_LIST));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static bool is_trusted(const world *w, const scripted_request *r)
{
    return !w->is_rotated || strcmp(r->client, "two") == 0 || strstr(r->head, "Bearer two\r\n") != NULL;
}

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    if (!is_trusted(w, r)) {
        (void)scripted_answer(c, "401 Unauthorized", NULL, STATUS("401", "Unauthorized", "who are you"));
        return SCRIPTED_KEEP;
    }
    if (asks(r, "sendInitialEvents=true"))
        return serve_stream(w, c);
    if (asks(r, "watch=true")) {
        bool is_later = asks(r, "resourceVersion=11&");
        (void)(scripted_begin(c, "200 OK") &&
               scripted_chunk(c, is_later ? EVENT("ADDED", OBJECT("Pod", "c", "12"))
                                          : EVENT("ADDED", OBJECT("Pod", "b", "11"))) &&
               scripted_wait(c, 1) && !is_later);
        if (is_later)
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    w->lists++;
    (void)snprintf(w->last_list, sizeof(w->last_list), "%s", r->target);
    (void)snprintf(w->last_client, sizeof(w->last_client), "%s", r->client);
    (void)scripted_answer(c, "200 OK", NULL,
                          asks(r, "/nodes") ? LIST("Node", NODE)
                          : asks(r, "/services")
                              ? LIST("Service", OBJECT("Service", "s", "4") "," OBJECT("Service", "t", "5"))
                              : LIST("Pod", OBJECT("Pod", "a", "5")));
    return SCRIPTED_KEEP;
}

static void world_init(world *w, const scripted_http_options *options)
{
    scripted_http_options used = options != NULL ? *options : (scripted_http_options){0};
    used.serve = serve;
    used.user = w;
    w->server = scripted_http_start(&used);
}

/* ---- flags ------------------------------------------------------------------------------------------- */

static void two_resources_sync_at_once(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    world_init(&w, NULL);
    cli_process_start(&p, w.server, "pods,services -o events --until-synced --stats --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_true(cli_process_has(&p.written, HEAD("SYNCED", "pods") "\"objects\":1,"));
    assert_true(cli_process_has(&p.written, HEAD("SYNCED", "services") "\"objects\":2,"));
    assert_true(cli_process_has(&p.said, "\"lists\":2,"));
    assert_int_equal(w.lists, 2);
    cli_process_free(&p);
    scripted_http_stop(w.server);
}

static void a_resync_repeats_what_has_not_changed(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    world_init(&w, NULL);
    cli_process_start(&p, w.server, "pods -o events --resync 1s --watch-list never");
    cli_process_wait_for(&p, &p.written,
                         HEAD("MODIFIED", "pods") "\"resync\":true,\"object\":" OBJECT("Pod", "a", "5"));
    assert_int_equal(w.lists, 1);
    cli_process_stop(&p, SIGTERM);
    cli_process_free(&p);
    scripted_http_stop(w.server);
}

static void watch_list_always_never_lists_and_gives_a_reason(void **state)
{
    (void)state;
    world w = {.refusals_left = 2};
    cli_process p;
    world_init(&w, NULL);
    cli_process_start(&p, w.server, "pods -o events --watch-list always");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"");
    cli_process_wait_for(&p, &p.said, "sendInitialEvents is forbidden here");
    cli_process_wait_for(&p, &p.written, HEAD("SYNCED", "pods") "\"objects\":1,");
    assert_true(cli_process_has(&p.written, "\"phase\":\"STREAMING_LIST\""));
    assert_false(cli_process_has(&p.written, "\"phase\":\"LISTING\""));
    assert_int_equal(w.lists, 0);
    assert_int_equal(w.streams, 3);
    cli_process_stop(&p, SIGTERM);
    cli_process_free(&p);
    scripted_http_stop(w.server);
}

/* Runs until everything has been written, and the program must exit with 0. */
static void run(world *w, cli_process *p, const char *line)
{
    world_init(w, NULL);
    cli_process_start(p, w->server, line);
    assert_int_equal(cli_process_finish(p), 0);
    scripted_http_stop(w->server);
}

static void flags_become_parts_of_requests(void **state)
{
    (void)state;
    static const char *const parts[] = {"/api/v1/namespaces/web/pods?", "labelSelector=app%3Dx",
                                        "fieldSelector=metadata.name%3Da", "limit=7"};
    world w = {0};
    cli_process p;
    run(&w, &p,
        "pods -n web -l app=x --field-selector metadata.name=a --page-size 7 -o json --until-synced "
        "--watch-list never");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        assert_non_null(strstr(w.last_list, parts[i]));
    assert_string_equal(p.written.text, OBJECT("Pod", "a", "5") "\n");
    cli_process_free(&p);
    run(&w, &p, "pods -A --page-size 0 -o none --until-synced --watch-list never");
    assert_memory_equal(w.last_list, "/api/v1/pods?", 13);
    assert_null(strstr(w.last_list, "limit="));
    assert_null(p.written.text);
    cli_process_free(&p);
}

static void a_name_selects_one_object(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"web-0", "fieldSelector=metadata.name%3Dweb-0"},
        {"system:a,b=c\\", "metadata.name%3Dsystem%3Aa%5C%2Cb%5C%3Dc%5C%5C"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        world w = {0};
        cli_process p;
        char line[256];
        (void)snprintf(line, sizeof(line), "pods %s -n web -o none --until-synced --watch-list never",
                       rows[i][0]);
        run(&w, &p, line);
        assert_memory_equal(w.last_list, "/api/v1/namespaces/web/pods?", 28);
        assert_non_null(strstr(w.last_list, rows[i][1]));
        cli_process_free(&p);
    }
}

static void only_fields_of_keep_are_written(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    run(&w, &p, "nodes --keep /spec/podCIDR -o json --until-synced --watch-list never");
    assert_string_equal(p.written.text,
                        "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\",\"uid\":\"n\","
                        "\"resourceVersion\":\"5\"},\"spec\":{\"podCIDR\":\"10.0.0.0/24\"}}\n");
    cli_process_free(&p);
    run(&w, &p, "nodes --keep-managed-fields -o json --until-synced --watch-list never");
    assert_true(cli_process_has(&p.written, "\"managedFields\":[{\"manager\":\"m\"}]"));
    cli_process_free(&p);
}

/* ---- a server that restarts ------------------------------------------------------------------------ */

static int lines_with(const text_log *log, const char *part)
{
    int count = 0;
    for (const char *at = log->text; at != NULL && (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void put(ki_apiserver *server, const char *json)
{
    ki_error err = {0};
    if (ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, json, &err) < 0)
        fail_msg("%s", err.message);
}

static void a_server_that_restarts_is_followed_again(void **state)
{
    (void)state;
    cli_process p;
    char line[256];
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(NULL, &err);
    assert_non_null(server);
    (void)snprintf(line, sizeof(line), "configmaps -o events --server %s", ki_apiserver_url(server));
    cli_process_start(&p, NULL, line);
    cli_process_wait_for(&p, &p.said, "configmaps: synced");
    put(server, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"before\"}}");
    cli_process_wait_for(&p, &p.written, "\"name\":\"before\"");
    ki_apiserver_down(server);
    cli_process_wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"Connection");
    put(server, "{\"metadata\":{\"namespace\":\"default\",\"name\":\"meanwhile\"}}");
    assert_int_equal(ki_apiserver_up(server, &err), 0);
    cli_process_wait_for(&p, &p.written, "\"name\":\"meanwhile\"");
    cli_process_wait_for(&p, &p.said, "configmaps: watching again after ");
    assert_int_equal(lines_with(&p.said, "watching again"), 1);
    assert_in_range(lines_with(&p.said, "configmaps: Connection"), 1, 2); /* lost, and possibly refused */
    assert_int_equal(lines_with(&p.written, "\"type\":\"SYNCED\""), 1);
    cli_process_stop(&p, SIGTERM);
    cli_process_free(&p);
    ki_apiserver_free(server);
}

/* ---- users ------------------------------------------------------------------------------------------- */

/* The test writes the user's part. */
static const char *write_kubeconfig(const temp_dir *dir, const world *w, const char *user)
{
    char text[2048];
    (void)snprintf(text, sizeof(text),
                   "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
                   "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
                   "clusters:\n- name: c\n  cluster:\n    server: %s\n    certificate-authority: ca.pem\n"
                   "users:\n- name: u\n  user:\n%s",
                   scripted_http_url(w->server), user);
    return temp_dir_write(dir, "config", text);
}

static void the_namespace_is_the_contexts_unless_one_is_given(void **state)
{
    (void)state;
    world w = {0};
    temp_dir dir;
    char text[512];
    char line[512];
    temp_dir_make(&dir);
    for (int i = 0; i < 3; i++) {
        cli_process p;
        world_init(&w, NULL);
        (void)snprintf(
            text, sizeof(text),
            "current-context: x\ncontexts: [{name: x, context: {cluster: c, namespace: team}}, "
            "{name: y, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: \"%s\"}}]\n",
            scripted_http_url(w.server));
        (void)snprintf(line, sizeof(line), "pods --until-synced --watch-list never --kubeconfig %s%s",
                       temp_dir_write(&dir, "config", text),
                       i == 0   ? ""
                       : i == 1 ? " --context y"
                                : " -n web");
        cli_process_start(&p, NULL, line);
        assert_int_equal(cli_process_finish(&p), 0);
        assert_non_null(strstr(w.last_list, i == 0   ? "/namespaces/team/pods"
                                            : i == 1 ? "/namespaces/default/pods"
                                                     : "/namespaces/web/pods"));
        cli_process_free(&p);
        scripted_http_stop(w.server);
    }
    temp_dir_remove(&dir);
}

static void start_with_kubeconfig(cli_process *p, const char *path)
{
    char line[512];
    (void)snprintf(line, sizeof(line), "pods -o events --watch-list never --kubeconfig %s", path);
    cli_process_start(p, NULL, line);
}

/* The files are replaced, the server accepts only the new certificate, and nothing has to be restarted. */
static void a_rotated_certificate_is_used_on_a_new_connection(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    temp_dir dir;
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    certificate clients[] = {certificate_make("one", NULL, &authority),
                             certificate_make("two", NULL, &authority)};
    world_init(&w, &(scripted_http_options){
                       .certificate_pem = own.pem, .key_pem = own.key_pem, .client_ca_pem = authority.pem});
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "ca.pem", authority.pem);
    (void)temp_dir_write(&dir, "client.pem", clients[0].pem);
    (void)temp_dir_write(&dir, "client.key", clients[0].key_pem);
    start_with_kubeconfig(&p, write_kubeconfig(&dir, &w,
                                               "    client-certificate: client.pem\n"
                                               "    client-key: client.key\n"));
    cli_process_wait_for(&p, &p.written, "\"name\":\"b\"");
    (void)temp_dir_write(&dir, "client.key", clients[1].key_pem);
    (void)temp_dir_write(&dir, "client.pem", clients[1].pem);
    w.is_rotated = true;
    scripted_http_poke(w.server, 1);
    cli_process_wait_for(&p, &p.written, "\"reason\":\"Unauthorized\"");
    cli_process_wait_for(&p, &p.written, "\"name\":\"c\"");
    cli_process_stop(&p, SIGTERM);
    cli_process_free(&p);
    scripted_http_stop(w.server);
    temp_dir_remove(&dir);
    for (int i = 0; i < 2; i++)
        certificate_free(&clients[i]);
    certificate_free(&own);
    certificate_free(&authority);
}

static void a_certificate_can_be_given_by_flags(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    temp_dir dir;
    char line[1024];
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "DNS:api.example", &authority);
    certificate client = certificate_make("one", NULL, &authority);
    world_init(&w, &(scripted_http_options){
                       .certificate_pem = own.pem, .key_pem = own.key_pem, .client_ca_pem = authority.pem});
    temp_dir_make(&dir);
    (void)snprintf(line, sizeof(line),
                   "pods -o none --until-synced --watch-list never --tls-server-name api.example "
                   "--certificate-authority %s --client-certificate %s --client-key %s",
                   temp_dir_write(&dir, "ca.pem", authority.pem),
                   temp_dir_write(&dir, "client.pem", client.pem),
                   temp_dir_write(&dir, "client.key", client.key_pem));
    cli_process_start(&p, w.server, line);
    assert_int_equal(cli_process_finish(&p), 0);
    assert_string_equal(w.last_client, "one");
    cli_process_free(&p);
    scripted_http_stop(w.server);
    temp_dir_remove(&dir);
    certificate_free(&client);
    certificate_free(&own);
    certificate_free(&authority);
}

static void a_signal_ends_it_while_a_plug_in_runs(void **state)
{
    (void)state;
    world w = {0};
    cli_process p;
    temp_dir dir;
    char user[512];
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    world_init(&w, &(scripted_http_options){.certificate_pem = own.pem, .key_pem = own.key_pem});
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "ca.pem", authority.pem);
    (void)snprintf(user, sizeof(user),
                   "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
                   "      interactiveMode: Never\n      command: %s\n",
                   temp_dir_script(&dir, "plug-in", "echo x >\"$0.ran\"; exec sleep 600"));
    start_with_kubeconfig(&p, write_kubeconfig(&dir, &w, user));
    while (temp_dir_read(&dir, "plug-in.ran")[0] == 0)
        assert_int_not_equal(cli_process_read(&p), 0);
    cli_process_stop(&p, SIGINT);
    cli_process_free(&p);
    scripted_http_stop(w.server);
    temp_dir_remove(&dir);
    certificate_free(&own);
    certificate_free(&authority);
}

/* Prints "one" the first time, and "two" from then on. */
static const char plug_in[] = "if [ -e ran ]; then token=two; else token=one; fi\n"
                              "echo x >>ran\n"
                              "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                              "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"'$token'\"}}'\n";

static void a_plug_in_runs_again_when_its_token_is_refused(void **state)
{
    (void)state;
    world w = {.is_rotated = true};
    cli_process p;
    temp_dir dir;
    char user[512];
    char script[sizeof(plug_in) + 256];
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    world_init(&w, &(scripted_http_options){.certificate_pem = own.pem, .key_pem = own.key_pem});
    temp_dir_make(&dir);
    (void)temp_dir_write(&dir, "ca.pem", authority.pem);
    (void)snprintf(script, sizeof(script), "cd %s\n%s", dir.path, plug_in);
    (void)snprintf(user, sizeof(user),
                   "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
                   "      interactiveMode: Never\n      command: %s\n",
                   temp_dir_script(&dir, "plug-in", script));
    start_with_kubeconfig(&p, write_kubeconfig(&dir, &w, user));
    cli_process_wait_for(&p, &p.written, "\"name\":\"b\"");
    assert_string_equal(temp_dir_read(&dir, "ran"), "x\nx\n");
    cli_process_stop(&p, SIGTERM);
    while (cli_process_read(&p))
        continue;
    assert_false(cli_process_has(&p.written, "Bearer"));
    assert_false(cli_process_has(&p.said, "two"));
    cli_process_free(&p);
    scripted_http_stop(w.server);
    temp_dir_remove(&dir);
    certificate_free(&own);
    certificate_free(&authority);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_resources_sync_at_once),
        cmocka_unit_test(a_resync_repeats_what_has_not_changed),
        cmocka_unit_test(watch_list_always_never_lists_and_gives_a_reason),
        cmocka_unit_test(a_server_that_restarts_is_followed_again),
        cmocka_unit_test(flags_become_parts_of_requests),
        cmocka_unit_test(a_name_selects_one_object),
        cmocka_unit_test(only_fields_of_keep_are_written),
        cmocka_unit_test(the_namespace_is_the_contexts_unless_one_is_given),
        cmocka_unit_test(a_rotated_certificate_is_used_on_a_new_connection),
        cmocka_unit_test(a_certificate_can_be_given_by_flags),
        cmocka_unit_test(a_signal_ends_it_while_a_plug_in_runs),
        cmocka_unit_test(a_plug_in_runs_again_when_its_token_is_refused),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
