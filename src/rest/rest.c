/* SPDX-License-Identifier: Apache-2.0 */
#include "rest/rest.h"

#include <assert.h>

#include "client/callback.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

/* ---- creating and freeing ---------------------------------------------------------------------------- */

enum { BURST = 10, BURST_MAX = 1000000, AT_ONCE = 64 };

static void set_limit(ki_rest *rest, const ki_client_options *options)
{
    const double slowest = 1.0 / 3600; /* one per hour, so that no sum overflows */
    double rate = options->requests_per_second;
    uint64_t burst = options->requests_burst == 0 ? BURST : options->requests_burst;
    rest->has_limit = rate > 0;
    if (!rest->has_limit)
        return;
    if (rate < slowest)
        rate = slowest;
    uint64_t interval_ns = (uint64_t)((double)KI_NS_PER_S / rate);
    ki_token_bucket_init(&rest->limit, interval_ns == 0 ? 1 : interval_ns,
                         burst < BURST_MAX ? burst : BURST_MAX);
}

static bool is_empty(void *user)
{
    const ki_rest *rest = user;
    KI_ASSERT_HELD(rest->mu);
    return rest->count == 0;
}

static void stop_rest(ki_client_part *part)
{
    ki_rest *rest = KI_CONTAINER_OF(part, ki_rest, part);
    ki_mutex_lock(&rest->mu);
    rest->is_closed = true;
    for (ki_list_node *node = ki_list_first(&rest->calls); node != NULL;
         node = ki_list_next(&rest->calls, node)) {
        ki_rest_call *call = KI_CONTAINER_OF(node, ki_rest_call, node);
        call->is_cancelled = true;
        ki_job_wake(&call->job);
    }
    ki_mutex_unlock(&rest->mu);
}

/* Waits until the callbacks of all calls have returned. */
static void close_rest(ki_client_part *part)
{
    ki_rest *rest = KI_CONTAINER_OF(part, ki_rest, part);
    (void)ki_client_wait(rest->client, &(ki_wait){&rest->mu, is_empty, rest, false}, UINT64_MAX);
}

static void free_rest(ki_client_part *part)
{
    ki_rest *rest = KI_CONTAINER_OF(part, ki_rest, part);
    assert(rest->count == 0);
    ki_job_fini(&rest->deliver);
    ki_mutex_fini(&rest->mu);
    ki_free(rest);
}

static void run_deliver(ki_job *job);

static ki_rest *make_rest(ki_client *client)
{
    ki_rest *rest = ki_calloc(1, sizeof(*rest));
    if (rest == NULL || ki_job_init(&rest->deliver, client->handlers, run_deliver) < 0) {
        ki_free(rest);
        return NULL;
    }
    rest->part = (ki_client_part){stop_rest, close_rest, free_rest};
    rest->client = client;
    ki_mutex_init(&rest->mu);
    ki_list_init(&rest->calls);
    ki_list_init(&rest->ended);
    ki_list_init(&rest->waiting);
    rest->in_flight_max = client->options.requests_at_once > 0 ? client->options.requests_at_once : AT_ONCE;
    set_limit(rest, &client->options);
    return rest;
}

/* If two threads create the part at the same time, the first wins.
 * Its callbacks need a thread in addition to those of handlers. */
static ki_rest *rest_of(ki_client *client)
{
    ki_client_part *part = ki_client_calls(client);
    if (part != NULL)
        return KI_CONTAINER_OF(part, ki_rest, part);
    ki_rest *made = make_rest(client);
    if (made == NULL)
        return NULL;
    part = ki_client_set_calls(client, &made->part);
    if (part == &made->part)
        ki_client_count_handlers(client, 1);
    else
        free_rest(&made->part);
    return part == NULL ? NULL : KI_CONTAINER_OF(part, ki_rest, part);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

/* Do not use `rest` afterwards, since the client may be gone. */
static void forget(ki_rest_call *call)
{
    ki_rest *rest = call->rest;
    ki_client *client = rest->client;
    ki_rest_call_fini(call);
    ki_free(call);
    ki_mutex_lock(&rest->mu);
    assert(rest->count > 0);
    rest->count--;
    ki_client_notify(client);
    ki_mutex_unlock(&rest->mu);
    ki_client_unref(client);
}

static ki_rest_call *take_ended(ki_rest *rest, bool *out_has_more)
{
    ki_mutex_lock(&rest->mu);
    ki_list_node *node = ki_list_pop_front(&rest->ended);
    *out_has_more = !ki_list_is_empty(&rest->ended);
    ki_mutex_unlock(&rest->mu);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_rest_call, node);
}

/* Runs one callback at a time, so that other jobs get their turn. */
static void run_deliver(ki_job *job)
{
    ki_rest *rest = KI_CONTAINER_OF(job, ki_rest, deliver);
    KI_ASSERT_ON(rest->client->handlers);
    bool has_more = false;
    ki_rest_call *call = take_ended(rest, &has_more);
    if (has_more)
        ki_job_wake(job);
    if (call == NULL)
        return;
    assert(!call->is_waited_for);
    bool was_in_reconcile = ki_callback_set_reconcile(call->is_of_reconcile);
    if (call->on_answer != NULL)
        call->on_answer(&call->reader.answer, call->user);
    (void)ki_callback_set_reconcile(was_in_reconcile);
    forget(call);
}

