/* SPDX-License-Identifier: Apache-2.0 */
#include "rest/rest_message.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "api/resource/query.h"
#include "util/alloc.h"
#include "util/error.h"

/* Indexed by ki_rest_verb. */
static const char *const methods[] = {NULL, "GET", "GET", "POST", "PUT", "PATCH", "DELETE", "DELETE"};

/* Indexed by ki_patch. An apply patch is sent as YAML, since JSON is valid YAML. */
static const char *const patch_types[] = {
    NULL, "Content-Type: application/json-patch+json", "Content-Type: application/merge-patch+json",
    "Content-Type: application/strategic-merge-patch+json", "Content-Type: application/apply-patch+yaml"};

static const char json_type[] = "Content-Type: application/json";

/* Indexed by ki_propagation. */
static const char *const propagations[] = {NULL, "Background", "Foreground", "Orphan"};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static bool is_said(const char *text)
{
    return text != NULL && text[0] != 0;
}

static bool writes(const ki_rest_request *request)
{
    return request->verb == KI_REST_CREATE || request->verb == KI_REST_UPDATE ||
           request->verb == KI_REST_PATCH;
}

/* ---- invalid requests -------------------------------------------------------------------------------- */

static bool is_of_collection(const ki_rest_request *request)
{
    return request->verb == KI_REST_LIST || request->verb == KI_REST_DELETE_COLLECTION;
}

static bool deletes(const ki_rest_request *request)
{
    return request->verb == KI_REST_DELETE || request->verb == KI_REST_DELETE_COLLECTION;
}

/* Whether the path ends with the name of an object. */
static bool has_name(const ki_rest_request *request)
{
    if (is_of_collection(request))
        return false;
    return request->verb != KI_REST_CREATE || is_said(request->subresource);
}

static const char *check_names(const ki_rest_request *request)
{
    assert(request->resource != NULL);
    bool needs_namespace = request->verb == KI_REST_CREATE || request->verb == KI_REST_DELETE_COLLECTION;
    if (is_of_collection(request) && (is_said(request->name) || is_said(request->subresource)))
        return "a collection has neither a name nor a subresource";
    if (has_name(request) && !is_said(request->name))
        return "the name is missing";
    if (!has_name(request) && request->verb == KI_REST_CREATE && is_said(request->name))
        return "a create takes the name from the body";
    if (needs_namespace && request->resource->scope == KI_SCOPE_NAMESPACED && !is_said(request->ns))
        return "the namespace is missing";
    return NULL;
}

static ki_str body_of(const ki_rest_request *request)
{
    return request->content != NULL ? ki_body_json(request->content).raw : request->body;
}

static const char *check_body(const ki_rest_request *request)
{
    if (request->body.ptr == NULL && request->body.len > 0)
        return "the body is missing";
    if (request->content != NULL && request->body.len > 0)
        return "body and content cannot both be set";
    if (writes(request) && body_of(request).len == 0)
        return "the body is missing";
    if (!writes(request) && body_of(request).len > 0)
        return "this call has no body";
    return NULL;
}

static const char *check_options(const ki_rest_request *request)
{
    bool is_patch = request->verb == KI_REST_PATCH;
    if (is_patch && (request->patch <= 0 || request->patch >= COUNT(patch_types)))
        return "the patch type is missing or unknown";
    if (!is_patch && request->patch != 0)
        return "only a patch has a patch type";
    bool is_apply = is_patch && request->patch == KI_PATCH_APPLY;
    if (is_apply && !is_said(request->field_manager))
        return "an apply needs a field manager";
    if (request->force && !is_apply)
        return "only an apply can be forced";
    if (request->propagation < 0 || request->propagation >= COUNT(propagations))
        return "unknown propagation policy";
    if (request->list.watch || request->list.allow_bookmarks || request->list.send_initial_events)
        return "a single call cannot watch";
    if (request->has_grace_period && request->grace_period_seconds < 0)
        return "the grace period is negative";
    if (request->verb == KI_REST_DELETE_COLLECTION &&
        (request->if_uid.len > 0 || request->if_resource_version.len > 0))
        return "preconditions apply to a single object only";
    return NULL;
}

