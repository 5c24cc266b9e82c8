/* SPDX-License-Identifier: Apache-2.0 */

#include "apiserver/show/table_parts.h"

#include <assert.h>

#define TEXT(name, path, otherwise)                                                                          \
    {                                                                                                        \
        name, "string", 0, KI_AS_CELL_TEXT, path, otherwise, NULL                                            \
    }
#define WIDE(name, path, otherwise)                                                                          \
    {                                                                                                        \
        name, "string", 1, KI_AS_CELL_TEXT, path, otherwise, NULL                                            \
    }
#define INTEGER(name, path)                                                                                  \
    {                                                                                                        \
        name, "integer", 0, KI_AS_CELL_INTEGER, path, NULL, NULL                                             \
    }
#define NUMBER(name, path)                                                                                   \
    {                                                                                                        \
        name, "string", 0, KI_AS_CELL_INTEGER, path, NULL, NULL                                              \
    }
#define BOOLEAN(name, path)                                                                                  \
    {                                                                                                        \
        name, "boolean", 0, KI_AS_CELL_BOOLEAN, path, NULL, NULL                                             \
    }
#define COUNT(name, type, path)                                                                              \
    {                                                                                                        \
        name, type, 0, KI_AS_CELL_COUNT, path, NULL, NULL                                                    \
    }
#define CELL(name, write)                                                                                    \
    {                                                                                                        \
        name, "string", 0, KI_AS_CELL_FUNCTION, NULL, NULL, write                                            \
    }
#define WIDE_CELL(name, write)                                                                               \
    {                                                                                                        \
        name, "string", 1, KI_AS_CELL_FUNCTION, NULL, NULL, write                                            \
    }
#define NAME TEXT("Name", "metadata.name", "")
#define AGE                                                                                                  \
    {                                                                                                        \
        "Age", "string", 0, KI_AS_CELL_AGE, "metadata.creationTimestamp", NULL, NULL                         \
    }
#define CONTAINERS(path)                                                                                     \
    {"Containers", "string", 1, KI_AS_CELL_NAMES, path, NULL, NULL},                                         \
    {                                                                                                        \
        "Images", "string", 1, KI_AS_CELL_IMAGES, path, NULL, NULL                                           \
    }
#define SELECTOR(path)                                                                                       \
    {                                                                                                        \
        "Selector", "string", 1, KI_AS_CELL_SELECTOR, path, NULL, NULL                                       \
    }
#define TEMPLATE_CONTAINERS "spec.template.spec.containers"
#define END                                                                                                  \
    {                                                                                                        \
        NULL, NULL, 0, KI_AS_CELL_TEXT, NULL, NULL, NULL                                                     \
    }

static const struct ki_as_column others[] = {
    NAME, {"Age", "string", 0, KI_AS_CELL_AGE, "metadata.creationTimestamp", NULL, NULL}, END};
static const struct ki_as_column pods[] = {
    NAME,
    CELL("Ready", ki_as_cell_pod_ready),
    CELL("Status", ki_as_cell_pod_status),
    CELL("Restarts", ki_as_cell_pod_restarts),
    AGE,
    WIDE("IP", "status.podIPs.0.ip", "<none>"),
    WIDE("Node", "spec.nodeName", "<none>"),
    WIDE("Nominated Node", "status.nominatedNodeName", "<none>"),
    WIDE_CELL("Readiness Gates", ki_as_cell_pod_gates),
    END,
};
static const struct ki_as_column nodes[] = {
    NAME,
    CELL("Status", ki_as_cell_node_status),
    CELL("Roles", ki_as_cell_node_roles),
    AGE,
    TEXT("Version", "status.nodeInfo.kubeletVersion", ""),
    WIDE_CELL("Internal-IP", ki_as_cell_node_internal_ip),
    WIDE_CELL("External-IP", ki_as_cell_node_external_ip),
    WIDE("OS-Image", "status.nodeInfo.osImage", "<unknown>"),
    WIDE_CELL("Kernel-Version", ki_as_cell_node_kernel),
    WIDE("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>"),
    END,
};
static const struct ki_as_column namespaces[] = {NAME, TEXT("Status", "status.phase", ""), AGE, END};
static const struct ki_as_column services[] = {
    NAME,
    TEXT("Type", "spec.type", ""),
    TEXT("Cluster-IP", "spec.clusterIPs.0", "<none>"),
    CELL("External-IP", ki_as_cell_service_external),
    CELL("Port(s)", ki_as_cell_service_ports),
    AGE,
    {"Selector", "string", 1, KI_AS_CELL_LABELS, "spec.selector", NULL, NULL},
    END,
};
static const struct ki_as_column config_maps[] = {NAME, COUNT("Data", "string", "data"), AGE, END};
static const struct ki_as_column secrets[] = {NAME, TEXT("Type", "type", ""), COUNT("Data", "string", "data"),
                                              AGE, END};
