/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/fault_reach.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define BIT(action) (1U << (action))

/* Actions that end or stall a body at some point. */
#define ENDS                                                                                                 \
    (BIT(KI_FAULT_CLOSE) | BIT(KI_FAULT_RESET) | BIT(KI_FAULT_STALL) | BIT(KI_FAULT_GARBAGE) |               \
     BIT(KI_FAULT_TRUNCATE))

#define FIELD(name, member, actions, max)                                                                    \
    {                                                                                                        \
        name, actions, sizeof(((ki_fault *)NULL)->member), offsetof(ki_fault, member), max                   \
    }

const struct ki_as_fault_field ki_as_fault_fields[KI_AS_FAULT_FIELDS] = {
    FIELD("times", times, UINT32_MAX, UINT32_MAX),
    FIELD("percent", percent, UINT32_MAX, 100),
    FIELD("afterBytes", after_bytes, ENDS, INT64_MAX),
    FIELD("afterEvents", after_events, ENDS, UINT32_MAX),
    FIELD("code", http_status, BIT(KI_FAULT_STATUS), 599),
    FIELD("retryAfterSeconds", retry_after_seconds, BIT(KI_FAULT_STATUS), 1000000),
    FIELD("delayMs", delay_ms, BIT(KI_FAULT_DELAY), UINT32_MAX),
    FIELD("behind", behind, BIT(KI_FAULT_STALE), INT64_MAX),
};

static const char *const action_names[] = {
    [KI_FAULT_CLOSE] = "close",
    [KI_FAULT_RESET] = "reset",
    [KI_FAULT_STALL] = "stall",
    [KI_FAULT_DELAY] = "delay",
    [KI_FAULT_ONE_BYTE] = "one-byte",
    [KI_FAULT_GARBAGE] = "garbage",
    [KI_FAULT_TRUNCATE] = "truncate",
    [KI_FAULT_STATUS] = "status",
    [KI_FAULT_EXPIRED] = "expired",
    [KI_FAULT_STALE] = "stale",
    [KI_FAULT_ENDLESS_PAGES] = "endless-pages",
    [KI_FAULT_NO_WATCH_LIST] = "no-watch-list",
    [KI_FAULT_NO_END_MARKER] = "no-end-marker",
    [KI_FAULT_NO_BOOKMARKS] = "no-bookmarks",
};

static const char *const on_names[KI_AS_FAULT_KINDS] = {"list",  "watch",     "get",
                                                        "write", "discovery", "streamed-list"};

