/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "apiserver/serve/connection.h"
#include "apiserver/serve/handle.h"
#include "apiserver/serve/render.h"
#include "apiserver/serve/respond.h"
#include "apiserver/serve/stream.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/text/str.h"
#include "util/units.h"

/* LONG_SECONDS: without a timeout, a watch ends after 30 to 60 minutes, as in Kubernetes. */
enum { LONG_SECONDS = 1800, SEND_BYTES = 256 * 1024 };

struct plan {
    uint64_t version;   /* of the request */
    bool tells_initial; /* send the current objects first */
    struct ki_as_selector *selector;
    struct ki_as_page initial;
};

static bool has_fault(const struct ki_as_task *task, ki_fault_action action)
{
    return task->exchange->has_fault && task->exchange->fault.action == (uint32_t)action;
}

/* ---- options ------------------------------------------------------------------------------------------- */

static enum ki_as_step check_initial_events(struct ki_as_task *task)
{
    const struct ki_as_query *query = task->query;
    ki_str match = query->resource_version_match;
    if (!query->has_send_initial_events && match.len > 0)
        return ki_as_fail_option(
            task->failure, "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (!query->has_send_initial_events)
        return KI_AS_STEP_DONE;
    if (has_fault(task, KI_FAULT_NO_WATCH_LIST))
        return ki_as_fail_option(
            task->failure, "sendInitialEvents",
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");
    if (!ki_str_equal(match, KI_STR("NotOlderThan")))
        return ki_as_fail_option(task->failure, "resourceVersionMatch",
                                 "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    return KI_AS_STEP_DONE;
}

/* A watch of one object is a watch with a field selector. */
static int parse_selector(struct ki_as_task *task, struct plan *plan)
{
    const struct ki_as_query *query = task->query;
    ki_str name = task->request->name;
    ki_str fields = query->field_selector;
    char *text = NULL;
    if (name.len > 0) {
        size_t bytes = name.len + fields.len + sizeof("metadata.name=,");
        text = ki_malloc(bytes);
        if (text == NULL)
            return ki_as_fail_no_memory(task->failure);
        snprintf(text, bytes, "metadata.name=%.*s%s%.*s", KI_STR_ARGS(name), fields.len > 0 ? "," : "",
                 KI_STR_ARGS(fields));
        fields = ki_str_of(text);
    }
    int rc =
        ki_as_selector_parse(query->label_selector, fields, task->resource, &plan->selector, task->failure);
    ki_free(text);
    return rc;
}

static enum ki_as_step make_plan(struct ki_as_task *task, struct plan *plan)
{
    const struct ki_as_query *query = task->query;
    enum ki_as_step step = check_initial_events(task);
    if (step != KI_AS_STEP_DONE)
        return step;
    if (ki_as_version_parse(query->resource_version, &plan->version, task->failure) < 0 ||
        parse_selector(task, plan) < 0)
        return KI_AS_STEP_FAILED;
    plan->tells_initial = query->has_send_initial_events ? query->send_initial_events : plan->version == 0;
    if (plan->tells_initial && plan->version > 0)
        return ki_as_wait_for_version(task->exchange, plan->version);
    return KI_AS_STEP_DONE;
}

/* ---- the start ----------------------------------------------------------------------------------------- */

/* Reads the current objects, or those of a stale replica, if the watch sends them first. Without a version,
 * the watch starts at the current version. */
static int read_initial(struct ki_as_task *task, struct plan *plan)
{
    struct ki_as_storage *storage = task->exchange->server->storage;
    struct ki_as_page_request request = {.ns = task->request->ns, .selector = plan->selector};
    int rc = 0;
    if (!plan->tells_initial && plan->version > 0)
        return 0;
    request.version = ki_as_stale_version(task);
    ki_as_storage_lock(storage);
    struct ki_as_collection *collection = ki_as_storage_collection(storage, task->resource);
    if (collection == NULL)
        rc = ki_as_fail_no_memory(task->failure);
    else if (plan->tells_initial)
        rc = ki_as_storage_page(storage, collection, &request, &plan->initial, task->failure);
    if (rc == 0)
        plan->version = plan->tells_initial ? plan->initial.version : ki_as_storage_version(storage);
    ki_as_storage_unlock(storage);
    return rc;
}

static uint64_t end_ns(const struct ki_as_query *query, uint64_t now_ns)
{
    uint64_t seconds = query->timeout_seconds;
    if (seconds == 0)
        seconds = LONG_SECONDS + now_ns % LONG_SECONDS;
    return now_ns + ki_ns_of_ms(seconds > UINT32_MAX ? UINT64_MAX : seconds * 1000);
}

static void on_change(void *user)
{
    struct ki_as_exchange *exchange = user;
    ki_job_wake(&exchange->waker);
}

/* Called when the client is too far behind. It gets a short time to read the error. */
static void on_loss(void *user)
{
    struct ki_as_exchange *exchange = user;
    atomic_store(&exchange->is_lost, true);
    ki_job_wake(&exchange->waker);
}

/* Limits the socket's send buffer, so that it holds few events for a client that does not read. */
static void bound_memory(const struct ki_as_exchange *exchange)
{
    int bytes = SEND_BYTES;
    if (exchange->connection != NULL)
        (void)setsockopt(exchange->connection->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static enum ki_as_include include_of(ki_str word)
{
    if (ki_str_equal(word, KI_STR("None")))
        return KI_AS_INCLUDE_NONE;
    return ki_str_equal(word, KI_STR("Object")) ? KI_AS_INCLUDE_OBJECT : KI_AS_INCLUDE_METADATA;
}

static struct ki_as_stream *open_stream(struct ki_as_task *task, struct plan *plan)
{
    assert(task->exchange->waker.loop != NULL);
    struct ki_as_exchange *exchange = task->exchange;
    const struct ki_as_query *query = task->query;
    uint64_t now_ns = ki_clock_now_ns(ki_clock_real());
    bool has_marker = query->has_send_initial_events && plan->tells_initial && query->allows_bookmarks;
    bool has_bookmarks = query->allows_bookmarks && !has_fault(task, KI_FAULT_NO_BOOKMARKS);
    struct ki_as_stream_options options = {
        .storage = exchange->server->storage,
        .resource = task->resource,
        .selector = plan->selector,
        .ns = task->request->ns,
        .after = plan->version,
        .initial = &plan->initial,
        .wake = on_change,
        .lose = on_loss,
        .user = exchange,
        .end_ns = end_ns(query, now_ns),
        .bookmark_ns = has_bookmarks ? ki_ns_of_ms(exchange->server->bookmark_ms) : 0,
        .has_end_marker = has_marker && !has_fault(task, KI_FAULT_NO_END_MARKER),
        .is_expired = has_fault(task, KI_FAULT_EXPIRED),
        .form = task->form,
        .is_proto = exchange->answer.is_proto,
        .include = include_of(query->include_object),
        .events_max = ki_as_respond_has_end(exchange) ? exchange->fault.after_events : 0,
        .count = &exchange->server->watch_count,
    };
    return ki_as_stream_new(&options);
}

/* ---- the watch ----------------------------------------------------------------------------------------- */

static enum ki_as_step watch(struct ki_as_task *task, struct plan *plan)
{
    assert(task->exchange->stream == NULL);
    struct ki_apiserver *server = task->exchange->server;
    if (atomic_fetch_add(&server->watch_count, 1) >= server->watches_max) {
        (void)atomic_fetch_sub(&server->watch_count, 1);
        (void)ki_as_fail_too_many(task->failure,
                                  "the limit of %zu watches is reached, please try again later",
                                  server->watches_max);
        return KI_AS_STEP_FAILED;
    }
    int rc = read_initial(task, plan);
    if (rc == 0 && ki_as_exchange_open_waker(task->exchange) == 0)
        task->exchange->stream = open_stream(task, plan);
    if (task->exchange->stream != NULL) {
        plan->selector = NULL;
        bound_memory(task->exchange);
        return KI_AS_STEP_DONE;
    }
    (void)atomic_fetch_sub(&server->watch_count, 1);
    if (rc == 0)
        (void)ki_as_fail_no_memory(task->failure);
    return KI_AS_STEP_FAILED;
}

static bool wants_websocket(const struct ki_as_task *task)
{
    return ki_str_is_word(task->exchange->headers.upgrade, "websocket");
}

/* Some clients try WebSocket first. If the response is not an upgrade, they wait for its end, so it must not
 * be an endless watch. Only after a 200 do they retry at once without WebSocket,
 * and without reporting an error. */
static enum ki_as_step refuse_websocket(struct ki_as_task *task)
{
    task->exchange->answer.is_proto = false;
    return ki_as_render_tree(task->exchange,
                             json_pack("{s:s, s:{s:s, s:s, s:{}, s:s, s:s, s:s, s:i}}", "type", "ERROR",
                                       "object", "kind", "Status", "apiVersion", "v1", "metadata", "status",
                                       "Failure", "message",
                                       "this server does not support watches over WebSocket", "reason",
                                       "ServiceUnavailable", "code", 503),
                             200);
}

enum ki_as_step ki_as_handle_watch(struct ki_as_task *task)
{
    struct plan plan = {0};
    if (wants_websocket(task))
        return refuse_websocket(task);
    enum ki_as_step step = make_plan(task, &plan);
    if (step == KI_AS_STEP_DONE)
        step = watch(task, &plan);
    ki_as_selector_free(plan.selector);
    ki_as_page_fini(&plan.initial);
    return step;
}
