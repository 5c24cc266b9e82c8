/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_files - a client's certificate and key, reloaded when their files have changed.
 *
 *   From:     credentials/credentials.c, before each request
 *   To:       util/file.h
 *   Locks:    none; io only.
 *   Not here: whether they match, which TLS checks.
 */
#ifndef KI_CREDENTIALS_CERTIFICATE_FILES_H
#define KI_CREDENTIALS_CERTIFICATE_FILES_H

#include "config/config.h"
#include "config/pem.h"
#include "util/file.h"

#define KI_CERTIFICATE_FILES_PERIOD_MS 60000

typedef struct ki_certificate_part {
    const char *field; /* constant: its name in messages */
    const char *path;  /* borrowed, constant; NULL for inline data */
    ki_pem_kind kind;
    ki_file_mark mark;
    ki_file_text pem; /* empty if never read */
} ki_certificate_part;

typedef struct ki_certificate_files {
    ki_certificate_part certificate;
    ki_certificate_part key;
    uint64_t next_ns; /* time of the next check */
    bool has_failed;  /* the last check failed, which was logged */
} ki_certificate_files;

/* Inline data that is set together with a file is a copy of its content. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_certificate_files_init(ki_certificate_files *files, const ki_config *config);
void ki_certificate_files_fini(ki_certificate_files *files);

/* Checks the files when due. Either both are replaced or neither: after a failure the current ones are kept.
 * Returns 1 if they are new, 0 if not; KI_ERR_CONFIG or KI_ERR_NO_MEMORY if there are none. */
KI_NODISCARD int ki_certificate_files_refresh(ki_certificate_files *files, uint64_t now_ns, ki_error *err);

/* Writes "client-key /etc/c.key", or "client-key-data" for inline data. */
void ki_certificate_part_name(const ki_certificate_part *part, char *text, size_t size);

/* Makes the next check due now. */
void ki_certificate_files_expire(ki_certificate_files *files);

#endif
