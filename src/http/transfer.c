/* SPDX-License-Identifier: Apache-2.0 */
#include "http/transfer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "http/curl_reason.h"
#include "http/open_files.h"
#include "http/transfer_parts.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

/* If a request is cancelled after this long without data, its connection is assumed to be dead; other
 * requests may share it. */
enum { SUSPECT_MS = 10 * 1000 };

enum { TEXT_BYTES = CURL_ERROR_SIZE + 256 };

/* ---- ends -------------------------------------------------------------------------------------------- */

static void take_from_libcurl(ki_transfer *transfer)
{
    ki_sockets_let_go(transfer);
    if (transfer->pool != NULL) {
        (void)curl_multi_remove_handle(transfer->pool->multi, transfer->easy);
        ki_sockets_forget(transfer);
        ki_pool_leave(transfer->pool, transfer->is_told);
    }
    transfer->pool = NULL;
    curl_easy_cleanup(transfer->easy);
    transfer->easy = NULL;
}

/* One of the headers contains credentials. */
static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *line = headers; line != NULL; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(headers);
}

static void free_transfer(ki_transfer *transfer)
{
    ki_http *http = transfer->http;
    take_from_libcurl(transfer);
    ki_list_remove(&transfer->node);
    ki_job_fini(&transfer->job);
    ki_inflate_free(transfer->inflate);
    free_headers(transfer->headers);
    ki_buf_fini(&transfer->body);
    ki_buf_fini(&transfer->waiting);
    ki_free(transfer->method);
    ki_free(transfer->target);
    ki_free(transfer);
    assert(http->alive_count > 0);
    http->alive_count--;
    (void)!ki_sockets_reserve(http, http->alive_count); /* a smaller number needs no memory */
}

void ki_transfers_reap(ki_http *http)
{
    assert(http != NULL);
    for (ki_list_node *node = ki_list_first(&http->over); node != NULL; node = ki_list_first(&http->over))
        free_transfer(KI_CONTAINER_OF(node, ki_transfer, node));
}

void ki_transfer_set_over(ki_transfer *transfer)
{
    assert(transfer != NULL);
    ki_http *http = transfer->http;
    assert(transfer->state != KI_TRANSFER_OVER);
    if (transfer->state == KI_TRANSFER_WAITING && http->options.credentials != NULL)
        ki_credentials_forget(http->options.credentials, &transfer->job);
    transfer->state = KI_TRANSFER_OVER;
    ki_list_remove(&transfer->node);
    ki_list_push_back(&http->over, &transfer->node);
}

void ki_transfer_cancel(ki_transfer *transfer)
{
    KI_ASSERT_ON(transfer->http->options.loop);
    ki_http *http = transfer->http;
    if (transfer->state == KI_TRANSFER_OVER)
        return;
    uint64_t silent_ns = ki_clock_now_ns(http->clock) - transfer->heard_ns;
    if (transfer->pool != NULL && !transfer->is_paused && silent_ns > SUSPECT_MS * KI_NS_PER_MS)
        ki_pool_suspect(transfer->pool, true);
    ki_transfer_set_over(transfer);
    if (http->depth == 0)
        ki_http_reap(http);
}

/* The other connections of the pool may be as dead as this one. */
static void note_failure(ki_transfer *transfer, ki_reason reason)
{
    if (reason == KI_REASON_TLS)
        transfer->http->trust.is_old = true;
    if (reason == KI_REASON_TLS || reason == KI_REASON_CONNECTION_LOST || reason == KI_REASON_TIMEOUT)
        ki_pool_suspect(transfer->pool, reason == KI_REASON_TIMEOUT);
}

/* A watch is long-lived by design: its duration and size are not counted. */
static void count(const ki_transfer *transfer)
{
    ki_http *http = transfer->http;
    long connections = 0;
    curl_off_t lookup_us = 0;
    if (!transfer->is_told)
        ki_http_metrics_request(&http->metrics, transfer->method, 0);
    if (curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connections) == CURLE_OK &&
        curl_easy_getinfo(transfer->easy, CURLINFO_NAMELOOKUP_TIME_T, &lookup_us) == CURLE_OK &&
        connections > 0 && lookup_us > 0)
        ki_http_metrics_lookup(&http->metrics, (uint64_t)lookup_us * KI_NS_PER_US);
    if (transfer->is_watch)
        return;
    ki_http_sample sample = {.method = transfer->method,
                             .request_bytes = transfer->body.len,
                             .response_bytes = transfer->received_bytes,
                             .duration_ns = ki_clock_now_ns(http->clock) - transfer->sent_ns};
    ki_http_metrics_sample(&http->metrics, &sample);
}

/* The last callback. libcurl's messages, and texts that they quote, may contain a secret. */
static void end(ki_transfer *transfer, ki_reason reason, const char *message)
{
    char text[TEXT_BYTES];
    ki_mask mask = ki_http_mask_of(transfer->http);
    int n = snprintf(text, sizeof(text), "%s", message);
    text[mask.hide(text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1, mask.user)] = 0;
    if (transfer->pool != NULL)
        count(transfer);
    ki_transfer_set_over(transfer);
    transfer->events->on_end(transfer, reason, text, transfer->user);
}

