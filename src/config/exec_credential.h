/* SPDX-License-Identifier: Apache-2.0 */
/* exec_credential - what an exec plug-in answers, read.
 *
 *   From:     config/exec_plugin.c (its standard output)
 *   To:       config/credentials.c
 *   Locks:    none; plain data with an owner.
 *   Not here: running it.
 */
#ifndef KI_CONFIG_EXEC_CREDENTIAL_H
#define KI_CONFIG_EXEC_CREDENTIAL_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* A zeroed one is empty. */
typedef struct ki_exec_credential {
    char *token;           /* NULL: none */
    char *certificate_pem; /* NULL: none, as is the key then */
    char *key_pem;
    int64_t expires_s; /* of the calendar; INT64_MAX: never */
} ki_exec_credential;

/* Wipes it. */
void ki_exec_credential_fini(ki_exec_credential *credential);

/* Returns 0; KI_ERR_CONFIG with what is wrong, and nothing of the text; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_credential_parse(ki_str text, const char *api_version,
                                          ki_exec_credential *out_credential, ki_error *err);

#endif
