/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/handle.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/proto.h"
#include "apiserver/kind/proto_write.h"
#include "apiserver/value/decode.h"
#include "apiserver/value/load.h"
#include "util/clock.h"
#include "util/units.h"

enum { PATIENCE_MS = 3000 };

static bool is_reading(const struct ki_as_request *request)
{
    return request->method == KI_AS_METHOD_GET || request->method == KI_AS_METHOD_HEAD;
}

ki_fault_on ki_as_handle_fault_on(const struct ki_as_request *request)
{
    if (request->target == KI_AS_TARGET_DEBUG || request->target == KI_AS_TARGET_HEALTH)
        return (ki_fault_on)0;
    if (request->target != KI_AS_TARGET_RESOURCE)
        return KI_FAULT_DISCOVERY;
    if (!is_reading(request))
        return KI_FAULT_WRITE;
    if (request->query.is_watch)
        return request->query.send_initial_events ? KI_FAULT_STREAMED_LIST : KI_FAULT_WATCH;
    return request->name.len > 0 ? KI_FAULT_GET : KI_FAULT_LIST;
}

/* ---- shared by handlers -------------------------------------------------------------------------------- */

int ki_as_version_parse(ki_str text, uint64_t *out, struct ki_as_failure *failure)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c < '0' || c > '9')
            return ki_as_fail(failure, 500, "", NULL,
                              "resourceVersion: Invalid value: \"%.*s\": strconv.ParseUint: parsing "
                              "\"%.*s\": invalid syntax",
                              KI_STR_ARGS(text), KI_STR_ARGS(text));
        if (number > (UINT64_MAX - (uint64_t)(c - '0')) / 10)
            return ki_as_fail(failure, 500, "", NULL,
                              "resourceVersion: Invalid value: \"%.*s\": strconv.ParseUint: parsing "
                              "\"%.*s\": value out of range",
                              KI_STR_ARGS(text), KI_STR_ARGS(text));
        number = number * 10 + (uint64_t)(c - '0');
    }
    *out = number;
    return 0;
}

enum ki_as_step ki_as_wait_for_version(struct ki_as_exchange *exchange, uint64_t version)
{
    struct ki_as_storage *storage = exchange->server->storage;
    uint64_t clock_ns = ki_clock_now_ns(ki_clock_real());
    ki_as_storage_lock(storage);
    uint64_t now = ki_as_storage_version(storage);
    ki_as_storage_unlock(storage);
    if (version <= now)
        return KI_AS_STEP_DONE;
    if (exchange->give_up_ns == 0)
        exchange->give_up_ns = clock_ns + ki_ns_of_ms(PATIENCE_MS);
    if (clock_ns < exchange->give_up_ns)
        return KI_AS_STEP_WAIT;
    json_t *details = json_pack("{s:[{s:s, s:s}], s:i}", "causes", "reason", "ResourceVersionTooLarge",
                                "message", "Too large resource version", "retryAfterSeconds", 1);
    (void)ki_as_fail(&exchange->failure, 504, "Timeout", details,
                     "Timeout: Too large resource version: %llu, current: %llu", (unsigned long long)version,
                     (unsigned long long)now);
    exchange->failure.retry_after_seconds = 1;
    return KI_AS_STEP_FAILED;
}

enum ki_as_step ki_as_fail_option(struct ki_as_failure *failure, const char *field, const char *why)
{
    assert(field != NULL && why != NULL);
    json_t *details =
        json_pack("{s:s, s:s, s:[{s:s, s:s+, s:s}]}", "group", "meta.k8s.io", "kind", "ListOptions", "causes",
                  "reason", "FieldValueForbidden", "message", "Forbidden: ", why, "field", field);
    (void)ki_as_fail(failure, 422, "Invalid", details,
                     "ListOptions.meta.k8s.io \"\" is invalid: %s: Forbidden: %s", field, why);
    return KI_AS_STEP_FAILED;
}