static bool is_redirect(int status)
{
    return status >= 300 && status < 400 && status != 304;
}

/* The response is complete; only a redirect is a failure. */
static void end_answered(ki_transfer *transfer)
{
    char text[sizeof(transfer->head.location) + 96];
    const char *location = transfer->head.location;
    int has_location = location[0] != 0;
    if (is_redirect(transfer->head.status)) {
        (void)snprintf(
            text, sizeof(text), "the server responded with %d, a redirect%s%s%s; redirects are not followed",
            transfer->head.status, has_location ? " to \"" : "", location, has_location ? "\"" : "");
        end(transfer, KI_REASON_REDIRECTED, text);
    } else {
        end(transfer, KI_REASON_NONE, "");
    }
}

static void end_complete(ki_transfer *transfer)
{
    if (!transfer->is_told)
        end(transfer, KI_REASON_CONNECTION_LOST, "the connection was closed inside the head of the response");
    else if (transfer->inflate != NULL && !ki_inflate_is_complete(transfer->inflate))
        end(transfer, KI_REASON_CONNECTION_LOST, "the compressed response is truncated");
    else
        end_answered(transfer);
}

/* A line of the head is longer than libcurl's own limit. If the code can also mean out of memory, part of
 * the head must have been received. */
static bool is_too_long(const ki_transfer *transfer, CURLcode code)
{
    curl_off_t began_us = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_STARTTRANSFER_TIME_T, &began_us);
    return ki_curl_is_too_large(code) && !transfer->is_told && (code != CURLE_OUT_OF_MEMORY || began_us > 0);
}

/* The status of a proxy's response to CONNECT; 0 if there was none. */
static long tunnel_answer(const ki_transfer *transfer)
{
    long answer = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &answer);
    return answer;
}

/* A failure of the proxy is reported with the name of the proxy. Returns whether it was one. */
static bool name_proxy(const ki_transfer *transfer, CURLcode code, const char *message, char *text)
{
    ki_proxy_route_failure failure = {.code = code, .message = message};
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_PROXY_ERROR, &failure.detail);
    failure.was_asked_to_go = tunnel_answer(transfer) != 0;
    return ki_proxy_route_name_failure(&transfer->http->proxy, &failure, text, TEXT_BYTES);
}

/* TLS errors about our certificate contain no file names, so the message adds them. The key was checked
 * before, so if it is the problem, it does not match the certificate. Returns whether this is such an
 * error. */
static bool name_certificate(const ki_transfer *transfer, CURLcode code, const char *message, char *text)
{
    const ki_credentials *credentials = transfer->http->options.credentials;
    ki_certificate_names names;
    if (code != CURLE_SSL_CERTPROBLEM || credentials == NULL)
        return false;
    ki_credentials_certificate_names(credentials, &names);
    if (ki_curl_is_other_key(message))
        (void)snprintf(text, TEXT_BYTES, "%s does not match %s", names.key, names.certificate);
    else
        (void)snprintf(text, TEXT_BYTES, "%s cannot be used: %s", names.certificate, message);
    return true;
}

/* The error code of the operating system. A name lookup does not report that it could not open a file. */
static long os_error_of(const ki_transfer *transfer, CURLcode code)
{
    long os_error = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os_error);
    if (code == CURLE_COULDNT_CONNECT && transfer->open_error != 0)
        return transfer->open_error;
    int limit =
        code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ? ki_open_files_probe() : 0;
    return limit != 0 ? limit : os_error;
}

bool ki_transfer_is_proxys(const ki_transfer *transfer)
{
    return transfer->is_proxys;
}

ki_loop *ki_transfer_loop(const ki_transfer *transfer)
{
    return transfer->http->options.loop;
}

static void end_failed(ki_transfer *transfer, CURLcode code)
{
    const ki_http *http = transfer->http;
    long os_error = os_error_of(transfer, code);
    const char *message = transfer->message[0] != 0 ? transfer->message : curl_easy_strerror(code);
    code = ki_curl_settle(code, message, tunnel_answer(transfer) >= 300);
    ki_reason reason = ki_curl_reason(code, os_error);
    const char *hint = ki_curl_hint(code, message, (ki_curl_scene){http->server.is_tls, http->was_answered});
    char text[TEXT_BYTES];
    if (reason == KI_REASON_TOO_MANY_OPEN_FILES) {
        ki_open_files_explain(os_error, text, sizeof(text));
        message = text;
    } else if (name_proxy(transfer, code, message, text)) {
        transfer->is_proxys = true;
        message = text;
    } else if (name_certificate(transfer, code, message, text)) {
        message = text;
    } else if (hint != NULL) {
        message = hint;
    }
    if (is_too_long(transfer, code)) {
        reason = KI_REASON_MALFORMED;
        message = "a line in the head of the response is too long";
    }
    note_failure(transfer, reason);
    end(transfer, reason, message);
}

static void end_done(ki_transfer *transfer, CURLcode code)
{
    if (code == CURLE_OK)
        end_complete(transfer);
    else
        end_failed(transfer, code);
}

