/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead - lets OpenSSL read all that a TLS connection has received, instead of one record in two reads.
 *
 *   From:     http/tls_context.c (turns it on), http/sockets.c (asks what was read)
 *   To:       OpenSSL
 *   Locks:    none; io only.
 *   Not here: reading the rest (http/sockets.c).
 *
 * Records that were read ahead are invisible: the socket is not readable, and libcurl before 8.15 asks
 * SSL_pending(), which counts only the current record. So a connection with such records must be treated like
 * one whose socket is readable, until OpenSSL itself has asked for more.
 */
#ifndef KI_HTTP_READ_AHEAD_H
#define KI_HTTP_READ_AHEAD_H

#include <curl/curl.h>
#include <stdbool.h>

/* For a context of our OpenSSL (http/tls_context.h), before its connection begins. */
void ki_read_ahead_enable(void *context);

/* The connection of a libcurl handle, an SSL of OpenSSL. It is valid until libcurl runs again. NULL if there
 * is none. */
void *ki_read_ahead_connection(CURL *easy);

/* Whether OpenSSL may still hold a whole record. Then libcurl must be told that its socket is readable. */
bool ki_read_ahead_has_more(const void *connection);

/* The source that the connection reads from; NULL for NULL. Only for comparing sources that exist at the same
 * time. */
const void *ki_read_ahead_source(const void *connection);

/* ki_read_ahead_forget() is called before a call into libcurl. After the call, ki_read_ahead_was_only()
 * returns whether nothing was read, or only from this source, which may be NULL. */
void ki_read_ahead_forget(void);
bool ki_read_ahead_was_only(const void *source);

#endif
