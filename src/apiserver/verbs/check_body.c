/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/validate/validate.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

/* The value must be a string, null or absent. */
static int check_text(const struct ki_as_verb *verb, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL || json_is_string(value) || json_is_null(value))
        return 0;
    return ki_as_fail_bad_request(verb->failure,
                                  "%s in version \"%s\" cannot be handled as a %s: %s must be a string",
                                  verb->resource->kind, verb->resource->version, verb->resource->kind, name);
}

static int check_kind(const struct ki_as_verb *verb, const json_t *body)
{
    const struct ki_as_resource *resource = verb->resource;
    if (!json_is_object(body))
        return ki_as_fail_bad_request(
            verb->failure, "the object provided is unrecognized (must be of type %s)", resource->kind);
    if (check_text(verb, body, "kind") < 0 || check_text(verb, body, "apiVersion") < 0)
        return -1;
    const char *kind = json_string_value(json_object_get(body, "kind"));
    const char *version = json_string_value(json_object_get(body, "apiVersion"));
    if (kind != NULL && kind[0] != '\0' && strcmp(kind, resource->kind) != 0)
        return ki_as_fail_bad_request(verb->failure, "%s in version \"%s\" cannot be handled as a %s", kind,
                                      version == NULL ? resource->version : version, resource->kind);
    if (version != NULL && version[0] != '\0' && strcmp(version, resource->api_version) != 0)
        return ki_as_fail_bad_request(
            verb->failure, "the API version in the data (%s) does not match the expected API version (%s)",
            version, resource->api_version);
    return 0;
}

static int check_metadata(const struct ki_as_verb *verb, json_t *body)
{
    json_t *metadata = json_object_get(body, "metadata");
    if (metadata == NULL || json_is_null(metadata)) {
        metadata = json_object();
        if (metadata == NULL || json_object_set_new(body, "metadata", metadata) < 0)
            return ki_as_fail_no_memory(verb->failure);
    }
    if (!json_is_object(metadata))
        return ki_as_fail_bad_request(
            verb->failure,
            "%s in version \"%s\" cannot be handled as a %s: json: cannot unmarshal %s into Go struct field "
            "%s.metadata of type v1.ObjectMeta",
            verb->resource->kind, verb->resource->version, verb->resource->kind,
            ki_as_json_type_name(metadata), verb->resource->kind);
    return ki_as_check_own_types(verb->resource, body, verb->failure);
}

static int fill(const struct ki_as_verb *verb, json_t *body, const char *name, ki_str text)
{
    json_t *value = json_stringn(text.ptr, text.len);
    if (value == NULL || json_object_set_new(ki_as_metadata(body), name, value) < 0)
        return ki_as_fail_no_memory(verb->failure);
    return 0;
}

int ki_as_body_check_name(const json_t *body, ki_str wanted, struct ki_as_failure *failure)
{
    ki_str name = ki_as_metadata_text(body, "name");
    if (name.len == 0)
        return ki_as_fail_bad_request(
            failure, "the name of the object (%.*s based on URL) was undeterminable: name must be provided",
            KI_STR_ARGS(wanted));
    if (ki_str_equal(name, wanted))
        return 0;
    return ki_as_fail_bad_request(failure,
                                  "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                                  KI_STR_ARGS(name), KI_STR_ARGS(wanted));
}

int ki_as_body_check(const struct ki_as_verb *verb, json_t *body)
{
    if (check_kind(verb, body) < 0 || check_metadata(verb, body) < 0)
        return -1;
    ki_str ns = ki_as_metadata_text(body, "namespace");
    if (verb->resource->is_namespaced && ns.len == 0 && fill(verb, body, "namespace", verb->call->ns) < 0)
        return -1;
    if (verb->resource->is_namespaced && ns.len > 0 && !ki_str_equal(ns, verb->call->ns))
        return ki_as_fail_bad_request(
            verb->failure,
            "the namespace of the provided object does not match the namespace sent on the request");
    /* Manifests of cluster-scoped objects may name a namespace; it is ignored. */
    if (!verb->resource->is_namespaced)
        (void)json_object_del(ki_as_metadata(body), "namespace");
    if (verb->call->name.len == 0)
        return 0;
    if (ki_as_metadata_text(body, "name").len == 0)
        return fill(verb, body, "name", verb->call->name);
    return ki_as_body_check_name(body, verb->call->name, verb->failure);
}
