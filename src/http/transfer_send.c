/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a request into a running libcurl handle. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "http/transfer_parts.h"
#include "util/alloc.h"
#include "util/units.h"

/* The read sizes. Lists are read in larger pieces. Watches are not: a buffer keeps the memory that it has
 * used, and a thousand watches may all have been busy once. */
enum { LONG_PIECE_BYTES = 128 * 1024, PIECE_BYTES = 64 * 1024 };

int ki_transfer_add_header(ki_transfer *transfer, const char *line)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);
    if (longer == NULL)
        return KI_ERR_NO_MEMORY;
    transfer->headers = longer;
    return 0;
}

static bool add_header(ki_transfer *transfer, const char *line)
{
    return ki_transfer_add_header(transfer, line) == 0;
}

static bool add_authorization(ki_transfer *transfer, const char *value)
{
    static const char name[] = "Authorization: ";
    size_t size = sizeof(name) + strlen(value);
    char *line = ki_malloc(size);
    if (line == NULL)
        return false;
    (void)snprintf(line, size, "%s%s", name, value);
    bool is_added = add_header(transfer, line);
    explicit_bzero(line, size);
    ki_free(line);
    return is_added;
}

static bool add_headers(ki_transfer *transfer, const ki_identity *identity)
{
    const ki_http *http = transfer->http;
    bool is_good = identity->authorization == NULL || add_authorization(transfer, identity->authorization);
    for (const char *const *line = identity->headers; is_good && line != NULL && *line != NULL; line++)
        is_good = add_header(transfer, *line);
    if (is_good && http->server.host_header != NULL)
        is_good = add_header(transfer, http->server.host_header);
    if (is_good && http->use_gzip)
        is_good = add_header(transfer, "Accept-Encoding: gzip");
    if (is_good && transfer->body.len > 0)
        is_good = add_header(transfer, "Expect:");
    return is_good;
}

static bool set_url(ki_transfer *transfer)
{
    const char *base = transfer->http->server.base;
    size_t size = strlen(base) + strlen(transfer->target) + 1;
    char *url = ki_malloc(size);
    if (url == NULL)
        return false;
    (void)snprintf(url, size, "%s%s", base, transfer->target);
    bool is_set = curl_easy_setopt(transfer->easy, CURLOPT_URL, url) == CURLE_OK &&
                  curl_easy_setopt(transfer->easy, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK;
    ki_free(url);
    return is_set;
}

/* libcurl does not report why a socket could not be opened, so the transfer keeps the error. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    ki_transfer *transfer = user;
    (void)purpose;
    ki_descriptors_lock(&transfer->http->descriptors);
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    transfer->open_error = fd < 0 ? errno : 0;
    if (fd >= 0)
        ki_descriptors_add_locked(&transfer->http->descriptors, fd);
    ki_descriptors_unlock(&transfer->http->descriptors);
    return fd;
}

/* As libcurl declares it. NOLINTNEXTLINE(readability-non-const-parameter) */
static int on_connection(void *user, char *address, char *own_address, int port, int own_port)
{
    ki_transfer *transfer = user;
    (void)address;
    (void)own_address;
    (void)port;
    (void)own_port;
    transfer->is_connected = true;
    if (transfer->state != KI_TRANSFER_OVER && transfer->events->on_sent != NULL)
        transfer->events->on_sent(transfer, transfer->user);
    return transfer->state == KI_TRANSFER_OVER ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static bool set_progress(ki_transfer *transfer)
{
    CURL *easy = transfer->easy;
    return transfer->http->proxy.url == NULL ||
           (curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, ki_transfer_on_progress) == CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer) == CURLE_OK);
}

static bool set_callbacks(ki_transfer *transfer)
{
    CURL *easy = transfer->easy;
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connection) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, ki_transfer_on_header) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ki_transfer_on_bytes) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->message) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK;
}

static bool wants_http2(const ki_transfer *transfer)
{
    return transfer->may_be_cut && ki_http_uses_http2(transfer->http);
}

static bool set_request(ki_transfer *transfer)
{
    assert(transfer->easy != NULL && transfer->target != NULL);
    CURL *easy = transfer->easy;
    bool is_http2 = wants_http2(transfer);
    long version = is_http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1;
    bool is_set = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
                  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version) == CURLE_OK &&
                  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, is_http2 ? 1L : 0L) == CURLE_OK;
    long piece_bytes = transfer->is_long ? (long)LONG_PIECE_BYTES : (long)PIECE_BYTES;
    is_set = is_set && curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, piece_bytes) == CURLE_OK;
    if (is_set && transfer->body.len > 0)
        is_set =
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body.len) == CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body.data) == CURLE_OK;
    if (is_set && transfer->method != NULL)
        is_set = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, transfer->method) == CURLE_OK;
    return is_set;
}

static uint64_t head_timeout_ns(const ki_transfer *transfer)
{
    const ki_http_options *options = &transfer->http->options;
    if (transfer->head_timeout_ms > 0)
        return ki_ns_of_ms(transfer->head_timeout_ms);
    return ki_ns_of_ms(options->connect_timeout_ms) + ki_ns_of_ms(options->head_timeout_ms);
}

int ki_transfer_send(ki_transfer *transfer, const ki_identity *identity)
{
    KI_ASSERT_ON(transfer->http->options.loop);
    assert(transfer->easy == NULL && transfer->pool == NULL);
    ki_http *http = transfer->http;
    transfer->generation = identity->generation;
    transfer->easy = ki_easy_new(http, identity, &transfer->trace);
    if (transfer->easy == NULL || !add_headers(transfer, identity) || !set_url(transfer) ||
        !set_callbacks(transfer) || !set_progress(transfer) || !set_request(transfer))
        return KI_ERR_NO_MEMORY;
    ki_pool *pool = ki_pool_join(http, identity, wants_http2(transfer));
    if (pool == NULL)
        return KI_ERR_NO_MEMORY;
    if (curl_multi_add_handle(pool->multi, transfer->easy) != CURLM_OK) {
        ki_pool_leave(pool, false);
        return KI_ERR_NO_MEMORY;
    }
    transfer->pool = pool;
    transfer->sent_ns = ki_clock_now_ns(http->clock);
    transfer->heard_ns = transfer->sent_ns;
    transfer->due_ns = transfer->sent_ns + head_timeout_ns(transfer);
    ki_job_wake_at(&transfer->job, transfer->due_ns);
    return 0;
}
