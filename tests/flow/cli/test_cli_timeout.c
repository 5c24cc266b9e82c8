/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer watch --until-synced --timeout`: its exit status and the reason on stderr; and --quiet. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flow/support/cli_process.h"
#include "support/temp_dir.h"
#include "support/unit.h"

#define LIST                                                                                                 \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":["      \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\",\"uid\":\"a\",\"resourceVersion\":\"5\"}}]}"
#define STREAM                                                                                               \
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":"    \
    "\"default\",\"name\":\"a\",\"uid\":\"a\",\"resourceVersion\":\"5\"}}}\n"                                \
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"               \
    "\"resourceVersion\":\"10\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define REFUSAL(code, reason)                                                                                \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\",\"reason\":"       \
    "\"" reason "\",\"code\":" code "}"

/* Pods can be listed, services are refused, nodes need different credentials;
 * other requests get no response. */
static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    int is_pod = strstr(r->target, "/pods?") != NULL;
    if (is_pod && strstr(r->target, "watch=") == NULL) {
        (void)scripted_answer(c, "200 OK", NULL, LIST);
    } else if (strstr(r->target, "/services?") != NULL || strcmp(r->target, "/apis") == 0) {
        (void)scripted_answer(c, "403 Forbidden", NULL, REFUSAL("403", "Forbidden"));
    } else if (strstr(r->target, "/nodes?") != NULL) {
        (void)scripted_answer(c, "401 Unauthorized", NULL, REFUSAL("401", "Unauthorized"));
    } else {
        (void)(is_pod && scripted_begin(c, "200 OK"));
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    return SCRIPTED_KEEP;
}

/* Waits for a request, and never responds. */
static scripted_next serve_nothing(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

/* A LIST gets no response, a streamed list does. */
static scripted_next serve_streams(scripted_connection *c, const scripted_request *r, void *user)
{
    if (strstr(r->target, "sendInitialEvents=true") == NULL)
        return serve_nothing(c, r, user);
    (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, STREAM));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

/* A LIST is refused, a streamed list fails. */
static scripted_next serve_a_refusal_and_a_failure(scripted_connection *c, const scripted_request *r,
                                                   void *user)
{
    (void)user;
    if (strstr(r->target, "watch=") == NULL)
        (void)scripted_answer(c, "403 Forbidden", NULL, REFUSAL("403", "Forbidden"));
    else
        (void)scripted_answer(c, "502 Bad Gateway", NULL, "no");
    return SCRIPTED_KEEP;
}

/* A list that is larger than a pipe can hold. */
static scripted_next serve_a_large_list(scripted_connection *c, const scripted_request *r, void *user)
{
    char item[2200];
    (void)user;
    if (strstr(r->target, "watch=") != NULL)
        return serve_nothing(c, r, NULL);
    (void)scripted_begin(c, "200 OK");
    (void)scripted_chunk(c, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                            "\"10\"},\"items\":[");
    for (int i = 0; i < 500; i++) {
        (void)snprintf(item, sizeof(item),
                       "%s{\"metadata\":{\"namespace\":\"default\",\"name\":\"p%d\",\"uid\":\"u%d\","
                       "\"resourceVersion\":\"5\"},\"spec\":\"%02000d\"}",
                       i == 0 ? "" : ",", i, i, i);
        if (!scripted_chunk(c, item))
            return SCRIPTED_CLOSE;
    }
    (void)(scripted_chunk(c, "]}") && scripted_chunk(c, ""));
    return SCRIPTED_KEEP;
}

static scripted_http *start(scripted_serve_cb function)
{
    return scripted_http_start(&(scripted_http_options){.serve = function});
}

/* ---- --timeout ----------------------------------------------------------------------------------------- */

typedef struct row {
    const char *words;
    int code;
    const char *reason; /* in a line on stderr; NULL: not checked */
} row;

/* All at once, because most of them wait for the timeout. */
static void check_rows(scripted_serve_cb function, const row *rows, size_t count)
{
    enum { ROWS_MAX = 8 };
    cli_process processes[ROWS_MAX];
    scripted_http *server = start(function);
    assert_in_range(count, 1, ROWS_MAX);
    for (size_t i = 0; i < count; i++) {
        char line[256];
        (void)snprintf(line, sizeof(line), "%s --until-synced --watch-list never -o name", rows[i].words);
        cli_process_start(&processes[i], server, line);
    }
    for (size_t i = 0; i < count; i++) {
        cli_process *p = &processes[i];
        int code = cli_process_finish(p);
        if (code != rows[i].code || (rows[i].reason != NULL && !cli_process_has(&p->said, rows[i].reason)))
            fail_msg("%s: exit status %d, stderr:\n%s", rows[i].words, code, p->said.text);
        cli_process_free(p);
    }
    scripted_http_stop(server);
}

static void not_synced_in_time_is_3_with_the_reason(void **state)
{
    (void)state;
    static const row rows[] = {
        {"configmaps --timeout 3s", 3,
         "kinformer: configmaps: not synced after 3.0s: the server has not responded\n"},
        {"pods,configmaps --timeout 3s", 3, "configmaps: not synced after 3.0s: "},
        {"nodes --timeout 3s", 3, "nodes: not synced after 3.0s: Unauthorized: "},
        {"configmaps -s http://127.0.0.1:1 --timeout 3s", 3,
         "configmaps: not synced after 3.0s: ConnectionRefused: "},
    };
    check_rows(serve, rows, sizeof(rows) / sizeof(rows[0]));
}

static void missing_permission_is_4(void **state)
{
    (void)state;
    static const row rows[] = {
        {"services --timeout 3s", 4, "services: not synced after 3.0s: Forbidden: "},
        {"pods,configmaps,services --timeout 3s", 4, "services: not synced after 3.0s: Forbidden: "},
        {"widgets --timeout 3s", 4, "widgets: not synced after 3.0s: not a built-in resource, and "},
    };
    check_rows(serve, rows, sizeof(rows) / sizeof(rows[0]));
}

/* The kinds are tried in turn; it does not matter which one was last. */
static void missing_permission_for_one_kind_of_list_is_4(void **state)
{
    (void)state;
    scripted_http *server = start(serve_a_refusal_and_a_failure);
    cli_process p;
    cli_process_start(&p, server, "pods --wire json -o name --until-synced --timeout 2s");
    int code = cli_process_finish(&p);
    int is_failure_last = cli_process_has(&p.said, "not synced after 2.0s: ServerError: ");
    if (code != 4 ||
        (is_failure_last && !cli_process_has(&p.said, "; permission was refused before (403)\n")))
        fail_msg("%d, said:\n%s", code, p.said.text);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void synced_in_time_is_0(void **state)
{
    (void)state;
    static const row rows[] = {{"pods --timeout 1h", 0, NULL}, {"pods --timeout 0", 0, NULL}};
    check_rows(serve, rows, sizeof(rows) / sizeof(rows[0]));
}

/* Otherwise the LIST would have 60 s, and a streamed list would never be tried. */
static void within_the_timeout_another_kind_of_list_is_tried(void **state)
{
    (void)state;
    scripted_http *server = start(serve_streams);
    cli_process p;
    cli_process_start(&p, server, "pods --wire json -o name --until-synced --timeout 30s");
    int code = cli_process_finish(&p);
    if (code != 0)
        fail_msg("%d, said:\n%s", code, p.said.text);
    assert_string_equal(p.written.text, "pod/a\n");
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void the_timeout_includes_the_lookup_of_a_resource(void **state)
{
    (void)state;
    static const row rows[] = {{"widgets --timeout 3s", 3, "could not be asked: it has not responded\n"}};
    check_rows(serve_nothing, rows, 1);
}

/* It is blocked in a write when the timeout expires. */
static void a_reader_that_does_not_read_does_not_delay_the_timeout(void **state)
{
    (void)state;
    scripted_http *server = start(serve_a_large_list);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never --until-synced --timeout 1s");
    int out = p.out;
    p.out = -1;
    assert_int_equal(cli_process_finish(&p), 3);
    assert_true(
        cli_process_has(&p.said, "pods: not synced after 1.0s: the reader of stdout does not keep up\n"));
    close(out);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void a_signal_before_the_timeout_is_success(void **state)
{
    (void)state;
    scripted_http *server = start(serve_nothing);
    cli_process p;
    cli_process_start(&p, server, "pods --watch-list never --until-synced --timeout 1h");
    cli_process_wait_for(&p, &p.said, "pods: listing");
    cli_process_stop(&p, SIGTERM);
    cli_process_free(&p);
    scripted_http_stop(server);
}

/* ---- --quiet ------------------------------------------------------------------------------------------- */

static void quiet_prints_only_errors(void **state)
{
    (void)state;
    scripted_http *server = start(serve);
    cli_process p;
    cli_process_start(&p, server, "pods -o name --until-synced --quiet --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_null(p.said.text);
    assert_string_equal(p.written.text, "pod/a\n");
    cli_process_free(&p);
    cli_process_start(&p, server, "pods,services -o name --quiet --watch-list never");
    cli_process_wait_for(&p, &p.said, "kinformer: services: Forbidden: ");
    cli_process_wait_for(&p, &p.written, "pod/a\n");
    cli_process_stop(&p, SIGTERM);
    assert_false(cli_process_has(&p.said, "listing"));
    assert_false(cli_process_has(&p.said, "synced"));
    cli_process_free(&p);
    scripted_http_stop(server);
}

/* A watch that is cut once. */
static scripted_next serve_with_a_cut(scripted_connection *c, const scripted_request *r, void *user)
{
    int *cuts = user;
    if (strstr(r->target, "watch=") != NULL && (*cuts)++ == 0) {
        (void)scripted_begin(c, "200 OK");
        return SCRIPTED_RESET;
    }
    return serve(c, r, NULL);
}

static void quiet_reports_a_lost_watch_and_not_its_recovery(void **state)
{
    (void)state;
    int cuts = 0;
    scripted_http *server =
        scripted_http_start(&(scripted_http_options){.serve = serve_with_a_cut, .user = &cuts});
    cli_process p;
    cli_process_start(&p, server, "pods -o events --quiet --watch-list never");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"ConnectionLost\"");
    cli_process_wait_for(&p, &p.written, HEAD("STATUS", "pods") "\"phase\":\"WATCHING\",\"reason\":\"\"");
    cli_process_wait_for(&p, &p.said, "pods: ConnectionLost: ");
    cli_process_stop(&p, SIGTERM);
    while (cli_process_read(&p))
        continue;
    assert_false(cli_process_has(&p.said, "watching"));
    cli_process_free(&p);
    scripted_http_stop(server);
}

/* ---- a closed stdout, and signals ---------------------------------------------------------------------- */

static void a_closed_stdout_ends_it_while_it_looks_up_a_resource(void **state)
{
    (void)state;
    scripted_http *server = start(serve_nothing);
    cli_process p;
    cli_process_start(&p, server, "widgets");
    close(p.out);
    p.out = -1;
    assert_int_equal(cli_process_finish(&p), 0);
    assert_null(p.said.text);
    cli_process_free(&p);
    scripted_http_stop(server);
}

/* To the program, a FIFO looks like a file that is not there yet. */
static void a_signal_ends_it_while_it_reads_a_password(void **state)
{
    (void)state;
    temp_dir dir;
    cli_process p;
    char line[512];
    temp_dir_make(&dir);
    const char *path = temp_dir_path(&dir, "password");
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)snprintf(line, sizeof(line), "pods -s https://127.0.0.1:1 --username a --password-file %s", path);
    cli_process_start(&p, NULL, line);
    (void)poll(NULL, 0, 300); /* if it is not waiting for the file yet, the test proves less */
    cli_process_stop(&p, SIGINT);
    while (cli_process_read(&p))
        continue;
    assert_null(p.said.text);
    cli_process_free(&p);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_synced_in_time_is_3_with_the_reason),
        cmocka_unit_test(missing_permission_is_4),
        cmocka_unit_test(missing_permission_for_one_kind_of_list_is_4),
        cmocka_unit_test(synced_in_time_is_0),
        cmocka_unit_test(within_the_timeout_another_kind_of_list_is_tried),
        cmocka_unit_test(the_timeout_includes_the_lookup_of_a_resource),
        cmocka_unit_test(a_reader_that_does_not_read_does_not_delay_the_timeout),
        cmocka_unit_test(a_signal_before_the_timeout_is_success),
        cmocka_unit_test(quiet_prints_only_errors),
        cmocka_unit_test(quiet_reports_a_lost_watch_and_not_its_recovery),
        cmocka_unit_test(a_closed_stdout_ends_it_while_it_looks_up_a_resource),
        cmocka_unit_test(a_signal_ends_it_while_it_reads_a_password),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
