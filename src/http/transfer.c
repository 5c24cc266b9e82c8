/* SPDX-License-Identifier: Apache-2.0 */
#include "http/transfer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "http/curl_reason.h"
#include "http/http_parts.h"
#include "http/inflate.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

/* Large pieces for large answers; a thousand watches keep small ones. */
enum { LONG_PIECE_BYTES = 128 * 1024 };

/* Who gives up a request on which nothing came for so long thinks that the connection is dead; it may be shared. */
enum { SUSPECT_MS = 10 * 1000 };

typedef enum state {
    WAITING = 0, /* for who we are */
    RUNNING,     /* libcurl has it */
    OVER         /* no callback any more; to be taken away */
} state;

struct ki_transfer {
    ki_list_node node;
    ki_http *http;
    ki_job job; /* begins it, resumes it, notices that no head has come */
    state state;
    const ki_transfer_events *events;
    void *user;
    char *target;
    char *method;
    struct curl_slist *headers;
    ki_buf body;
    bool may_be_cut;
    bool is_long;
    bool is_resumed;
    bool is_told; /* on_head was called */
    bool is_paused;
    CURL *easy;
    bool is_added;       /* to the multi handle */
    uint64_t generation; /* of the identity it is sent with */
    uint64_t head_due_ns;
    uint64_t heard_ns; /* the last byte; before that, when it was sent */
    ki_response_head head;
    ki_inflate *inflate;
    bool is_done;     /* by libcurl, while opened bytes wait */
    ki_reason reason; /* why we have ended it ourselves; NONE: we have not */
    char message[CURL_ERROR_SIZE];
};

/* ---- ends ------------------------------------------------------------------------------------------------ */

static void take_from_libcurl(ki_transfer *transfer)
{
    if (transfer->is_added)
        (void)curl_multi_remove_handle(transfer->http->multi, transfer->easy);
    transfer->is_added = false;
    curl_easy_cleanup(transfer->easy);
    transfer->easy = NULL;
}

static void free_transfer(ki_transfer *transfer)
{
    ki_http *http = transfer->http;
    take_from_libcurl(transfer);
    ki_list_remove(&transfer->node);
    ki_job_fini(&transfer->job);
    ki_inflate_free(transfer->inflate);
    curl_slist_free_all(transfer->headers);
    ki_buf_fini(&transfer->body);
    ki_free(transfer->method);
    ki_free(transfer->target);
    ki_free(transfer);
    http->alive_count--;
    (void)!ki_sockets_reserve(http, http->alive_count); /* fewer need nothing */
}

void ki_transfers_reap(ki_http *http)
{
    for (ki_list_node *node = ki_list_first(&http->over); node != NULL; node = ki_list_first(&http->over))
        free_transfer(KI_CONTAINER_OF(node, ki_transfer, node));
}

/* No callback from here on. Inside of libcurl it has to stay until libcurl has returned. */
static void set_over(ki_transfer *transfer)
{
    ki_http *http = transfer->http;
    assert(transfer->state != OVER);
    if (transfer->state == WAITING && http->options.credentials != NULL)
        ki_credentials_forget(http->options.credentials, &transfer->job);
    transfer->state = OVER;
    ki_list_remove(&transfer->node);
    ki_list_push_back(&http->over, &transfer->node);
}

void ki_transfer_cancel(ki_transfer *transfer)
{
    ki_http *http = transfer->http;
    if (transfer->state == OVER)
        return;
    uint64_t silent_ns = ki_clock_now_ns(http->clock) - transfer->heard_ns;
    if (transfer->state == RUNNING && silent_ns > SUSPECT_MS * KI_NS_PER_MS)
        http->wants_fresh = true;
    set_over(transfer);
    if (http->depth > 0)
        return;
    http->depth++;
    ki_transfers_reap(http);
    http->depth--;
}

/* Connections of before may be as dead as this one: the next request makes its own. */
static void note_failure(ki_http *http, ki_reason reason)
{
    switch (reason) {
    case KI_REASON_TLS:
        http->trust.is_old = true;
        http->wants_fresh = true;
        break;
    case KI_REASON_CONNECTION_LOST:
    case KI_REASON_TIMEOUT:
        http->wants_fresh = true;
        break;
    default:
        break;
    }
}

