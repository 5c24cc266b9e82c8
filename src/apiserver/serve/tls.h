/* SPDX-License-Identifier: Apache-2.0 */
/* tls - creates a self-signed certificate if none is given, and checks one that is given.
 *
 *   From:     apiserver/serve/apiserver.c
 *   To:       gnutls
 *   Locks:    none
 *   Not here: the TLS of connections, which libmicrohttpd does
 */
#ifndef KI_APISERVER_SERVE_TLS_H
#define KI_APISERVER_SERVE_TLS_H

#include <kinformer/error.h>

/* Creates a certificate for localhost, 127.0.0.1, ::1 and `address` (may be NULL), valid for ten years.
 * Certificate and key are PEM; free them with ki_free(). Returns 0, KI_ERR_SYSTEM or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_tls_make(const char *address, char **out_certificate, char **out_key, ki_error *err);

/* Checks that the texts are a certificate and its key, in PEM.
 * Returns 0, KI_ERR_INVALID or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_tls_check(const char *certificate, const char *key, ki_error *err);

#endif
