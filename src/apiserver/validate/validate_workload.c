/* SPDX-License-Identifier: Apache-2.0 */
/* A workload must select the pods it creates: its selector must match the labels of its template. */
#include <string.h>

#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

static bool is_in_values(const json_t *values, const json_t *value)
{
    size_t index = 0;
    json_t *one = NULL;
    json_array_foreach(values, index, one)
    {
        if (value != NULL && json_equal(one, value))
            return true;
    }
    return false;
}

static bool meets(const json_t *expression, const json_t *labels)
{
    const json_t *value = ki_as_json_member(labels, ki_as_json_str(json_object_get(expression, "key")));
    const json_t *values = json_object_get(expression, "values");
    const char *name = ki_as_tree_text(expression, "operator");
    if (strcmp(name, "In") == 0)
        return is_in_values(values, value);
    if (strcmp(name, "NotIn") == 0)
        return !is_in_values(values, value);
    if (strcmp(name, "Exists") == 0)
        return value != NULL;
    return strcmp(name, "DoesNotExist") == 0 && value == NULL;
}

static bool has_labels(const json_t *wanted, const json_t *labels)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)wanted, key, value)
    {
        const json_t *there = json_object_get(labels, key);
        if (there == NULL || !json_equal(there, value))
            return false;
    }
    return true;
}

static bool selects(const json_t *selector, const json_t *labels)
{
    size_t index = 0;
    json_t *expression = NULL;
    json_array_foreach(json_object_get(selector, "matchExpressions"), index, expression)
    {
        if (!meets(expression, labels))
            return false;
    }
    return has_labels(json_object_get(selector, "matchLabels"), labels);
}

static bool is_workload(const struct ki_as_resource *resource)
{
    return ki_as_resource_is(resource, "apps", "deployments") ||
           ki_as_resource_is(resource, "apps", "replicasets") ||
           ki_as_resource_is(resource, "apps", "daemonsets") ||
           ki_as_resource_is(resource, "apps", "statefulsets");
}

void ki_as_check_workload(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *tree)
{
    const json_t *selector = ki_as_tree_at(tree, "spec.selector");
    const json_t *labels = ki_as_tree_at(tree, "spec.template.metadata.labels");
    /* The selector of a ReplicationController is a map of labels. */
    bool is_controller = ki_as_resource_is(resource, "", "replicationcontrollers");
    if (!is_controller && !is_workload(resource))
        return;
    if (is_controller ? !has_labels(selector, labels) : !selects(selector, labels))
        ki_as_check_invalid(check, KI_AS_PATH("spec.template.metadata.labels"), labels,
                            "`selector` does not match template `labels`");
}
