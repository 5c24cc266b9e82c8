/* SPDX-License-Identifier: Apache-2.0 */
/* One call on io: it waits for its turn, is sent, may be retried, and ends. */
#include <assert.h>
#include <inttypes.h>

#include "client/callback.h"
#include "http/transfer.h"
#include "rest/rest.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

enum { TIMEOUT_MS = 60 * 1000, RETRIES_MAX = 10, LOST_RETRY_MS = 1000 };

static uint64_t now_of(const ki_rest_call *call)
{
    return ki_clock_now_ns(call->rest->client->clock);
}

static ki_http_metrics *metrics_of(const ki_rest_call *call)
{
    return ki_http_metrics_of(call->rest->client->http);
}

/* ---- how many at once -------------------------------------------------------------------------------- */

/* Only wakes the first waiting call, which checks whether it may be sent.
 * It stays in the list until it is sent or has ended. */
static void wake_next(ki_rest *rest)
{
    ki_list_node *node = ki_list_first(&rest->waiting);
    if (node != NULL && rest->in_flight < rest->in_flight_max)
        ki_job_wake(&KI_CONTAINER_OF(node, ki_rest_call, wait_node)->job);
}

/* Calls are sent in the order in which they began to wait. Returns whether the call may be sent now;
 * if not, it is woken later. */
static bool enter_flight(ki_rest_call *call)
{
    ki_rest *rest = call->rest;
    assert(!call->is_in_flight && rest->in_flight <= rest->in_flight_max);
    if (!ki_list_node_is_linked(&call->wait_node))
        ki_list_push_back(&rest->waiting, &call->wait_node);
    if (rest->in_flight >= rest->in_flight_max || ki_list_first(&rest->waiting) != &call->wait_node)
        return false;
    ki_list_remove(&call->wait_node);
    rest->in_flight++;
    call->is_in_flight = true;
    wake_next(rest);
    return true;
}

