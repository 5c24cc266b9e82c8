/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that an update changes no immutable field. */
#include "apiserver/kind/keyed_list.h"
#include "apiserver/validate/validate.h"
#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

/* Fields that cannot change after creation. */
struct immutable {
    const char *group;
    const char *plural;
    const char *path;
    bool is_open; /* an unset value may be set, and a set one removed, but not replaced */
};

static const struct immutable immutables[] = {
    {"", "nodes", "spec.providerID", true},
    {"", "persistentvolumeclaims", "spec.accessModes", false},
    {"", "persistentvolumeclaims", "spec.selector", false},
    {"", "persistentvolumeclaims", "spec.storageClassName", true},
    {"", "persistentvolumeclaims", "spec.volumeMode", false},
    {"", "persistentvolumeclaims", "spec.volumeName", true},
    {"", "persistentvolumes", "spec.volumeMode", false},
    {"", "pods", "spec.hostNetwork", true},
    {"", "pods", "spec.hostname", true},
    {"", "pods", "spec.restartPolicy", true},
    {"", "pods", "spec.serviceAccountName", true},
    {"", "pods", "spec.volumes", true},
    {"", "secrets", "type", false},
    {"", "services", "spec.clusterIP", true},
    {"apiextensions.k8s.io", "customresourcedefinitions", "spec.group", false},
    {"apiextensions.k8s.io", "customresourcedefinitions", "spec.names.plural", false},
    {"apiextensions.k8s.io", "customresourcedefinitions", "spec.scope", false},
    {"apps", "controllerrevisions", "data", false},
    {"apps", "daemonsets", "spec.selector", false},
    {"apps", "deployments", "spec.selector", false},
    {"apps", "replicasets", "spec.selector", false},
    {"apps", "statefulsets", "spec.podManagementPolicy", false},
    {"apps", "statefulsets", "spec.selector", false},
    {"apps", "statefulsets", "spec.serviceName", false},
    {"apps", "statefulsets", "spec.volumeClaimTemplates", false},
    {"batch", "jobs", "spec.completionMode", false},
    {"batch", "jobs", "spec.podFailurePolicy", false},
    {"batch", "jobs", "spec.selector", false},
    {"batch", "jobs", "spec.successPolicy", false},
    {"batch", "jobs", "spec.template", false},
    {"discovery.k8s.io", "endpointslices", "addressType", false},
    {"networking.k8s.io", "ingressclasses", "spec.controller", false},
    {"node.k8s.io", "runtimeclasses", "handler", false},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "roleRef", false},
    {"rbac.authorization.k8s.io", "rolebindings", "roleRef", false},
    {"scheduling.k8s.io", "priorityclasses", "preemptionPolicy", false},
    {"scheduling.k8s.io", "priorityclasses", "value", false},
    {"storage.k8s.io", "storageclasses", "parameters", false},
    {"storage.k8s.io", "storageclasses", "provisioner", false},
    {"storage.k8s.io", "storageclasses", "reclaimPolicy", false},
    {"storage.k8s.io", "storageclasses", "volumeBindingMode", false},
    {"storage.k8s.io", "volumeattachments", "spec", false},
};

/* The value at the path; null counts as missing. */
static const json_t *value_at(const json_t *tree, const char *path)
{
    const json_t *value = ki_as_tree_at(tree, path);
    return json_is_null(value) ? NULL : value;
}

static bool is_same(const json_t *before, const json_t *after, const char *path)
{
    const json_t *old_value = value_at(before, path);
    const json_t *new_value = value_at(after, path);
    if (old_value == NULL || new_value == NULL)
        return old_value == new_value;
    return ki_as_json_equal(old_value, new_value);
}

static void check_immutable(struct ki_as_check *check, const json_t *before, const json_t *after,
                            const char *path)
{
    if (!is_same(before, after, path))
        ki_as_check_invalid(check, KI_AS_PATH(path), ki_as_tree_at(after, path), "field is immutable");
}

static void check_immutables(struct ki_as_check *check, const struct ki_as_resource *resource,
                             const json_t *before, const json_t *after)
{
    for (size_t i = 0; i < sizeof(immutables) / sizeof(immutables[0]); i++) {
        const struct immutable *field = &immutables[i];
        if (!ki_as_resource_is(resource, field->group, field->plural))
            continue;
        if (field->is_open && (value_at(before, field->path) == NULL || value_at(after, field->path) == NULL))
            continue;
        check_immutable(check, before, after, field->path);
    }
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

int ki_as_validate_update(const struct ki_as_resource *resource, const json_t *before, const json_t *after,
                          struct ki_as_failure *failure)
{
    static const char *const metadata[] = {"metadata.name",
                                           "metadata.namespace",
                                           "metadata.uid",
                                           "metadata.creationTimestamp",
                                           "metadata.deletionTimestamp",
                                           "metadata.deletionGracePeriodSeconds"};
    struct ki_as_check check = {0};
    if (ki_as_tree_at(before, "metadata.deletionTimestamp") != NULL)
        check_new_finalizers(&check, before, after);
    for (size_t i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
        check_immutable(&check, before, after, metadata[i]);
    check_immutables(&check, resource, before, after);
    if (ki_as_resource_is(resource, "", "configmaps") || ki_as_resource_is(resource, "", "secrets"))
        check_immutable_content(&check, before, after);
    return ki_as_check_conclude(&check, resource, after, failure);
}