static int check(const ki_rest_request *request, ki_error *err)
{
    if (request->resource == NULL || request->resource->plural == NULL)
        return ki_fail(err, KI_ERR_INVALID, "call: no resource");
    if (request->verb <= 0 || request->verb >= COUNT(methods))
        return ki_fail(err, KI_ERR_INVALID, "%s: %d is not a verb", request->resource->plural, request->verb);
    int rc = request->content == NULL ? 0 : ki_body_check(request->content, err);
    if (rc < 0)
        return rc;
    const char *why = check_names(request);
    if (why == NULL)
        why = check_body(request);
    if (why == NULL)
        why = check_options(request);
    if (why != NULL)
        return ki_fail(err, KI_ERR_INVALID, "%s %s: %s", methods[request->verb], request->resource->plural,
                       why);
    return 0;
}

/* ---- the target -------------------------------------------------------------------------------------- */

static int path_of(const ki_rest_request *request, char *buffer, size_t buffer_bytes)
{
    ki_str name = has_name(request) ? ki_str_of(request->name) : (ki_str){0};
    return ki_resource_path(request->resource, ki_str_of(request->ns), name, ki_str_of(request->subresource),
                            buffer, buffer_bytes);
}

static void add_query(ki_query *query, const ki_rest_request *request)
{
    if (is_of_collection(request))
        ki_query_add_list_options(query, &request->list);
    else if (request->verb == KI_REST_GET)
        ki_query_add(query, "resourceVersion", request->list.resource_version);
    if (!writes(request))
        return;
    ki_query_add(query, "fieldManager", ki_str_of(request->field_manager));
    ki_query_add(query, "fieldValidation", ki_str_of(request->field_validation));
    ki_query_add_flag(query, "force", request->force);
    if (request->dry_run)
        ki_query_add(query, "dryRun", KI_STR("All"));
}

static int make_target(ki_rest_message *message, const ki_rest_request *request, ki_error *err)
{
    int length = path_of(request, NULL, 0);
    if (length < 0)
        return ki_fail(err, KI_ERR_INVALID, "%s: \"%s\" in namespace \"%s\" is not a valid path",
                       request->resource->plural, request->name == NULL ? "" : request->name,
                       request->ns == NULL ? "" : request->ns);
    char *path = ki_malloc((size_t)length + 1);
    if (path == NULL)
        return ki_fail_no_memory(err);
    (void)!path_of(request, path, (size_t)length + 1);
    ki_query query;
    ki_query_init(&query, (ki_str){path, (size_t)length});
    add_query(&query, request);
    ki_free(path);
    message->target = query.text; /* ownership moves */
    return query.rc < 0 ? ki_fail(err, query.rc, "%s", ki_error_text(query.rc)) : 0;
}

/* ---- the body ---------------------------------------------------------------------------------------- */

static void write_text(ki_json_writer *writer, const char *name, ki_str value)
{
    if (value.len == 0)
        return;
    ki_json_write_name(writer, ki_str_of(name));
    ki_json_write_string(writer, value);
}

static void write_delete_options(ki_json_writer *writer, const ki_rest_request *request)
{
    assert(request->propagation >= 0 && request->propagation < COUNT(propagations));
    ki_json_write_object_begin(writer);
    write_text(writer, "kind", KI_STR("DeleteOptions"));
    write_text(writer, "apiVersion", KI_STR("v1"));
    if (request->has_grace_period) {
        ki_json_write_name(writer, KI_STR("gracePeriodSeconds"));
        ki_json_write_int64(writer, request->grace_period_seconds);
    }
    if (request->if_uid.len > 0 || request->if_resource_version.len > 0) {
        ki_json_write_name(writer, KI_STR("preconditions"));
        ki_json_write_object_begin(writer);
        write_text(writer, "uid", request->if_uid);
        write_text(writer, "resourceVersion", request->if_resource_version);
        ki_json_write_object_end(writer);
    }
    write_text(writer, "propagationPolicy", ki_str_of(propagations[request->propagation]));
    if (request->dry_run) {
        ki_json_write_name(writer, KI_STR("dryRun"));
        ki_json_write_array_begin(writer);
        ki_json_write_string(writer, KI_STR("All"));
        ki_json_write_array_end(writer);
    }
    ki_json_write_object_end(writer);
}

