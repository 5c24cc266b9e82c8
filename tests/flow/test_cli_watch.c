/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer watch` as a process of its own, against a server that does what each test wants. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/scripted_http.h"
#include "support/text_log.h"
#include "support/unit.h"
#include "util/clock.h"

enum { HANG_MS = 30 * 1000, SECOND_MS = 1000, WORDS_MAX = 24 };

extern char **environ;

/* ---- the process --------------------------------------------------------------------------------------- */

typedef struct process {
    pid_t pid;
    int out; /* what it writes; -1: closed */
    int err;
    text_log written;
    text_log said;
} process;

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

/* Runs `watch` with words that have a space between them, against the server. */
static void spawn(process *p, const scripted_http *server, const char *line)
{
    const char *program = getenv("KI_PROGRAM");
    char copy[512];
    char *words[WORDS_MAX] = {"kinformer", "watch", "--server", (char *)(uintptr_t)scripted_http_url(server)};
    int count = 4;
    int out[2];
    int err[2];
    posix_spawn_file_actions_t actions;
    assert_non_null(program);
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    assert_int_equal(pipe(out) | pipe(err), 0);
    *p = (process){.out = out[0], .err = err[0]};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    for (int i = 0; i < 2; i++) {
        posix_spawn_file_actions_addclose(&actions, out[i]);
        posix_spawn_file_actions_addclose(&actions, err[i]);
    }
    assert_int_equal(posix_spawn(&p->pid, program, &actions, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
}

/* Returns 0 at the end of what is read. */
static int read_into(int fd, text_log *log)
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, sizeof(bytes) - 1);
    if (n <= 0)
        return 0;
    bytes[n] = 0;
    text_log_add(log, "%s", bytes);
    return 1;
}

/* Reads what comes within a moment. Returns 0 when both have ended. */
static int read_some(process *p)
{
    struct pollfd fds[] = {{.fd = p->out, .events = POLLIN}, {.fd = p->err, .events = POLLIN}};
    (void)poll(fds, 2, 50);
    if (fds[0].revents != 0 && !read_into(p->out, &p->written)) {
        close(p->out);
        p->out = -1;
    }
    if (fds[1].revents != 0 && !read_into(p->err, &p->said)) {
        close(p->err);
        p->err = -1;
    }
    return p->out >= 0 || p->err >= 0;
}

static int has(const text_log *log, const char *part)
{
    return log->text != NULL && strstr(log->text, part) != NULL;
}

static void wait_for(process *p, const text_log *log, const char *part)
{
    uint64_t deadline_ms = now_ms() + HANG_MS;
    while (!has(log, part)) {
        if (now_ms() > deadline_ms || !read_some(p))
            fail_msg("never came: %s\nwritten:\n%s\nsaid:\n%s", part, p->written.text, p->said.text);
    }
}

static void close_all(process *p)
{
    if (p->out >= 0)
        close(p->out);
    if (p->err >= 0)
        close(p->err);
    text_log_free(&p->written);
    text_log_free(&p->said);
}

/* Reads to the end. Returns what the process has ended with. */
static int finish(process *p)
{
    int status = 0;
    uint64_t deadline_ms = now_ms() + HANG_MS;
    while (read_some(p))
        assert_true(now_ms() < deadline_ms);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Ends it by a signal, and fails the test unless that gives 0 within a second. It may be read from, or
 * not. */
static void stop(process *p, int number)
{
    int status = 0;
    uint64_t began_ms = now_ms();
    pid_t ended = 0;
    assert_int_equal(kill(p->pid, number), 0);
    while (ended == 0 && now_ms() < began_ms + HANG_MS) {
        ended = waitpid(p->pid, &status, WNOHANG);
        if (ended == 0)
            (void)poll(NULL, 0, 5);
    }
    assert_int_equal(ended, p->pid);
    assert_in_range(now_ms() - began_ms, 0, SECOND_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

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

/* One pod, and three events of another. */
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

/* Takes a request and never answers. */
static scripted_next serve_silence(scripted_connection *connection, const scripted_request *request,
                                   void *user)
{
    (void)request;
    (void)user;
    scripted_wait_for_end(connection);
    return SCRIPTED_CLOSE;
}

/* A watch that is cut at once, the first time. */
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

/* Events without an end. */
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

/* ---- what it writes ------------------------------------------------------------------------------------ */

#define STATUS_LINE(phase, version)                                                                          \
    "{\"type\":\"STATUS\",\"resource\":\"pods\",\"phase\":\"" phase                                          \
    "\",\"reason\":\"\",\"message\":\"\",\"resourceVersion\":\"" version "\"}\n"

static void events_are_json_lines(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    process p;
    spawn(&p, server, "pods -o events --watch-list never");
    wait_for(&p, &p.written, "DELETED");
    wait_for(&p, &p.said, "synced: 1 objects at version 10");
    assert_true(has(&p.written, STATUS_LINE("LISTING", "")));
    assert_true(has(&p.written, "{\"type\":\"ADDED\",\"initial\":true,\"object\":{\"kind\":\"Pod\","));
    assert_true(has(&p.written, "{\"type\":\"SYNCED\",\"resource\":\"pods\",\"objects\":1,"));
    assert_true(has(&p.written, "{\"type\":\"ADDED\",\"initial\":false,\"object\":" POD("b", "11") "}\n"));
    assert_true(has(&p.written, "{\"type\":\"MODIFIED\",\"object\":" POD("b", "12") ",\"old\":" POD(
                                    "b", "11") "}\n{\"type\":\"DELETED\",\"object\":" POD("b", "13") "}\n"));
    assert_false(has(&p.written, "managedFields"));
    stop(&p, SIGTERM);
    while (read_some(&p))
        continue;
    assert_true(has(&p.written, STATUS_LINE("STOPPED", "13")));
    close_all(&p);
    scripted_http_stop(server);
}

static void until_synced_ends_with_the_list_and_stats_come_last(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    process p;
    spawn(&p, server, "pods -o none --until-synced --stats --watch-list never");
    assert_int_equal(finish(&p), 0);
    assert_null(p.written.text);
    const char *stats = strstr(p.said.text, "{\"objects\":");
    assert_non_null(stats);
    assert_non_null(strstr(stats, "\"lists\":1,"));
    assert_ptr_equal(strchr(stats, '\n'), stats + strlen(stats) - 1);
    close_all(&p);
    scripted_http_stop(server);
}

static void the_other_formats_are_for_people(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    process p;
    spawn(&p, server, "po -A --watch-list never");
    wait_for(&p, &p.written, "DELETED   default/b");
    assert_true(has(&p.written, "EVENT     NAMESPACE/NAME"));
    assert_true(has(&p.written, "ADDED     default/a"));
    stop(&p, SIGINT);
    close_all(&p);
    spawn(&p, server, "pods -o name --until-synced --watch-list never");
    assert_int_equal(finish(&p), 0);
    assert_memory_equal(p.written.text, "pod/a\n", 6);
    close_all(&p);
    scripted_http_stop(server);
}

/* ---- what it survives ---------------------------------------------------------------------------------- */

static void a_server_that_refuses_does_not_end_it_and_it_says_why(void **state)
{
    (void)state;
    scripted_http *server = start(serve_refusal, NULL);
    process p;
    spawn(&p, server, "pods -o events --watch-list never");
    wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"Forbidden\"");
    wait_for(&p, &p.written, "\"phase\":\"LISTING\",\"reason\":\"Forbidden\"");
    wait_for(&p, &p.said, "this user needs the verbs list and watch");
    stop(&p, SIGTERM);
    close_all(&p);
    scripted_http_stop(server);
}

static void a_watch_that_is_cut_is_taken_up_again(void **state)
{
    (void)state;
    int cuts = 0;
    scripted_http *server = start(serve_with_a_cut, &cuts);
    process p;
    spawn(&p, server, "pods -o events --watch-list never");
    wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"ConnectionLost\"");
    wait_for(&p, &p.written, "DELETED");
    wait_for(&p, &p.said, "pods: watching again\n");
    stop(&p, SIGTERM);
    close_all(&p);
    scripted_http_stop(server);
}

static void an_answer_that_does_not_begin_in_time_is_asked_for_again(void **state)
{
    (void)state;
    scripted_http *server = start(serve_silence, NULL);
    process p;
    spawn(&p, server, "pods -o events --watch-list never --request-timeout 300ms");
    wait_for(&p, &p.written, "\"phase\":\"BACKING_OFF\",\"reason\":\"Timeout\"");
    wait_for(&p, &p.written, "\"phase\":\"LISTING\",\"reason\":\"Timeout\"");
    stop(&p, SIGTERM);
    close_all(&p);
    scripted_http_stop(server);
}

/* ---- how it ends --------------------------------------------------------------------------------------- */

static void a_signal_ends_it_while_the_server_is_silent(void **state)
{
    (void)state;
    scripted_http *server = start(serve_silence, NULL);
    process p;
    spawn(&p, server, "pods,services -o events");
    wait_for(&p, &p.said, "services: listing");
    stop(&p, SIGINT);
    close_all(&p);
    scripted_http_stop(server);
}

static void a_signal_ends_it_while_its_reader_does_not_read(void **state)
{
    (void)state;
    scripted_http *server = start(serve_a_flood, NULL);
    process p;
    spawn(&p, server, "pods -o events --watch-list never");
    wait_for(&p, &p.said, "synced");
    (void)poll(NULL, 0,
               300); /* the pipe is full by now; if it is not, the test proves less and is still true */
    stop(&p, SIGTERM);
    close_all(&p);
    scripted_http_stop(server);
}

static void a_reader_that_goes_ends_it_quietly_also_when_nothing_happens(void **state)
{
    (void)state;
    scripted_http *server = start(serve_well, NULL);
    process p;
    spawn(&p, server, "pods --watch-list never");
    wait_for(&p, &p.written, "DELETED");
    wait_for(&p, &p.said, "synced");
    text_log_clear(&p.said);
    close(p.out);
    p.out = -1;
    assert_int_equal(finish(&p), 0);
    assert_true(p.said.text == NULL || !has(&p.said, "stdout"));
    close_all(&p);
    scripted_http_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_json_lines),
        cmocka_unit_test(until_synced_ends_with_the_list_and_stats_come_last),
        cmocka_unit_test(the_other_formats_are_for_people),
        cmocka_unit_test(a_server_that_refuses_does_not_end_it_and_it_says_why),
        cmocka_unit_test(a_watch_that_is_cut_is_taken_up_again),
        cmocka_unit_test(an_answer_that_does_not_begin_in_time_is_asked_for_again),
        cmocka_unit_test(a_signal_ends_it_while_the_server_is_silent),
        cmocka_unit_test(a_signal_ends_it_while_its_reader_does_not_read),
        cmocka_unit_test(a_reader_that_goes_ends_it_quietly_also_when_nothing_happens),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
