/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/respond.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/object/text.h"
#include "apiserver/serve/connection.h"
#include "apiserver/serve/http.h"
#include "apiserver/serve/stream.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/random.h"

/* GZIP_BYTES_MIN: as in Kubernetes, smaller responses are not compressed. */
enum { GZIP_BYTES_MIN = 128 * 1024, PIECE_BYTES = 32 * 1024, WARNING_BYTES_MAX = 4096 };

/* A result of the reading functions, distinct from libmicrohttpd's codes. */
enum { LOOK_AGAIN = -100 };

/* ---- faults -------------------------------------------------------------------------------------------- */

bool ki_as_respond_has_end(const struct ki_as_exchange *exchange)
{
    if (!exchange->has_fault)
        return false;
    switch (exchange->fault.action) {
    case KI_FAULT_CLOSE:
    case KI_FAULT_RESET:
    case KI_FAULT_STALL:
    case KI_FAULT_GARBAGE:
    case KI_FAULT_TRUNCATE:
        return true;
    default:
        return false;
    }
}

static bool is_fault_of_body(const struct ki_as_exchange *exchange)
{
    return ki_as_respond_has_end(exchange) ||
           (exchange->has_fault && exchange->fault.action == KI_FAULT_ONE_BYTE);
}

/* Whether the fault is due: one of its limits is reached, in bytes or in events. */
static bool is_due(const struct ki_as_exchange *exchange)
{
    const ki_fault *fault = &exchange->fault;
    if (!ki_as_respond_has_end(exchange))
        return false;
    if (fault->after_bytes > 0 && exchange->sent_bytes >= fault->after_bytes)
        return true;
    if (fault->after_events > 0)
        return exchange->stream == NULL ? fault->after_bytes == 0
                                        : ki_as_stream_is_at_limit(exchange->stream);
    return fault->after_bytes == 0;
}

/* Ends the fault: a stalled body continues, and a fault that is not due yet never happens. */
static void clear_fault(struct ki_as_exchange *exchange)
{
    exchange->has_fault = false;
    atomic_store(&exchange->is_stalled, false);
    if (exchange->stream != NULL)
        ki_as_stream_lift_limit(exchange->stream);
}

static ssize_t put_garbage(struct ki_as_exchange *exchange, char *bytes, size_t max)
{
    static const char garbage[] = "<html>this is not JSON, }]{[\n";
    size_t n = sizeof(garbage) - 1 < max ? sizeof(garbage) - 1 : max;
    if (exchange->is_garbage_sent && exchange->stream != NULL)
        return MHD_CONTENT_READER_END_OF_STREAM;
    exchange->is_garbage_sent = true;
    memcpy(bytes, garbage, n);
    return (ssize_t)n;
}

/* Carries out a fault that is due. Returns 0 if the exchange is parked,
 * or LOOK_AGAIN if it was woken meanwhile. */