/* The last callback. */
static void end(ki_transfer *transfer, ki_reason reason, const char *message)
{
    set_over(transfer);
    transfer->events->on_end(transfer, reason, message, transfer->user);
}

static bool is_redirect(int status)
{
    return status >= 300 && status < 400 && status != 304;
}

static void end_complete(ki_transfer *transfer)
{
    char text[sizeof(transfer->head.location) + 96];
    if (!transfer->is_told) {
        end(transfer, KI_REASON_CONNECTION_LOST,
            "the connection was closed inside of the head of the answer");
    } else if (transfer->inflate != NULL && !ki_inflate_is_complete(transfer->inflate)) {
        end(transfer, KI_REASON_CONNECTION_LOST, "the compressed answer ends in the middle");
    } else if (is_redirect(transfer->head.status)) {
        (void)snprintf(text, sizeof(text),
                       "the server answers %d and points to \"%s\"; redirects are not followed",
                       transfer->head.status, transfer->head.location);
        end(transfer, KI_REASON_REDIRECTED, text);
    } else {
        end(transfer, KI_REASON_NONE, "");
    }
}

static void end_failed(ki_transfer *transfer, CURLcode code)
{
    long os_error = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os_error);
    const char *message = transfer->message[0] != 0 ? transfer->message : curl_easy_strerror(code);
    ki_reason reason = ki_curl_reason(code, os_error);
    note_failure(transfer->http, reason);
    end(transfer, reason, message);
}

void ki_transfer_done(ki_transfer *transfer, CURLcode code)
{
    if (transfer->state == OVER)
        return;
    if (transfer->reason != KI_REASON_NONE) {
        end(transfer, transfer->reason, transfer->message);
    } else if (transfer->inflate != NULL && transfer->is_paused && code == CURLE_OK) {
        transfer->is_done = true;
    } else if (code == CURLE_OK) {
        end_complete(transfer);
    } else {
        end_failed(transfer, code);
    }
}

/* ---- what libcurl brings --------------------------------------------------------------------------------- */

/* Ends it from inside of libcurl: what libcurl says of that does not count. */
static void stop(ki_transfer *transfer, ki_reason reason, const char *message)
{
    transfer->reason = reason;
    (void)snprintf(transfer->message, sizeof(transfer->message), "%s", message);
}

static int open_body(const char *bytes, size_t n, void *user);

