/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/object_plan.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/resource/resource_parts.h"
#include "api/resource/resources_table.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/str.h"

enum { OBJECT_BYTES_LIMIT = 1 << 30 }; /* offsets in an object have 32 bits */

static const ki_projection_capture fields[KI_FIELDS] = {
    [KI_FIELD_API_VERSION] = {"/apiVersion", 1},
    [KI_FIELD_KIND] = {"/kind", 1},
    [KI_FIELD_UID] = {"/metadata/uid", 1},
    [KI_FIELD_RESOURCE_VERSION] = {"/metadata/resourceVersion", 1},
    [KI_FIELD_CREATION_TIME] = {"/metadata/creationTimestamp", 0},
    [KI_FIELD_DELETION_TIME] = {"/metadata/deletionTimestamp", 0},
    [KI_FIELD_NAME] = {"/metadata/name", 1},
    [KI_FIELD_NAMESPACE] = {"/metadata/namespace", 1},
    [KI_FIELD_GENERATION] = {"/metadata/generation", 0},
    [KI_FIELD_LABELS] = {"/metadata/labels", 0},
    [KI_FIELD_ANNOTATIONS] = {"/metadata/annotations", 0},
    [KI_FIELD_OWNERS] = {"/metadata/ownerReferences", 0},
    [KI_FIELD_FINALIZERS] = {"/metadata/finalizers", 0},
};

static const char managed_fields[] = "/metadata/managedFields";

/* Whether managedFields as a whole are kept. A path below them does not count: it is kept even if they are
 * dropped. */
static int names_managed_fields(const char *const *keep)
{
    for (; keep != NULL && *keep != NULL; keep++)
        if (strcmp(*keep, managed_fields) == 0)
            return 1;
    return 0;
}

/* Compiles the projection; drops managedFields unless options ask for them. */
static ki_projection *compile(const ki_object_options *options, ki_error *err)
{
    size_t n = ki_str_count(options->drop);
    const char **drop = ki_malloc((n + 2) * sizeof(*drop));
    if (drop == NULL) {
        ki_fail_no_memory(err);
        return NULL;
    }
    assert(n == 0 || options->drop != NULL);
    for (size_t i = 0; i < n; i++)
        drop[i] = options->drop[i];
    if (!options->keep_managed_fields && !names_managed_fields(options->keep))
        drop[n++] = managed_fields;
    drop[n] = NULL;
    ki_projection *projection = ki_projection_new(
        &(ki_projection_options){
            .keep = options->keep, .drop = drop, .captures = fields, .capture_count = KI_FIELDS},
        err);
    ki_free(drop);
    return projection;
}

/* Writes `"name":"value",` at `at`, or nothing if the value is empty. Returns the written text; *out_value
 * is the value in it. */
static ki_str put_member(char *at, size_t space, const char *name, ki_str value, ki_str *out_value)
{
    int n = value.len == 0 ? 0 : snprintf(at, space, "\"%s\":\"%.*s\",", name, KI_STR_ARGS(value));
    assert(n >= 0 && (size_t)n < space);
    *out_value = value.len == 0 ? (ki_str){0} : (ki_str){at + strlen(name) + 4, value.len};
    return (ki_str){at, (size_t)n};
}

int ki_object_plan_learn(ki_object_plan *plan, ki_str api_version, ki_str kind, ki_error *err)
{
    assert(plan != NULL);
    assert((api_version.ptr != NULL || api_version.len == 0) && (kind.ptr != NULL || kind.len == 0));
    size_t space = sizeof("\"kind\":\"\",\"apiVersion\":\"\",") + api_version.len + kind.len;
    char *members = ki_malloc(space);
    if (members == NULL)
        return ki_fail_no_memory(err);
    ki_free(plan->members);
    plan->members = members;
    plan->kind_member = put_member(members, space, "kind", kind, &plan->kind);
    plan->api_version_member = put_member(members + plan->kind_member.len, space - plan->kind_member.len,
                                          "apiVersion", api_version, &plan->api_version);
    return 0;
}

static int learn_from_resource(ki_object_plan *plan, const ki_resource *resource, ki_error *err)
{
    char api_version[KI_OBJECT_NAME_BYTES_MAX];
    const ki_resource_parts parts = ki_resource_parts_of(resource);
    const char *fault = ki_resource_parts_fault(&parts);
    if (fault != NULL)
        return ki_fail(err, KI_ERR_INVALID, "the %s of the resource is missing or malformed", fault);
    int n = ki_resource_api_version(resource, api_version, sizeof(api_version));
    assert(n > 0 && (size_t)n < sizeof(api_version));
    plan->kind_is_known = parts.kind.len > 0;
    plan->is_built_in = plan->kind_is_known && ki_resource_is_built_in(resource);
    return ki_object_plan_learn(plan, (ki_str){api_version, (size_t)n}, parts.kind, err);
}

int ki_object_plan_keep(ki_object_plan *plan, const ki_object_options *options, ki_error *err)
{
    assert(plan != NULL && options != NULL);
    ki_error why = {0};
    ki_projection *projection = compile(options, &why);
    if (projection == NULL) {
        if (err != NULL)
            *err = why;
        return why.code;
    }
    ki_projection_free(plan->projection);
    plan->projection = projection;
    const ki_projection_node *root = ki_projection_root(projection);
    plan->keeps_kind = ki_projection_member(projection, root, KI_STR("\"kind\""))->keep;
    plan->keeps_api_version = ki_projection_member(projection, root, KI_STR("\"apiVersion\""))->keep;
    return 0;
}

ki_object_plan *ki_object_plan_new(const ki_resource *resource, const ki_object_options *options,
                                   ki_error *err)
{
    static const ki_object_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    ki_object_plan *plan = ki_calloc(1, sizeof(*plan));
    if (plan == NULL) {
        ki_fail_no_memory(err);
        return NULL;
    }
    plan->bytes_max = options->bytes_max == 0 ? KI_JSON_VALUE_BYTES_DEFAULT : options->bytes_max;
    if (plan->bytes_max > OBJECT_BYTES_LIMIT)
        plan->bytes_max = OBJECT_BYTES_LIMIT;
    plan->depth_max = options->depth_max;
    if (ki_object_plan_keep(plan, options, err) < 0 ||
        (resource != NULL && learn_from_resource(plan, resource, err) < 0)) {
        ki_object_plan_free(plan);
        return NULL;
    }
    return plan;
}

void ki_object_plan_free(ki_object_plan *plan)
{
    if (plan == NULL)
        return;
    ki_projection_free(plan->projection);
    ki_free(plan->members);
    ki_free(plan);
}
