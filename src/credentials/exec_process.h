/* SPDX-License-Identifier: Apache-2.0 */
/* exec_process - a child process whose output is read without blocking.
 *
 *   From:     credentials/exec_plugin.c
 *   To:       posix_spawn(3), pipes, waitpid(2) for this one child; credentials/exec_reaper.h
 *   Locks:    none; one owner.
 *   Not here: what the output means; when to poll again.
 *
 * The child has an empty signal mask and default signal handlers, and none of our descriptors. Unless it is
 * interactive, it has its own process group, so that its own children are killed with it.
 */
#ifndef KI_CREDENTIALS_EXEC_PROCESS_H
#define KI_CREDENTIALS_EXEC_PROCESS_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>
#include <sys/types.h>

#define KI_EXEC_OUTPUT_BYTES_MAX ((size_t)256 * 1024)
#define KI_EXEC_END_MS 500
#define KI_EXEC_ERRORS_BYTES_MAX ((size_t)4 * 1024)

/* A zeroed struct was never started. */
typedef struct ki_exec_process {
    pid_t pid; /* 0 if none */
    bool has_group;
    bool has_status;
    int status;    /* as from waitpid(); -1 if another part of the program has reaped the child */
    int pid_fd;    /* readable when the child ends; -1 if the system does not support it */
    int output_fd; /* -1 if there is none */
    int errors_fd; /* -1 also if the child uses ours */
    bool is_output_over;
    bool is_errors_over;
    bool are_errors_cut; /* the beginning of the error output was dropped */
    char *output;        /* KI_EXEC_OUTPUT_BYTES_MAX, fixed: growing would leave copies of secrets behind */
    size_t output_len;
    bool is_too_large;
    char *errors; /* the last part of its error output, KI_EXEC_ERRORS_BYTES_MAX */
    size_t errors_len;
} ki_exec_process;

typedef struct ki_exec_command {
    const char *path;  /* without a '/': see credentials/exec_path.h */
    char *const *argv; /* NULL-terminated, program name first */
    char *const *environment;
    bool is_interactive; /* inherits our standard input and error output */
} ki_exec_command;

/* Returns 0, KI_ERR_NOT_FOUND if there is no such program, KI_ERR_SYSTEM or KI_ERR_NO_MEMORY. The message
 * contains only the reason. */
KI_NODISCARD int ki_exec_process_start(ki_exec_process *process, const ki_exec_command *command,
                                       ki_error *err);

/* Reads what is available, and closes nothing. Returns true if the child has ended and all its output was
 * read. Does not wait for processes that the child left running with its output open. */
bool ki_exec_process_poll(ki_exec_process *process);

/* Kills the child if it still runs, and frees all members. Waits for nothing: a child that does not end at
 * once is left to credentials/exec_reaper.h. A zeroed struct is allowed. */
void ki_exec_process_close(ki_exec_process *process);

/* Like ki_exec_process_close(), but waits a moment for the killed child to end. Not for the loop, where
 * nothing may wait. */
void ki_exec_process_end(ki_exec_process *process);

/* The last nonempty line of the child's error output; empty if there is none, or if its beginning was
 * dropped. */
ki_str ki_exec_process_last_words(const ki_exec_process *process);

#endif
