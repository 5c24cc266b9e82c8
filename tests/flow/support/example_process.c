/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/example_process.h"

#include <fcntl.h>
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

enum { WORDS_MAX = 32 };

extern char **environ;

void example_start(example_process *p, const char *program, const char *line)
{
    const char *folder = getenv("KI_EXAMPLES");
    char path[1024], copy[1024];
    char *words[WORDS_MAX] = {path};
    int count = 1, input[2];
    posix_spawn_file_actions_t actions;
    assert_non_null(folder);
    snprintf(path, sizeof(path), "%s/%s", folder, program);
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(count < WORDS_MAX - 1);
        words[count++] = word;
    }
    assert_int_equal(pipe(input), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fcntl(input[i], F_SETFD, FD_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    assert_int_equal(posix_spawn(&p->pid, path, &actions, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    p->input = input[1];
}

void example_signal(const example_process *p, int number)
{
    assert_int_equal(kill(p->pid, number), 0);
}

static int wait_for_end(example_process *p)
{
    int status = 0;
    pid_t ended = 0;
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while ((ended = waitpid(p->pid, &status, WNOHANG)) == 0 && ki_clock_now_ms(ki_clock_real()) < deadline_ms)
        (void)poll(NULL, 0, 5);
    assert_int_equal(ended, p->pid);
    close(p->input);
    *p = (example_process){0};
    return status;
}

void example_wait(example_process *p)
{
    int status = wait_for_end(p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

void example_end(example_process *p)
{
    example_signal(p, SIGTERM);
    example_wait(p);
}

void example_kill(example_process *p)
{
    example_signal(p, SIGKILL);
    (void)wait_for_end(p);
}

void example_discard(example_process *p)
{
    if (p->pid > 0)
        (void)kill(p->pid, SIGKILL);
    *p = (example_process){0};
}
