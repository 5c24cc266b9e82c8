/* SPDX-License-Identifier: Apache-2.0 */
/* pem - whether a text has certificates or a key in it, as far as that shows without cryptography.
 *
 *   From:     config/check_files.c, config/certificate_files.c, http/trust.c
 *   To:       util/base64.h
 *   Locks:    none; plain functions.
 *   Not here: whether anybody believes a certificate, and whether a key fits it, which TLS says
 *             (http/transfer.c names them then).
 */
#ifndef KI_CONFIG_PEM_H
#define KI_CONFIG_PEM_H

#include <kinformer/common.h>
#include <kinformer/error.h>

typedef enum ki_pem_kind { KI_PEM_CERTIFICATE, KI_PEM_KEY } ki_pem_kind;

/* Every block of that kind has to be whole, and there has to be one; other blocks and the text between them
 * are passed over. Returns 0 with NULL, or with a constant that says what is wrong ("has no certificate in
 * it"); KI_ERR_NO_MEMORY. What it copied is wiped. */
KI_NODISCARD int ki_pem_check(ki_str text, ki_pem_kind kind, const char **out_problem);

#endif
