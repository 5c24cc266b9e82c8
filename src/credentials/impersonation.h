/* SPDX-License-Identifier: Apache-2.0 */
/* impersonation - the headers to act as another user.
 *
 *   From:     credentials/credentials.c, once
 *   Locks:    none; plain functions.
 *   Not here: other headers.
 */
#ifndef KI_CREDENTIALS_IMPERSONATION_H
#define KI_CREDENTIALS_IMPERSONATION_H

#include "config/config.h"

/* Makes the headers "Impersonate-User: jane", …, NULL-terminated; without impersonation there is only the
 * NULL. For ki_secret_free_list(). Returns 0; KI_ERR_CONFIG for a text that is not valid in a header;
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_impersonation_new(const ki_config *config, char ***out_headers, ki_error *err);

#endif
