/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/defaults_kinds.h"

#include <ctype.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/defaults_parts.h"
#include "apiserver/tree.h"
#include "util/alloc.h"
#include "util/base64.h"

#define END                                                                                                  \
    {                                                                                                        \
        NULL, 0, NULL, 0                                                                                     \
    }

static const struct ki_as_default deployment[] = {
    KI_AS_NUMBER("spec.replicas", 1),
    KI_AS_TEXT("spec.strategy.type", "RollingUpdate"),
    KI_AS_NUMBER("spec.revisionHistoryLimit", 10),
    KI_AS_NUMBER("spec.progressDeadlineSeconds", 600),
    KI_AS_OBJECT("status"),
    END,
};
static const struct ki_as_default rolling_update[] = {
    KI_AS_TEXT("spec.strategy.rollingUpdate.maxUnavailable", "25%"),
    KI_AS_TEXT("spec.strategy.rollingUpdate.maxSurge", "25%"),
    END,
};
static const struct ki_as_default replica_set[] = {
    KI_AS_NUMBER("spec.replicas", 1),
    KI_AS_NUMBER("status.replicas", 0),
    END,
};
static const struct ki_as_default disruption_budget[] = {
    KI_AS_NUMBER("status.disruptionsAllowed", 0),
    KI_AS_NUMBER("status.currentHealthy", 0),
    KI_AS_NUMBER("status.desiredHealthy", 0),
    KI_AS_NUMBER("status.expectedPods", 0),
    END,
};
static const struct ki_as_default daemon_set[] = {
    KI_AS_TEXT("spec.updateStrategy.type", "RollingUpdate"),
    KI_AS_NUMBER("spec.updateStrategy.rollingUpdate.maxUnavailable", 1),
    KI_AS_NUMBER("spec.updateStrategy.rollingUpdate.maxSurge", 0),
    KI_AS_NUMBER("spec.revisionHistoryLimit", 10),
    KI_AS_NUMBER("status.currentNumberScheduled", 0),
    KI_AS_NUMBER("status.numberMisscheduled", 0),
    KI_AS_NUMBER("status.desiredNumberScheduled", 0),
    KI_AS_NUMBER("status.numberReady", 0),
    END,
};
static const struct ki_as_default stateful_set[] = {
    KI_AS_NUMBER("spec.replicas", 1),
    KI_AS_TEXT("spec.podManagementPolicy", "OrderedReady"),
    KI_AS_TEXT("spec.updateStrategy.type", "RollingUpdate"),
    KI_AS_NUMBER("spec.updateStrategy.rollingUpdate.partition", 0),
    KI_AS_NUMBER("spec.revisionHistoryLimit", 10),
    KI_AS_TEXT("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain"),
    KI_AS_TEXT("spec.persistentVolumeClaimRetentionPolicy.whenScaled", "Retain"),
    KI_AS_TEXT("spec.volumeClaimTemplates[].kind", "PersistentVolumeClaim"),
    KI_AS_TEXT("spec.volumeClaimTemplates[].apiVersion", "v1"),
    KI_AS_TEXT("spec.volumeClaimTemplates[].spec.volumeMode", "Filesystem"),
    KI_AS_TEXT("spec.volumeClaimTemplates[].status.phase", "Pending"),
    KI_AS_NUMBER("status.replicas", 0),
    KI_AS_NUMBER("status.availableReplicas", 0),
    END,
};
static const struct ki_as_default autoscaler[] = {KI_AS_NUMBER("spec.minReplicas", 1), END};
static const struct ki_as_default job[] = {
    KI_AS_NUMBER("spec.backoffLimit", 6),
    KI_AS_FALSE("spec.manualSelector"),
    KI_AS_OBJECT("spec.template.metadata"),
    KI_AS_TEXT("spec.completionMode", "NonIndexed"),
    KI_AS_FALSE("spec.suspend"),
    KI_AS_TEXT("spec.podReplacementPolicy", "TerminatingOrFailed"),
    KI_AS_OBJECT("status"),
    END,
};
static const struct ki_as_default event[] = {
    KI_AS_OBJECT("source"),
    KI_AS_TEXT("reportingComponent", ""),
    KI_AS_TEXT("reportingInstance", ""),
    END,
};
static const struct ki_as_default cron_job[] = {
    KI_AS_TEXT("spec.concurrencyPolicy", "Allow"),
    KI_AS_FALSE("spec.suspend"),
    KI_AS_OBJECT("spec.jobTemplate.metadata"),
    KI_AS_OBJECT("spec.jobTemplate.spec.template.metadata"),
    KI_AS_NUMBER("spec.successfulJobsHistoryLimit", 3),
    KI_AS_NUMBER("spec.failedJobsHistoryLimit", 1),
    KI_AS_OBJECT("status"),
    END,
};
static const struct ki_as_default namespace[] = {KI_AS_TEXT("status.phase", "Active"), END};
static const struct ki_as_default secret[] = {KI_AS_TEXT("type", "Opaque"), END};
static const struct ki_as_default claim[] = {
    KI_AS_TEXT("spec.volumeMode", "Filesystem"),
    KI_AS_TEXT("status.phase", "Pending"),
    END,
};
static const struct ki_as_default volume[] = {
    KI_AS_TEXT("spec.persistentVolumeReclaimPolicy", "Retain"),
    KI_AS_TEXT("spec.volumeMode", "Filesystem"),
    KI_AS_TEXT("spec.hostPath?.type", ""),
    KI_AS_TEXT("status.phase", "Pending"),
    END,
};
static const struct ki_as_default endpoints[] = {KI_AS_TEXT("subsets[].ports[].protocol", "TCP"), END};
static const struct ki_as_default endpoint_slice[] = {
    KI_AS_TEXT("ports[].name", ""),
    KI_AS_TEXT("ports[].protocol", "TCP"),
    END,
};
static const struct ki_as_default network_policy[] = {
    KI_AS_TEXT("spec.ingress[].ports[].protocol", "TCP"),
    KI_AS_TEXT("spec.egress[].ports[].protocol", "TCP"),
    END,
};
static const struct ki_as_default ingress[] = {KI_AS_OBJECT("status.loadBalancer"), END};
static const struct ki_as_default storage_class[] = {
    KI_AS_TEXT("reclaimPolicy", "Delete"),
    KI_AS_TEXT("volumeBindingMode", "Immediate"),
    END,
};
static const struct ki_as_default priority_class[] = {KI_AS_TEXT("preemptionPolicy", "PreemptLowerPriority"),
                                                      END};
