/* SPDX-License-Identifier: Apache-2.0 */
/* The request log's record of an exchange. */
#include "apiserver/serve/exchange.h"
#include "apiserver/serve/request_log.h"
#include "util/clock.h"

enum { NS_PER_US = 1000 };

void ki_as_exchange_log(struct ki_as_exchange *exchange, int status)
{
    const struct ki_as_request *request = &exchange->request;
    bool is_resource = request->target == KI_AS_TARGET_RESOURCE;
    ki_str none = {"", 0};
    if (exchange->is_logged || exchange->method == NULL || request->target == KI_AS_TARGET_DEBUG)
        return;
    exchange->is_logged = true;
    struct ki_as_request_note note = {
        .time_us = exchange->begin_wall_ns / NS_PER_US,
        .took_us = (ki_clock_now_ns(ki_clock_real()) - exchange->begin_ns) / NS_PER_US,
        .version = exchange->written == NULL ? 0 : exchange->written->version,
        .status = status,
        .texts = {[KI_AS_REQUEST_METHOD] = ki_str_of(exchange->method),
                  [KI_AS_REQUEST_PATH] = ki_str_of(exchange->address),
                  [KI_AS_REQUEST_USER_AGENT] = exchange->headers.user_agent,
                  [KI_AS_REQUEST_REMOTE] = ki_as_exchange_remote(exchange),
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
