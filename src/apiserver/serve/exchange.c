/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/exchange.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "apiserver/serve/admit.h"
#include "apiserver/serve/connection.h"
#include "apiserver/serve/handle.h"
#include "apiserver/serve/http.h"
#include "apiserver/serve/render.h"
#include "apiserver/serve/request_log.h"
#include "apiserver/serve/respond.h"
#include "apiserver/serve/restart.h"
#include "apiserver/serve/stream.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/units.h"

/* LOOK_AGAIN_MS: polling interval while waiting for a version. LOST_MS: how long a client that is too slow
 * may still read. */
enum { LOOK_AGAIN_MS = 20, LOST_MS = 5000, SMALL_BYTES = 64 * 1024 };

/* A response may contain a list of any size. */
#define ANSWER_BYTES_MAX ((size_t)1 << 40)

struct ki_as_exchange *ki_as_exchange_new(struct ki_apiserver *server, const char *address)
{
    assert(server != NULL && address != NULL);
    size_t bytes = strlen(address) + 1;
    struct ki_as_exchange *exchange = ki_calloc(1, sizeof(*exchange) + bytes);
    if (exchange == NULL)
        return NULL;
    memcpy(exchange->address, address, bytes);
    exchange->server = server;
    ki_mutex_init(&exchange->mu);
    ki_buf_init(&exchange->body, server->body_bytes_max);
    ki_buf_init(&exchange->answer.text, ANSWER_BYTES_MAX);
    ki_mutex_lock(&server->mu);
    ki_list_push_back(&server->exchanges, &exchange->node);
    ki_mutex_unlock(&server->mu);
    return exchange;
}

/* The client's address, "127.0.0.1:40123". */
static ki_str remote_of(const struct ki_as_exchange *exchange)
{
    return ki_str_of(exchange->connection == NULL ? "" : exchange->connection->remote);
}

/* Adds the request to the log, unless it is there already or is for /debug.
 * A `status` of 0 means that there was no response. */
static void log_request(struct ki_as_exchange *exchange, int status)
{
    const struct ki_as_request *request = &exchange->request;
    bool is_resource = request->target == KI_AS_TARGET_RESOURCE;
    ki_str none = {"", 0};
    if (exchange->is_logged || exchange->method == NULL || request->target == KI_AS_TARGET_DEBUG)
        return;
    exchange->is_logged = true;
    struct ki_as_request_note note = {
        .time_us = exchange->begin_wall_ns / (int64_t)KI_NS_PER_US,
        .took_us = (ki_clock_now_ns(ki_clock_real()) - exchange->begin_ns) / KI_NS_PER_US,
        .version = exchange->written == NULL ? 0 : exchange->written->version,
        .status = status,
        .texts = {[KI_AS_REQUEST_METHOD] = ki_str_of(exchange->method),
                  [KI_AS_REQUEST_PATH] = ki_str_of(exchange->address),
                  [KI_AS_REQUEST_USER_AGENT] = exchange->headers.user_agent,
                  [KI_AS_REQUEST_REMOTE] = remote_of(exchange),
                  [KI_AS_REQUEST_USER] = exchange->is_admitted ? KI_STR("admin") : none,
                  [KI_AS_REQUEST_GROUP] = is_resource ? request->group : none,
                  [KI_AS_REQUEST_RESOURCE] = request->plural,
                  [KI_AS_REQUEST_NAMESPACE] = request->ns,
                  [KI_AS_REQUEST_NAME] = exchange->written == NULL ? request->name : exchange->written->name,
                  [KI_AS_REQUEST_SUBRESOURCE] = request->subresource,
                  [KI_AS_REQUEST_FAULT] = exchange->has_fault
                                              ? ki_str_of(ki_apiserver_fault_name(exchange->fault.action))
                                              : none}};
    ki_as_request_log_add(exchange->server->requests, &note);
}

/* The watch is closed first, because it wakes the waker;
 * then the waker ends, because it wakes the exchange. */