static const struct ki_as_default role_binding[] = {
    KI_AS_TEXT("roleRef?.apiGroup", "rbac.authorization.k8s.io"),
    END,
};
static const struct ki_as_default webhooks[] = {
    KI_AS_TEXT("webhooks[].failurePolicy", "Fail"),
    KI_AS_TEXT("webhooks[].matchPolicy", "Equivalent"),
    KI_AS_OBJECT("webhooks[].namespaceSelector"),
    KI_AS_OBJECT("webhooks[].objectSelector"),
    KI_AS_NUMBER("webhooks[].timeoutSeconds", 10),
    KI_AS_NUMBER("webhooks[].clientConfig?.service?.port", 443),
    KI_AS_TEXT("webhooks[].rules[].scope", "*"),
    END,
};
static const struct ki_as_default definition[] = {KI_AS_TEXT("spec.conversion.strategy", "None"), END};

/* ---- what is more than a table
 * ----------------------------------------------------------------------------- */

static int default_deployment(json_t *tree)
{
    if (strcmp(ki_as_tree_text(tree, "spec.strategy.type"), "RollingUpdate") != 0)
        return 0;
    return ki_as_defaults_fill(tree, rolling_update);
}

static int default_namespace(json_t *tree)
{
    json_t *labels = NULL;
    const char *name = ki_as_tree_text(tree, "metadata.name");
    int rc = ki_as_tree_default(tree, "spec.finalizers", json_pack("[s]", "kubernetes"));
    if (rc == 0)
        rc = ki_as_tree_object(tree, "metadata.labels", &labels);
    if (rc == 0 && labels != NULL && name[0] != 0 &&
        json_object_set_new(labels, "kubernetes.io/metadata.name", json_string(name)) < 0)
        rc = KI_ERR_NO_MEMORY;
    return rc;
}

