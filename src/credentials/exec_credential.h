/* SPDX-License-Identifier: Apache-2.0 */
/* exec_credential - parses the output of an exec plug-in.
 *
 *   From:     credentials/exec_plugin.c (its standard output); also credentials/credentials.c
 *   To:       credentials/credentials.c
 *   Locks:    none; plain data with an owner.
 *   Not here: running it.
 */
#ifndef KI_CREDENTIALS_EXEC_CREDENTIAL_H
#define KI_CREDENTIALS_EXEC_CREDENTIAL_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* A zeroed struct is empty. */
typedef struct ki_exec_credential {
    char *token;           /* NULL if none */
    char *certificate_pem; /* NULL if none, then the key is NULL too */
    char *key_pem;
    int64_t expires_s; /* of the calendar; INT64_MAX for never */
} ki_exec_credential;

/* Wipes the content. */
void ki_exec_credential_fini(ki_exec_credential *credential);

/* Returns 0; KI_ERR_CONFIG with the problem, without quoting the text; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_credential_parse(ki_str text, const char *api_version,
                                          ki_exec_credential *out_credential, ki_error *err);

#endif