static const struct ki_as_column deployments[] = {
    NAME,
    CELL("Ready", ki_as_cell_ready_of_replicas),
    NUMBER("Up-to-date", "status.updatedReplicas"),
    NUMBER("Available", "status.availableReplicas"),
    AGE,
    CONTAINERS(TEMPLATE_CONTAINERS),
    SELECTOR("spec.selector"),
    END,
};
static const struct ki_as_column replica_sets[] = {
    NAME,
    INTEGER("Desired", "spec.replicas"),
    INTEGER("Current", "status.replicas"),
    INTEGER("Ready", "status.readyReplicas"),
    AGE,
    CONTAINERS(TEMPLATE_CONTAINERS),
    SELECTOR("spec.selector"),
    END,
};
static const struct ki_as_column stateful_sets[] = {
    NAME, CELL("Ready", ki_as_cell_ready_of_replicas), AGE, CONTAINERS(TEMPLATE_CONTAINERS), END,
};
static const struct ki_as_column daemon_sets[] = {
    NAME,
    INTEGER("Desired", "status.desiredNumberScheduled"),
    INTEGER("Current", "status.currentNumberScheduled"),
    INTEGER("Ready", "status.numberReady"),
    INTEGER("Up-to-date", "status.updatedNumberScheduled"),
    INTEGER("Available", "status.numberAvailable"),
    {"Node Selector", "string", 0, KI_AS_CELL_LABELS, "spec.template.spec.nodeSelector", NULL, NULL},
    AGE,
    CONTAINERS(TEMPLATE_CONTAINERS),
    SELECTOR("spec.selector"),
    END,
};
static const struct ki_as_column jobs[] = {
    NAME,
    CELL("Status", ki_as_cell_job_status),
    CELL("Completions", ki_as_cell_job_completions),
    CELL("Duration", ki_as_cell_job_duration),
    AGE,
    CONTAINERS(TEMPLATE_CONTAINERS),
    SELECTOR("spec.selector"),
    END,
};
static const struct ki_as_column cron_jobs[] = {
    NAME,
    TEXT("Schedule", "spec.schedule", ""),
    TEXT("Timezone", "spec.timeZone", "<none>"),
    {"Suspend", "boolean", 0, KI_AS_CELL_FUNCTION, NULL, NULL, ki_as_cell_suspended},
    COUNT("Active", "integer", "status.active"),
    {"Last Schedule", "string", 0, KI_AS_CELL_AGE, "status.lastScheduleTime", "<none>", NULL},
    AGE,
    CONTAINERS("spec.jobTemplate.spec.template.spec.containers"),
    SELECTOR("spec.jobTemplate.spec.selector"),
    END,
};
/* Both versions of an event have the same columns; only the names of two members differ. */
#define EVENT(object, message)                                                                               \
    {                                                                                                        \
        CELL("Last Seen", ki_as_cell_event_last), TEXT("Type", "type", ""), TEXT("Reason", "reason", ""),    \
            CELL("Object", ki_as_cell_event_object), WIDE("Subobject", object ".fieldPath", ""),             \
            WIDE_CELL("Source", ki_as_cell_event_source), TEXT("Message", message, ""),                      \
            WIDE_CELL("First Seen", ki_as_cell_event_first), WIDE_CELL("Count", ki_as_cell_event_count),     \
            WIDE("Name", "metadata.name", ""), END,                                                          \
    }
