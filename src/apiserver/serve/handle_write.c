/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/kind/proto.h"
#include "apiserver/serve/handle.h"
#include "apiserver/serve/render.h"
#include "apiserver/verbs/strict.h"

/* ---- shared by all writes ------------------------------------------------------------------------------ */

static ki_str manager_of(const struct ki_as_exchange *exchange)
{
    ki_str agent = exchange->headers.user_agent;
    const char *slash = agent.len == 0 ? NULL : memchr(agent.ptr, '/', agent.len);
    if (exchange->request.query.field_manager.len > 0)
        return exchange->request.query.field_manager;
    if (slash != NULL)
        agent.len = (size_t)(slash - agent.ptr);
    return agent.len == 0 ? KI_STR("unknown") : agent;
}

/* Reads fieldValidation; the default is to warn. */
static void read_strictness(struct ki_as_task *task, struct ki_as_call *call)
{
    static const char *const names[] = {
        [KI_AS_FIELDS_WARN] = "Warn", [KI_AS_FIELDS_STRICT] = "Strict", [KI_AS_FIELDS_IGNORE] = "Ignore"};
    ki_str given = task->query->field_validation;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (given.len == 0 || ki_str_equal(given, ki_str_of(names[i]))) {
            call->strictness = (enum ki_as_strictness)i;
            call->warnings = task->exchange->answer.warnings;
            return;
        }
}

static void make_call(struct ki_as_task *task, struct ki_as_call *out)
{
    const struct ki_as_query *query = task->query;
    *out = (struct ki_as_call){.storage = task->exchange->server->storage,
                               .resource = task->resource,
                               .ns = task->request->ns,
                               .name = task->request->name,
                               .subresource = task->request->subresource,
                               .field_manager = manager_of(task->exchange),
                               .is_dry_run = query->dry_run.len > 0,
                               .is_forced = query->is_forced};
    if (task->request->method == KI_AS_METHOD_DELETE)
        return;
    if (task->exchange->answer.warnings == NULL)
        task->exchange->answer.warnings = json_array();
    read_strictness(task, out);
}

/* The request log shows the name of a created object, and the version of the change. */
static void note_written(struct ki_as_task *task, struct ki_as_object *object)
{
    if (task->query->dry_run.len == 0)
        task->exchange->written = ki_as_object_ref(object);
}

static enum ki_as_step render_written(struct ki_as_task *task, struct ki_as_object *object, int code)
{
    note_written(task, object);
    if (ki_str_equal(task->request->subresource, KI_STR("scale")))
        return ki_as_render_scale(task, object, code);
    return ki_as_render_object(task, object, code);
}