uint64_t ki_as_stale_version(struct ki_as_task *task)
{
    const struct ki_as_exchange *exchange = task->exchange;
    struct ki_as_storage *storage = exchange->server->storage;
    if (!exchange->has_fault || exchange->fault.action != KI_FAULT_STALE)
        return 0;
    ki_as_storage_lock(storage);
    uint64_t now = ki_as_storage_version(storage);
    uint64_t version = exchange->fault.behind < now ? now - exchange->fault.behind : 1;
    const struct ki_as_collection *collection = ki_as_storage_collection(storage, task->resource);
    if (collection == NULL || !ki_as_collection_has_history(collection, version))
        version = 0;
    ki_as_storage_unlock(storage);
    return version;
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static int parse_yaml(struct ki_as_exchange *exchange, const char *kind, json_t **out)
{
    ki_error err = {0};
    json_t *documents = NULL;
    int rc = ki_as_yaml_parse_body(ki_buf_str(&exchange->body), &documents, &err);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_as_fail_no_memory(&exchange->failure);
    json_t *first = rc < 0 ? NULL : json_incref(json_array_get(documents, 0));
    json_decref(documents);
    if (first == NULL)
        return ki_as_fail_bad_request(
            &exchange->failure, "error converting YAML to JSON: %s (must be of type %s)", err.message, kind);
    *out = first;
    return 0;
}

static bool is_yaml(ki_str type)
{
    return ki_str_equal(type, KI_STR("application/yaml")) ||
           ki_str_equal(type, KI_STR("application/apply-patch+yaml"));
}

static int parse_json(struct ki_as_exchange *exchange, const char *kind, json_t **out)
{
    json_error_t error;
    *out = ki_as_decode_body(ki_buf_str(&exchange->body), &error);
    if (*out != NULL)
        return 0;
    if (json_error_code(&error) == json_error_out_of_memory)
        return ki_as_fail_no_memory(&exchange->failure);
    return ki_as_fail_bad_request(&exchange->failure,
                                  "the object provided is unrecognized (must be of type %s): couldn't get "
                                  "version/kind; json parse error: %s",
                                  kind, error.text);
}

int ki_as_body_tree(struct ki_as_exchange *exchange, const char *kind, json_t **out)
{
    const ki_buf *body = &exchange->body;
    *out = NULL;
    if (body->len == 0)
        return 0;
    if (is_yaml(ki_as_media_type(exchange->headers.content_type)))
        return parse_yaml(exchange, kind, out);
    if (ki_as_proto_is_type(ki_as_media_type(exchange->headers.content_type)))
        return ki_as_proto_parse(ki_buf_str(body), out, &exchange->failure);
    return parse_json(exchange, kind, out);
}

/* ---- dispatch ------------------------------------------------------------------------------------------ */

/* Whether the method is allowed for the path of the resource. */
static bool is_allowed(const struct ki_as_request *request, const struct ki_as_resource *resource)
{
    bool is_whole = request->name.len == 0;
    switch (request->method) {
    case KI_AS_METHOD_GET:
        return true;
    case KI_AS_METHOD_POST:
        return is_whole && (request->ns.len > 0) == resource->is_namespaced;
    case KI_AS_METHOD_PUT:
    case KI_AS_METHOD_PATCH:
        return !is_whole;
    case KI_AS_METHOD_DELETE:
        return (request->ns.len > 0) == resource->is_namespaced && request->subresource.len == 0;
    default:
        return false;
    }
}

static bool has_subresource(const struct ki_as_request *request, const struct ki_as_resource *resource)
{
    ki_str name = request->subresource;
    if (name.len == 0)
        return true;
    if (ki_str_equal(name, KI_STR("finalize")))
        return strcmp(resource->plural, "namespaces") == 0;
    return (resource->has_status && ki_str_equal(name, KI_STR("status"))) ||
           (resource->has_scale && ki_str_equal(name, KI_STR("scale")));
}

static enum ki_as_step handle_by_method(struct ki_as_task *task)
{
    assert(task->form != KI_AS_FORM_NONE);
    const struct ki_as_request *request = task->request;
    const struct ki_as_resource *resource = task->resource;
    bool is_object_of_namespace = resource->is_namespaced && request->name.len > 0 && request->ns.len == 0;
    if ((request->ns.len > 0 && !resource->is_namespaced) || is_object_of_namespace) {
        (void)ki_as_fail_no_such_path(task->failure);
        return KI_AS_STEP_FAILED;
    }
    if (!has_subresource(request, resource)) {
        /* The details are empty but present, because kubectl reads them. */
        (void)ki_as_fail(task->failure, 404, "NotFound", json_object(),
                         "this server does not serve the subresource \"%.*s\" of %s",
                         KI_STR_ARGS(request->subresource), resource->qualified);
        return KI_AS_STEP_FAILED;
    }
    if (!is_allowed(request, resource)) {
        (void)ki_as_fail_method(task->failure);
        return KI_AS_STEP_FAILED;
    }
    if (request->method != KI_AS_METHOD_GET)
        return ki_as_handle_write(task);
    if (task->query->is_watch)
        return ki_as_handle_watch(task);
    return request->name.len > 0 ? ki_as_handle_get(task) : ki_as_handle_list(task);
}

static enum ki_as_step fail_not_acceptable(struct ki_as_failure *failure)
{
    (void)ki_as_fail(failure, 406, "NotAcceptable", NULL,
                     "only the following media types are accepted: application/json, "
                     "application/vnd.kubernetes.protobuf");
    return KI_AS_STEP_FAILED;
}

/* Custom resources are served in JSON only, except for their metadata, which is also served in protobuf. */
static void choose_form(struct ki_as_task *task)
{
    assert(task->resource != NULL);
    struct ki_as_exchange *exchange = task->exchange;
    unsigned allowed = 1U << KI_AS_FORM_JSON | 1U << KI_AS_FORM_TABLE | 1U << KI_AS_FORM_METADATA |
                       1U << KI_AS_FORM_PROTO_METADATA;
    if (!task->resource->is_custom && ki_as_proto_has(task->resource->api_version, task->resource->kind))
        allowed |= 1U << KI_AS_FORM_PROTO;
    task->form = ki_as_accept(exchange->headers.accept, allowed);
    exchange->answer.is_proto = task->form == KI_AS_FORM_PROTO || task->form == KI_AS_FORM_PROTO_METADATA;
    if (exchange->answer.is_proto)
        task->form = task->form == KI_AS_FORM_PROTO ? KI_AS_FORM_JSON : KI_AS_FORM_METADATA;
}

static enum ki_as_step handle_resource(struct ki_as_exchange *exchange)
{
    assert(exchange->request.target == KI_AS_TARGET_RESOURCE);
    struct ki_as_storage *storage = exchange->server->storage;
    struct ki_as_request *request = &exchange->request;
    struct ki_as_task task = {
        .exchange = exchange, .request = request, .query = &request->query, .failure = &exchange->failure};
    ki_as_storage_lock(storage);
    task.resource = ki_as_resources_find(ki_as_storage_resources(storage), request->group, request->version,
                                         request->plural);
    if (task.resource != NULL)
        (void)ki_as_resource_ref(task.resource);
    ki_as_storage_unlock(storage);
    if (task.resource == NULL && ki_as_is_review(request))
        return ki_as_handle_review(exchange);
    if (task.resource == NULL) {
        (void)ki_as_fail_no_such_path(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
    choose_form(&task);
    enum ki_as_step step =
        task.form == KI_AS_FORM_NONE ? fail_not_acceptable(&exchange->failure) : handle_by_method(&task);
    ki_as_resource_unref(task.resource);
    return step;
}

enum ki_as_step ki_as_handle(struct ki_as_exchange *exchange)
{
    assert(exchange->answer.code == 0 && exchange->stream == NULL);
    switch (exchange->request.target) {
    case KI_AS_TARGET_RESOURCE:
        return handle_resource(exchange);
    case KI_AS_TARGET_DEBUG:
        return ki_as_handle_debug(exchange);
    default:
        if (is_reading(&exchange->request))
            return ki_as_handle_about(exchange);
        (void)ki_as_fail_method(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
}
