/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/fields.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/object/convert.h"
#include "apiserver/value/tree.h"

/* The selectable fields of a kind besides metadata.name and metadata.namespace. */
struct field {
    const char *group;
    const char *plural;
    const char *name;
    const char *path;      /* NULL: same as the name */
    const char *otherwise; /* the value if the object lacks the field */
};

static const struct field fields[] = {
    {"", "pods", "spec.nodeName", NULL, ""},
    {"", "pods", "spec.restartPolicy", NULL, ""},
    {"", "pods", "spec.schedulerName", NULL, ""},
    {"", "pods", "spec.serviceAccountName", NULL, ""},
    {"", "pods", "spec.hostNetwork", NULL, "false"},
    {"", "pods", "status.phase", NULL, ""},
    {"", "pods", "status.podIP", NULL, ""},
    {"", "pods", "status.podIPs", "status.podIPs.0.ip", ""},
    {"", "pods", "status.nominatedNodeName", NULL, ""},
    {"", "nodes", "spec.unschedulable", NULL, "false"},
    {"", "replicationcontrollers", "status.replicas", NULL, "0"},
    {"", "namespaces", "status.phase", NULL, ""},
    {"", "secrets", "type", NULL, ""},
    {"", "services", "spec.clusterIP", NULL, ""},
    {"", "services", "spec.type", NULL, ""},
    {"", "events", "involvedObject.kind", NULL, ""},
    {"", "events", "involvedObject.namespace", NULL, ""},
    {"", "events", "involvedObject.name", NULL, ""},
    {"", "events", "involvedObject.uid", NULL, ""},
    {"", "events", "involvedObject.apiVersion", NULL, ""},
    {"", "events", "involvedObject.resourceVersion", NULL, ""},
    {"", "events", "involvedObject.fieldPath", NULL, ""},
    {"", "events", "reason", NULL, ""},
    {"", "events", "reportingComponent", NULL, ""},
    {"", "events", "source", "source.component", ""},
    {"", "events", "type", NULL, ""},
    {"events.k8s.io", "events", "regarding.kind", "involvedObject.kind", ""},
    {"events.k8s.io", "events", "regarding.namespace", "involvedObject.namespace", ""},
    {"events.k8s.io", "events", "regarding.name", "involvedObject.name", ""},
    {"events.k8s.io", "events", "regarding.uid", "involvedObject.uid", ""},
    {"events.k8s.io", "events", "regarding.apiVersion", "involvedObject.apiVersion", ""},
    {"events.k8s.io", "events", "regarding.resourceVersion", "involvedObject.resourceVersion", ""},
    {"events.k8s.io", "events", "regarding.fieldPath", "involvedObject.fieldPath", ""},
    {"events.k8s.io", "events", "reason", NULL, ""},
    {"events.k8s.io", "events", "reportingController", "reportingComponent", ""},
    {"events.k8s.io", "events", "type", NULL, ""},
    {"batch", "jobs", "status.successful", "status.succeeded", "0"},
    {"certificates.k8s.io", "certificatesigningrequests", "spec.signerName", NULL, ""},
    {"certificates.k8s.io", "clustertrustbundles", "spec.signerName", NULL, ""},
    {"certificates.k8s.io", "podcertificaterequests", "spec.signerName", NULL, ""},
    {"certificates.k8s.io", "podcertificaterequests", "spec.podName", NULL, ""},
    {"certificates.k8s.io", "podcertificaterequests", "spec.nodeName", NULL, ""},
    {"resource.k8s.io", "resourceslices", "spec.nodeName", NULL, ""},
    {"resource.k8s.io", "resourceslices", "spec.driver", NULL, ""},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]), SCRATCH_BYTES = 64 };

static bool is_of(const struct field *field, const struct ki_as_resource *resource)
{
    return ki_as_resource_is(resource, field->group, field->plural);
}

static bool has_own_fields(const struct ki_as_resource *resource)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (is_of(&fields[i], resource))
            return true;
    }
    return false;
}

/* The path of a selectable field, ".spec.color", without its first dot; "" if there is none. */
static const char *selectable_at(const json_t *list, size_t index)
{
    const char *path = json_string_value(json_object_get(json_array_get(list, index), "jsonPath"));
    return path == NULL || path[0] != '.' ? "" : path + 1;
}

static bool is_selectable(const struct ki_as_resource *resource, ki_str field)
{
    for (size_t i = 0; i < json_array_size(resource->selectable); i++) {
        if (ki_str_equal(field, ki_str_of(selectable_at(resource->selectable, i))))
            return true;
    }
    return false;
}