static enum ki_as_step fail_type(struct ki_as_task *task, const char *types)
{
    (void)ki_as_fail(task->failure, 415, "UnsupportedMediaType", NULL,
                     "the body of the request was in an unknown format - accepted media types include: %s",
                     types);
    return KI_AS_STEP_FAILED;
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static int check_type(struct ki_as_task *task)
{
    ki_str type = ki_as_media_type(task->exchange->headers.content_type);
    bool is_known = type.len == 0 || ki_str_equal(type, KI_STR("application/json")) ||
                    ki_str_equal(type, KI_STR("application/yaml")) || ki_str_equal(type, KI_STR("*/*"));
    /* Protobuf is not possible for custom kinds: their fields have no numbers. */
    is_known |= !task->resource->is_custom && ki_as_proto_is_type(type);
    if (is_known)
        return 0;
    return (int)fail_type(task, task->resource->is_custom ? "application/json, application/yaml"
                                                          : "application/json, application/yaml, "
                                                            "application/vnd.kubernetes.protobuf");
}

/* A custom object must state its kind and apiVersion. */
static int check_named(struct ki_as_task *task, const char *kind, const char *version)
{
    if (!task->resource->is_custom || (kind != NULL && version != NULL))
        return 0;
    if (kind == NULL)
        return ki_as_fail_bad_request(
            task->failure,
            "the object provided is unrecognized (must be of type %s): Object 'Kind' is missing",
            task->resource->kind);
    return ki_as_fail_bad_request(
        task->failure, "the API version in the data () does not match the expected API version (%s)",
        task->resource->api_version);
}

/* The body must have the kind of its path. For built-in kinds, a body without a kind is accepted. */
static int check_sent_kind(struct ki_as_task *task, const json_t *body)
{
    bool is_scale = ki_str_equal(task->request->subresource, KI_STR("scale"));
    const char *kind = json_string_value(json_object_get(body, "kind"));
    const char *version = json_string_value(json_object_get(body, "apiVersion"));
    const char *wanted = is_scale ? "Scale" : task->resource->kind;
    if (!is_scale && check_named(task, kind, version) < 0)
        return -1;
    if (kind != NULL && kind[0] != 0 && strcmp(kind, wanted) != 0)
        return ki_as_fail_bad_request(task->failure,
                                      "%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" is "
                                      "registered here",
                                      kind, version == NULL ? "" : version, wanted, kind);
    if (version != NULL && version[0] != 0 && !is_scale && strcmp(version, task->resource->api_version) != 0)
        return ki_as_fail_bad_request(
            task->failure, "the API version in the data (%s) does not match the expected API version (%s)",
            version, task->resource->api_version);
    return 0;
}

static enum ki_as_step read_object(struct ki_as_task *task, json_t **out)
{
    if (check_type(task) < 0)
        return KI_AS_STEP_FAILED;
    if (ki_as_body_tree(task->exchange, task->resource->kind, out) < 0)
        return KI_AS_STEP_FAILED;
    if (!json_is_object(*out)) {
        (void)ki_as_fail_bad_request(task->failure,
                                     "the object provided is unrecognized (must be of type %s): it is %s",
                                     task->resource->kind, *out == NULL ? "empty" : "not an object");
        return KI_AS_STEP_FAILED;
    }
    return check_sent_kind(task, *out) < 0 ? KI_AS_STEP_FAILED : KI_AS_STEP_DONE;
}

/* The body of a PUT must have a name that is not null; whether it matches is checked in check_body.c. */
static int check_name(struct ki_as_task *task, const json_t *body)
{
    const json_t *name = json_object_get(json_object_get(body, "metadata"), "name");
    if (task->request->method != KI_AS_METHOD_PUT || (name != NULL && !json_is_null(name)))
        return 0;
    return ki_as_body_check_name(body, task->request->name, task->failure);
}

static enum ki_as_step put_object(struct ki_as_task *task, struct ki_as_call *call)
{
    json_t *body = NULL;
    struct ki_as_object *object = NULL;
    bool is_created = task->request->method == KI_AS_METHOD_POST;
    int rc = (int)read_object(task, &body);
    if (rc == 0)
        rc = check_name(task, body);
    if (rc == 0 && !ki_str_equal(task->request->subresource, KI_STR("scale")))
        rc = ki_as_strict_body(call, body, task->failure);
    if (rc == 0)
        rc = is_created ? ki_as_create(call, body, &object, task->failure)
                        : ki_as_update(call, body, &object, &is_created, task->failure);
    json_decref(body);
    return rc < 0 ? KI_AS_STEP_FAILED : render_written(task, object, is_created ? 201 : 200);
}

/* ---- patches ------------------------------------------------------------------------------------------- */

static enum ki_as_step patch_type(struct ki_as_task *task, enum ki_as_patch_type *out)
{
    static const struct {
        const char *name;
        enum ki_as_patch_type type;
    } types[] = {
        {"application/json-patch+json", KI_AS_PATCH_JSON},
        {"application/merge-patch+json", KI_AS_PATCH_MERGE},
        {"application/strategic-merge-patch+json", KI_AS_PATCH_STRATEGIC},
        {"application/apply-patch+yaml", KI_AS_PATCH_APPLY},
    };
    ki_str type = ki_as_media_type(task->exchange->headers.content_type);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (ki_str_equal(type, ki_str_of(types[i].name)) &&
            !(types[i].type == KI_AS_PATCH_STRATEGIC && task->resource->is_custom)) {
            *out = types[i].type;
            return KI_AS_STEP_DONE;
        }
    return fail_type(task, task->resource->is_custom
                               ? "application/json-patch+json, application/merge-patch+json, "
                                 "application/apply-patch+yaml"
                               : "application/json-patch+json, application/merge-patch+json, "
                                 "application/strategic-merge-patch+json, application/apply-patch+yaml");
}

static enum ki_as_step patch(struct ki_as_task *task, struct ki_as_call *call)
{
    enum ki_as_patch_type type = KI_AS_PATCH_JSON;
    struct ki_as_object *object = NULL;
    json_t *body = NULL;
    bool is_created = false;
    enum ki_as_step step = patch_type(task, &type);
    if (step != KI_AS_STEP_DONE)
        return step;
    int rc = ki_as_body_tree(task->exchange, "a patch", &body);
    if (rc == 0 && body == NULL)
        rc = ki_as_fail_bad_request(task->failure, "the body of the patch is empty");
    if (rc == 0)
        rc = ki_as_patch(call, type, body, &object, &is_created, task->failure);
    json_decref(body);
    return rc < 0 ? KI_AS_STEP_FAILED : render_written(task, object, is_created ? 201 : 200);
}

/* ---- deletes ------------------------------------------------------------------------------------------- */

/* The query takes precedence over the body. */
static int read_delete_options(struct ki_as_task *task, json_t **out)
{
    const struct ki_as_query *query = task->query;
    uint64_t seconds = 0;
    json_t *options = NULL;
    if (task->exchange->body.len > 0 && check_type(task) < 0)
        return -1;
    if (ki_as_body_tree(task->exchange, "DeleteOptions", &options) < 0)
        return -1;
    if (options == NULL)
        options = json_object();
    *out = options;
    if (!json_is_object(options))
        return options == NULL ? ki_as_fail_no_memory(task->failure)
                               : ki_as_fail_bad_request(task->failure, "DeleteOptions must be an object");
    if (query->propagation_policy.len > 0)
        (void)json_object_set_new(options, "propagationPolicy",
                                  json_stringn(query->propagation_policy.ptr, query->propagation_policy.len));
    if (query->grace_period_seconds.len == 0)
        return 0;
    /* A negative number counts as 0. */
    if (ki_as_number_parse(query->grace_period_seconds, &seconds, task->failure) < 0)
        return -1;
    (void)json_object_set_new(options, "gracePeriodSeconds", json_integer((json_int_t)seconds));
    return 0;
}

/* For some kinds, the response is the deleted object; for others, a Status. */
static bool is_shown_deleted(const struct ki_as_resource *resource)
{
    static const char *const kinds[] = {
        "pods",         "services",      "serviceaccounts", "persistentvolumeclaims", "persistentvolumes",
        "podtemplates", "resourcequotas"};
    if (resource->group[0] != 0)
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(resource->plural, kinds[i]) == 0)
            return true;
    return false;
}