static const char *const method_names[KI_AS_FAULT_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

const char *ki_apiserver_fault_name(uint32_t action)
{
    return action < sizeof(action_names) / sizeof(action_names[0]) ? action_names[action] : NULL;
}

const char *ki_as_fault_on_name(uint32_t bit)
{
    assert(bit < KI_AS_FAULT_KINDS);
    return on_names[bit];
}

uint32_t ki_as_fault_action_of(ki_str name)
{
    for (uint32_t i = KI_FAULT_CLOSE; i <= KI_FAULT_NO_BOOKMARKS; i++)
        if (ki_str_equal(name, ki_str_of(action_names[i])))
            return i;
    return 0;
}

uint32_t ki_as_fault_on_of(ki_str name)
{
    for (uint32_t i = 0; i < KI_AS_FAULT_KINDS; i++)
        if (ki_str_equal(name, ki_str_of(on_names[i])))
            return 1U << i;
    return ki_str_equal(name, KI_STR("any")) ? KI_FAULT_ANY : 0;
}

const char *ki_as_fault_method_name(uint32_t bit)
{
    assert(bit < KI_AS_FAULT_METHODS);
    return method_names[bit];
}

uint32_t ki_as_fault_method_of(ki_str name)
{
    for (uint32_t i = 0; i < KI_AS_FAULT_METHODS; i++)
        if (ki_str_equal(name, ki_str_of(method_names[i])))
            return 1U << i;
    return 0;
}

uint64_t ki_as_fault_number(const ki_fault *fault, const struct ki_as_fault_field *field)
{
    assert(field->offset + field->bytes <= sizeof(*fault));
    const char *at = (const char *)fault + field->offset;
    uint32_t narrow = 0;
    uint64_t wide = 0;
    if (field->bytes == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return narrow;
}

bool ki_as_fault_uses(uint32_t action, const struct ki_as_fault_field *field)
{
    assert(action >= KI_FAULT_CLOSE && action <= KI_FAULT_NO_BOOKMARKS);
    return (field->actions & BIT(action)) != 0;
}

/* ---- kinds of requests --------------------------------------------------------------------------------- */

/* Requests whose response is a stream of events. */
#define STREAMS ((uint32_t)KI_FAULT_WATCH | (uint32_t)KI_FAULT_STREAMED_LIST)

bool ki_as_fault_counts_events_only(const ki_fault *fault)
{
    return fault->after_events > 0 && fault->after_bytes == 0;
}

uint32_t ki_as_fault_reach_of_action(const ki_fault *fault)
{
    switch (fault->action) {
    case KI_FAULT_EXPIRED:
        return KI_FAULT_LIST | STREAMS;
    case KI_FAULT_STALE:
        return KI_FAULT_LIST | STREAMS | KI_FAULT_GET;
    case KI_FAULT_ENDLESS_PAGES:
        return KI_FAULT_LIST;
    case KI_FAULT_NO_END_MARKER:
        return KI_FAULT_STREAMED_LIST;
    case KI_FAULT_NO_WATCH_LIST:
    case KI_FAULT_NO_BOOKMARKS:
        return STREAMS;
    default:
        return ki_as_fault_counts_events_only(fault) ? STREAMS : KI_FAULT_ANY;
    }
}

/* `methods` may have several bits. */
uint32_t ki_as_fault_reach_of_methods(uint32_t methods)
{
    assert((methods & ~(uint32_t)KI_FAULT_METHOD_ANY) == 0);
    uint32_t reads = (methods & KI_FAULT_METHOD_GET) != 0 ? KI_FAULT_ANY & ~(uint32_t)KI_FAULT_WRITE : 0;
    uint32_t writes = (methods & ~(uint32_t)KI_FAULT_METHOD_GET) != 0 ? KI_FAULT_WRITE : 0;
    return methods == 0 ? KI_FAULT_ANY : reads | writes;
}

uint32_t ki_as_fault_reach_of_subresource(const char *subresource)
{
    if (subresource == NULL)
        return KI_FAULT_ANY;
    return subresource[0] == 0 ? KI_FAULT_ANY & ~(uint32_t)KI_FAULT_DISCOVERY
                               : (uint32_t)KI_FAULT_GET | (uint32_t)KI_FAULT_WRITE;
}

uint32_t ki_as_fault_reach(const ki_fault *fault)
{
    return ki_as_fault_reach_of_action(fault) & ki_as_fault_reach_of_methods(fault->methods) &
           ki_as_fault_reach_of_subresource(fault->subresource);
}

/* ---- one request --------------------------------------------------------------------------------------- */

/* Whether the client accepts any version: it gave none, or 0. */
static bool has_no_version(const struct ki_as_query *query)
{
    for (size_t i = 0; i < query->resource_version.len; i++)
        if (query->resource_version.ptr[i] != '0')
            return false;
    return true;
}

/* Only responses whose version the server chooses can be stale. A watch from a given version and a further
 * page of a list cannot. */
static bool can_be_stale(ki_fault_on on, const struct ki_as_query *query)
{
    if (on == KI_FAULT_LIST)
        return query->continue_token.len == 0 && has_no_version(query);
    if (on == KI_FAULT_WATCH)
        return !query->has_send_initial_events && has_no_version(query);
    return true;
}

/* A response to HEAD has no body that a fault could change; for resources it is 405. */
static bool can_change_head(const ki_fault *fault)
{
    switch (fault->action) {
    case KI_FAULT_DELAY:
    case KI_FAULT_STATUS:
        return true;
    case KI_FAULT_CLOSE:
    case KI_FAULT_RESET:
    case KI_FAULT_STALL:
        return fault->after_bytes == 0 && fault->after_events == 0;
    default:
        return false;
    }
}

static bool is_method(uint32_t methods, enum ki_as_method method)
{
    static const uint32_t bits[] = {
        [KI_AS_METHOD_GET] = KI_FAULT_METHOD_GET,       [KI_AS_METHOD_POST] = KI_FAULT_METHOD_POST,
        [KI_AS_METHOD_PUT] = KI_FAULT_METHOD_PUT,       [KI_AS_METHOD_PATCH] = KI_FAULT_METHOD_PATCH,
        [KI_AS_METHOD_DELETE] = KI_FAULT_METHOD_DELETE,
    };
    return methods == 0 || (methods & bits[method]) != 0;
}

bool ki_as_fault_is_for(const ki_fault *fault, const struct ki_as_request *request)
{
    return is_method(fault->methods, request->method) &&
           (fault->subresource == NULL || ki_str_equal(request->subresource, ki_str_of(fault->subresource)));
}

bool ki_as_fault_can_change(const ki_fault *fault, ki_fault_on on, const struct ki_as_request *request)
{
    const struct ki_as_query *query = &request->query;
    if ((ki_as_fault_reach(fault) & (uint32_t)on) == 0)
        return false;
    if (request->method == KI_AS_METHOD_HEAD)
        return can_change_head(fault);
    switch (fault->action) {
    case KI_FAULT_STALE:
        return can_be_stale(on, query);
    case KI_FAULT_NO_WATCH_LIST:
        return query->has_send_initial_events;
    case KI_FAULT_NO_END_MARKER:
    case KI_FAULT_NO_BOOKMARKS:
        return query->allows_bookmarks;
    default:
        return true;
    }
}