/* The current name of the field; empty if it is not selectable. */
static ki_str resolve(const struct ki_as_resource *resource, ki_str field)
{
    bool is_cluster_only = has_own_fields(resource) && !resource->is_namespaced;
    if (ki_str_equal(field, KI_STR("metadata.name")))
        return field;
    if (ki_str_equal(field, KI_STR("metadata.namespace")))
        return is_cluster_only ? (ki_str){0} : field;
    if (resource->is_custom)
        return is_selectable(resource, field) ? field : (ki_str){0};
    /* spec.nodeName was called spec.host before v1. */
    if (ki_as_resource_is(resource, "", "pods") && ki_str_equal(field, KI_STR("spec.host")))
        return KI_STR("spec.nodeName");
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        bool is_kept_elsewhere = ki_as_is_converted(resource) && fields[i].path != NULL;
        if (is_of(&fields[i], resource) && ki_str_equal(field, ki_str_of(fields[i].name)))
            return ki_str_of(is_kept_elsewhere ? fields[i].path : fields[i].name);
    }
    return (ki_str){0};
}

int ki_as_field_resolve(const struct ki_as_resource *resource, ki_str field, ki_str *out,
                        struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    ki_str found = resolve(resource, field);
    if (found.len > 0) {
        *out = found;
        return 0;
    }
    if (ki_as_resource_is(resource, "batch", "jobs"))
        return ki_as_fail_bad_request(failure, "field label \"%.*s\" not supported for Job",
                                      KI_STR_ARGS(field));
    if (ki_as_resource_is(resource, "resource.k8s.io", "resourceslices"))
        return ki_as_fail_bad_request(failure, "field label not supported for %s, Kind=ResourceSlice: %.*s",
                                      resource->api_version, KI_STR_ARGS(field));
    if (resource->is_custom || has_own_fields(resource))
        return ki_as_fail_bad_request(failure, "field label not supported: %.*s", KI_STR_ARGS(field));
    return ki_as_fail_bad_request(
        failure, "\"%.*s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        KI_STR_ARGS(field));
}

/* The object that was found last: successive fields often have the same parent. */
struct parent {
    ki_str name;
    const json_t *object;
};

/* Like ki_as_tree_at(), but remembers the parent. */
static const json_t *find(const json_t *tree, const char *path, struct parent *parent)
{
    const char *dot = strchr(path, '.');
    if (dot == NULL)
        return ki_as_tree_at(tree, path);
    ki_str name = {path, (size_t)(dot - path)};
    if (!ki_str_equal(name, parent->name))
        *parent = (struct parent){name, ki_as_json_member(tree, name)};
    bool is_deeper = strchr(dot + 1, '.') != NULL;
    return is_deeper ? ki_as_tree_at(parent->object, dot + 1) : json_object_get(parent->object, dot + 1);
}

static ki_str value_of(const struct field *field, const json_t *tree, struct parent *parent, char *scratch)
{
    const json_t *value = find(tree, field->path != NULL ? field->path : field->name, parent);
    if (json_is_string(value))
        return ki_as_json_str(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? KI_STR("true") : KI_STR("false");
    if (json_is_integer(value)) {
        int len = snprintf(scratch, SCRATCH_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        assert(len > 0 && len < SCRATCH_BYTES);
        return (ki_str){scratch, (size_t)len};
    }
    return ki_str_of(field->otherwise);
}

static bool has_name(const struct ki_as_pair *pairs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (ki_str_equal(pairs[i].name, ki_str_of(name)))
            return true;
    }
    return false;
}

/* An object has the selectable fields of all versions, because it can be selected through each of them. */
static size_t custom_fields_of(const struct ki_as_resource *resource, const json_t *tree,
                               struct ki_as_pair *out, char *scratch)
{
    assert(resource->is_custom);
    size_t count = 0;
    size_t index = 0;
    const json_t *version = NULL;
    struct parent parent = {0};
    json_array_foreach(resource->versions, index, version)
    {
        const json_t *list = json_object_get(version, "selectableFields");
        for (size_t i = 0; i < json_array_size(list) && count < KI_AS_FIELDS_MAX; i++) {
            struct field field = {.name = selectable_at(list, i), .otherwise = ""};
            if (has_name(out, count, field.name))
                continue;
            out[count].name = ki_str_of(field.name);
            out[count].value = value_of(&field, tree, &parent, scratch + count * SCRATCH_BYTES);
            count++;
        }
    }
    return count;
}

size_t ki_as_fields_of(const struct ki_as_resource *resource, const json_t *tree,
                       struct ki_as_pair out[KI_AS_FIELDS_MAX], char scratch[KI_AS_FIELDS_MAX * 64])
{
    size_t count = 0;
    struct parent parent = {0};
    if (resource->is_custom)
        return custom_fields_of(resource, tree, out, scratch);
    size_t first = 0;
    while (first < FIELD_COUNT && !is_of(&fields[first], resource))
        first++;
    /* The fields of one resource are adjacent. */
    for (size_t i = first; i < FIELD_COUNT && count < KI_AS_FIELDS_MAX; i++) {
        if (!is_of(&fields[i], resource))
            break;
        out[count].name = ki_str_of(fields[i].name);
        out[count].value = value_of(&fields[i], tree, &parent, scratch + count * SCRATCH_BYTES);
        /* Newer events name their reporter in another field. */
        if (out[count].value.len == 0 && strcmp(fields[i].name, "source") == 0)
            out[count].value = ki_str_of(ki_as_tree_text(tree, "reportingComponent"));
        count++;
    }
    assert(count <= KI_AS_FIELDS_MAX);
    return count;
}
