/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer demo` as a process, with lines and on a terminal. */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "support/patience.h"
#include "support/text_log.h"
#include "support/unit.h"
#include "util/clock.h"

enum { WORDS_MAX = 24, COLUMNS = 80, ROWS = 30 };

/* ---- the process --------------------------------------------------------------------------------------- */

typedef struct process {
    pid_t pid;
    int out; /* its output: the other end of a terminal, or a pipe */
    text_log written;
} process;

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

/* Never returns. Words are separated by spaces. */
static void become(const char *line)
{
    static char words[512];
    const char *program = getenv("KI_PROGRAM");
    char *arguments[WORDS_MAX] = {(char *)(uintptr_t)program};
    size_t n = 1;
    char *rest = NULL;
    snprintf(words, sizeof(words), "demo %s", line);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        arguments[n++] = word;
    arguments[n] = NULL;
    if (program != NULL)
        (void)execv(program, arguments);
    _exit(127);
}

static void spawn_piped(process *p, const char *line)
{
    int ends[2];
    *p = (process){0};
    assert_int_equal(pipe(ends), 0);
    p->pid = fork();
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        become(line);
    }
    (void)close(ends[1]);
    p->out = ends[0];
}

/* Ctrl-C sends a signal, and is not echoed on the screen. */
static void spawn_on_terminal(process *p, const char *line)
{
    struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    *p = (process){0};
    struct termios silent = {.c_lflag = ISIG, .c_oflag = OPOST | ONLCR};
    silent.c_cc[VINTR] = 3;
    p->pid = forkpty(&p->out, NULL, &silent, &size);
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        (void)setenv("TERM", "xterm", 1);
        become(line);
    }
}

/* Returns 0 at the end, which is an error on a terminal. */
static int read_some(process *p)
{
    char bytes[4096];
    struct pollfd fd = {.fd = p->out, .events = POLLIN};
    if (poll(&fd, 1, HANG_MS) <= 0)
        fail_msg("timed out waiting for output, after: %s", p->written.text == NULL ? "" : p->written.text);
    ssize_t n = read(p->out, bytes, sizeof(bytes));
    if (n > 0)
        text_log_add(&p->written, "%.*s", (int)n, bytes);
    return n > 0;
}

static void read_until(process *p, const char *part)
{
    uint64_t deadline_ms = now_ms() + HANG_MS;
    while (p->written.text == NULL || strstr(p->written.text, part) == NULL)
        if (!read_some(p) || now_ms() > deadline_ms)
            fail_msg("it does not say \"%s\": %s", part, p->written.text == NULL ? "" : p->written.text);
}

/* Returns its exit status. */
static int finish(process *p)
{
    int status = 0;
    while (read_some(p))
        ;
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    (void)close(p->out);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const process *p, const char *part)
{
    if (strstr(p->written.text, part) == NULL)
        fail_msg("it does not say \"%s\": %s", part, p->written.text);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void every_fault_happens_and_the_cache_is_equal_in_the_end(void **state)
{
    (void)state;
    process p;
    spawn_piped(&p, "--pods 50 --churn 200/s --for 3s --seed 1 --trouble 600ms");
    assert_int_equal(finish(&p), 0);
    expect(&p, "with 50 pods, seed 1\n");
    expect(&p, "synced: ");
    expect(&p, "cut: every connection is reset\n");
    expect(&p, "restart: the server is down for 0.2 s\n");
    expect(&p, "compaction: the server is down for 0.2 s, and comes back without its history\n");
    expect(&p, "recovered in ");
    expect(&p, "compared with the server's lists: ");
    expect(&p, "\nequal: ");
    assert_null(strchr(p.written.text, '\033'));
    text_log_free(&p.written);
}

static void a_signal_ends_it_with_the_comparison(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        process p;
        spawn_piped(&p, "--pods 20 --churn 100/s --for 0");
        read_until(&p, "events/s");
        assert_int_equal(kill(p.pid, signals[i]), 0);
        assert_int_equal(finish(&p), 0);
        expect(&p, "\nequal: ");
        text_log_free(&p.written);
    }
}

static void a_signal_while_the_server_is_down_ends_it_with_the_comparison(void **state)
{
    (void)state;
    process p;
    spawn_piped(&p, "--pods 20 --churn 100/s --for 0 --trouble 1s");
    read_until(&p, "restart: ");
    assert_int_equal(kill(p.pid, SIGTERM), 0);
    assert_int_equal(finish(&p), 0);
    expect(&p, "\nequal: ");
    text_log_free(&p.written);
}

static void an_idle_cluster_is_equal_too(void **state)
{
    (void)state;
    process p;
    spawn_piped(&p, "--pods 5 --churn 0/s --trouble 300ms --for 2s");
    assert_int_equal(finish(&p), 0);
    expect(&p, "writes stopped after 0;");
    expect(&p, "\nequal: ");
    text_log_free(&p.written);
}

static void a_reader_that_goes_away_ends_it_quietly(void **state)
{
    (void)state;
    process p;
    int status = 0;
    spawn_piped(&p, "--pods 5 --for 0");
    read_until(&p, "with 5 pods");
    (void)close(p.out);
    assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    text_log_free(&p.written);
}

/* ---- on a terminal ------------------------------------------------------------------------------------- */

static const char *last(const char *text, const char *part)
{
    const char *found = NULL;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        found = at;
    return found;
}

/* Counts the columns between two line ends; sequences that begin with ESC move or colour. */
static void expect_narrow(const char *text)
{
    int column = 0;
    for (; *text != 0; text++) {
        if (*text == '\033')
            text += strcspn(text, "mHJKhl");
        else
            column = *text == '\r' || *text == '\n' ? 0 : column + 1;
        column = strncmp(text, "H\033", 2) == 0 ? 0 : column;
        assert_true(column < COLUMNS);
    }
}

static void a_terminal_shows_the_picture_and_is_restored(void **state)
{
    (void)state;
    process p;
    spawn_on_terminal(&p, "--pods 50 --churn 100/s --trouble 2s");
    read_until(&p, "recovered in ");
    read_until(&p, "HANDLERS");
    assert_int_equal(write(p.out, "\003", 1), 1);
    assert_int_equal(finish(&p), 0);
    const char *left = last(p.written.text, "\033[?1049l");
    assert_non_null(left);
    assert_true(strstr(p.written.text, "\033[?1049h\033[?25l") < strstr(p.written.text, "INFORMER"));
    assert_true(last(p.written.text, "\033[?25h") > last(p.written.text, "\033[?25l"));
    assert_non_null(strstr(left, "equal: the same objects"));
    assert_non_null(strstr(left, "INFORMER"));
    char *whole = p.written.text;
    whole[left - whole] = 0;
    expect_narrow(whole);
    text_log_free(&p.written);
}

static void it_adapts_when_the_terminal_becomes_smaller(void **state)
{
    (void)state;
    process p;
    struct winsize size = {.ws_row = 10, .ws_col = 40};
    spawn_on_terminal(&p, "--pods 5 --churn 10/s");
    read_until(&p, "EXPIRED");
    assert_int_equal(ioctl(p.out, TIOCSWINSZ, &size), 0);
    text_log_clear(&p.written);
    read_until(&p, "OBJECTS \033[0m\033[K");
    assert_int_equal(kill(p.pid, SIGTERM), 0);
    assert_int_equal(finish(&p), 0);
    text_log_free(&p.written);
}

static void no_color_is_honoured(void **state)
{
    (void)state;
    process p;
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    spawn_on_terminal(&p, "--pods 5 --for 1s");
    assert_int_equal(unsetenv("NO_COLOR"), 0);
    assert_int_equal(finish(&p), 0);
    expect(&p, "WATCHING");
    assert_null(strstr(p.written.text, "m"
                                       "INFORMER"));
    assert_null(strstr(p.written.text, "\033[32m"));
    text_log_free(&p.written);
}

static void a_terminal_can_show_lines_instead(void **state)
{
    (void)state;
    process p;
    spawn_on_terminal(&p, "--pods 5 --for 1s --plain");
    assert_int_equal(finish(&p), 0);
    assert_null(strchr(p.written.text, '\033'));
    expect(&p, "equal: ");
    text_log_free(&p.written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_happens_and_the_cache_is_equal_in_the_end),
        cmocka_unit_test(a_signal_ends_it_with_the_comparison),
        cmocka_unit_test(a_signal_while_the_server_is_down_ends_it_with_the_comparison),
        cmocka_unit_test(an_idle_cluster_is_equal_too),
        cmocka_unit_test(a_reader_that_goes_away_ends_it_quietly),
        cmocka_unit_test(a_terminal_shows_the_picture_and_is_restored),
        cmocka_unit_test(it_adapts_when_the_terminal_becomes_smaller),
        cmocka_unit_test(no_color_is_honoured),
        cmocka_unit_test(a_terminal_can_show_lines_instead),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS(tests);
}