static int take_head(ki_transfer *transfer)
{
    ki_response_head *head = &transfer->head;
    transfer->is_told = true;
    ki_job_wake_at(&transfer->job, UINT64_MAX);
    if (head->status == 401 && transfer->http->options.credentials != NULL)
        ki_credentials_refused(transfer->http->options.credentials, transfer->generation);
    if (head->has_other_coding || (head->is_gzip && !transfer->http->use_gzip)) {
        stop(transfer, KI_REASON_MALFORMED, "the answer is encoded in a way that was not asked for");
        return -1;
    }
    if (head->is_gzip) {
        transfer->inflate = ki_inflate_new(open_body, transfer);
        if (transfer->inflate == NULL) {
            stop(transfer, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
            return -1;
        }
    }
    transfer->events->on_head(transfer, head, transfer->user);
    return transfer->state == OVER ? -1 : 0;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *user)
{
    ki_transfer *transfer = user;
    size_t n = size * count;
    if (transfer->state == OVER)
        return 0;
    if (ki_response_head_line(&transfer->head, (ki_str){bytes, n}, transfer->http->clock) < 0) {
        stop(transfer, KI_REASON_MALFORMED, "the head of the answer is larger than 64 KiB");
        return 0;
    }
    if (!transfer->head.is_complete || transfer->is_told)
        return n;
    return take_head(transfer) < 0 ? 0 : n;
}

/* A stream among others cannot be paused: libcurl would stop reading for all of them. */
static bool is_shared(const ki_transfer *transfer)
{
    long version = 0;
    return transfer->may_be_cut &&
           curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
           version >= CURL_HTTP_VERSION_2_0;
}

/* Returns 0, 1 to be paused, negative when it is over. */
static int give_body(ki_transfer *transfer, const char *bytes, size_t n)
{
    int rc = transfer->events->on_body(transfer, bytes, n, transfer->user);
    if (transfer->state == OVER)
        return KI_ERR_NOT_FOUND;
    if (rc < 0) {
        set_over(transfer);
        return rc;
    }
    if (rc == 1 && is_shared(transfer)) {
        stop(transfer, KI_REASON_CONNECTION_LOST,
             "more has come than can wait: the stream is cut, to be taken up again");
        return KI_ERR_STOPPED;
    }
    transfer->is_paused = rc == 1;
    return rc;
}

static int open_body(const char *bytes, size_t n, void *user)
{
    return give_body(user, bytes, n);
}

static void explain_inflate(ki_transfer *transfer, int rc)
{
    if (transfer->state == OVER || transfer->reason != KI_REASON_NONE)
        return;
    if (rc == KI_ERR_NO_MEMORY)
        stop(transfer, KI_REASON_NO_MEMORY, ki_error_text(rc));
    else
        stop(transfer, KI_REASON_MALFORMED, "the answer is not what gzip writes");
}

/* All of a piece is taken before a pause; while it is paused no more is read from the socket. */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *user)
{
    ki_transfer *transfer = user;
    size_t n = size * count;
    if (transfer->state == OVER)
        return 0;
    transfer->heard_ns = ki_clock_now_ns(transfer->http->clock);
    int rc = transfer->inflate != NULL ? ki_inflate_feed(transfer->inflate, bytes, n)
                                       : give_body(transfer, bytes, n);
    if (rc < 0 && transfer->inflate != NULL)
        explain_inflate(transfer, rc);
    if (rc == 1 && curl_easy_pause(transfer->easy, CURLPAUSE_RECV) != CURLE_OK)
        return 0;
    return rc < 0 ? 0 : n;
}

/* ---- beginning ------------------------------------------------------------------------------------------- */

static bool add_header(ki_transfer *transfer, const char *line)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);
    if (longer == NULL)
        return false;
    transfer->headers = longer;
    return true;
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

static bool set_callbacks(ki_transfer *transfer)
{
    CURL *easy = transfer->easy;
    return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->message) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK;
}

static bool set_request(ki_transfer *transfer)
{
    CURL *easy = transfer->easy;
    bool is_http2 = transfer->may_be_cut && ki_http_uses_http2(transfer->http);
    long version = is_http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1;
    bool is_set = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
                  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version) == CURLE_OK &&
                  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, is_http2 ? 1L : 0L) == CURLE_OK;
    if (is_set && transfer->is_long)
        is_set = curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)LONG_PIECE_BYTES) == CURLE_OK;
    if (is_set && transfer->body.len > 0)
        is_set =
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body.len) == CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body.data) == CURLE_OK;
    if (is_set && transfer->method != NULL)
        is_set = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, transfer->method) == CURLE_OK;
    return is_set;
}

/* A new certificate of ours, or a failure of before, asks for a new connection. */
static bool set_freshness(ki_transfer *transfer, const ki_identity *identity)
{
    ki_http *http = transfer->http;
    bool is_fresh = http->wants_fresh || http->certificate_generation != identity->certificate_generation;
    http->wants_fresh = false;
    http->certificate_generation = identity->certificate_generation;
    return curl_easy_setopt(transfer->easy, CURLOPT_FRESH_CONNECT, is_fresh ? 1L : 0L) == CURLE_OK;
}

