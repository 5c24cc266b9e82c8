/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apiserver/handle.h"

/* What `path` (".spec.replicas") names in a custom object; NULL: nothing. */
static const json_t *value_at(const json_t *tree, const char *path)
{
    while (tree != NULL && path != NULL && path[0] == '.') {
        char name[128];
        size_t len = strcspn(path + 1, ".");
        if (len == 0 || len >= sizeof(name))
            return NULL;
        memcpy(name, path + 1, len);
        name[len] = 0;
        tree = json_object_get(tree, name);
        path += len + 1;
    }
    return path == NULL ? NULL : tree;
}

static const char *path_of(const struct ki_as_resource *resource, const char *name, const char *otherwise)
{
    return resource->scale == NULL ? otherwise : json_string_value(json_object_get(resource->scale, name));
}

/* "a=b,c=d" of a selector's matchLabels, or of one that is labels itself. */
static json_t *selector_text(const json_t *selector)
{
    const char *key;
    json_t *value;
    json_t *text = json_string("");
    json_t *labels = json_object_get(selector, "matchLabels");
    if (json_is_string(selector)) {
        json_decref(text);
        return json_string(json_string_value(selector));
    }
    if (labels == NULL)
        labels = (json_t *)(uintptr_t)selector;
    json_object_foreach(labels, key, value)
    {
        const char *before = json_string_value(text);
        json_t *longer = !json_is_string(value) ? json_incref(text)
                                                : json_sprintf("%s%s%s=%s", before == NULL ? "" : before,
                                                               before == NULL || before[0] == 0 ? "" : ",",
                                                               key, json_string_value(value));
        json_decref(text);
        text = longer;
    }
    return text;
}

static json_t *scale_of(const struct ki_as_resource *resource, const json_t *tree)
{
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
    const json_t *metadata = json_object_get(tree, "metadata");
    json_t *shown = json_object();
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (json_object_get(metadata, kept[i]) != NULL)
            (void)json_object_set(shown, kept[i], json_object_get(metadata, kept[i]));
    const json_t *wanted = value_at(tree, path_of(resource, "specReplicasPath", ".spec.replicas"));
    const json_t *there = value_at(tree, path_of(resource, "statusReplicasPath", ".status.replicas"));
    const json_t *selector = value_at(tree, path_of(resource, "labelSelectorPath", ".spec.selector"));
    json_t *scale = json_pack("{s:s, s:s, s:o, s:{s:I}, s:{s:I}}", "kind", "Scale", "apiVersion",
                              "autoscaling/v1", "metadata", shown, "spec", "replicas",
                              json_integer_value(wanted), "status", "replicas", json_integer_value(there));
    if (selector != NULL)
        (void)json_object_set_new(json_object_get(scale, "status"), "selector", selector_text(selector));
    return scale;
}

enum ki_as_step ki_as_answer_scale(struct ki_as_visit *visit, struct ki_as_object *object, int code)
{
    json_t *tree = ki_as_object_tree(object, visit->resource->kind, visit->resource->api_version);
    json_t *scale = tree == NULL ? NULL : scale_of(visit->resource, tree);
    json_decref(tree);
    ki_as_object_unref(object);
    return ki_as_answer_tree(visit->exchange, scale, code);
}