void ki_as_exchange_free(struct ki_as_exchange *exchange)
{
    if (exchange == NULL)
        return;
    log_request(exchange, 0);
    if (exchange->down_ms > 0)
        ki_as_restart_wish_down(exchange->server, exchange->down_ms);
    ki_mutex_lock(&exchange->server->mu);
    ki_list_remove(&exchange->node);
    if (exchange->connection != NULL)
        exchange->connection->exchange = NULL;
    ki_mutex_unlock(&exchange->server->mu);
    ki_as_stream_free(exchange->stream);
    ki_job_fini(&exchange->waker);
    ki_as_request_fini(&exchange->request);
    ki_as_failure_fini(&exchange->failure);
    ki_buf_fini(&exchange->body);
    ki_buf_fini(&exchange->answer.text);
    ki_as_exchange_discharge(exchange);
    json_decref(exchange->answer.warnings);
    ki_as_object_unref(exchange->written);
    ki_mutex_fini(&exchange->mu);
    ki_free(exchange);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

bool ki_as_exchange_charge(struct ki_as_exchange *exchange, size_t bytes)
{
    struct ki_apiserver *server = exchange->server;
    size_t before = atomic_fetch_add(&server->in_flight_bytes, bytes);
    exchange->charged_bytes += bytes;
    return before == exchange->charged_bytes - bytes || before + bytes <= server->in_flight_bytes_max;
}

void ki_as_exchange_discharge(struct ki_as_exchange *exchange)
{
    assert(atomic_load(&exchange->server->in_flight_bytes) >= exchange->charged_bytes);
    (void)atomic_fetch_sub(&exchange->server->in_flight_bytes, exchange->charged_bytes);
    exchange->charged_bytes = 0;
}

/* ---- parking ------------------------------------------------------------------------------------------- */

void ki_as_exchange_wake(struct ki_as_exchange *exchange)
{
    ki_mutex_lock(&exchange->mu);
    if (exchange->is_parked)
        MHD_resume_connection(exchange->mhd);
    exchange->is_woken = !exchange->is_parked;
    exchange->is_parked = false;
    ki_mutex_unlock(&exchange->mu);
}

/* Cuts a connection whose client does not read: libmicrohttpd would keep it until the client reads. */
static void shut_stuck(struct ki_as_exchange *exchange)
{
    ki_mutex_lock(&exchange->mu);
    bool is_stuck = !exchange->is_parked && exchange->connection != NULL;
    ki_mutex_unlock(&exchange->mu);
    if (!is_stuck)
        return;
    atomic_store(&exchange->is_cut, true);
    (void)shutdown(exchange->connection->fd, SHUT_RDWR);
}

/* Cuts the connection of a client that has not read for so long that the history has dropped changes it
 * needs. Such a client does not read the error either. But if a fault stalls the exchange, the client had
 * nothing to read, and the connection stays. */
static void cut_lost(struct ki_as_exchange *exchange)
{
    if (atomic_load(&exchange->is_stalled))
        return;
    uint64_t now_ns = ki_clock_now_ns(ki_clock_real());
    if (exchange->cut_ns == 0)
        exchange->cut_ns = now_ns + ki_ns_of_ms(LOST_MS);
    if (now_ns < exchange->cut_ns) {
        ki_job_wake_at(&exchange->waker, exchange->cut_ns);
        return;
    }
    shut_stuck(exchange);
}

/* A client that has only shut down its sending side may still wait for a response. If none is due, it is
 * assumed to be gone, as in Kubernetes. */
void ki_as_exchange_hang_up(struct ki_as_exchange *exchange, bool is_gone)
{
    KI_ASSERT_HELD(exchange->server->mu);
    atomic_store(&exchange->is_half_closed, true);
    if (!is_gone && !atomic_load(&exchange->is_endless))
        return;
    atomic_store(&exchange->is_cut, true);
    shut_stuck(exchange);
    ki_as_exchange_wake(exchange);
}

static void on_waker(ki_job *job)
{
    struct ki_as_exchange *exchange = KI_CONTAINER_OF(job, struct ki_as_exchange, waker);
    KI_ASSERT_ON(&exchange->server->loop);
    ki_as_exchange_wake(exchange);
    if (atomic_load(&exchange->is_lost))
        cut_lost(exchange);
}

int ki_as_exchange_open_waker(struct ki_as_exchange *exchange)
{
    return exchange->waker.loop != NULL ? 0
                                        : ki_job_init(&exchange->waker, &exchange->server->loop, on_waker);
}

/* Without a waker there is no timer, so the exchange ends instead of staying forever. */
bool ki_as_exchange_park(struct ki_as_exchange *exchange, uint64_t until_ns)
{
    if (ki_as_exchange_open_waker(exchange) < 0)
        atomic_store(&exchange->is_cut, true);
    else
        ki_job_wake_at(&exchange->waker, until_ns);
    if (atomic_load(&exchange->is_half_closed) && atomic_load(&exchange->is_endless))
        atomic_store(&exchange->is_cut, true);
    ki_mutex_lock(&exchange->mu);
    bool is_woken =
        exchange->is_woken || atomic_load(&exchange->server->is_ending) || atomic_load(&exchange->is_cut);
    assert(!exchange->is_parked);
    exchange->is_woken = false;
    exchange->is_parked = !is_woken;
    if (!is_woken)
        MHD_suspend_connection(exchange->mhd);
    ki_mutex_unlock(&exchange->mu);
    return !is_woken;
}

/* ---- from the request to the response ------------------------------------------------------------------ */

static int fail_by_fault(struct ki_as_exchange *exchange)
{
    assert(exchange->has_fault && exchange->fault.action == KI_FAULT_STATUS);
    const ki_fault *fault = &exchange->fault;
    static const struct {
        uint32_t code;
        const char *reason;
    } reasons[] = {
        {400, "BadRequest"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "NotFound"},
        {405, "MethodNotAllowed"},
        {406, "NotAcceptable"},
        {409, "Conflict"},
        {410, "Expired"},
        {413, "RequestEntityTooLarge"},
        {415, "UnsupportedMediaType"},
        {422, "Invalid"},
        {429, "TooManyRequests"},
        {500, "InternalError"},
        {503, "ServiceUnavailable"},
        {504, "Timeout"},
    };
    const char *reason = "";
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].code == fault->http_status)
            reason = reasons[i].reason;
    json_t *details = fault->retry_after_seconds == 0
                          ? NULL
                          : json_pack("{s:I}", "retryAfterSeconds", (json_int_t)fault->retry_after_seconds);
    (void)ki_as_fail(&exchange->failure, (int)fault->http_status, reason, details, "injected fault");
    exchange->failure.retry_after_seconds = (int)fault->retry_after_seconds;
    return -1;
}

