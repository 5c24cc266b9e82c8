/* SPDX-License-Identifier: Apache-2.0 */
/* token_file - a bearer token in a file that is updated externally.
 *
 *   From:     credentials/credentials.c and credentials/authorization.c, before each request;
 *             config/check_files.c, config/preload_files.c
 *   To:       util/file.h
 *   Locks:    none; io only.
 *   Not here: what the token is for.
 */
#ifndef KI_CONFIG_TOKEN_FILE_H
#define KI_CONFIG_TOKEN_FILE_H

#include <kinformer/common.h>
#include <kinformer/error.h>
#include <stdbool.h>

/* As in client-go: a minute less ten seconds. */
#define KI_TOKEN_FILE_PERIOD_MS 50000

typedef struct ki_token_file {
    const char *path; /* borrowed, constant */
    char *token;      /* NULL if never read */
    uint64_t next_ns; /* time of the next read */
    bool has_failed;  /* the last read failed, which was logged */
} ki_token_file;

void ki_token_file_init(ki_token_file *file, const char *path);
void ki_token_file_fini(ki_token_file *file);

/* Reads the file when due. If that fails, the current token is kept, and the file is read again after another
 * period. Returns 0; KI_ERR_CONFIG or KI_ERR_NO_MEMORY if there is no token. */
KI_NODISCARD int ki_token_file_refresh(ki_token_file *file, uint64_t now_ns, ki_error *err);

/* Logs that the current token is kept, and why; only once until the file has been read again. Also for a
 * caller that has another token while this struct has none. */
void ki_token_file_report(ki_token_file *file, const char *problem);

/* Makes the next read due now. */
void ki_token_file_expire(ki_token_file *file);

/* Whether the file contains a token. Returns 0, KI_ERR_CONFIG with a message that begins with the path, or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_token_file_check(const char *path, ki_error *err);

/* Returns the token in the file, for ki_secret_free(), and the same codes as ki_token_file_check(). */
KI_NODISCARD int ki_token_file_read(const char *path, char **out_token, ki_error *err);

/* Whether a header can contain the text as it is: visible ASCII characters only. */
bool ki_token_is_valid(ki_str text);

#endif
