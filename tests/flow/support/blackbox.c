/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/blackbox.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/support/blackbox_lines.h"
#include "flow/support/blackbox_server.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

/* AT_ONCE: scenarios that run at the same time; they mostly wait.
 * BURST: attempts allowed beyond one per second. */
enum { AT_ONCE = 16, SETTLE_MS = 200, BURST = 8 };

struct blackbox {
    const scenario *scenario;
    blackbox_server *server;
    cli_process process;
    blackbox_lines lines;
    uint64_t began_ms;
};

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

static const char *text_of(const text_log *log)
{
    return log->len > 0 ? log->text : "";
}

/* ---- words --------------------------------------------------------------------------------------------- */

/* Whether all words of `wanted` occur in `text`, in this order. */
static bool has_words(const char *text, const char *wanted)
{
    while (wanted != NULL && *wanted != 0) {
        size_t len = strcspn(wanted, " ");
        size_t found = strcspn(text, " ");
        bool is_it = found == len && strncmp(text, wanted, len) == 0;
        if (*text == 0)
            return false;
        text += found + (text[found] == ' ');
        if (is_it)
            wanted += len + (wanted[len] == ' ');
    }
    return true;
}

/* "a b ...": the text begins with these. */
static bool are_requests(const char *text, const char *wanted, bool is_all)
{
    static const char more[] = " ...";
    size_t len = wanted == NULL ? 0 : strlen(wanted);
    if (len >= sizeof(more) - 1 && strcmp(wanted + len - (sizeof(more) - 1), more) == 0) {
        len -= sizeof(more) - 1;
        is_all = false;
    }
    return strncmp(text, wanted == NULL ? "" : wanted, len) == 0 &&
           (text[len] == 0 || (!is_all && text[len] == ' ') || (!is_all && len == 0));
}

/* ---- running a scenario -------------------------------------------------------------------------------- */

blackbox *blackbox_start(const scenario *s)
{
    char line[512];
    blackbox *box = calloc(1, sizeof(*box));
    assert_non_null(box);
    box->scenario = s;
    box->lines.is_new_history = s->is_new_history;
    box->server = blackbox_server_start(s);
    box->began_ms = now_ms();
    snprintf(line, sizeof(line), "%s -o events %s", s->resources == NULL ? "pods" : s->resources,
             s->arguments == NULL ? "--watch-list never" : s->arguments);
    cli_process_start(&box->process, blackbox_server_http(box->server), line);
    return box;
}

cli_process *blackbox_process(blackbox *box)
{
    return &box->process;
}

static void complain(blackbox *box, const char *what)
{
    fail_msg("%s\nrequests: %s\nevents:   %s\nphases:   %s\nstderr:\n%s", what,
             blackbox_server_requests(box->server), text_of(&box->lines.events), text_of(&box->lines.phases),
             text_of(&box->process.said));
}

static void look(blackbox *box)
{
    (void)cli_process_read(&box->process);
    blackbox_lines_take(&box->lines, &box->process.written);
    if (has_words(text_of(&box->lines.events), "synced"))
        blackbox_server_note_synced(box->server);
}

void blackbox_wait(blackbox *box, const char *requests, const char *events, const char *phases)
{
    uint64_t deadline_ms = now_ms() + HANG_MS / 4;
    while (!are_requests(blackbox_server_requests(box->server), requests, false) ||
           !has_words(text_of(&box->lines.events), events) ||
           !has_words(text_of(&box->lines.phases), phases)) {
        if (box->process.out < 0)
            complain(box, "the program has ended");
        if (now_ms() > deadline_ms)
            complain(box, "timed out");
        look(box);
    }
}

/* At most one attempt per second, plus a burst, whatever the server does. */
static void check_pace(blackbox *box)
{
    uint64_t seconds = (now_ms() - box->began_ms) / 1000;
    int max = box->scenario->requests_max;
    if ((uint64_t)blackbox_server_attempts(box->server) > BURST + seconds)
        complain(box, "a hot loop");
    if (max > 0 && blackbox_server_count(box->server) > max)
        complain(box, "too many requests");
}

void blackbox_judge(blackbox *box)
{
    const scenario *s = box->scenario;
    uint64_t until_ms = now_ms() + (s->settle_ms == 0 ? SETTLE_MS : s->settle_ms);
    while (box->process.out >= 0 && now_ms() < until_ms)
        look(box);
    if (s->requests != NULL && !are_requests(blackbox_server_requests(box->server), s->requests, true))
        complain(box, "other requests");
    if (s->events != NULL && strcmp(text_of(&box->lines.events), s->events) != 0)
        complain(box, "other events");
    if (s->says != NULL && strstr(text_of(&box->process.said), s->says) == NULL)
        complain(box, "stderr lacks the expected text");
    if (s->pause_before > 0 && blackbox_server_pause_ms(box->server, s->pause_before) < s->pause_ms)
        complain(box, "too soon");
    check_pace(box);
    if (box->process.out >= 0)
        cli_process_stop(&box->process, SIGINT);
    cli_process_free(&box->process);
    blackbox_server_stop(box->server);
    blackbox_lines_fini(&box->lines);
    free(box);
}

static void play(void **state)
{
    const scenario *s = *state;
    if (s->play != NULL) {
        s->play(s);
        return;
    }
    blackbox *box = blackbox_start(s);
    blackbox_wait(box, s->requests, s->events, s->phases);
    blackbox_judge(box);
}

/* ---- all scenarios ------------------------------------------------------------------------------------- */

typedef struct child {
    pid_t pid; /* 0: not running */
    const scenario *scenario;
    FILE *output;
} child;

static child start_child(const scenario *s)
{
    child c = {.scenario = s, .output = tmpfile()};
    fflush(stdout);
    c.pid = fork();
    if (c.pid != 0)
        return c;
    const struct CMUnitTest tests[] = {
        {.name = s->name, .test_func = play, .initial_state = (void *)(uintptr_t)s}};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGPIPE, SIG_IGN);
    dup2(fileno(c.output), STDOUT_FILENO);
    dup2(fileno(c.output), STDERR_FILENO);
    exit(cmocka_run_group_tests_name(s->name, tests, NULL, NULL) == 0 ? 0 : 1);
}

/* The output of a child is shown if it failed. */
static int finish_child(child *c, int status)
{
    char line[1024];
    bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("[%s] %s\n", is_well ? "  OK  " : "FAILED", c->scenario->name);
    rewind(c->output);
    while (!is_well && fgets(line, sizeof(line), c->output) != NULL)
        printf("    %s", line);
    (void)fclose(c->output);
    *c = (child){0};
    return is_well ? 0 : 1;
}

static int finish_one(child children[AT_ONCE])
{
    int status = 0;
    pid_t pid = wait(&status);
    for (int i = 0; i < AT_ONCE; i++)
        if (children[i].pid == pid)
            return finish_child(&children[i], status);
    return 0;
}

int blackbox_main(const scenario *scenarios, int argc, char **argv)
{
    child children[AT_ONCE] = {{0}};
    int running = 0;
    int played = 0;
    int failed = 0;
    for (const scenario *s = scenarios; s->name != NULL; s++) {
        int at = 0;
        if (argc > 1 && strstr(s->name, argv[1]) == NULL)
            continue;
        for (; running == AT_ONCE; running--)
            failed += finish_one(children);
        while (children[at].pid != 0)
            at++;
        children[at] = start_child(s);
        running++;
        played++;
    }
    for (; running > 0; running--)
        failed += finish_one(children);
    printf("%d of %d scenarios failed\n", failed, played);
    return played == 0 ? 1 : failed;
}
