/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/cli_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { WORDS_MAX = 24 };

/* How long a process may take to end after a signal. The address sanitizer looks for leaks first. */
#ifdef __SANITIZE_ADDRESS__
enum { STOP_MS = 5 * 1000 };
#else
enum { STOP_MS = 1000 };
#endif

extern char **environ;

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

void cli_process_start(cli_process *p, const scripted_http *server, const char *line)
{
    const char *program = getenv("KI_PROGRAM");
    char copy[1024];
    char *words[WORDS_MAX] = {"kinformer", "watch"};
    int count = 2;
    int out[2];
    int err[2];
    posix_spawn_file_actions_t actions;
    assert_non_null(program);
    if (server != NULL) {
        words[count++] = "--server";
        words[count++] = (char *)(uintptr_t)scripted_http_url(server);
    }
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    assert_int_equal(pipe(out) | pipe(err), 0);
    *p = (cli_process){.out = out[0], .err = err[0]};
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

/* Returns 0 at the end of the output. */
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

int cli_process_read(cli_process *p)
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

static int begins_with(const char *text, const char *part)
{
    for (; *part != 0; part++) {
        if (*part == ANY_TEXT[0])
            text += strcspn(text, "\"");
        else if (*part != *text++)
            return 0;
    }
    return 1;
}

int cli_process_has(const text_log *log, const char *part)
{
    for (const char *at = log->text; at != NULL && *at != 0; at++)
        if (begins_with(at, part))
            return 1;
    return 0;
}

void cli_process_wait_for(cli_process *p, const text_log *log, const char *part)
{
    uint64_t deadline_ms = now_ms() + HANG_MS;
    while (!cli_process_has(log, part)) {
        if (now_ms() > deadline_ms || !cli_process_read(p))
            fail_msg("timed out waiting for: %s\nstdout:\n%s\nstderr:\n%s", part, p->written.text,
                     p->said.text);
    }
}

void cli_process_free(cli_process *p)
{
    if (p->out >= 0)
        close(p->out);
    if (p->err >= 0)
        close(p->err);
    text_log_free(&p->written);
    text_log_free(&p->said);
}

int cli_process_finish(cli_process *p)
{
    int status = 0;
    uint64_t deadline_ms = now_ms() + HANG_MS;
    while (cli_process_read(p))
        assert_true(now_ms() < deadline_ms);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void cli_process_stop(cli_process *p, int number)
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
    assert_in_range(now_ms() - began_ms, 0, STOP_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