static int encode(json_t *data, const char *key, ki_str text)
{
    size_t bytes = KI_BASE64_ENCODED_BYTES(text.len);
    char *encoded = ki_malloc(bytes + 1);
    if (encoded == NULL)
        return KI_ERR_NO_MEMORY;
    size_t len = ki_base64_encode(text, encoded);
    int rc = json_object_set_new(data, key, json_stringn(encoded, len));
    ki_free(encoded);
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* stringData is for writing only: it is read as data. */
static int default_secret(json_t *tree)
{
    json_t *texts = json_object_get(tree, "stringData");
    json_t *data = NULL;
    const char *key = NULL;
    json_t *text = NULL;
    if (!json_is_object(texts))
        return 0;
    int rc = ki_as_tree_object(tree, "data", &data);
    json_object_foreach(texts, key, text)
    {
        if (rc == 0 && data != NULL && json_is_string(text))
            rc = encode(data, key, ki_as_json_str(text));
    }
    if (rc == 0)
        (void)json_object_del(tree, "stringData");
    return rc;
}

static int default_network_policy(json_t *tree)
{
    bool has_egress = json_array_size(ki_as_tree_at(tree, "spec.egress")) > 0;
    if (!json_is_object(json_object_get(tree, "spec")))
        return 0;
    return ki_as_tree_default(tree, "spec.policyTypes",
                              has_egress ? json_pack("[s, s]", "Ingress", "Egress")
                                         : json_pack("[s]", "Ingress"));
}

/* One pod is enough, unless somebody says how many run at once: then they share a queue of work. */
static int default_job(json_t *tree)
{
    if (ki_as_tree_at(tree, "spec.parallelism") != NULL)
        return 0;
    int rc = ki_as_tree_default(tree, "spec.parallelism", json_integer(1));
    return rc < 0 ? rc : ki_as_tree_default(tree, "spec.completions", json_integer(1));
}

static int default_role_binding(json_t *tree)
{
    size_t index = 0;
    json_t *subject = NULL;
    int rc = 0;
    json_array_foreach(json_object_get(tree, "subjects"), index, subject)
    {
        bool is_account = strcmp(ki_as_tree_text(subject, "kind"), "ServiceAccount") == 0;
        if (rc == 0 && !is_account && json_is_object(subject))
            rc = ki_as_tree_default(subject, "apiGroup", json_string("rbac.authorization.k8s.io"));
    }
    return rc;
}

/* Something of another type is left to validation. */
static bool is_open(const json_t *map)
{
    return map == NULL || (json_is_object(map) && json_object_size(map) == 0);
}

/* What selects the pods, and its own labels, are those of the pods unless they are said. */
static int default_controller(json_t *tree)
{
    json_t *labels = ki_as_tree_at(tree, "spec.template.metadata.labels");
    json_t *metadata = json_object_get(tree, "metadata");
    json_t *spec = json_object_get(tree, "spec");
    if (json_object_size(labels) == 0 || !json_is_object(metadata))
        return 0;
    if (is_open(json_object_get(spec, "selector")) &&
        json_object_set_new(spec, "selector", ki_as_json_copy(labels)) < 0)
        return KI_ERR_NO_MEMORY;
    if (is_open(json_object_get(metadata, "labels")) &&
        json_object_set_new(metadata, "labels", ki_as_json_copy(labels)) < 0)
        return KI_ERR_NO_MEMORY;
    return 0;
}

/* Go always writes these, set or not. */
static int default_event(json_t *tree)
{
    static const char *const times[] = {"firstTimestamp", "lastTimestamp", "eventTime"};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(times) / sizeof(times[0]); i++)
        rc = ki_as_tree_default(tree, times[i], json_null());
    return rc;
}