static int fail_overload(struct ki_as_exchange *exchange)
{
    return ki_as_fail_too_many(&exchange->failure,
                               "requests and responses in flight use %zu bytes already, please try again "
                               "later",
                               exchange->server->in_flight_bytes_max);
}

/* Checks that need only the headers. */
int ki_as_exchange_begin(struct ki_as_exchange *exchange)
{
    assert(!exchange->is_prepared && exchange->answer.code == 0);
    int rc = ki_as_request_parse(ki_str_of(exchange->address), &exchange->request, &exchange->failure);
    if (rc == 0)
        rc = ki_as_admit(exchange);
    exchange->is_admitted = rc == 0;
    return rc;
}

/* Makes the checks that need no objects, and chooses the fault. */
static int prepare(struct ki_as_exchange *exchange)
{
    assert(!exchange->has_fault);
    const struct ki_as_request *request = &exchange->request;
    if (exchange->failure.code != 0)
        return -1;
    if (exchange->is_body_too_large)
        return ki_as_fail(&exchange->failure, 413, "RequestEntityTooLarge", NULL,
                          "Request entity too large: limit is %zu", exchange->server->body_bytes_max);
    if (exchange->is_overloaded)
        return fail_overload(exchange);
    ki_fault_on on = ki_as_handle_fault_on(request);
    if (on == 0)
        return 0;
    struct ki_as_question asked = {.on = on,
                                   .request = request,
                                   .user_agent = exchange->headers.user_agent,
                                   .remote = remote_of(exchange)};
    exchange->has_fault = ki_as_faults_draw(exchange->server->faults, &asked, &exchange->fault);
    if (!exchange->has_fault)
        return 0;
    if (exchange->fault.action == KI_FAULT_DELAY)
        exchange->delay_until_ns = ki_clock_now_ns(ki_clock_real()) + ki_ns_of_ms(exchange->fault.delay_ms);
    return exchange->fault.action == KI_FAULT_STATUS ? fail_by_fault(exchange) : 0;
}

/* Carries out a fault that takes effect before the first byte of the response. True if nothing is sent now:
 * the connection ends or, if `*out_is_parked` is set, the exchange is parked and runs again later. */
