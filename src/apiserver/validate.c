/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate.h"

#include <string.h>

#include "apiserver/keyed_list.h"
#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"

bool ki_as_is_resource(const struct ki_as_resource *resource, const char *group, const char *plural)
{
    return strcmp(resource->plural, plural) == 0 && strcmp(resource->group, group) == 0;
}

/* Ends the check: 422 with the causes, and how many more there are, or nothing. */
static int conclude(struct ki_as_check *check, const struct ki_as_resource *resource, const json_t *tree,
                    struct ki_as_failure *failure)
{
    if (check->count == 0)
        return 0;
    if (json_array_size(check->causes) < check->said) {
        json_decref(check->causes);
        return ki_as_fail_no_memory(failure);
    }
    if (check->count > check->said)
        ki_as_cause_add(&check->causes, "FieldValueTooMany", "", "and %zu more", check->count - check->said);
    return ki_as_fail_invalid(failure, resource, ki_str_of(ki_as_tree_text(tree, "metadata.name")),
                              check->causes);
}

static int validate(const struct ki_as_resource *resource, const json_t *tree, bool is_sketch,
                    struct ki_as_failure *failure)
{
    struct ki_as_check check = {0};
    int rc = ki_as_check_types(resource, tree, failure);
    if (rc < 0)
        return rc;
    ki_as_check_metadata(&check, resource, json_object_get(tree, "metadata"));
    if (!resource->is_custom && !is_sketch)
        ki_as_check_kind(&check, resource, tree);
    else if (resource->schema != NULL)
        ki_as_check_schema(&check, NULL, resource->schema, tree);
    return conclude(&check, resource, tree, failure);
}

int ki_as_validate(const struct ki_as_resource *resource, const json_t *tree, struct ki_as_failure *failure)
{
    return validate(resource, tree, false, failure);
}

int ki_as_validate_sketch(const struct ki_as_resource *resource, const json_t *tree,
                          struct ki_as_failure *failure)
{
    /* A definition that lacks something could not be served. */
    bool is_definition = ki_as_is_resource(resource, "apiextensions.k8s.io", "customresourcedefinitions");
    return validate(resource, tree, !is_definition, failure);
}

bool ki_as_is_sketch(const struct ki_as_resource *resource, const json_t *tree)
{
    struct ki_as_check check = {0};
    if (!resource->is_custom)
        ki_as_check_kind(&check, resource, tree);
    json_decref(check.causes);
    return check.count > 0;
}

/* ---- changes
 * --------------------------------------------------------------------------------------------- */

/* Fields that stay as they were made. */
struct immutable {
    const char *group;
    const char *plural;
    const char *path;
};

static const struct immutable immutables[] = {
    {"apps", "deployments", "spec.selector"},
    {"apps", "replicasets", "spec.selector"},
    {"apps", "daemonsets", "spec.selector"},
    {"apps", "controllerrevisions", "data"},
    {"batch", "jobs", "spec.selector"},
    {"batch", "jobs", "spec.template"},
    {"batch", "jobs", "spec.completionMode"},
    {"", "secrets", "type"},
    {"rbac.authorization.k8s.io", "rolebindings", "roleRef"},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "roleRef"},
    {"storage.k8s.io", "storageclasses", "provisioner"},
    {"storage.k8s.io", "storageclasses", "parameters"},
    {"scheduling.k8s.io", "priorityclasses", "value"},
    {"node.k8s.io", "runtimeclasses", "handler"},
    {"discovery.k8s.io", "endpointslices", "addressType"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "spec.group"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "spec.scope"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "spec.names.plural"},
};

/* Missing and null are the same. */
static bool is_same(const json_t *before, const json_t *after, const char *path)
{
    const json_t *old_value = ki_as_tree_at(before, path);
    const json_t *new_value = ki_as_tree_at(after, path);
    bool is_old = old_value != NULL && !json_is_null(old_value);
    bool is_new = new_value != NULL && !json_is_null(new_value);
    return is_old == is_new && (!is_old || json_equal(old_value, new_value));
}