/* During a pause, the end is delayed until the waiting data has been passed on. */
void ki_transfer_done(ki_transfer *transfer, CURLcode code)
{
    assert(transfer != NULL);
    if (transfer->state == KI_TRANSFER_OVER)
        return;
    if (transfer->reason != KI_REASON_NONE) {
        end(transfer, transfer->reason, transfer->why);
    } else if (transfer->is_paused) {
        transfer->is_done = true;
        transfer->done_code = code;
    } else {
        end_done(transfer, code);
    }
}

/* ---- starting and resuming --------------------------------------------------------------------------- */

static void begin(ki_transfer *transfer)
{
    assert(transfer->state == KI_TRANSFER_WAITING && transfer->pool == NULL);
    ki_credentials *credentials = transfer->http->options.credentials;
    ki_identity identity = {0};
    ki_error err = {0};
    int rc = 0;
    if (credentials != NULL)
        rc = ki_credentials_get(credentials, &transfer->job, &identity, &err);
    if (rc == 1)
        return;
    if (rc < 0) {
        end(transfer, rc == KI_ERR_NO_MEMORY ? KI_REASON_NO_MEMORY : KI_REASON_NO_CREDENTIALS, err.message);
        return;
    }
    transfer->state = KI_TRANSFER_RUNNING;
    if (ki_transfer_send(transfer, &identity) < 0)
        end(transfer, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
}

/* Passes on data that was already received first. A pause does not count as silence of the server. */
static void go_on(ki_transfer *transfer)
{
    transfer->is_resumed = false;
    transfer->is_paused = false;
    transfer->heard_ns = ki_clock_now_ns(transfer->http->clock);
    int rc = ki_transfer_give_rest(transfer);
    if (rc == 1 || transfer->state == KI_TRANSFER_OVER)
        return;
    if (rc < 0)
        end(transfer, transfer->reason, transfer->why);
    else if (transfer->is_done)
        end_done(transfer, transfer->done_code);
    else
        ki_sockets_let_go(transfer);
}

static void check_due(ki_transfer *transfer)
{
    assert(transfer->state == KI_TRANSFER_RUNNING);
    if (ki_clock_now_ns(transfer->http->clock) < transfer->due_ns)
        return;
    note_failure(transfer, KI_REASON_TIMEOUT);
    if (transfer->is_told)
        end_answered(transfer);
    else
        end(transfer, KI_REASON_TIMEOUT, "the server does not respond");
}

static void run_sent(ki_transfer *transfer)
{
    if (transfer->is_resumed)
        go_on(transfer);
    if (transfer->state == KI_TRANSFER_RUNNING)
        check_due(transfer);
}

static void run_transfer(ki_job *job)
{
    ki_transfer *transfer = KI_CONTAINER_OF(job, ki_transfer, job);
    ki_http *http = transfer->http;
    KI_ASSERT_ON(http->options.loop);
    ki_http_enter(http);
    if (transfer->state == KI_TRANSFER_WAITING)
        begin(transfer);
    else if (transfer->state == KI_TRANSFER_RUNNING)
        run_sent(transfer);
    ki_http_leave(http);
}

void ki_transfer_resume(ki_transfer *transfer)
{
    assert(transfer != NULL);
    transfer->is_resumed = true;
    ki_job_wake(&transfer->job);
}

/* ---- creating ---------------------------------------------------------------------------------------- */

static bool fill(ki_transfer *transfer, const ki_transfer_request *request)
{
    transfer->target = ki_str_copy(request->target);
    bool is_good = transfer->target != NULL;
    if (is_good && request->method != NULL) {
        transfer->method = ki_str_copy(ki_str_of(request->method));
        is_good = transfer->method != NULL;
    }
    for (const char *const *line = request->headers; is_good && line != NULL && *line != NULL; line++)
        is_good = ki_transfer_add_header(transfer, *line) == 0;
    if (is_good && request->body.len > 0) {
        ki_buf_init(&transfer->body, request->body.len);
        is_good = ki_buf_append_str(&transfer->body, request->body) == 0;
    }
    return is_good && ki_sockets_reserve(transfer->http, transfer->http->alive_count) == 0;
}

ki_transfer *ki_transfer_new(ki_http *http, const ki_transfer_request *request, ki_error *err)
{
    assert(http != NULL);
    KI_ASSERT_ON(http->options.loop);
    assert(request->events != NULL && request->target.len > 0);
    ki_transfer *made = ki_calloc(1, sizeof(*made));
    if (made == NULL || ki_job_init(&made->job, http->options.loop, run_transfer) < 0) {
        ki_free(made);
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    made->http = http;
    made->events = request->events;
    made->user = request->user;
    made->head_timeout_ms = request->head_timeout_ms;
    made->head.bytes_max = http->options.head_bytes_max;
    made->is_watch = request->is_watch;
    made->may_be_cut = request->may_be_cut;
    made->is_long = request->is_long;
    http->alive_count++;
    ki_list_push_back(&http->alive, &made->node);
    if (!fill(made, request)) {
        free_transfer(made);
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    ki_job_wake(&made->job);
    return made;
}