static bool has_ended_by_fault(struct ki_as_exchange *exchange, bool *out_is_parked)
{
    const ki_fault *fault = &exchange->fault;
    if (!exchange->has_fault || fault->after_bytes > 0 || fault->after_events > 0)
        return false;
    if (fault->action == KI_FAULT_STALL) {
        atomic_store(&exchange->is_endless, true);
        while (!atomic_load(&exchange->is_fault_cleared) && !atomic_load(&exchange->is_cut) &&
               !atomic_load(&exchange->server->is_ending))
            if (ki_as_exchange_park(exchange, UINT64_MAX)) {
                *out_is_parked = true;
                return true;
            }
    }
    if (fault->action == KI_FAULT_STALL && atomic_load(&exchange->is_fault_cleared))
        exchange->has_fault = false;
    if (fault->action == KI_FAULT_RESET && exchange->connection != NULL)
        ki_as_socket_reset(exchange->connection->fd);
    return exchange->has_fault && (fault->action == KI_FAULT_CLOSE || fault->action == KI_FAULT_RESET);
}

static bool is_delayed(struct ki_as_exchange *exchange)
{
    while (exchange->delay_until_ns > ki_clock_now_ns(ki_clock_real())) {
        if (atomic_load(&exchange->is_cut) || atomic_load(&exchange->server->is_ending))
            return false;
        if (ki_as_exchange_park(exchange, exchange->delay_until_ns))
            return true;
    }
    return false;
}

/* Handles the request. True if the exchange is parked; then this function is called again later. */
static bool handle_or_park(struct ki_as_exchange *exchange)
{
    assert(exchange->answer.code == 0 && exchange->stream == NULL);
    for (;;) {
        enum ki_as_step step = ki_as_handle(exchange);
        if (step == KI_AS_STEP_FAILED)
            ki_as_render_failure(exchange, &exchange->failure);
        if (step != KI_AS_STEP_WAIT)
            return false;
        if (atomic_load(&exchange->is_cut) || atomic_load(&exchange->server->is_ending))
            return false;
        if (ki_as_exchange_park(exchange, ki_clock_now_ns(ki_clock_real()) + ki_ns_of_ms(LOOK_AGAIN_MS)))
            return true;
    }
}

/* Charges the response instead of the body. Beyond the limit, only a large response to a read is replaced by
 * an error: a write is already done, and small responses do not matter. */
static void weigh_answer(struct ki_as_exchange *exchange)
{
    assert(exchange->stream == NULL && exchange->answer.code != 0);
    size_t bytes = exchange->answer.text.cap;
    ki_buf_fini(&exchange->body);
    ki_as_exchange_discharge(exchange);
    bool is_read = exchange->request.method == KI_AS_METHOD_GET;
    if (ki_as_exchange_charge(exchange, bytes) || !is_read || bytes <= SMALL_BYTES)
        return;
    ki_as_exchange_discharge(exchange);
    ki_as_failure_fini(&exchange->failure);
    (void)fail_overload(exchange);
    ki_as_render_failure(exchange, &exchange->failure);
}

/* Whether the connection is cut, or the server is stopping. */
static bool is_over(const struct ki_as_exchange *exchange)
{
    return atomic_load(&exchange->is_cut) || atomic_load(&exchange->server->is_ending);
}

enum MHD_Result ki_as_exchange_run(struct ki_as_exchange *exchange)
{
    bool is_parked = false;
    if (!exchange->is_prepared) {
        exchange->is_prepared = true;
        if (prepare(exchange) < 0)
            ki_as_render_failure(exchange, &exchange->failure);
    }
    if (has_ended_by_fault(exchange, &is_parked))
        return is_parked ? MHD_YES : MHD_NO;
    if (is_delayed(exchange))
        return MHD_YES;
    /* The client may have gone while it waited; do no work for it. */
    if (is_over(exchange))
        return MHD_NO;
    if (exchange->answer.code == 0 && handle_or_park(exchange))
        return MHD_YES;
    if (atomic_load(&exchange->is_cut) || (exchange->answer.code == 0 && exchange->stream == NULL))
        return MHD_NO;
    if (exchange->stream == NULL)
        weigh_answer(exchange);
    else
        atomic_store(&exchange->is_endless, true);
    exchange->phase = KI_AS_PHASE_QUEUED;
    log_request(exchange, exchange->stream == NULL ? exchange->answer.code : MHD_HTTP_OK);
    return ki_as_respond(exchange);
}
