/* SPDX-License-Identifier: Apache-2.0 */
/* http_tls - the TLS side of the server of bench_http.
 *
 *   From:     http_server.c
 *   To:       OpenSSL
 */
#ifndef BENCH_HTTP_TLS_H
#define BENCH_HTTP_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

/* The size of what a Go server writes at a time over HTTP/1.1: each becomes a record. */
enum { HTTP_TLS_RECORD_BYTES = 4096 };

/* The cipher that client and server agree on. */
#define HTTP_TLS_SUITE "TLS_AES_128_GCM_SHA256"

/* With a certificate that it has signed itself. NULL when it cannot be made. */
SSL_CTX *http_tls_new(void);

/* A connection that was accepted. NULL when the handshake fails. */
SSL *http_tls_accept(SSL_CTX *context, int fd);

bool http_tls_send(SSL *ssl, const char *bytes, size_t n);

#endif