static const struct ki_as_column events[] = EVENT("involvedObject", "message");
static const struct ki_as_column new_events[] = EVENT("regarding", "note");
static const struct ki_as_column endpoint_slices[] = {
    NAME,
    TEXT("AddressType", "addressType", ""),
    CELL("Ports", ki_as_cell_slice_ports),
    CELL("Endpoints", ki_as_cell_slice_endpoints),
    AGE,
    END,
};
static const struct ki_as_column endpoints[] = {NAME, CELL("Endpoints", ki_as_cell_endpoints), AGE, END};
static const struct ki_as_column ingresses[] = {
    NAME,
    TEXT("Class", "spec.ingressClassName", "<none>"),
    CELL("Hosts", ki_as_cell_ingress_hosts),
    CELL("Address", ki_as_cell_ingress_address),
    CELL("Ports", ki_as_cell_ingress_ports),
    AGE,
    END,
};
static const struct ki_as_column volumes[] = {
    NAME,
    TEXT("Capacity", "spec.capacity.storage", "0"),
    {"Access Modes", "string", 0, KI_AS_CELL_MODES, "spec.accessModes", NULL, NULL},
    TEXT("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", ""),
    CELL("Status", ki_as_cell_phase),
    CELL("Claim", ki_as_cell_volume_claim),
    TEXT("StorageClass", "spec.storageClassName", ""),
    TEXT("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    TEXT("Reason", "status.reason", ""),
    AGE,
    WIDE("VolumeMode", "spec.volumeMode", "<unset>"),
    END,
};
static const struct ki_as_column claims[] = {
    NAME,
    CELL("Status", ki_as_cell_phase),
    TEXT("Volume", "spec.volumeName", ""),
    CELL("Capacity", ki_as_cell_claim_capacity),
    CELL("Access Modes", ki_as_cell_claim_modes),
    TEXT("StorageClass", "spec.storageClassName", ""),
    TEXT("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    AGE,
    WIDE("VolumeMode", "spec.volumeMode", "<unset>"),
    END,
};
static const struct ki_as_column leases[] = {NAME, TEXT("Holder", "spec.holderIdentity", ""), AGE, END};
static const struct ki_as_column bindings[] = {NAME, CELL("Role", ki_as_cell_role), AGE, END};
static const struct ki_as_column storage_classes[] = {
    NAME,
    TEXT("Provisioner", "provisioner", ""),
    TEXT("ReclaimPolicy", "reclaimPolicy", "Delete"),
    TEXT("VolumeBindingMode", "volumeBindingMode", "Immediate"),
    BOOLEAN("AllowVolumeExpansion", "allowVolumeExpansion"),
    AGE,
    END,
};
static const struct ki_as_column autoscalers[] = {
    NAME,
    CELL("Reference", ki_as_cell_scale_target),
    NUMBER("MinPods", "spec.minReplicas"),
    NUMBER("MaxPods", "spec.maxReplicas"),
    NUMBER("Replicas", "status.currentReplicas"),
    AGE,
    END,
};
static const struct ki_as_column network_policies[] = {
    NAME,
    {"Pod-Selector", "string", 0, KI_AS_CELL_SELECTOR, "spec.podSelector", NULL, NULL},
    AGE,
    END,
};
static const struct ki_as_column priority_classes[] = {
    NAME,
    INTEGER("Value", "value"),
    BOOLEAN("Global-Default", "globalDefault"),
    AGE,
    WIDE("PreemptionPolicy", "preemptionPolicy", ""),
    END,
};
static const struct ki_as_column definitions[] = {
    NAME,
    TEXT("Created At", "metadata.creationTimestamp", ""),
    END,
};

const struct ki_as_column *ki_as_columns_of(const struct ki_as_resource *resource)
{
    assert(resource != NULL);
    static const struct {
        const char *group;
        const char *plural;
        const struct ki_as_column *columns;
    } kinds[] = {
        {"", "pods", pods},
        {"", "nodes", nodes},
        {"", "namespaces", namespaces},
        {"", "services", services},
        {"", "configmaps", config_maps},
        {"", "secrets", secrets},
        {"", "events", events},
        {"", "endpoints", endpoints},
        {"", "persistentvolumes", volumes},
        {"", "persistentvolumeclaims", claims},
        {"", "replicationcontrollers", replica_sets},
        {"apps", "deployments", deployments},
        {"apps", "replicasets", replica_sets},
        {"apps", "statefulsets", stateful_sets},
        {"apps", "daemonsets", daemon_sets},
        {"batch", "jobs", jobs},
        {"batch", "cronjobs", cron_jobs},
        {"events.k8s.io", "events", new_events},
        {"discovery.k8s.io", "endpointslices", endpoint_slices},
        {"networking.k8s.io", "ingresses", ingresses},
        {"networking.k8s.io", "networkpolicies", network_policies},
        {"coordination.k8s.io", "leases", leases},
        {"rbac.authorization.k8s.io", "rolebindings", bindings},
        {"rbac.authorization.k8s.io", "clusterrolebindings", bindings},
        {"storage.k8s.io", "storageclasses", storage_classes},
        {"autoscaling", "horizontalpodautoscalers", autoscalers},
        {"scheduling.k8s.io", "priorityclasses", priority_classes},
        {"apiextensions.k8s.io", "customresourcedefinitions", definitions},
    };
    for (size_t i = 0; !resource->is_custom && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (ki_as_resource_is(resource, kinds[i].group, kinds[i].plural))
            return kinds[i].columns;
    }
    return others;
}
