/* SPDX-License-Identifier: Apache-2.0 */
/* What an update may not change. */
#include <stdio.h>
#include <string.h>

#include "apiserver/keyed_list.h"
#include "apiserver/tree.h"
#include "apiserver/validate.h"
#include "apiserver/validate_parts.h"

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
    {"batch", "jobs", "spec.podFailurePolicy"},
    {"batch", "jobs", "spec.successPolicy"},
    {"", "persistentvolumes", "spec.volumeMode"},
    {"", "secrets", "type"},
    {"rbac.authorization.k8s.io", "rolebindings", "roleRef"},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "roleRef"},
    {"storage.k8s.io", "storageclasses", "provisioner"},
    {"storage.k8s.io", "storageclasses", "parameters"},
    {"storage.k8s.io", "storageclasses", "reclaimPolicy"},
    {"storage.k8s.io", "storageclasses", "volumeBindingMode"},
    {"storage.k8s.io", "volumeattachments", "spec"},
    {"networking.k8s.io", "ingressclasses", "spec.controller"},
    {"scheduling.k8s.io", "priorityclasses", "value"},
    {"scheduling.k8s.io", "priorityclasses", "preemptionPolicy"},
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

/* A claim gets its class and its volume once, and asks for more only when it has one. */
static bool is_claim_kept(const json_t *before, const json_t *after)
{
    bool is_bound = strcmp(ki_as_tree_text(before, "status.phase"), "Bound") == 0;
    const char *volume = ki_as_tree_text(before, "spec.volumeName");
    return (volume[0] == 0 || is_same(before, after, "spec.volumeName")) &&
           (ki_as_tree_at(before, "spec.storageClassName") == NULL ||
            is_same(before, after, "spec.storageClassName")) &&
           (is_bound || is_same(before, after, "spec.resources"));
}

/* A spec of which only some fields may change. */
static const struct mostly_immutable {
    const char *group;
    const char *plural;
    const char *free;                                           /* ",name," for each of them */
    bool (*is_well)(const json_t *before, const json_t *after); /* what else is asked for; NULL: nothing */
    const char *why;
} mostly_immutables[] = {
    {"apps", "statefulsets",
     ",replicas,ordinals,template,updateStrategy,revisionHistoryLimit,persistentVolumeClaimRetentionPolicy,"
     "minReadySeconds,",
     NULL,
     "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
     "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
     "'minReadySeconds' are forbidden"},
    {"", "persistentvolumeclaims", ",volumeName,storageClassName,resources,volumeAttributesClassName,",
     is_claim_kept,
     "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "
     "claims"},
};

/* Whether all fields of one spec that may not change are in the other as well. */
static bool is_kept(const json_t *spec, const json_t *other, const char *free)
{
    const char *name = NULL;
    json_t *value = NULL;
    char word[64];
    json_object_foreach((json_t *)spec, name, value)
    {
        const json_t *there = json_object_get(other, name);
        (void)snprintf(word, sizeof(word), ",%s,", name);
        if (strstr(free, word) == NULL && !(there != NULL && ki_as_json_equal(value, there)))
            return false;
    }
    return true;
}

static void check_mostly_immutable(struct ki_as_check *check, const struct mostly_immutable *kind,
                                   const json_t *before, const json_t *after)
{
    const json_t *old_spec = json_object_get(before, "spec");
    const json_t *new_spec = json_object_get(after, "spec");
    if (!is_kept(old_spec, new_spec, kind->free) || !is_kept(new_spec, old_spec, kind->free) ||
        (kind->is_well != NULL && !kind->is_well(before, after)))
        ki_as_check_forbidden(check, KI_AS_PATH("spec"), kind->why);
}

/* How many pods complete a job is said once, unless the pods know their places. */
static void check_completions(struct ki_as_check *check, const json_t *before, const json_t *after)
{
    if (strcmp(ki_as_tree_text(after, "spec.completionMode"), "Indexed") != 0)
        check_immutable(check, before, after, "spec.completions");
}

static void check_provider(struct ki_as_check *check, const json_t *before, const json_t *after)
{
    if (ki_as_tree_text(before, "spec.providerID")[0] != 0 && !is_same(before, after, "spec.providerID"))
        ki_as_check_forbidden(check, KI_AS_PATH("spec.providerID"),
                              "node updates may not change providerID except from \"\" to valid");
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

static void check_of_kind(struct ki_as_check *check, const struct ki_as_resource *resource,
                          const json_t *before, const json_t *after)
{
    if (ki_as_is_resource(resource, "", "configmaps") || ki_as_is_resource(resource, "", "secrets"))
        check_immutable_content(check, before, after);
    if (ki_as_is_resource(resource, "", "services"))
        check_cluster_ip(check, before, after);
    if (ki_as_is_resource(resource, "batch", "jobs"))
        check_completions(check, before, after);
    if (ki_as_is_resource(resource, "", "nodes"))
        check_provider(check, before, after);
    ki_as_check_pod_update(check, resource, before, after);
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
    for (size_t i = 0; i < sizeof(immutables) / sizeof(immutables[0]); i++) {
        if (ki_as_is_resource(resource, immutables[i].group, immutables[i].plural))
            check_immutable(&check, before, after, immutables[i].path);
    }
    for (size_t i = 0; i < sizeof(mostly_immutables) / sizeof(mostly_immutables[0]); i++) {
        if (ki_as_is_resource(resource, mostly_immutables[i].group, mostly_immutables[i].plural))
            check_mostly_immutable(&check, &mostly_immutables[i], before, after);
    }
    check_of_kind(&check, resource, before, after);
    return ki_as_check_conclude(&check, resource, after, failure);
}
