/* SPDX-License-Identifier: Apache-2.0 */
#include "http/read_ahead.h"

#include <openssl/ssl.h>

/* For each record, OpenSSL moves the rest of its buffer to the front, so a larger buffer costs more than the
 * reads that it saves. */
enum { BUFFER_BYTES = 32 * 1024 };

/* The sources that libcurl has read from. libcurl calls back on the thread on which it was called. */
static _Thread_local struct {
    const BIO *last;
    bool has_several;
} read_from;

/* As OpenSSL declares it; `ret` is passed on.
 * NOLINTNEXTLINE(readability-function-size,readability-non-const-parameter) */
static long on_read(BIO *bio, int what, const char *bytes, size_t n, int i, long l, int ret, size_t *done)
{
    (void)bytes;
    (void)n;
    (void)i;
    (void)l;
    (void)done;
    if (what == (BIO_CB_READ | BIO_CB_RETURN) && ret > 0) {
        read_from.has_several |= read_from.last != NULL && read_from.last != bio;
        read_from.last = bio;
    }
    return ret;
}

/* When a handshake starts, libcurl has attached its socket. */
static void on_state(const SSL *ssl, int where, int ret)
{
    (void)ret;
    if ((where & SSL_CB_HANDSHAKE_START) != 0)
        BIO_set_callback_ex(SSL_get_rbio(ssl), on_read);
}

/* Without automatic retries, SSL_read() could ask for more although a whole record is left. Idle connections
 * release their buffers. */
void ki_read_ahead_enable(void *context)
{
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, BUFFER_BYTES);
    (void)SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_info_callback(context, on_state);
}

void *ki_read_ahead_connection(CURL *easy)
{
    const struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == NULL ||
        info->backend != CURLSSLBACKEND_OPENSSL)
        return NULL;
    return info->internals;
}

/* While there are records left, OpenSSL puts off a renegotiation (TLS 1.2). It then begins with the next
 * read. */
static bool has_handshake(const SSL *ssl)
{
    return SSL_renegotiate_pending(ssl) == 1 && SSL_want_nothing(ssl);
}

/* If the last read wanted more bytes than there were, no whole record is left. */
bool ki_read_ahead_has_more(const void *connection)
{
    const SSL *ssl = connection;
    bool has_record = SSL_has_pending(ssl) == 1 && !SSL_want_read(ssl);
    return SSL_get_read_ahead(ssl) == 1 && (has_record || has_handshake(ssl));
}

const void *ki_read_ahead_source(const void *connection)
{
    return connection == NULL ? NULL : SSL_get_rbio(connection);
}

void ki_read_ahead_forget(void)
{
    read_from.last = NULL;
    read_from.has_several = false;
}

bool ki_read_ahead_was_only(const void *source)
{
    return read_from.last == NULL || (read_from.last == source && !read_from.has_several);
}