static ssize_t do_fault(struct ki_as_exchange *exchange, char *bytes, size_t max)
{
    assert(ki_as_respond_has_end(exchange));
    switch (exchange->fault.action) {
    case KI_FAULT_RESET:
        if (exchange->connection != NULL)
            ki_as_socket_reset(exchange->connection->fd);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    case KI_FAULT_STALL:
        atomic_store(&exchange->is_endless, true);
        atomic_store(&exchange->is_stalled, true);
        if (atomic_load(&exchange->is_cut) || atomic_load(&exchange->server->is_ending))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        return ki_as_exchange_park(exchange, UINT64_MAX) ? 0 : LOOK_AGAIN;
    case KI_FAULT_GARBAGE:
        return put_garbage(exchange, bytes, max);
    case KI_FAULT_TRUNCATE:
        return MHD_CONTENT_READER_END_OF_STREAM;
    default:
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
}

/* The number of bytes that may be written before the fault. */
static size_t allowed_bytes(const struct ki_as_exchange *exchange, size_t max)
{
    const ki_fault *fault = &exchange->fault;
    if (!is_fault_of_body(exchange))
        return max;
    if (fault->action == KI_FAULT_ONE_BYTE)
        return 1;
    assert(fault->after_bytes == 0 || exchange->sent_bytes < fault->after_bytes);
    uint64_t left = fault->after_bytes > 0 ? fault->after_bytes - exchange->sent_bytes : max;
    return left < max ? (size_t)left : max;
}

/* ---- bodies in pieces ---------------------------------------------------------------------------------- */

static ssize_t read_answer(struct ki_as_exchange *exchange, char *bytes, size_t max)
{
    assert(exchange->stream == NULL);
    const ki_buf *text = &exchange->answer.text;
    if (exchange->sent_bytes >= text->len)
        return MHD_CONTENT_READER_END_OF_STREAM;
    size_t left = text->len - (size_t)exchange->sent_bytes;
    size_t n = left < max ? left : max;
    memcpy(bytes, text->data + exchange->sent_bytes, n);
    return (ssize_t)n;
}

static ssize_t read_stream(struct ki_as_exchange *exchange, char *bytes, size_t max)
{
    assert(exchange->stream != NULL && max > 0);
    for (;;) {
        uint64_t due_ns = UINT64_MAX;
        if (atomic_load(&exchange->is_cut))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (atomic_load(&exchange->server->is_ending))
            return MHD_CONTENT_READER_END_OF_STREAM;
        ssize_t n = ki_as_stream_read(exchange->stream, bytes, max, &due_ns);
        if (n != 0)
            return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
        if (is_due(exchange) || ki_as_exchange_park(exchange, due_ns))
            return 0;
    }
}

/* Reads the next bytes, or carries out the fault if it is due. Returns LOOK_AGAIN if there are no bytes and
 * the exchange is not parked. */
static ssize_t read_next(struct ki_as_exchange *exchange, char *bytes, size_t max)
{
    if (exchange->has_fault && atomic_load(&exchange->is_fault_cleared))
        clear_fault(exchange);
    if (is_due(exchange))
        return do_fault(exchange, bytes, max);
    size_t n = allowed_bytes(exchange, max);
    ssize_t rc = exchange->stream != NULL ? read_stream(exchange, bytes, n) : read_answer(exchange, bytes, n);
    return rc == 0 && is_due(exchange) ? LOOK_AGAIN : rc;
}

static ssize_t on_read(void *user, uint64_t position, char *bytes, size_t max)
{
    struct ki_as_exchange *exchange = user;
    ssize_t rc = LOOK_AGAIN;
    (void)position;
    while (rc == LOOK_AGAIN)
        rc = read_next(exchange, bytes, max);
    exchange->sent_bytes += rc > 0 ? (uint64_t)rc : 0;
    return rc;
}

/* ---- headers ------------------------------------------------------------------------------------------- */

static void put_audit_id(struct MHD_Response *response)
{
    unsigned char random[16];
    char text[40];
    if (ki_random_system_bytes(random, sizeof(random)) < 0)
        return;
    random[6] = (unsigned char)((random[6] & 0x0f) | 0x40);
    random[8] = (unsigned char)((random[8] & 0x3f) | 0x80);
    size_t at = 0;
    for (size_t i = 0; i < sizeof(random); i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", random[i]);
    assert(at < sizeof(text));
    (void)MHD_add_response_header(response, "Audit-Id", text);
}

/* Adds headers of the form 299 - "text". As in Kubernetes, their total size is limited to a few kilobytes. */
static void put_warnings(const struct ki_as_exchange *exchange, struct MHD_Response *response)
{
    const json_t *warnings = exchange->answer.warnings;
    size_t bytes = 0;
    for (size_t i = 0; i < json_array_size(warnings) && bytes < WARNING_BYTES_MAX; i++) {
        char *quoted = ki_as_quoted(ki_as_json_str(json_array_get(warnings, i)));
        char header[WARNING_BYTES_MAX];
        int len = quoted == NULL ? -1 : snprintf(header, sizeof(header), "299 - %s", quoted);
        if (len > 0 && len < (int)sizeof(header))
            (void)MHD_add_response_header(response, "Warning", header);
        bytes += len > 0 ? (size_t)len : 0;
        ki_free(quoted);
    }
}

static void put_headers(const struct ki_as_exchange *exchange, struct MHD_Response *response)
{
    const struct ki_as_answer *answer = &exchange->answer;
    char number[16];
    const char *type = answer->content_type != NULL ? answer->content_type
                       : !answer->is_proto          ? "application/json"
                       : exchange->stream == NULL   ? "application/vnd.kubernetes.protobuf"
                                                    : "application/vnd.kubernetes.protobuf;stream=watch";
    put_audit_id(response);
    put_warnings(exchange, response);
    (void)MHD_add_response_header(response, "Cache-Control", "no-cache, private");
    (void)MHD_add_response_header(response, "Content-Type", type);
    if (!answer->is_json && !answer->is_proto && exchange->stream == NULL)
        (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (answer->is_gzip) {
        (void)MHD_add_response_header(response, "Content-Encoding", "gzip");
        (void)MHD_add_response_header(response, "Vary", "Accept-Encoding");
    }
    if (answer->retry_after_seconds > 0) {
        snprintf(number, sizeof(number), "%d", answer->retry_after_seconds);
        (void)MHD_add_response_header(response, "Retry-After", number);
    }
}

/* ---- sending the response ------------------------------------------------------------------------------ */

static void replace_text(struct ki_as_answer *answer, ki_buf *text)
{
    ki_buf before = answer->text;
    answer->text = *text;
    *text = before;
}

/* Indents and compresses the response if the client wants that. If out of memory, leaves it as it is. */
static void dress(struct ki_as_exchange *exchange)
{
    struct ki_as_answer *answer = &exchange->answer;
    const struct ki_as_query *query = &exchange->request.query;
    bool is_pretty = query->has_pretty ? query->is_pretty : ki_as_is_for_people(exchange->headers.user_agent);
    ki_buf text;
    ki_buf_init(&text, answer->text.max);
    if (answer->is_json && is_pretty && ki_as_text_indent(&text, ki_buf_str(&answer->text)) == 0)
        replace_text(answer, &text);
    ki_buf_reset(&text, 0);
    if ((answer->is_json || answer->is_proto) && answer->text.len > GZIP_BYTES_MIN &&
        ki_as_accepts_gzip(exchange->headers.accept_encoding) &&
        ki_as_text_gzip(&text, ki_buf_str(&answer->text)) == 0) {
        replace_text(answer, &text);
        answer->is_gzip = true;
    }
    ki_buf_fini(&text);
}

static struct MHD_Response *response_of_text(struct ki_as_exchange *exchange)
{
    assert(exchange->stream == NULL);
    struct ki_as_answer *answer = &exchange->answer;
    const ki_fault *fault = &exchange->fault;
    dress(exchange);
    bool is_cut_short = exchange->has_fault && fault->action == KI_FAULT_TRUNCATE;
    if (is_cut_short && fault->after_bytes < answer->text.len)
        answer->text.len = (size_t)fault->after_bytes;
    if (is_cut_short || !is_fault_of_body(exchange))
        return MHD_create_response_from_buffer(answer->text.len, answer->text.data, MHD_RESPMEM_PERSISTENT);
    uint64_t size = fault->action == KI_FAULT_ONE_BYTE ? MHD_SIZE_UNKNOWN : answer->text.len;
    return MHD_create_response_from_callback(size, PIECE_BYTES, on_read, exchange, NULL);
}

enum MHD_Result ki_as_respond(struct ki_as_exchange *exchange)
{
    assert(exchange->phase == KI_AS_PHASE_QUEUED);
    assert((exchange->stream == NULL) == (exchange->answer.code != 0));
    struct MHD_Response *response =
        exchange->stream == NULL
            ? response_of_text(exchange)
            : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, on_read, exchange, NULL);
    if (response == NULL)
        return MHD_NO;
    put_headers(exchange, response);
    unsigned code = exchange->stream == NULL ? (unsigned)exchange->answer.code : MHD_HTTP_OK;
    enum MHD_Result result = MHD_queue_response(exchange->mhd, code, response);
    MHD_destroy_response(response);
    return result;
}
