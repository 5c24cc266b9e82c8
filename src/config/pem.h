/* SPDX-License-Identifier: Apache-2.0 */
/* pem - whether a text contains certificates or a key, checked without cryptography.
 *
 *   From:     config/check_files.c, credentials/certificate_files.c, http/trust.c
 *   To:       util/text/base64.h
 *   Locks:    none; plain functions.
 *   Not here: whether a certificate is trusted and whether a key matches it. TLS checks that, and
 *             http/transfer.c then names the files.
 */
#ifndef KI_CONFIG_PEM_H
#define KI_CONFIG_PEM_H

#include <kinformer/common.h>
#include <kinformer/error.h>

typedef enum ki_pem_kind { KI_PEM_CERTIFICATE, KI_PEM_KEY } ki_pem_kind;

/* The text must contain a block of that kind, and all such blocks must be complete; other blocks and the text
 * between blocks are ignored. Returns 0, and sets *out_problem to NULL or to a constant that names the
 * problem ("has no certificate"); or KI_ERR_NO_MEMORY. Copies are wiped. */
KI_NODISCARD int ki_pem_check(ki_str text, ki_pem_kind kind, const char **out_problem);

#endif
