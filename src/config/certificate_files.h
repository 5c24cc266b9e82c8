/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_files - a client's certificate and key, read again when their files have changed.
 *
 *   From:     config/credentials.c, before each request
 *   To:       util/file.h
 *   Locks:    none; io's.
 *   Not here: whether they fit together, which TLS says.
 */
#ifndef KI_CONFIG_CERTIFICATE_FILES_H
#define KI_CONFIG_CERTIFICATE_FILES_H

#include "config/config.h"
#include "config/pem.h"
#include "util/file.h"

#define KI_CERTIFICATE_FILES_PERIOD_MS 60000

typedef struct ki_certificate_part {
    const char *field; /* constant: what messages call it */
    const char *path;  /* borrowed, constant; NULL: it is fixed */
    ki_pem_kind kind;
    ki_file_mark mark;
    ki_file_text pem; /* empty: never read */
} ki_certificate_part;

typedef struct ki_certificate_files {
    ki_certificate_part certificate;
    ki_certificate_part key;
    uint64_t next_ns; /* when it is looked at again */
    bool has_failed;  /* the last time, which was logged */
} ki_certificate_files;

/* Data beside a file is what was read of it before. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_certificate_files_init(ki_certificate_files *files, const ki_config *config);
void ki_certificate_files_fini(ki_certificate_files *files);

/* Looks when it is time. Both are replaced, or none: a failure keeps what there was. Returns 1 when they
 * are new, 0 when not, or KI_ERR_CONFIG or KI_ERR_NO_MEMORY without any to show. */
KI_NODISCARD int ki_certificate_files_refresh(ki_certificate_files *files, uint64_t now_ns, ki_error *err);

/* "client-key /etc/c.key", or "client-key-data" for one that is fixed. */
void ki_certificate_part_name(const ki_certificate_part *part, char *text, size_t size);

/* It is time now. */
void ki_certificate_files_expire(ki_certificate_files *files);

#endif
