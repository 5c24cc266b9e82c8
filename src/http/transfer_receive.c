/* SPDX-License-Identifier: Apache-2.0 */
/* Data from libcurl: the lines of a head, the pieces of a body. */
#include <assert.h>

#include "http/transfer_parts.h"
#include "util/error.h"
#include "util/units.h"

/* More than libcurl and OpenSSL read ahead; libcurl alone may have about 1.5 MB. */
enum { WAITING_BYTES_MAX = 4 * 1024 * 1024 };

/* The limit of progress calls before the connection: one for each byte of the response to CONNECT, and a few
 * others. libcurl allows a head of 300 KiB. */
enum { CONNECT_STEPS_MAX = 512 * 1024 };

/* Sets the reason for the end of a transfer, and nothing else. The callback that calls this then fails, so
 * libcurl ends the transfer; libcurl's own error code is ignored. */
static void set_reason(ki_transfer *transfer, ki_reason reason, const char *why)
{
    transfer->reason = reason;
    transfer->why = why;
}

static int on_inflated(const char *bytes, size_t n, void *user);

/* An error response must end within error_timeout_ms: its head says enough. A success may last forever. */
static void set_due(ki_transfer *transfer)
{
    const ki_http *http = transfer->http;
    bool is_good = transfer->head.status >= 200 && transfer->head.status < 300;
    uint64_t limit_ns = ki_ns_of_ms(http->options.error_timeout_ms);
    transfer->due_ns = is_good ? UINT64_MAX : ki_clock_now_ns(http->clock) + limit_ns;
    ki_job_wake_at(&transfer->job, transfer->due_ns);
}

static int take_head(ki_transfer *transfer)
{
    KI_ASSERT_ON(transfer->http->options.loop);
    ki_response_head *head = &transfer->head;
    transfer->is_told = true;
    transfer->http->was_answered = true;
    ki_pool_answer(transfer->pool);
    transfer->heard_ns = transfer->pool->heard_ns;
    set_due(transfer);
    ki_http_metrics_request(&transfer->http->metrics, transfer->method, head->status);
    if (head->status == 401 && transfer->http->options.credentials != NULL)
        ki_credentials_refused(transfer->http->options.credentials, transfer->generation);
    if (head->has_other_coding || (head->is_gzip && !transfer->http->use_gzip)) {
        set_reason(transfer, KI_REASON_MALFORMED, "the response has an encoding that was not requested");
        return -1;
    }
    if (head->is_gzip) {
        transfer->inflate = ki_inflate_new(on_inflated, transfer);
        if (transfer->inflate == NULL) {
            set_reason(transfer, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
            return -1;
        }
    }
    transfer->events->on_head(transfer, head, transfer->user);
    return transfer->state == KI_TRANSFER_OVER ? -1 : 0;
}

/* As libcurl declares it. NOLINTNEXTLINE(readability-non-const-parameter) */
size_t ki_transfer_on_header(char *bytes, size_t size, size_t count, void *user)
{
    ki_transfer *transfer = user;
    size_t n = size * count;
    if (transfer->state == KI_TRANSFER_OVER)
        return 0;
    if (ki_response_head_line(&transfer->head, (ki_str){bytes, n}, transfer->http->clock) < 0) {
        set_reason(transfer, KI_REASON_MALFORMED,
                   transfer->is_told ? "the trailers of the response exceed the limit for its head"
                                     : "the head of the response exceeds its limit");
        return 0;
    }
    if (!transfer->head.is_complete || transfer->is_told)
        return n;
    return take_head(transfer) < 0 ? 0 : n;
}

/* libcurl calls this for each byte, and does not return to the loop while there are more. So an endless
 * response to CONNECT would block the loop, since libcurl limits only its head. */
int ki_transfer_on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                            curl_off_t up)
{
    ki_transfer *transfer = user;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    if (transfer->is_connected || ++transfer->connect_steps <= CONNECT_STEPS_MAX)
        return 0;
    set_reason(transfer, KI_REASON_MALFORMED, "the response of the proxy to CONNECT exceeds its limit");
    return 1;
}

/* A stream that shares its connection cannot be paused, since all streams of the connection would be. */
static bool is_shared(const ki_transfer *transfer)
{
    long version = 0;
    return transfer->may_be_cut &&
           curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
           version >= CURL_HTTP_VERSION_2_0;
}

/* Without such a limit, libcurl reads until there is nothing left. */
static bool has_had_its_turn(const ki_transfer *transfer)
{
    const ki_http *http = transfer->http;
    return http->options.bytes_at_once > 0 && http->bytes_taken >= http->options.bytes_at_once &&
           !is_shared(transfer);
}