/* A call that is not in flight is allowed. */
static void leave_flight(ki_rest_call *call)
{
    assert(!call->is_in_flight || call->rest->in_flight > 0);
    call->transfer = NULL;
    ki_list_remove(&call->wait_node);
    if (call->is_in_flight)
        call->rest->in_flight--;
    call->is_in_flight = false;
    wake_next(call->rest);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static void give_up(ki_rest_call *call, int code, ki_reason reason, const char *message)
{
    KI_ASSERT_ON(call->rest->client->io);
    if (call->transfer != NULL)
        ki_transfer_cancel(call->transfer);
    if (call->has_turn && call->rest->has_limit && call->due_ns > now_of(call))
        ki_token_bucket_give_back(&call->rest->limit); /* otherwise, cancelled calls would delay later ones */
    leave_flight(call);
    ki_rest_reader_fail(&call->reader, code, reason, message);
    ki_rest_ended(call);
}

/* Whether to send the call again because the credentials were refused, and there are new ones now. Only once
 * per call, whatever the number of attempts. */
static bool wants_new_credentials(ki_rest_call *call)
{
    if (call->reader.answer.http_status != 401 || call->was_unauthorized)
        return false;
    call->was_unauthorized = true;
    return true;
}

/* The delay before a retry in milliseconds; 0 for no retry. If the connection was lost, the server may have
 * carried out the request, so only reads are repeated. */
static uint32_t retry_ms(const ki_rest_call *call, ki_reason reason)
{
    const ki_rest_answer *answer = &call->reader.answer;
    if (answer->error.code == 0 || call->retries_left == 0)
        return 0;
    if (reason == KI_REASON_CONNECTION_LOST && call->is_reading)
        return LOST_RETRY_MS;
    return answer->http_status == 429 || answer->http_status >= 500 ? answer->error.retry_after_ms : 0;
}

/* Does not retry if the delay goes beyond the deadline: a response that says "later" is better than a
 * timeout. */
static void end_or_retry(ki_rest_call *call, ki_reason reason)
{
    assert(call->transfer == NULL && !call->is_in_flight);
    bool is_again = wants_new_credentials(call);
    uint32_t wait_ms = is_again ? 0 : retry_ms(call, reason);
    uint64_t due_ns = now_of(call) + ki_ns_of_ms(wait_ms);
    if (wait_ms > 0 && due_ns < call->deadline_ns) {
        is_again = true;
        assert(call->retries_left > 0);
        call->retries_left--;
    }
    if (!is_again) {
        ki_rest_ended(call);
        return;
    }
    ki_log(KI_LOG_DEBUG, "rest",
           KI_LOG_FIELDS({"method", ki_str_of(call->message.method)},
                         {"target", ki_buf_str(&call->message.target)}),
           "retrying in %" PRIu32 " ms: %s", wait_ms, call->reader.answer.error.message);
    call->due_ns = due_ns;
    ki_job_wake(&call->job);
}

/* ---- the response -------------------------------------------------------------------------------------- */

static void on_head(ki_transfer *transfer, const ki_response_head *head, void *user)
{
    ki_rest_call *call = user;
    KI_ASSERT_ON(call->rest->client->io);
    assert(call->is_in_flight);
    (void)transfer;
    ki_rest_reader_head(&call->reader, head);
}

/* Transfers are never paused, because the size of a response is limited. */
static int on_body(ki_transfer *transfer, const char *bytes, size_t n, void *user)
{
    ki_rest_call *call = user;
    KI_ASSERT_ON(call->rest->client->io);
    assert(call->is_in_flight);
    (void)transfer;
    int rc = ki_rest_reader_body(&call->reader, bytes, n);
    if (rc == 0)
        return 0;
    leave_flight(call);
    ki_rest_ended(call);
    return rc;
}

static void on_end(ki_transfer *transfer, ki_reason reason, const char *message, void *user)
{
    ki_rest_call *call = user;
    KI_ASSERT_ON(call->rest->client->io);
    assert(call->is_in_flight);
    (void)transfer;
    leave_flight(call);
    ki_rest_reader_end(&call->reader, reason, message);
    if (call->reader.answer.attempts > 1)
        ki_http_metrics_retry(metrics_of(call), call->message.method, call->reader.answer.http_status);
    end_or_retry(call, reason);
}

/* There is a connection, and a write is about to be sent on it. This may not be the first time, if the server
 * has closed the previous connection. Then it is unknown whether the server has carried out the write, so a
 * refusal by the gate is reported as a lost connection. */
static void on_sent(ki_transfer *transfer, void *user)
{
    ki_rest_call *call = user;
    KI_ASSERT_ON(call->rest->client->io);
    assert(call->is_in_flight && !call->is_reading);
    ki_error why = {0};
    ki_write write = {.method = call->message.method, .target = ki_buf_str(&call->message.target)};
    (void)transfer;
    if (ki_write_gate_ask(&call->rest->client->gate, &write, &why) == 0)
        call->is_sent = true;
    else if (call->is_sent)
        give_up(call, KI_ERR_HTTP, KI_REASON_CONNECTION_LOST, why.message);
    else
        give_up(call, KI_ERR_REFUSED, KI_REASON_OTHER, why.message);
}

static const ki_transfer_events read_events = {on_head, on_body, on_end, NULL};
static const ki_transfer_events write_events = {on_head, on_body, on_end, on_sent};

/* ---- sending ----------------------------------------------------------------------------------------- */

static void send_call(ki_rest_call *call)
{
    assert(call->transfer == NULL && call->is_in_flight && call->has_turn);
    const ki_rest_message *message = &call->message;
    const char *accept = message->accept.len > 0 ? message->accept.data : "Accept: application/json";
    const char *const headers[] = {accept, message->content_type, NULL};
    uint64_t left_ns = call->deadline_ns - now_of(call);
    ki_transfer_request request = {.method = message->method,
                                   .target = ki_buf_str(&message->target),
                                   .headers = headers,
                                   .body = ki_buf_str(&message->body),
                                   .events = call->is_reading ? &read_events : &write_events,
                                   .user = call,
                                   .head_timeout_ms = left_ns / KI_NS_PER_MS + 1,
                                   .may_be_cut = true,
                                   .is_long = call->reader.is_list};
    call->has_turn = false;
    call->is_sent = false;
    ki_rest_reader_begin(&call->reader);
    call->transfer = ki_transfer_new(call->rest->client->http, &request, NULL);
    if (call->transfer == NULL)
        give_up(call, KI_ERR_NO_MEMORY, KI_REASON_NO_MEMORY, NULL);
    else
        ki_job_wake_at(&call->job, call->deadline_ns);
}

/* Returns false if the call has ended. */
static bool take_turn(ki_rest_call *call, uint64_t now_ns)
{
    assert(!call->has_turn);
    ki_rest *rest = call->rest;
    call->has_turn = true;
    if (!rest->has_limit)
        return true;
    call->due_ns = ki_token_bucket_reserve(&rest->limit, now_ns, call->deadline_ns);
    if (call->due_ns == UINT64_MAX) {
        give_up(call, KI_ERR_TIMEOUT, KI_REASON_TIMEOUT,
                "the client's rate limit would delay the call beyond its timeout");
        return false;
    }
    ki_http_metrics_limited(metrics_of(call), call->message.method, call->due_ns - now_ns);
    return true;
}

static void go_on(ki_rest_call *call, uint64_t now_ns)
{
    assert(call->transfer == NULL && !call->is_in_flight);
    if (now_ns >= call->due_ns && !call->has_turn && !take_turn(call, now_ns))
        return;
    if (now_ns < call->due_ns)
        ki_job_wake_at(&call->job, ki_ns_min(call->due_ns, call->deadline_ns));
    else if (enter_flight(call))
        send_call(call);
    else
        ki_job_wake_at(&call->job, call->deadline_ns);
}

static void run_call(ki_job *job)
{
    ki_rest_call *call = KI_CONTAINER_OF(job, ki_rest_call, job);
    KI_ASSERT_ON(call->rest->client->io);
    uint64_t now_ns = now_of(call);
    if (call->is_cancelled)
        give_up(call, KI_ERR_STOPPED, KI_REASON_OTHER, "the call was cancelled");
    else if (now_ns >= call->deadline_ns)
        give_up(call, KI_ERR_TIMEOUT, KI_REASON_TIMEOUT, "the call timed out");
    else if (call->transfer == NULL)
        go_on(call, now_ns);
}

/* ---- creating and freeing ---------------------------------------------------------------------------- */

static uint64_t timeout_ms(const ki_rest *rest, const ki_rest_request *request)
{
    if (request->timeout_ms > 0)
        return request->timeout_ms;
    uint64_t of_client = ki_http_request_timeout_ms(rest->client->http);
    return of_client > 0 ? of_client : TIMEOUT_MS;
}

/* By default, the calls of a reconcile function are not retried: its key is retried from a queue, while a
 * waiting call would occupy a worker. */
static int retries(const ki_rest *rest, const ki_rest_request *request)
{
    int count = request->retries_max != 0 ? request->retries_max : rest->client->options.request_retries_max;
    if (count == 0)
        return ki_callback_is_in_reconcile() ? 0 : RETRIES_MAX;
    return count < 0 ? 0 : count;
}

int ki_rest_call_init(ki_rest_call *call, ki_rest *rest, const ki_rest_request *request, ki_error *err)
{
    assert(call != NULL);
    *call = (ki_rest_call){.rest = rest,
                           .on_answer = request->on_answer,
                           .user = request->user,
                           .is_of_reconcile = ki_callback_is_in_reconcile(),
                           .is_reading = request->verb == KI_REST_GET || request->verb == KI_REST_LIST,
                           .retries_left = retries(rest, request)};
    call->deadline_ns = now_of(call) + ki_ns_of_ms(timeout_ms(rest, request));
    int rc = ki_rest_message_init(&call->message, request, err);
    if (rc < 0)
        return rc;
    rc = ki_rest_reader_init(&call->reader, request, err);
    call->reader.mask = ki_http_mask_of(rest->client->http);
    call->reader.withheld = ki_http_withheld(rest->client->http);
    if (rc == 0 && ki_job_init(&call->job, rest->client->io, run_call) < 0)
        rc = ki_fail_no_memory(err);
    if (rc < 0) {
        ki_rest_reader_fini(&call->reader);
        ki_rest_message_fini(&call->message);
    }
    return rc;
}

void ki_rest_call_fini(ki_rest_call *call)
{
    assert(call != NULL);
    ki_job_fini(&call->job);
    ki_rest_reader_fini(&call->reader);
    ki_rest_message_fini(&call->message);
}
