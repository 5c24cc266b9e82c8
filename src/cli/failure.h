/* SPDX-License-Identifier: Apache-2.0 */
/* failure - what the program says when something is wrong, and the codes that it ends with.
 *
 *   From:     all of cli/
 *   To:       stderr
 *   Locks:    none.
 */
#ifndef KI_CLI_FAILURE_H
#define KI_CLI_FAILURE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* What the program ends with. */
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1, /* the system refused something: memory, a full disk */
    CLI_EXIT_USAGE = 2   /* wrong usage, or a configuration that cannot be used */
};

/* As much of a text as fits into `out_bytes` > 3; one that is cut ends with "…". For what others have said,
 * so that there is room for what we say. */
void cli_shorten(char *out, size_t out_bytes, ki_str text);

/* Sets KI_ERR_INVALID and a message, and returns that code. */
int cli_fail(ki_error *err, const char *format, ...) KI_PRINTF(2, 3);

/* Likewise KI_ERR_NO_MEMORY. */
int cli_fail_no_memory(ki_error *err);

/* One line on stderr, "kinformer: …"; control characters, which may come from a server, are shown as '?'. */
void cli_say(const char *format, ...) KI_PRINTF(1, 2);

/* Says what the error says. Returns what to end with. */
KI_NODISCARD int cli_end_with(const ki_error *err);

#endif
