/* SPDX-License-Identifier: Apache-2.0 */
/* The request that a reconcile function gets, and the results that it returns. */
#include <kinformer/key.h>
#include <stdio.h>
#include <string.h>

#include "controller/controller.h"
#include "util/alloc.h"
#include "util/units.h"

static ki_str copy_to(char *buffer, ki_str text)
{
    if (text.len > 0)
        memcpy(buffer, text.ptr, text.len);
    return (ki_str){buffer, text.len};
}

/* The name is the end of the key, and so has the same NUL. A key that is not "namespace/name" is used as the
 * name, without a namespace. */
ki_request *ki_request_new(const ki_work_item *item)
{
    ki_str ns = {0}, name = {0};
    if (ki_key_split(item->key, &ns, &name) < 0) {
        ns = (ki_str){0};
        name = item->key;
    }
    ki_request *request = ki_calloc(1, sizeof(*request) + item->key.len + ns.len + 2);
    if (request == NULL)
        return NULL;
    request->item = *item;
    request->key = copy_to(request->texts, item->key);
    request->ns = copy_to(request->texts + item->key.len + 1, ns);
    request->name = (ki_str){request->texts + item->key.len - name.len, name.len};
    return request;
}

ki_str ki_request_key(const ki_request *request)
{
    return request == NULL ? (ki_str){0} : request->key;
}

ki_str ki_request_namespace(const ki_request *request)
{
    return request == NULL ? (ki_str){0} : request->ns;
}

ki_str ki_request_name(const ki_request *request)
{
    return request == NULL ? (ki_str){0} : request->name;
}

uint32_t ki_request_failures(const ki_request *request)
{
    return request == NULL ? 0 : ki_limiter_num_requeues(request->controller->limiter, request->item.key);
}

/* ---- results ----------------------------------------------------------------------------------------- */

ki_result ki_done(void)
{
    return (ki_result){.verdict = KI_VERDICT_DONE};
}

ki_result ki_requeue_after(uint64_t after_ms)
{
    return (ki_result){.verdict = KI_VERDICT_REQUEUE_AFTER, .after_ms = after_ms};
}

static ki_result failed(ki_verdict verdict, const ki_error *err)
{
    ki_result result = {.verdict = verdict};
    if (err == NULL)
        return result;
    result.code = err->code;
    result.after_ms = verdict == KI_VERDICT_RETRY ? err->retry_after_ms : 0;
    (void)snprintf(result.message, sizeof(result.message), "%s", err->message);
    return result;
}

ki_result ki_retry(const ki_error *err)
{
    return failed(KI_VERDICT_RETRY, err);
}

ki_result ki_give_up(const ki_error *err)
{
    return failed(KI_VERDICT_GIVE_UP, err);
}

ki_result ki_later(void)
{
    return (ki_result){.verdict = KI_VERDICT_LATER};
}

/* ---- what it asks for -------------------------------------------------------------------------------- */

/* The key is not taken from the queue again, and so the expectation not checked, before this request has
 * ended. */
int ki_request_expect(ki_request *request, ki_informer *informer, const ki_object *written)
{
    if (request == NULL || informer == NULL || written == NULL)
        return KI_ERR_INVALID;
    ki_controller *c = request->controller;
    if (ki_client_is_foreign(c->client))
        return KI_ERR_FORKED;
    uint64_t now_ns = ki_controller_now_ns(c);
    ki_expected_write write = {.informer = informer,
                               .version = ki_object_resource_version(written),
                               .until_ns = now_ns + ki_ns_of_ms(c->options.expect_timeout_ms)};
    ki_mutex_lock(&c->mu);
    int rc = ki_expectations_add(&c->expectations, request->item.key, now_ns, &write);
    ki_mutex_unlock(&c->mu);
    return rc;
}

/* If the reconcile function has not returned yet, only the result is stored; the thread that runs the
 * function then completes the request. */
void ki_request_finish(ki_request *request, ki_result result)
{
    if (request == NULL || ki_client_is_foreign(request->controller->client))
        return;
    ki_controller *c = request->controller;
    ki_mutex_lock(&c->mu);
    bool is_running = request->is_running;
    if (is_running) {
        request->result = result;
        request->is_finished = true;
    }
    ki_mutex_unlock(&c->mu);
    if (!is_running)
        ki_controller_complete(request, &result);
}