static enum ki_as_step answer_gone(struct ki_as_task *task, struct ki_as_object *object)
{
    const struct ki_as_resource *resource = task->resource;
    json_t *status =
        json_pack("{s:s, s:s, s:{}, s:s, s:{s:s%, s:s*, s:s, s:s%}}", "kind", "Status", "apiVersion", "v1",
                  "metadata", "status", "Success", "details", "name", object->name.ptr, object->name.len,
                  "group", resource->group[0] == 0 ? NULL : resource->group, "kind", resource->plural, "uid",
                  object->uid.ptr, object->uid.len);
    ki_as_object_unref(object);
    return ki_as_render_tree(task->exchange, status, 200);
}

static enum ki_as_step delete_collection(struct ki_as_task *task, const struct ki_as_call *call,
                                         const json_t *options)
{
    struct ki_as_selector *selector = NULL;
    struct ki_as_page page = {0};
    enum ki_as_step step = KI_AS_STEP_FAILED;
    struct ki_as_call own = *call;
    own.limit = task->query->limit;
    /* As in Kubernetes, a collection of namespaces cannot be deleted. */
    if (ki_as_resource_is(task->resource, "", "namespaces")) {
        (void)ki_as_fail_method(task->failure);
        return step;
    }
    if (ki_as_selector_parse(task->query->label_selector, task->query->field_selector, task->resource,
                             &selector, task->failure) == 0 &&
        ki_as_delete_collection(&own, selector, options, &page, task->failure) == 0)
        step = ki_as_render_page(task, &(struct ki_as_list_text){.page = &page, .continue_token = ""});
    ki_as_selector_free(selector);
    ki_as_page_fini(&page);
    return step;
}

static enum ki_as_step delete_one(struct ki_as_task *task, const struct ki_as_call *call,
                                  const json_t *options)
{
    struct ki_as_object *object = NULL;
    bool is_gone = false;
    if (ki_as_delete(call, options, &object, &is_gone, task->failure) < 0)
        return KI_AS_STEP_FAILED;
    note_written(task, object);
    if (is_gone && !is_shown_deleted(task->resource))
        return answer_gone(task, object);
    return ki_as_render_object(task, object, 200);
}

enum ki_as_step ki_as_handle_write(struct ki_as_task *task)
{
    struct ki_as_call call;
    enum ki_as_step step = KI_AS_STEP_FAILED;
    make_call(task, &call);
    if (task->request->method == KI_AS_METHOD_PATCH)
        return patch(task, &call);
    if (task->request->method != KI_AS_METHOD_DELETE)
        return put_object(task, &call);
    json_t *options = NULL;
    if (read_delete_options(task, &options) == 0)
        step = task->request->name.len > 0 ? delete_one(task, &call, options)
                                           : delete_collection(task, &call, options);
    json_decref(options);
    return step;
}
