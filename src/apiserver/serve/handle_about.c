/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/serve/handle.h"
#include "apiserver/serve/render.h"
#include "apiserver/show/discovery_documents.h"
#include "apiserver/show/openapi.h"

static json_t *root_paths(const struct ki_as_resources *resources)
{
    json_t *paths = json_pack("[s, s, s]", "/api", "/api/v1", "/apis");
    const char *last = "";
    for (size_t i = 0; i < resources->count; i++) {
        const struct ki_as_resource *resource = resources->entries[i];
        if (resource->group[0] == 0 || strcmp(last, resource->api_version) == 0)
            continue;
        last = resource->api_version;
        (void)json_array_append_new(paths, json_sprintf("/apis/%s", resource->api_version));
    }
    static const char *const others[] = {"/healthz",    "/livez",  "/openapi/v2",
                                         "/openapi/v3", "/readyz", "/version"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        (void)json_array_append_new(paths, json_string(others[i]));
    return json_pack("{s:o}", "paths", paths);
}

static json_t *tree_of(const struct ki_as_exchange *exchange, const struct ki_as_resources *resources,
                       bool is_aggregated)
{
    const struct ki_as_request *request = &exchange->request;
    switch (request->target) {
    case KI_AS_TARGET_ROOT:
        return root_paths(resources);
    case KI_AS_TARGET_SERVER_VERSION:
        return ki_as_discovery_server_version();
    case KI_AS_TARGET_CORE:
        return is_aggregated ? ki_as_discovery_aggregated(resources, true)
                             : ki_as_discovery_api(exchange->server->address);
    case KI_AS_TARGET_GROUPS:
        return is_aggregated ? ki_as_discovery_aggregated(resources, false)
                             : ki_as_discovery_groups(resources);
    case KI_AS_TARGET_GROUP:
        return ki_as_discovery_group(resources, request->group);
    case KI_AS_TARGET_VERSION:
        return ki_as_discovery_version(resources, request->group, request->version);
    case KI_AS_TARGET_OPENAPI_OLD:
        return ki_as_openapi_old();
    case KI_AS_TARGET_OPENAPI:
        return ki_as_openapi_index(resources);
    case KI_AS_TARGET_OPENAPI_VERSION:
        return ki_as_openapi_version(resources, request->group, request->version);
    default:
        return json_null();
    }
}

static enum ki_as_form form_of(const struct ki_as_exchange *exchange)
{
    enum ki_as_target target = exchange->request.target;
    unsigned allowed = 1U << KI_AS_FORM_JSON;
    if (target == KI_AS_TARGET_CORE || target == KI_AS_TARGET_GROUPS)
        allowed |= 1U << KI_AS_FORM_DISCOVERY;
    if (target == KI_AS_TARGET_OPENAPI_OLD)
        allowed |= 1U << KI_AS_FORM_GNOSTIC;
    return ki_as_accept(exchange->headers.accept, allowed);
}

/* Call this only for paths that exist: others fail with 404. */
static enum ki_as_step fail_not_acceptable(struct ki_as_exchange *exchange)
{
    (void)ki_as_fail(&exchange->failure, 406, "NotAcceptable", NULL,
                     "only the following media types are accepted: application/json");
    return KI_AS_STEP_FAILED;
}

static enum ki_as_step answer_gnostic(struct ki_as_exchange *exchange)
{
    ki_str bytes = ki_as_openapi_old_bytes();
    int rc = ki_buf_append(&exchange->answer.text, bytes.ptr, bytes.len);
    enum ki_as_step step = ki_as_render_text(exchange, rc, 200);
    exchange->answer.is_json = false;
    /* The name has a dot instead of "@", which is not allowed in this header, as in Kubernetes. */
    if (step == KI_AS_STEP_DONE)
        exchange->answer.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    return step;
}

enum ki_as_step ki_as_handle_about(struct ki_as_exchange *exchange)
{
    struct ki_as_storage *storage = exchange->server->storage;
    if (exchange->request.target == KI_AS_TARGET_HEALTH)
        return ki_as_render_plain(exchange, 200, "ok");
    enum ki_as_form form = form_of(exchange);
    if (form == KI_AS_FORM_GNOSTIC)
        return answer_gnostic(exchange);
    ki_as_storage_lock(storage);
    json_t *tree = tree_of(exchange, ki_as_storage_resources(storage), form == KI_AS_FORM_DISCOVERY);
    ki_as_storage_unlock(storage);
    if (json_is_null(tree)) {
        json_decref(tree);
        (void)ki_as_fail_no_such_path(&exchange->failure);
        return KI_AS_STEP_FAILED;
    }
    if (form == KI_AS_FORM_NONE) {
        json_decref(tree);
        return fail_not_acceptable(exchange);
    }
    if (form == KI_AS_FORM_DISCOVERY)
        exchange->answer.content_type =
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    return ki_as_render_tree(exchange, tree, 200);
}
