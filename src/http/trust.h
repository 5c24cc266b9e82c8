/* SPDX-License-Identifier: Apache-2.0 */
/* trust - the trusted certificate authorities, reloaded when verification fails.
 *
 *   From:     http/request_options.c, http/http.c
 *   To:       config/config.h; the file that it names
 *   Locks:    none; io only.
 *   Not here: our own certificate (credentials/credentials.h).
 */
#ifndef KI_HTTP_TRUST_H
#define KI_HTTP_TRUST_H

#include "config/config.h"
#include "util/buf.h"

#define KI_TRUST_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* A zeroed struct uses the system's authorities. */
typedef struct ki_trust {
    char *file;  /* NULL if the authorities do not come from a file */
    ki_buf pem;  /* empty for those of the system */
    bool is_off; /* verification is disabled */
    bool is_old; /* verification of a server failed: its authority may be in the file by now */
} ki_trust;

/* Returns 0, KI_ERR_CONFIG for a file without certificates, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_trust_init(ki_trust *trust, const ki_config *config, ki_error *err);
void ki_trust_fini(ki_trust *trust);

/* Reads the file again if is_old is set; on failure the current content is kept. */
void ki_trust_refresh(ki_trust *trust);

#endif
