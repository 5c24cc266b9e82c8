/* SPDX-License-Identifier: Apache-2.0 */
/* failure - error messages on stderr, and the exit status.
 *
 *   From:     all of cli/
 *   To:       stderr
 *   Locks:    none.
 */
#ifndef KI_CLI_FAILURE_H
#define KI_CLI_FAILURE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* The exit status. */
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1, /* a system call failed: out of memory, disk full */
    CLI_EXIT_USAGE = 2,  /* wrong usage, or an unusable configuration */
    CLI_EXIT_TIMEOUT = 3,
    CLI_EXIT_FORBIDDEN = 4 /* a timeout, because the server has refused permission */
};

/* Copies as much of a text as fits into `out_bytes` > 3; a truncated text ends with "…". For texts of a
 * server or a user, so that there is space for our own. */
void cli_shorten(char *out, size_t out_bytes, ki_str text);

/* Sets KI_ERR_INVALID and a message, and returns that code. */
int cli_fail(ki_error *err, const char *format, ...) KI_PRINTF(2, 3);

/* The same with KI_ERR_NO_MEMORY. */
int cli_fail_no_memory(ki_error *err);

/* Writes one line to stderr, "kinformer: …"; control characters, which may come from a server, become '?'. */
void cli_say(const char *format, ...) KI_PRINTF(1, 2);

/* Prints the error's message. Returns the exit status. */
KI_NODISCARD int cli_end_with(const ki_error *err);

#endif
