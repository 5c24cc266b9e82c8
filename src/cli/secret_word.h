/* SPDX-License-Identifier: Apache-2.0 */
/* secret_word - tokens and passwords: taken off the command line, or read from where others do not see them.
 *
 *   From:     cli/flags.c, cli/connection_flags.c, cli/apiserver_flags.c
 *   To:       texts that stay until the program ends
 *   Locks:    none.
 *
 * Everybody on the machine may read the command line of a process for as long as it runs.
 */
#ifndef KI_CLI_SECRET_WORD_H
#define KI_CLI_SECRET_WORD_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Overwrites the word where it stands. Returns a copy that stays; NULL without memory. */
const char *cli_secret_word_take(char *word);

/* The first line of a file; `flag` is for messages. Returns 0 with a text that stays and is not empty,
 * KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int cli_secret_word_read(const char *flag, const char *path, const char **out_word,
                                      ki_error *err);

/* What the variable of the environment says; NULL: nothing. */
const char *cli_secret_word_of(const char *variable);

#endif
