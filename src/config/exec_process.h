/* SPDX-License-Identifier: Apache-2.0 */
/* exec_process - a child process of ours, whose output is read without waiting.
 *
 *   From:     config/exec_plugin.c
 *   To:       posix_spawn(3), pipes, waitpid(2) for this one child; config/exec_reaper.h
 *   Locks:    none; one owner.
 *   Not here: what the output means; when to ask again.
 *
 * The child has an empty signal mask and default handlers, and none of our descriptors. Unless it talks to
 * the user it is in a group of its own, so that what it starts ends with it.
 */
#ifndef KI_CONFIG_EXEC_PROCESS_H
#define KI_CONFIG_EXEC_PROCESS_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>
#include <sys/types.h>

#define KI_EXEC_OUTPUT_BYTES_MAX ((size_t)256 * 1024)
#define KI_EXEC_END_MS 500
#define KI_EXEC_ERRORS_BYTES_MAX ((size_t)4 * 1024)

/* A zeroed one was never started. */
typedef struct ki_exec_process {
    pid_t pid; /* 0: none */
    bool has_group;
    bool has_status;
    int status;    /* as waitpid() has it; -1: somebody else has taken it */
    int pid_fd;    /* readable at its end; -1: the system has none */
    int output_fd; /* -1: there is none */
    int errors_fd; /* -1 also when the child has ours */
    bool is_output_over;
    bool is_errors_over;
    char *output; /* KI_EXEC_OUTPUT_BYTES_MAX, fixed: growing would leave secrets behind */
    size_t output_len;
    bool is_too_large;
    char *errors; /* the end of what it said, KI_EXEC_ERRORS_BYTES_MAX */
    size_t errors_len;
} ki_exec_process;

typedef struct ki_exec_command {
    const char *path;  /* without a '/': see config/exec_path.h */
    char *const *argv; /* NULL-terminated, the name of the program first */
    char *const *environment;
    bool is_interactive; /* has our standard input and error output */
} ki_exec_command;

/* Returns 0, KI_ERR_NOT_FOUND without such a program, KI_ERR_SYSTEM, KI_ERR_NO_MEMORY; the message is the
 * reason alone. */
KI_NODISCARD int ki_exec_process_start(ki_exec_process *process, const ki_exec_command *command,
                                       ki_error *err);

/* Takes what there is, and closes nothing. Returns true when the child has ended and all of its output has
 * been read. What was left running by the child with its output open is not waited for. */
bool ki_exec_process_poll(ki_exec_process *process);

/* Kills the child if it still runs, and frees; waits for nothing: a child that does not end at once is left
 * to config/exec_reaper.h. Takes a zeroed one. */
void ki_exec_process_close(ki_exec_process *process);

/* The same outside of the loop: gives it a moment to end. */
void ki_exec_process_end(ki_exec_process *process);

/* The last line with something in it that the child said to its error output; empty: none. */
ki_str ki_exec_process_last_words(const ki_exec_process *process);

#endif