static int default_definition(json_t *tree)
{
    const char *kind = ki_as_tree_text(tree, "spec.names.kind");
    char singular[128];
    size_t len = strlen(kind);
    if (len == 0 || len >= sizeof(singular))
        return 0;
    for (size_t i = 0; i <= len; i++)
        singular[i] = (char)tolower((unsigned char)kind[i]);
    int rc = ki_as_tree_default(tree, "spec.names.singular", json_string(singular));
    if (rc == 0)
        rc = ki_as_tree_default(tree, "spec.names.listKind", json_sprintf("%sList", kind));
    return rc;
}

/* ---- all of them
 * ------------------------------------------------------------------------------------------- */

struct kind {
    const char *group;
    const char *plural;
    const struct ki_as_default *table;
    const char *pod_spec; /* where it has one */
    int (*more)(json_t *tree);
};

static const struct kind kinds[] = {
    {"", "services", NULL, NULL, ki_as_defaults_service},
    {"", "namespaces", namespace, NULL, default_namespace},
    {"", "secrets", secret, NULL, default_secret},
    {"", "persistentvolumeclaims", claim, NULL, NULL},
    {"", "persistentvolumes", volume, NULL, NULL},
    {"", "endpoints", endpoints, NULL, NULL},
    {"", "events", event, NULL, default_event},
    {"", "replicationcontrollers", replica_set, "spec.template.spec", default_controller},
    {"", "podtemplates", NULL, "template.spec", NULL},
    {"apps", "deployments", deployment, "spec.template.spec", default_deployment},
    {"apps", "replicasets", replica_set, "spec.template.spec", NULL},
    {"apps", "daemonsets", daemon_set, "spec.template.spec", NULL},
    {"apps", "statefulsets", stateful_set, "spec.template.spec", NULL},
    {"autoscaling", "horizontalpodautoscalers", autoscaler, NULL, NULL},
    {"batch", "jobs", job, "spec.template.spec", default_job},
    {"batch", "cronjobs", cron_job, "spec.jobTemplate.spec.template.spec", NULL},
    {"discovery.k8s.io", "endpointslices", endpoint_slice, NULL, NULL},
    {"networking.k8s.io", "networkpolicies", network_policy, NULL, default_network_policy},
    {"networking.k8s.io", "ingresses", ingress, NULL, NULL},
    {"policy", "poddisruptionbudgets", disruption_budget, NULL, NULL},
    {"storage.k8s.io", "storageclasses", storage_class, NULL, NULL},
    {"scheduling.k8s.io", "priorityclasses", priority_class, NULL, NULL},
    {"rbac.authorization.k8s.io", "rolebindings", role_binding, NULL, default_role_binding},
    {"rbac.authorization.k8s.io", "clusterrolebindings", role_binding, NULL, default_role_binding},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", webhooks, NULL, NULL},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", webhooks, NULL, NULL},
    {"apiextensions.k8s.io", "customresourcedefinitions", definition, NULL, default_definition},
};

int ki_as_defaults_of_kind(const struct ki_as_resource *resource, json_t *tree)
{
    if (strcmp(resource->plural, "pods") == 0 && resource->group[0] == '\0')
        return ki_as_defaults_pod(tree, resource->tolerations);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kind *kind = &kinds[i];
        if (strcmp(kind->plural, resource->plural) != 0 || strcmp(kind->group, resource->group) != 0)
            continue;
        int rc = kind->table == NULL ? 0 : ki_as_defaults_fill(tree, kind->table);
        if (rc == 0 && kind->pod_spec != NULL)
            rc = ki_as_defaults_pod_spec(ki_as_tree_at(tree, kind->pod_spec));
        if (rc == 0 && kind->more != NULL)
            rc = kind->more(tree);
        return rc;
    }
    return 0;
}