static bool send_request(ki_transfer *transfer, const ki_identity *identity)
{
    ki_http *http = transfer->http;
    transfer->generation = identity->generation;
    transfer->easy = ki_easy_new(http, identity);
    if (transfer->easy == NULL || !add_headers(transfer, identity) || !set_url(transfer) ||
        !set_callbacks(transfer) || !set_request(transfer) || !set_freshness(transfer, identity))
        return false;
    if (curl_multi_add_handle(http->multi, transfer->easy) != CURLM_OK)
        return false;
    transfer->is_added = true;
    transfer->heard_ns = ki_clock_now_ns(http->clock);
    transfer->head_due_ns = transfer->heard_ns + ki_ns_of_ms(http->options.connect_timeout_ms) +
                            ki_ns_of_ms(http->options.head_timeout_ms);
    ki_job_wake_at(&transfer->job, transfer->head_due_ns);
    return true;
}

static void begin(ki_transfer *transfer)
{
    ki_credentials *credentials = transfer->http->options.credentials;
    ki_identity identity = {0};
    ki_error err = {0};
    int rc = 0;
    if (credentials != NULL)
        rc = ki_credentials_get(credentials, &transfer->job, &identity, &err);
    if (rc == 1)
        return;
    if (rc < 0) {
        end(transfer, rc == KI_ERR_NO_MEMORY ? KI_REASON_NO_MEMORY : KI_REASON_UNAUTHORIZED, err.message);
        return;
    }
    transfer->state = RUNNING;
    if (!send_request(transfer, &identity))
        end(transfer, KI_REASON_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY));
}

/* ---- going on -------------------------------------------------------------------------------------------- */

/* What was opened too far comes first. */
static void go_on(ki_transfer *transfer)
{
    int rc = 0;
    transfer->is_resumed = false;
    transfer->is_paused = false;
    if (transfer->inflate != NULL)
        rc = ki_inflate_go_on(transfer->inflate);
    if (rc == 1 || transfer->state == OVER)
        return;
    if (rc < 0) {
        explain_inflate(transfer, rc);
        end(transfer, transfer->reason, transfer->message);
    } else if (transfer->is_done) {
        end_complete(transfer);
    } else {
        (void)curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    }
}

static void check_head(ki_transfer *transfer)
{
    if (transfer->is_told || ki_clock_now_ns(transfer->http->clock) < transfer->head_due_ns)
        return;
    note_failure(transfer->http, KI_REASON_TIMEOUT);
    end(transfer, KI_REASON_TIMEOUT, "the server does not answer");
}

static void run_transfer(ki_job *job)
{
    ki_transfer *transfer = KI_CONTAINER_OF(job, ki_transfer, job);
    ki_http *http = transfer->http;
    ki_http_enter(http);
    if (transfer->state == WAITING)
        begin(transfer);
    else if (transfer->state == RUNNING && transfer->is_resumed)
        go_on(transfer);
    else if (transfer->state == RUNNING)
        check_head(transfer);
    ki_http_leave(http);
}

void ki_transfer_resume(ki_transfer *transfer)
{
    transfer->is_resumed = true;
    ki_job_wake(&transfer->job);
}

/* ---- making ---------------------------------------------------------------------------------------------- */

static char *copy_text(ki_str text)
{
    char *copy = ki_malloc(text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return copy;
}

static bool fill(ki_transfer *transfer, const ki_request *request)
{
    transfer->target = copy_text(request->target);
    bool is_good = transfer->target != NULL;
    if (is_good && request->method != NULL) {
        transfer->method = copy_text(ki_str_of(request->method));
        is_good = transfer->method != NULL;
    }
    for (const char *const *line = request->headers; is_good && line != NULL && *line != NULL; line++)
        is_good = add_header(transfer, *line);
    if (is_good && request->body.len > 0) {
        ki_buf_init(&transfer->body, request->body.len);
        is_good = ki_buf_append_str(&transfer->body, request->body) == 0;
    }
    return is_good && ki_sockets_reserve(transfer->http, transfer->http->alive_count) == 0;
}

ki_transfer *ki_transfer_new(ki_http *http, const ki_request *request, ki_error *err)
{
    ki_transfer *made = ki_calloc(1, sizeof(*made));
    if (made == NULL || ki_job_init(&made->job, http->options.loop, run_transfer) < 0) {
        ki_free(made);
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    made->http = http;
    made->events = request->events;
    made->user = request->user;
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
