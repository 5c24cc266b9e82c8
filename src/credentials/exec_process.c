/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2; NOLINT(bugprone-reserved-identifier) */
#endif
#include "credentials/exec_process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "credentials/exec_path.h"
#include "credentials/exec_reaper.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The descriptor is close-on-exec by default. */
static int open_pid_fd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* ---- starting ------------------------------------------------------------------------------------------ */

/* Opens both ends above the standard descriptors, which the program may have closed. Otherwise an end could
 * get the number of one of the child's standard descriptors. */
static int open_pipe(int *read_fd, int *write_fd)
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) < 0)
        return errno;
    int number = 0;
    for (int i = 0; i < 2; i++) {
        int high = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        number = high < 0 ? errno : number;
        close(low[i]);
        *(i == 0 ? read_fd : write_fd) = high;
    }
    if (number == 0 && fcntl(*read_fd, F_SETFL, O_NONBLOCK) < 0)
        number = errno;
    return number;
}

/* The child's ends of the pipes. */
typedef struct child_fds {
    int output;
    int errors;
} child_fds;

static int add_actions(posix_spawn_file_actions_t *actions, const child_fds *fds)
{
    int rc = posix_spawn_file_actions_adddup2(actions, fds->output, STDOUT_FILENO);
    if (rc == 0 && fds->errors >= 0) {
        rc = posix_spawn_file_actions_adddup2(actions, fds->errors, STDERR_FILENO);
        if (rc == 0)
            rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    /* The program may have descriptors that are not close-on-exec. */
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
#endif
    return rc;
}

/* A child in its own process group could not use the terminal to talk to the user. */
static int set_attributes(posix_spawnattr_t *attributes, bool has_group)
{
    sigset_t none, all;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigemptyset(&none);
    sigfillset(&all);
    if (has_group)
        flags = (short)(flags | POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    if (rc == 0)
        rc = posix_spawnattr_setpgroup(attributes, 0);
    return rc == 0 ? posix_spawnattr_setflags(attributes, flags) : rc;
}

static int spawn(ki_exec_process *process, const char *path, const ki_exec_command *command,
                 const child_fds *fds)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return rc;
    }
    pid_t pid = 0;
    rc = add_actions(&actions, fds);
    if (rc == 0)
        rc = set_attributes(&attributes, !command->is_interactive);
    if (rc == 0)
        rc = posix_spawn(&pid, path, &actions, &attributes, command->argv, command->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (rc == 0) {
        process->pid = pid;
        process->pid_fd = open_pid_fd(pid);
        process->has_group = !command->is_interactive;
    }
    return rc;
}

static int start(ki_exec_process *process, const ki_exec_command *command)
{
    child_fds fds = {-1, -1};
    char path[PATH_MAX];
    /* Checked here, because not every posix_spawn (an emulator's, for example) can report that there is no
     * such program: then the child exits with 127. */
    int rc = ki_exec_path_find(command->path, path, sizeof(path));
    if (rc == 0)
        rc = open_pipe(&process->output_fd, &fds.output);
    if (rc == 0 && !command->is_interactive)
        rc = open_pipe(&process->errors_fd, &fds.errors);
    if (rc == 0)
        rc = spawn(process, path, command, &fds);
    close_fd(&fds.output);
    close_fd(&fds.errors);
    return rc;
}

int ki_exec_process_start(ki_exec_process *process, const ki_exec_command *command, ki_error *err)
{
    assert(process != NULL);
    *process = (ki_exec_process){.pid_fd = -1, .output_fd = -1, .errors_fd = -1};
    process->output = ki_malloc(KI_EXEC_OUTPUT_BYTES_MAX);
    process->errors = ki_malloc(KI_EXEC_ERRORS_BYTES_MAX);
    int number = process->output == NULL || process->errors == NULL ? ENOMEM : start(process, command);
    if (number == 0)
        return 0;
    ki_exec_process_close(process);
    if (number == ENOMEM)
        return ki_fail_no_memory(err);
    return ki_fail(err, number == ENOENT ? KI_ERR_NOT_FOUND : KI_ERR_SYSTEM, "%s", strerror(number));
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Where to read, and a flag for the end. */
typedef struct stream {
    int fd;
    bool *is_over;
} stream;

/* Reads once. Returns whether more may be available now. */
static bool read_some(stream from, char *into, size_t space, size_t *out_len)
{
    ssize_t n = read(from.fd, into, space);
    *out_len = n > 0 ? (size_t)n : 0;
    if (n > 0 || (n < 0 && errno == EINTR))
        return true;
    if (n == 0 || errno != EAGAIN)
        *from.is_over = true;
    return false;
}

/* If there is too much output, the rest is not read, and the result is not used. */
static void read_output(ki_exec_process *process)
{
    stream from = {process->output_fd, &process->is_output_over};
    bool has_more = process->output_fd >= 0 && !process->is_output_over;
    while (has_more && !process->is_too_large) {
        size_t n = 0;
        has_more = read_some(from, process->output + process->output_len,
                             KI_EXEC_OUTPUT_BYTES_MAX - process->output_len, &n);
        process->output_len += n;
        process->is_too_large = process->output_len == KI_EXEC_OUTPUT_BYTES_MAX;
    }
}

/* Keeps only the last part. The amount per call is limited, because a child may write forever. */
static void read_errors(ki_exec_process *process)
{
    const size_t half = KI_EXEC_ERRORS_BYTES_MAX / 2;
    stream from = {process->errors_fd, &process->is_errors_over};
    bool has_more = process->errors_fd >= 0 && !process->is_errors_over;
    for (int rounds = 0; has_more && rounds < 64; rounds++) {
        if (process->errors_len == KI_EXEC_ERRORS_BYTES_MAX) {
            memmove(process->errors, process->errors + half, half);
            process->errors_len = half;
            process->are_errors_cut = true;
        }
        size_t n = 0;
        has_more = read_some(from, process->errors + process->errors_len,
                             KI_EXEC_ERRORS_BYTES_MAX - process->errors_len, &n);
        process->errors_len += n;
    }
}

/* If the program ignores SIGCHLD, or waits for any child, it gets the status instead of us. */
static void reap(ki_exec_process *process)
{
    int status = 0;
    pid_t pid;
    if (process->pid == 0 || process->has_status)
        return;
    do {
        pid = waitpid(process->pid, &status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return;
    process->has_status = true;
    process->status = pid < 0 ? -1 : status;
}

bool ki_exec_process_poll(ki_exec_process *process)
{
    assert(process != NULL);
    /* Reaps first, so that everything that the child wrote before its end is read afterwards. */
    reap(process);
    read_output(process);
    read_errors(process);
    return process->has_status || process->is_too_large;
}

/* Kills the group and the child itself. The group exists until its leader is reaped; but if posix_spawn is a
 * plain fork (an emulator's), the child may not have created it yet. */
static void kill_child(ki_exec_process *process)
{
    if (process->pid == 0 || process->has_status)
        return;
    if (process->has_group)
        kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL);
    reap(process);
}

void ki_exec_process_end(ki_exec_process *process)
{
    struct pollfd fd = {.fd = process->pid_fd, .events = POLLIN};
    kill_child(process);
    for (int ms = 0; process->pid > 0 && !process->has_status && ms < KI_EXEC_END_MS; ms++) {
        (void)poll(&fd, process->pid_fd >= 0 ? 1 : 0, 1);
        reap(process);
    }
    ki_exec_process_close(process);
}

void ki_exec_process_close(ki_exec_process *process)
{
    kill_child(process);
    if (process->pid > 0 && !process->has_status)
        ki_exec_reaper_add(process->pid);
    if (process->output != NULL) { /* in a zeroed struct the descriptors are 0 */
        close_fd(&process->pid_fd);
        close_fd(&process->output_fd);
        close_fd(&process->errors_fd);
    }
    ki_secret_free_bytes(process->output, KI_EXEC_OUTPUT_BYTES_MAX);
    ki_secret_free_bytes(process->errors, KI_EXEC_ERRORS_BYTES_MAX);
    *process = (ki_exec_process){0};
}

ki_str ki_exec_process_last_words(const ki_exec_process *process)
{
    assert(process != NULL);
    size_t end = process->errors_len;
    while (end > 0 && strchr(" \t\r\n", process->errors[end - 1]) != NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && process->errors[begin - 1] != '\n')
        begin--;
    /* A line whose beginning is lost may begin with the rest of a secret, which could not be masked. */
    bool is_whole = begin > 0 || !process->are_errors_cut;
    return end == 0 || !is_whole ? (ki_str){0} : (ki_str){process->errors + begin, end - begin};
}
