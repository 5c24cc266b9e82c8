/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer watch` as a process, against a server that does what each test wants. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flow/support/cli_process.h"
#include "support/client/scripted_http.h"
#include "support/unit.h"

/* ---- servers ------------------------------------------------------------------------------------------- */

#define POD(name, version)                                                                                   \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\",\"name\":\"" name       \
    "\",\"uid\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define LIST                                                                                                 \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":["      \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\",\"uid\":\"a\",\"resourceVersion\":\"5\","       \
    "\"managedFields\":[{\"manager\":\"m\"}]}}]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define STATUS(code, reason)                                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\",\"reason\":"       \
    "\"" reason "\",\"code\":" code "}"

static int is_watch(const scripted_request *request)
{
    return strstr(request->target, "watch=") != NULL;
}

/* One pod, and three events of another pod. */
static scripted_next serve_well(scripted_connection *connection, const scripted_request *request, void *user)
{
    (void)user;
    if (!is_watch(request)) {
        scripted_answer(connection, "200 OK", NULL, LIST);
        return SCRIPTED_KEEP;
    }
    scripted_begin(connection, "200 OK");
    scripted_chunk(connection, EVENT("ADDED", POD("b", "11")) EVENT("MODIFIED", POD("b", "12"))
                                   EVENT("DELETED", POD("b", "13")));
    scripted_wait_for_end(connection);
    return SCRIPTED_CLOSE;
}

static scripted_next serve_refusal(scripted_connection *connection, const scripted_request *request,
                                   void *user)
{
    (void)request;
    (void)user;
    scripted_answer(connection, "403 Forbidden", NULL, STATUS("403", "Forbidden"));
    return SCRIPTED_KEEP;
}

/* Lists work; watches, and therefore streamed lists, do not. */
static scripted_next serve_lists_only(scripted_connection *connection, const scripted_request *request,
                                      void *user)
{
    if (!is_watch(request))
        return serve_well(connection, request, user);
    scripted_answer(connection, "429 Too Many Requests", NULL, STATUS("429", "TooManyRequests"));
    return SCRIPTED_KEEP;
}

/* Accepts a request and never responds. */
static scripted_next serve_silence(scripted_connection *connection, const scripted_request *request,
                                   void *user)
{
    (void)request;
    (void)user;
    scripted_wait_for_end(connection);
    return SCRIPTED_CLOSE;
}

/* The first watch is cut at once. */
static scripted_next serve_with_a_cut(scripted_connection *connection, const scripted_request *request,
                                      void *user)
{
    int *cuts = user;
    if (is_watch(request) && (*cuts)++ == 0) {
        scripted_begin(connection, "200 OK");
        return SCRIPTED_RESET;
    }
    return serve_well(connection, request, NULL);
}

/* The first watch gets an error because its version is too old; the pod "a" is gone in the next list. */
static scripted_next serve_with_a_gap(scripted_connection *connection, const scripted_request *request,
                                      void *user)
{
    int *lists = user;
    if (!is_watch(request)) {
        scripted_answer(connection, "200 OK", NULL,
                        (*lists)++ == 0 ? LIST
                                        : "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
                                          "\"resourceVersion\":\"20\"},\"items\":[]}");
        return SCRIPTED_KEEP;
    }
    scripted_begin(connection, "200 OK");
    if (strstr(request->target, "resourceVersion=10&") != NULL) {
        scripted_chunk(connection, EVENT("ERROR", STATUS("410", "Expired")));
        scripted_chunk(connection, "");
        return SCRIPTED_CLOSE;
    }
    scripted_wait_for_end(connection);
    return SCRIPTED_CLOSE;
}

/* An endless stream of events. */
static scripted_next serve_a_flood(scripted_connection *connection, const scripted_request *request,
                                   void *user)
{
    char event[4096];
    if (!is_watch(request))
        return serve_well(connection, request, user);
    scripted_begin(connection, "200 OK");
    for (int version = 11;; version++) {
        snprintf(event, sizeof(event),
                 "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
                 "\"namespace\":\"default\",\"name\":\"a\",\"uid\":\"a\",\"resourceVersion\":\"%d\"},"
                 "\"spec\":\"%02000d\"}}\n",
                 version, version);
        if (!scripted_chunk(connection, event))
            return SCRIPTED_CLOSE;
    }
}

static scripted_http *start(scripted_serve_cb serve, void *user)
{
    return scripted_http_start(&(scripted_http_options){.serve = serve, .user = user});
}

/* Ends the program by a signal, and then its server. */
static void stop_both(cli_process *p, scripted_http *server, int number)
{
    cli_process_stop(p, number);
    cli_process_free(p);
    scripted_http_stop(server);
}

/* ---- output -------------------------------------------------------------------------------------------- */

#define STATUS_LINE(phase, version)                                                                          \
    HEAD("STATUS", "pods")                                                                                   \
    "\"phase\":\"" phase "\",\"reason\":\"\",\"message\":\"\",\"resourceVersion\":\"" version "\"}\n"

static void events_are_json_lines(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never");
    cli_process_wait_for(&p, &p.written, "DELETED");
    cli_process_wait_for(&p, &p.said, "synced: 1 object at version 10");
    assert_true(cli_process_has(&p.written, STATUS_LINE("LISTING", "")));
    assert_true(
        cli_process_has(&p.written, HEAD("ADDED", "pods") "\"initial\":true,\"object\":{\"kind\":\"Pod\","));
    assert_true(cli_process_has(&p.written, HEAD("SYNCED", "pods") "\"objects\":1,"));
    assert_true(cli_process_has(&p.written,
                                HEAD("ADDED", "pods") "\"initial\":false,\"object\":" POD("b", "11") "}\n"));
    assert_true(cli_process_has(
        &p.written, HEAD("MODIFIED", "pods") "\"object\":" POD("b", "12") ",\"old\":" POD(
                        "b", "11") "}\n" HEAD("DELETED", "pods") "\"object\":" POD("b", "13") "}\n"));
    assert_false(cli_process_has(&p.written, "managedFields"));
    cli_process_stop(&p, SIGTERM);
    while (cli_process_read(&p))
        continue;
    assert_true(cli_process_has(&p.written, STATUS_LINE("STOPPED", "13")));
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void until_synced_ends_with_the_list_and_stats_come_last(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o none --until-synced --stats --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_null(p.written.text);
    const char *stats = strstr(p.said.text, "{\"objects\":");
    assert_non_null(stats);
    assert_non_null(strstr(stats, "\"lists\":1,"));
    assert_ptr_equal(strchr(stats, '\n'), stats + strlen(stats) - 1);
    cli_process_free(&p);
    scripted_http_stop(server);
}

static void the_other_formats_are_for_people(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    cli_process p;
    cli_process_start(&p, server, "po -A --watch-list never");
    cli_process_wait_for(&p, &p.written, "DELETED   default/b");
    assert_true(cli_process_has(&p.written, "EVENT     NAMESPACE/NAME"));
    assert_true(cli_process_has(&p.written, "ADDED     default/a"));
    cli_process_stop(&p, SIGINT);
    cli_process_free(&p);
    cli_process_start(&p, server, "pods -o name --until-synced --watch-list never");
    assert_int_equal(cli_process_finish(&p), 0);
    assert_memory_equal(p.written.text, "pod/a\n", 6);
    cli_process_free(&p);
    scripted_http_stop(server);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static void a_refusal_does_not_end_it_and_is_explained(void **state)
{
    (void)state;
    scripted_http *server = start(serve_refusal, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"Forbidden\"");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"LISTING\",\"reason\":\"Forbidden\"");
    cli_process_wait_for(&p, &p.said, "the user needs the verbs list and watch");
    stop_both(&p, server, SIGTERM);
}

static void a_refusal_of_stream_and_list_is_explained(void **state)
{
    (void)state;
    scripted_http *server = start(serve_refusal, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o none");
    cli_process_wait_for(&p, &p.said, "the user needs the verbs list and watch");
    stop_both(&p, server, SIGTERM);
}

/* Before the list, the stream has failed for the same reason. */
static void a_failure_of_the_watch_after_the_list_is_reported(void **state)
{
    (void)state;
    scripted_http *server = start(serve_lists_only, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o none");
    cli_process_wait_for(&p, &p.said, "pods: synced: 1 object");
    cli_process_wait_for(&p, &p.said, "pods: TooManyRequests: the store is not updated");
    stop_both(&p, server, SIGTERM);
}

static void a_watch_that_is_cut_is_resumed(void **state)
{
    (void)state;
    int cuts = 0;
    scripted_http *server = start(serve_with_a_cut, &cuts);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"ConnectionLost\"");
    cli_process_wait_for(&p, &p.written, "DELETED");
    cli_process_wait_for(&p, &p.said, "pods: watching again after ");
    cli_process_wait_for(&p, &p.said, "s: resumed\n");
    stop_both(&p, server, SIGTERM);
}

static void a_gap_in_the_history_is_closed_by_a_list(void **state)
{
    (void)state;
    int lists = 0;
    scripted_http *server = start(serve_with_a_gap, &lists);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never");
    cli_process_wait_for(&p, &p.written,
                         HEAD("DELETED", "pods") "\"finalStateUnknown\":true,\"object\":{\"kind\":\"Pod\",");
    assert_true(cli_process_has(&p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"Expired\""));
    assert_false(cli_process_has(&p.written, "\"phase\":\"WATCHING\",\"reason\":\"Expired\""));
    cli_process_wait_for(&p, &p.said, "s: relisted\n");
    assert_true(cli_process_has(&p.said, "pods: watching again after "));
    assert_true(cli_process_has(&p.said, "pods: Expired: "));
    stop_both(&p, server, SIGTERM);
}

static void a_response_that_does_not_begin_in_time_is_requested_again(void **state)
{
    (void)state;
    scripted_http *server = start(serve_silence, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never --request-timeout 300ms");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"Timeout\"");
    cli_process_wait_for(&p, &p.written, "\"phase\":\"LISTING\",\"reason\":\"Timeout\"");
    stop_both(&p, server, SIGTERM);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void a_signal_ends_it_while_the_server_is_silent(void **state)
{
    (void)state;
    scripted_http *server = start(serve_silence, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods,services -o events");
    cli_process_wait_for(&p, &p.said, "services: listing");
    stop_both(&p, server, SIGINT);
}

static void a_signal_ends_it_while_its_reader_does_not_read(void **state)
{
    (void)state;
    scripted_http *server = start(serve_a_flood, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods -o events --watch-list never");
    cli_process_wait_for(&p, &p.said, "synced");
    (void)poll(NULL, 0, 300); /* the pipe should be full by now; if it is not, the test proves less */
    stop_both(&p, server, SIGTERM);
}

static void it_ends_quietly_when_its_reader_leaves_even_without_events(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    cli_process p;
    cli_process_start(&p, server, "pods --watch-list never");
    cli_process_wait_for(&p, &p.written, "DELETED");
    cli_process_wait_for(&p, &p.said, "synced");
    text_log_clear(&p.said);
    close(p.out);
    p.out = -1;
    assert_int_equal(cli_process_finish(&p), 0);
    assert_true(p.said.text == NULL || !cli_process_has(&p.said, "stdout"));
    cli_process_free(&p);
    scripted_http_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_json_lines),
        cmocka_unit_test(until_synced_ends_with_the_list_and_stats_come_last),
        cmocka_unit_test(the_other_formats_are_for_people),
        cmocka_unit_test(a_refusal_does_not_end_it_and_is_explained),
        cmocka_unit_test(a_refusal_of_stream_and_list_is_explained),
        cmocka_unit_test(a_failure_of_the_watch_after_the_list_is_reported),
        cmocka_unit_test(a_watch_that_is_cut_is_resumed),
        cmocka_unit_test(a_gap_in_the_history_is_closed_by_a_list),
        cmocka_unit_test(a_response_that_does_not_begin_in_time_is_requested_again),
        cmocka_unit_test(a_signal_ends_it_while_the_server_is_silent),
        cmocka_unit_test(a_signal_ends_it_while_its_reader_does_not_read),
        cmocka_unit_test(it_ends_quietly_when_its_reader_leaves_even_without_events),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
