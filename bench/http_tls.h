/* SPDX-License-Identifier: Apache-2.0 */
/* http_tls - the TLS side of bench_http's server.
 *
 *   From:     http_server.c
 *   To:       OpenSSL
 */
#ifndef BENCH_HTTP_TLS_H
#define BENCH_HTTP_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

/* The size of a write of a Go server over HTTP/1.1; each write becomes a record. */
enum { HTTP_TLS_RECORD_BYTES = 4096 };

/* The cipher that client and server agree on. */
#define HTTP_TLS_SUITE "TLS_AES_128_GCM_SHA256"

/* Makes a context with a self-signed certificate. Returns NULL on failure. */
SSL_CTX *http_tls_new(void);

/* Does the handshake on an accepted connection. Returns NULL if it fails. */
SSL *http_tls_accept(SSL_CTX *context, int fd);

bool http_tls_send(SSL *ssl, const char *bytes, size_t n);

#endif