static bool has_delete_options(const ki_rest_request *request)
{
    return deletes(request) &&
           (request->has_grace_period || request->if_uid.len > 0 || request->if_resource_version.len > 0 ||
            request->propagation != KI_PROPAGATION_DEFAULT || request->dry_run);
}

static int set_body(ki_rest_message *message, ki_str body, ki_error *err)
{
    ki_buf_init(&message->body, body.len);
    int rc = ki_buf_append_str(&message->body, body);
    return rc < 0 ? ki_fail(err, rc, "%s", ki_error_text(rc)) : 0;
}

/* If a delete has a body, servers look for its options only there. */
static int make_delete_options(ki_rest_message *message, const ki_rest_request *request, ki_error *err)
{
    assert(deletes(request));
    ki_str text = {0};
    ki_json_writer *writer = ki_json_writer_new(NULL);
    if (writer == NULL)
        return ki_fail_no_memory(err);
    write_delete_options(writer, request);
    int rc = ki_json_writer_finish(writer, &text, err);
    if (rc == 0)
        rc = set_body(message, text, err);
    ki_json_writer_free(writer);
    return rc;
}

static int make_body(ki_rest_message *message, const ki_rest_request *request, ki_error *err)
{
    assert(request->verb > 0 && request->verb < COUNT(methods));
    if (request->verb == KI_REST_PATCH)
        message->content_type = patch_types[request->patch];
    else if (writes(request) || has_delete_options(request))
        message->content_type = json_type;
    if (has_delete_options(request))
        return make_delete_options(message, request, err);
    return writes(request) ? set_body(message, body_of(request), err) : 0;
}

/* ---- any path ---------------------------------------------------------------------------------------- */

/* Whether the text has no character that could end a header line or the path. */
static bool is_line(const char *text)
{
    for (const char *at = text; *at != 0; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f || *at == '#')
            return false;
    return true;
}

static int check_path(const ki_rest_request *request, ki_error *err)
{
    if (request->verb != KI_REST_GET)
        return ki_fail(err, KI_ERR_INVALID, "call: only a GET can have a path");
    if (request->path[0] != '/' || !is_line(request->path))
        return ki_fail(err, KI_ERR_INVALID, "call: \"%.100s\" is not a path", request->path);
    return 0;
}

static int make_path(ki_rest_message *message, const ki_rest_request *request, ki_error *err)
{
    assert(request->path[0] == '/');
    ki_str path = ki_str_of(request->path);
    ki_buf_init(&message->target, path.len);
    if (ki_buf_append_str(&message->target, path) < 0)
        return ki_fail_no_memory(err);
    return 0;
}

static int make_accept(ki_rest_message *message, const ki_rest_request *request, ki_error *err)
{
    static const ki_str name = {"Accept: ", sizeof("Accept: ") - 1};
    if (request->accept == NULL)
        return 0;
    if (!is_line(request->accept))
        return ki_fail(err, KI_ERR_INVALID, "call: \"%.100s\" is not a content type", request->accept);
    ki_buf_init(&message->accept, name.len + strlen(request->accept) + 1);
    if (ki_buf_append_str(&message->accept, name) < 0 ||
        ki_buf_append(&message->accept, request->accept, strlen(request->accept) + 1) < 0)
        return ki_fail_no_memory(err);
    return 0;
}

/* ---- the whole message ------------------------------------------------------------------------------- */

int ki_rest_message_init(ki_rest_message *message, const ki_rest_request *request, ki_error *err)
{
    assert(message != NULL && request != NULL);
    bool has_path = request->path != NULL;
    int rc = has_path ? check_path(request, err) : check(request, err);
    if (rc < 0)
        return rc;
    *message = (ki_rest_message){.method = methods[request->verb]};
    rc = has_path ? make_path(message, request, err) : make_target(message, request, err);
    if (rc == 0)
        rc = make_accept(message, request, err);
    if (rc == 0 && !has_path)
        rc = make_body(message, request, err);
    if (rc < 0)
        ki_rest_message_fini(message);
    return rc;
}

void ki_rest_message_fini(ki_rest_message *message)
{
    assert(message != NULL);
    ki_buf_fini(&message->target);
    ki_buf_fini(&message->accept);
    ki_buf_fini(&message->body);
    *message = (ki_rest_message){0};
}
