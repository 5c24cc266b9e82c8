/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"
#include "util/buf.h"

enum { PATH_NAME_BYTES = 128, SELECTOR_BYTES_MAX = 1 << 20 };

/* The path of a field of the Scale in the object, such as ".spec.replicas". */
static const char *path_of(const struct ki_as_resource *resource, const char *name, const char *otherwise)
{
    assert(resource->has_scale);
    const char *path = json_string_value(json_object_get(resource->scale, name));
    return resource->is_custom ? path : otherwise;
}

/* Reads the next name of a path without its dot. Returns the rest, or NULL at the end. */
static const char *step(const char *path, char name[PATH_NAME_BYTES])
{
    assert(path != NULL);
    path += path[0] == '.';
    size_t len = strcspn(path, ".");
    size_t kept = len < PATH_NAME_BYTES ? len : PATH_NAME_BYTES - 1;
    memcpy(name, path, kept);
    name[kept] = '\0';
    return path[len] == '\0' ? NULL : path + len;
}

static json_t *value_at(const json_t *tree, const char *path)
{
    char name[PATH_NAME_BYTES];
    json_t *value = (json_t *)tree;
    while (path != NULL && value != NULL) {
        path = step(path, name);
        value = json_object_get(value, name);
    }
    return value == tree ? NULL : value;
}

/* {"app":"web"} as "app=web,…". NULL if out of memory. */
static json_t *selector_text(const json_t *labels)
{
    ki_buf text;
    ki_buf_init(&text, SELECTOR_BYTES_MAX);
    const char *key = NULL;
    json_t *value = NULL;
    int rc = 0;
    json_object_foreach((json_t *)labels, key, value)
    {
        if (rc == 0 && text.len > 0)
            rc = ki_buf_append_byte(&text, ',');
        if (rc == 0)
            rc = ki_buf_append_str(&text, ki_str_of(key));
        if (rc == 0)
            rc = ki_buf_append_byte(&text, '=');
        if (rc == 0)
            rc = ki_buf_append_str(&text, ki_str_of(json_string_value(value)));
    }
    json_t *string = rc < 0 ? NULL : json_stringn(text.len == 0 ? "" : text.data, text.len);
    ki_buf_fini(&text);
    return string;
}

static json_t *selector_of(const struct ki_as_resource *resource, const json_t *tree)
{
    if (resource->is_custom) {
        json_t *text = value_at(tree, path_of(resource, "labelSelectorPath", NULL));
        return json_is_string(text) ? json_incref(text) : json_string("");
    }
    const json_t *selector = json_object_get(json_object_get(tree, "spec"), "selector");
    const json_t *labels = json_object_get(selector, "matchLabels");
    bool is_plain = strcmp(resource->plural, "replicationcontrollers") == 0;
    return selector_text(is_plain ? selector : labels);
}