/* on_body belongs to reflector/http_source.c, for lists and watches, or to rest/rest_call.c. Returns 0; 1 to
 * pause; negative if the transfer is over. */
static int give_body(ki_transfer *transfer, const char *bytes, size_t n)
{
    KI_ASSERT_ON(transfer->http->options.loop);
    assert(transfer->state != KI_TRANSFER_OVER);
    transfer->http->bytes_taken += n;
    int rc = transfer->events->on_body(transfer, bytes, n, transfer->user);
    if (transfer->state == KI_TRANSFER_OVER)
        return KI_ERR_NOT_FOUND;
    if (rc < 0) {
        ki_transfer_set_over(transfer);
        return rc;
    }
    if (rc == 1 && is_shared(transfer)) {
        set_reason(transfer, KI_REASON_CONNECTION_LOST,
                   "the queue is full: the stream is cut and will be resumed");
        return KI_ERR_STOPPED;
    }
    bool is_turn_over = rc == 0 && has_had_its_turn(transfer);
    transfer->is_paused = rc == 1 || is_turn_over;
    transfer->is_resumed = false; /* an earlier resume does not end this pause */
    if (is_turn_over)
        ki_transfer_resume(transfer);
    return transfer->is_paused;
}

static int on_inflated(const char *bytes, size_t n, void *user)
{
    return give_body(user, bytes, n);
}

static void explain_inflate(ki_transfer *transfer, int rc)
{
    if (transfer->state == KI_TRANSFER_OVER || transfer->reason != KI_REASON_NONE)
        return;
    if (rc == KI_ERR_NO_MEMORY)
        set_reason(transfer, KI_REASON_NO_MEMORY, ki_error_text(rc));
    else
        set_reason(transfer, KI_REASON_MALFORMED, "the response is not valid gzip");
}

static int take_bytes(ki_transfer *transfer, const char *bytes, size_t n)
{
    if (transfer->inflate == NULL)
        return give_body(transfer, bytes, n);
    int rc = ki_inflate_feed(transfer->inflate, bytes, n);
    if (rc < 0)
        explain_inflate(transfer, rc);
    return rc;
}

/* Keeps bytes that libcurl or OpenSSL had read before the socket was held: a few buffers at most. */
static int keep_bytes(ki_transfer *transfer, const char *bytes, size_t n)
{
    if (transfer->waiting.max == 0)
        ki_buf_init(&transfer->waiting, WAITING_BYTES_MAX);
    int rc = ki_buf_append(&transfer->waiting, bytes, n);
    if (rc == KI_ERR_NO_MEMORY)
        set_reason(transfer, KI_REASON_NO_MEMORY, ki_error_text(rc));
    else if (rc < 0)
        set_reason(transfer, KI_REASON_CONNECTION_LOST, "the buffer for waiting data is full");
    return rc;
}

/* Each piece is consumed whole. */
size_t ki_transfer_on_bytes(char *bytes, size_t size, size_t count, void *user)
{
    ki_transfer *transfer = user;
    size_t n = size * count;
    if (transfer->state == KI_TRANSFER_OVER)
        return 0;
    assert(transfer->pool != NULL);
    ki_pool_hear(transfer->pool);
    transfer->heard_ns = transfer->pool->heard_ns;
    transfer->received_bytes += n;
    int rc = transfer->is_paused ? keep_bytes(transfer, bytes, n) : take_bytes(transfer, bytes, n);
    if (rc == 1)
        ki_sockets_hold(transfer);
    return rc < 0 ? 0 : n;
}

/* Passes on the waiting bytes in pieces of libcurl's size. What is left after another pause is kept. */
static int give_waiting(ki_transfer *transfer)
{
    ki_buf taken = transfer->waiting;
    size_t given = 0;
    int rc = 0;
    transfer->waiting = (ki_buf){0};
    while (rc == 0 && given < taken.len) {
        size_t left = taken.len - given;
        size_t n = left < CURL_MAX_WRITE_SIZE ? left : CURL_MAX_WRITE_SIZE;
        rc = take_bytes(transfer, taken.data + given, n);
        given += n;
    }
    if (rc == 1 && given < taken.len) {
        int kept = keep_bytes(transfer, taken.data + given, taken.len - given);
        rc = kept < 0 ? kept : rc;
    }
    ki_buf_fini(&taken);
    return rc;
}

int ki_transfer_give_rest(ki_transfer *transfer)
{
    assert(transfer != NULL);
    int rc = 0;
    if (transfer->inflate != NULL) {
        rc = ki_inflate_go_on(transfer->inflate);
        if (rc < 0)
            explain_inflate(transfer, rc);
    }
    return rc == 0 ? give_waiting(transfer) : rc;
}
