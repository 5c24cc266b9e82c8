/* SPDX-License-Identifier: Apache-2.0 */
/* secret_word - tokens and passwords: removed from the command line, or read from a file or the environment.
 *
 *   From:     cli/flags.c, cli/connection_flags.c, cli/apiserver_flags.c
 *   To:       strings that are kept until the program ends
 *   Locks:    none.
 *
 * All users of a machine can read the command line of a running process.
 */
#ifndef KI_CLI_SECRET_WORD_H
#define KI_CLI_SECRET_WORD_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Overwrites the word in place. Returns a copy that is kept; NULL when out of memory. */
const char *cli_secret_word_take(char *word);

/* Reads the first line of a file; `flag` is for messages. Returns 0 with a nonempty string that is kept,
 * KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_secret_word_read(const char *flag, const char *path, const char **out_word,
                                      ki_error *err);

/* The value of the environment variable; NULL if it is not set or empty. */
const char *cli_secret_word_of(const char *variable);

#endif