static json_t *metadata_of(const json_t *tree)
{
    static const char *const shown[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
    json_t *metadata = json_object();
    for (size_t i = 0; metadata != NULL && i < sizeof(shown) / sizeof(shown[0]); i++) {
        json_t *value = json_object_get(ki_as_metadata(tree), shown[i]);
        if (value != NULL && json_object_set(metadata, shown[i], value) < 0) {
            json_decref(metadata);
            metadata = NULL;
        }
    }
    return metadata;
}

json_t *ki_as_scale_of(const struct ki_as_resource *resource, const struct ki_as_object *object)
{
    assert(resource != NULL && object != NULL);
    json_t *tree = ki_as_object_tree(object, resource->kind, resource->api_version);
    if (tree == NULL)
        return NULL;
    const json_t *wanted = value_at(tree, path_of(resource, "specReplicasPath", "spec.replicas"));
    const json_t *observed = value_at(tree, path_of(resource, "statusReplicasPath", "status.replicas"));
    json_t *spec = json_object();
    json_t *status = json_pack("{s:I}", "replicas", json_integer_value(observed));
    json_t *selector = selector_of(resource, tree);
    bool is_whole = spec != NULL && status != NULL && selector != NULL;
    if (is_whole && json_integer_value(wanted) != 0)
        is_whole = json_object_set_new(spec, "replicas", json_integer(json_integer_value(wanted))) == 0;
    if (is_whole && json_string_length(selector) > 0)
        is_whole = json_object_set(status, "selector", selector) == 0;
    json_t *scale = NULL;
    if (is_whole)
        scale = json_pack("{s:s, s:s, s:o, s:O, s:O}", "kind", "Scale", "apiVersion", "autoscaling/v1",
                          "metadata", metadata_of(tree), "spec", spec, "status", status);
    json_decref(selector);
    json_decref(status);
    json_decref(spec);
    json_decref(tree);
    return scale;
}

static int set_at(const struct ki_as_verb *verb, json_t *tree, const char *path, json_int_t number)
{
    assert(path != NULL); /* a definition without it is rejected */
    char name[PATH_NAME_BYTES];
    while (path != NULL) {
        path = step(path, name);
        if (path == NULL)
            break;
        json_t *inner = json_object_get(tree, name);
        if (!json_is_object(inner)) {
            inner = json_object();
            if (inner == NULL || json_object_set_new(tree, name, inner) < 0)
                return ki_as_fail_no_memory(verb->failure);
        }
        tree = inner;
    }
    return json_object_set_new(tree, name, json_integer(number)) < 0 ? ki_as_fail_no_memory(verb->failure)
                                                                     : 0;
}

static int check(const struct ki_as_verb *verb, const json_t *scale)
{
    static const struct ki_as_resource kind = {
        .group = "autoscaling", .kind = "Scale", .plural = "scales", .qualified = "scales.autoscaling"};
    const char *name = json_string_value(json_object_get(scale, "kind"));
    const json_t *replicas = json_object_get(json_object_get(scale, "spec"), "replicas");
    if (!json_is_object(scale) || (name != NULL && strcmp(name, "Scale") != 0))
        return ki_as_fail_bad_request(verb->failure,
                                      "the object provided is unrecognized (must be of type Scale)");
    if (ki_as_body_check_name(scale, verb->call->name, verb->failure) < 0)
        return -1;
    if (replicas != NULL && !json_is_integer(replicas))
        return ki_as_fail_bad_request(
            verb->failure, "Scale in version \"v1\" cannot be handled as a Scale: replicas must be a number");
    if (json_integer_value(replicas) >= 0)
        return 0;
    json_t *causes = NULL;
    ki_as_cause_add(&causes, "FieldValueInvalid", "spec.replicas",
                    "Invalid value: %lld: must be greater than or equal to 0",
                    (long long)json_integer_value(replicas));
    return ki_as_fail_invalid(verb->failure, &kind, verb->call->name, causes);
}

int ki_as_scale_apply(const struct ki_as_verb *verb, const json_t *before, const json_t *scale, json_t **out)
{
    assert(json_is_object(before) && out != NULL);
    if (check(verb, scale) < 0)
        return -1;
    json_t *tree = ki_as_json_copy(before);
    if (tree == NULL)
        return ki_as_fail_no_memory(verb->failure);
    const json_t *replicas = json_object_get(json_object_get(scale, "spec"), "replicas");
    json_t *version = json_object_get(ki_as_metadata(scale), "resourceVersion");
    int rc = 0;
    if (json_string_length(version) > 0 &&
        json_object_set(ki_as_metadata(tree), "resourceVersion", version) < 0)
        rc = ki_as_fail_no_memory(verb->failure);
    if (rc == 0)
        rc = set_at(verb, tree, path_of(verb->resource, "specReplicasPath", "spec.replicas"),
                    json_integer_value(replicas));
    if (rc == 0)
        *out = tree;
    else
        json_decref(tree);
    return rc;
}