/* Removes the call from the list first, so that its job is not woken any more. */
void ki_rest_ended(ki_rest_call *call)
{
    assert(call != NULL);
    KI_ASSERT_ON(call->rest->client->io);
    assert(call->transfer == NULL && !call->is_in_flight && !ki_list_node_is_linked(&call->wait_node));
    ki_rest *rest = call->rest;
    ki_mutex_lock(&rest->mu);
    ki_list_remove(&call->node);
    ki_mutex_unlock(&rest->mu);
    ki_job_fini(&call->job);
    ki_mutex_lock(&rest->mu);
    if (call->is_waited_for) {
        call->is_done = true;
        ki_client_notify(rest->client); /* under the lock, since the call may be gone afterwards */
    } else {
        ki_list_push_back(&rest->ended, &call->node);
        ki_job_wake(&rest->deliver);
    }
    ki_mutex_unlock(&rest->mu);
}

/* ---- starting ---------------------------------------------------------------------------------------- */

static ki_rest *check(ki_client *client, const ki_rest_request *request, ki_error *err)
{
    if (request == NULL) {
        ki_error_set(err, KI_ERR_INVALID, 0, "call: the request must not be NULL");
        return NULL;
    }
    if (client->http == NULL) {
        ki_error_set(err, KI_ERR_INVALID, 0, "call: the client has no cluster configuration");
        return NULL;
    }
    if (ki_client_run(client, err) < 0)
        return NULL;
    ki_rest *rest = rest_of(client);
    if (rest == NULL)
        (void)ki_fail_no_memory(err);
    return rest;
}

/* On success the call belongs to io. */
static int enter(ki_rest_call *call, uint64_t *out_id, ki_error *err)
{
    assert(!ki_list_node_is_linked(&call->node));
    ki_rest *rest = call->rest;
    ki_mutex_lock(&rest->mu);
    bool is_closed = rest->is_closed;
    if (!is_closed) {
        ki_client_ref(rest->client);
        call->id = ++rest->last_id;
        rest->count++;
        if (out_id != NULL)
            *out_id = call->id;
        ki_list_push_back(&rest->calls, &call->node);
        ki_job_wake(&call->job);
    }
    ki_mutex_unlock(&rest->mu);
    return is_closed ? ki_fail(err, KI_ERR_STOPPED, "call: the client is being freed") : 0;
}

/* Creates a call that has not started. On failure returns NULL and sets `err`. */
static ki_rest_call *make_call(ki_client *client, const ki_rest_request *request, ki_error *err)
{
    ki_rest *rest = check(client, request, err);
    if (rest == NULL)
        return NULL;
    ki_rest_call *call = ki_calloc(1, sizeof(*call));
    if (call == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    if (ki_rest_call_init(call, rest, request, err) < 0) {
        ki_free(call);
        return NULL;
    }
    return call;
}

static int begin(ki_rest_call *call, uint64_t *out_id, ki_error *err)
{
    int rc = enter(call, out_id, err);
    if (rc < 0) {
        ki_rest_call_fini(call);
        ki_free(call);
    }
    return rc;
}

int ki_rest_begin(ki_client *client, const ki_rest_request *request, uint64_t *out_id, ki_error *err)
{
    ki_error why = {0};
    if (client == NULL)
        return ki_fail_missing(err, "call: no client");
    ki_rest_call *call = make_call(client, request, &why);
    int rc = call == NULL ? why.code : begin(call, out_id, &why);
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}

void ki_rest_cancel(ki_client *client, uint64_t id)
{
    ki_client_part *part = client == NULL || ki_client_is_foreign(client) ? NULL : ki_client_calls(client);
    if (part == NULL)
        return;
    ki_rest *rest = KI_CONTAINER_OF(part, ki_rest, part);
    ki_mutex_lock(&rest->mu);
    for (ki_list_node *node = ki_list_first(&rest->calls); node != NULL;
         node = ki_list_next(&rest->calls, node)) {
        ki_rest_call *call = KI_CONTAINER_OF(node, ki_rest_call, node);
        if (call->id != id)
            continue;
        call->is_cancelled = true;
        ki_job_wake(&call->job);
    }
    ki_mutex_unlock(&rest->mu);
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

static bool is_done(void *user)
{
    const ki_rest_call *call = user;
    KI_ASSERT_HELD(call->rest->mu);
    return call->is_done;
}

/* Needs no timeout, because io ends the call at its deadline. If io has a thread, this thread runs no loops
 * meanwhile, so that handlers stay on their own thread. */
static void wait_for(ki_rest_call *call)
{
    assert(call->is_waited_for);
    ki_rest *rest = call->rest;
    bool runs_nothing = rest->client->options.mode != KI_MODE_EVENT_LOOP;
    (void)ki_client_wait(rest->client, &(ki_wait){&rest->mu, is_done, call, runs_nothing}, UINT64_MAX);
}

int ki_rest_run(ki_client *client, const ki_rest_request *request, ki_rest_answer *out_answer, ki_error *err)
{
    ki_error why = {0};
    if (client == NULL)
        return ki_fail_missing(err, "call: no client");
    if (ki_client_check_process(client, err) < 0)
        return KI_ERR_FORKED;
    if (ki_client_may_wait() < 0)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "call: cannot wait in a callback or a read section");
    ki_rest_call *call = make_call(client, request, &why);
    if (call != NULL)
        call->is_waited_for = true;
    int rc = call == NULL ? why.code : begin(call, NULL, &why);
    if (rc == 0) {
        ki_client_visit_begin(); /* closing the client waits until the call is forgotten */
        wait_for(call);
        why = call->reader.answer.error;
        rc = why.code;
        if (out_answer != NULL)
            ki_rest_reader_take(&call->reader, out_answer);
        forget(call);
        ki_client_visit_end();
    }
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}