static void check_immutable(struct ki_as_check *check, const json_t *before, const json_t *after,
                            const char *path)
{
    if (!is_same(before, after, path))
        ki_as_check_invalid(check, KI_AS_PATH(path), ki_as_tree_at(after, path), "field is immutable");
}

static void check_new_finalizers(struct ki_as_check *check, const json_t *before, const json_t *after)
{
    const struct ki_as_identity identity = ki_as_identity_of("");
    struct ki_as_keyed_list known = {0};
    const json_t *finalizer = NULL;
    size_t i = 0;
    bool has_new = false;
    if (ki_as_keyed_list_init(&known, &identity, ki_as_tree_at(before, "metadata.finalizers"), 0) < 0)
        ki_as_check_no_memory(check);
    json_array_foreach(ki_as_tree_at(after, "metadata.finalizers"), i, finalizer)
    {
        has_new = has_new || ki_as_keyed_list_find(&known, finalizer) < 0;
    }
    ki_as_keyed_list_fini(&known);
    if (has_new)
        ki_as_check_forbidden(check, KI_AS_PATH("metadata.finalizers"),
                              "no new finalizers can be added if the object is being deleted");
}

static void check_immutable_content(struct ki_as_check *check, const json_t *before, const json_t *after)
{
    static const char why[] = "field is immutable when `immutable` is set";
    if (!ki_as_tree_is_true(before, "immutable"))
        return;
    if (!ki_as_tree_is_true(after, "immutable"))
        ki_as_check_forbidden(check, KI_AS_PATH("immutable"), why);
    if (!is_same(before, after, "data"))
        ki_as_check_forbidden(check, KI_AS_PATH("data"), why);
    if (!is_same(before, after, "binaryData"))
        ki_as_check_forbidden(check, KI_AS_PATH("binaryData"), why);
}

/* An address that was given stays, unless the service has none any more. */
static void check_cluster_ip(struct ki_as_check *check, const json_t *before, const json_t *after)
{
    const char *old_ip = ki_as_tree_text(before, "spec.clusterIP");
    const json_t *new_ip = ki_as_tree_at(after, "spec.clusterIP");
    bool is_external = strcmp(ki_as_tree_text(before, "spec.type"), "ExternalName") == 0 ||
                       strcmp(ki_as_tree_text(after, "spec.type"), "ExternalName") == 0;
    if (old_ip[0] == 0 || is_external || strcmp(old_ip, ki_as_tree_text(after, "spec.clusterIP")) == 0)
        return;
    ki_as_check_invalid(check, KI_AS_PATH("spec.clusterIP"), new_ip, "field is immutable");
}

int ki_as_validate_update(const struct ki_as_resource *resource, const json_t *before, const json_t *after,
                          struct ki_as_failure *failure)
{
    static const char *const metadata[] = {"metadata.name", "metadata.namespace", "metadata.uid",
                                           "metadata.creationTimestamp", "metadata.deletionTimestamp"};
    struct ki_as_check check = {0};
    if (ki_as_tree_at(before, "metadata.deletionTimestamp") != NULL)
        check_new_finalizers(&check, before, after);
    for (size_t i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
        check_immutable(&check, before, after, metadata[i]);
    for (size_t i = 0; i < sizeof(immutables) / sizeof(immutables[0]); i++) {
        if (ki_as_is_resource(resource, immutables[i].group, immutables[i].plural))
            check_immutable(&check, before, after, immutables[i].path);
    }
    if (ki_as_is_resource(resource, "", "configmaps") || ki_as_is_resource(resource, "", "secrets"))
        check_immutable_content(&check, before, after);
    if (ki_as_is_resource(resource, "", "services"))
        check_cluster_ip(&check, before, after);
    ki_as_check_pod_update(&check, resource, before, after);
    return conclude(&check, resource, after, failure);
}
