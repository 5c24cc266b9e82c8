/* SPDX-License-Identifier: Apache-2.0 */
/* tls - creates a self-signed certificate for a server without one.
 *
 *   From:     apiserver/serve/apiserver.c
 *   To:       gnutls
 *   Locks:    none
 *   Not here: the TLS of connections, which libmicrohttpd does
 */
#ifndef KI_APISERVER_SERVE_TLS_H
#define KI_APISERVER_SERVE_TLS_H

#include <kinformer/error.h>

/* For localhost, 127.0.0.1, ::1 and `address` (may be NULL), valid for ten years. Both are PEM; free with
 * ki_free(). Returns 0, KI_ERR_SYSTEM or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_tls_make(const char *address, char **out_certificate, char **out_key, ki_error *err);

#endif
