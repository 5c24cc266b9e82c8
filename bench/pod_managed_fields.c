/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a pod that says which manager set which field. Keys are sorted, as a server sorts
 * them: `f:` fields by name, `k:` list entries by their key. */
#include "pod_shape.h"

static void write_environment(struct text *out, unsigned environment)
{
    static const char *const sources[] = {
        [ENVIRONMENT_VALUE] = "\"f:value\":{}}",
        [ENVIRONMENT_FIELD] = "\"f:valueFrom\":{\".\":{},\"f:fieldRef\":{}}}",
        [ENVIRONMENT_SECRET] = "\"f:valueFrom\":{\".\":{},\"f:secretKeyRef\":{}}}",
    };
    text_put_literal(out, "\"f:env\":{\".\":{}");
    for (size_t i = 0; i < pod_environment_count; i++) {
        if ((environment >> i & 1) != 0) {
            text_put(out, ",\"k:{\\\"name\\\":\\\"", pod_environment[i].name,
                     "\\\"}\":{\".\":{},\"f:name\":{},", sources[pod_environment[i].source]);
        }
    }
    text_put_literal(out, "},");
}

static void write_probe(struct text *out, const char *field)
{
    text_put(out, "\"", field, "\":{\".\":{},\"f:failureThreshold\":{},\"f:httpGet\":{\".\":{},",
             "\"f:path\":{},\"f:port\":{},\"f:scheme\":{}},\"f:periodSeconds\":{},",
             "\"f:successThreshold\":{},\"f:timeoutSeconds\":{}},");
}

static void write_resources(struct text *out, const struct pod_container *container)
{
    text_put(out, "\"f:resources\":{\".\":{},\"f:limits\":{\".\":{},",
             container->has_cpu_limit ? "\"f:cpu\":{}," : "",
             "\"f:memory\":{}},\"f:requests\":{\".\":{},\"f:cpu\":{},\"f:memory\":{}}},");
}

static void write_container(struct text *out, const struct pod_container *container)
{
    text_put(out, "\"k:{\\\"name\\\":\\\"", container->name, "\\\"}\":{\".\":{},\"f:args\":{},");
    if (container->environment != 0) {
        write_environment(out, container->environment);
    }
    text_put_literal(out, "\"f:image\":{},\"f:imagePullPolicy\":{},");
    if ((container->probes & PROBE_LIVENESS) != 0) {
        write_probe(out, "f:livenessProbe");
    }
    text_put_literal(out, "\"f:name\":{},");
    if (container->has_port) {
        text_put(out, "\"f:ports\":{\".\":{},\"k:{\\\"containerPort\\\":", container->port,
                 ",\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},\"f:containerPort\":{},",
                 "\"f:protocol\":{}}},");
    }
    if ((container->probes & PROBE_READINESS) != 0) {
        write_probe(out, "f:readinessProbe");
    }
    write_resources(out, container);
    text_put_literal(out, "\"f:terminationMessagePath\":{},\"f:terminationMessagePolicy\":{}");
    if (container->has_config_mount) {
        text_put_literal(out, ",\"f:volumeMounts\":{\".\":{},\"k:{\\\"mountPath\\\":"
                              "\\\"/etc/config\\\"}\":{\".\":{},\"f:mountPath\":{},\"f:name\":{},"
                              "\"f:readOnly\":{}}}");
    }
    text_put_literal(out, "}");
}

static void write_containers(struct text *out, const struct pod_shape *pod)
{
    const struct pod_container *previous = NULL;
    text_put_literal(out, "\"f:containers\":{");
    for (size_t written = 0; written < pod->container_count; written++) {
        const struct pod_container *next = NULL;
        for (size_t i = 0; i < pod->container_count; i++) {
            const struct pod_container *container = &pod->containers[i];
            bool is_later = previous == NULL || strcmp(container->name, previous->name) > 0;
            if (is_later && (next == NULL || strcmp(container->name, next->name) < 0)) {
                next = container;
            }
        }
        text_put(out, previous == NULL ? "" : ",");
        write_container(out, next);
        previous = next;
    }
    text_put_literal(out, "},");
}

/* The network annotation belongs to another manager; see write_network_entry. */
static void write_template_annotations(struct text *out, const struct pod_shape *pod)
{
    unsigned annotations = pod->annotations & ~(unsigned)ANNOTATION_NETWORK;
    if (annotations == 0) {
        return;
    }
    text_put_literal(out, "\"f:annotations\":{\".\":{}");
    for (size_t i = 0; i < pod_annotation_key_count; i++) {
        if ((annotations & pod_annotation_keys[i].bit) != 0) {
            text_put(out, ",\"f:", pod_annotation_keys[i].key, "\":{}");
        }
    }
    text_put_literal(out, "},");
}

static void write_metadata_fields(struct text *out, const struct pod_shape *pod)
{
    text_put_literal(out, "\"f:metadata\":{");
    write_template_annotations(out, pod);
    text_put_literal(out, "\"f:generateName\":{},\"f:labels\":{\".\":{}");
    for (size_t i = 0; i < pod->label_count; i++) {
        text_put(out, ",\"f:", pod->labels[i].key, "\":{}");
    }
    text_put(out, "},\"f:ownerReferences\":{\".\":{},\"k:{\\\"uid\\\":\\\"", pod->owner_uid, "\\\"}\":{}}},");
}

static void write_entry_start(struct text *out, const char *manager, const char *time)
{
    text_put(out, "{\"manager\":\"", manager, "\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"",
             time, "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{");
}

static void write_controller_entry(struct text *out, const struct pod_shape *pod)
{
    write_entry_start(out, "kube-controller-manager", pod->created_at);
    write_metadata_fields(out, pod);
    text_put_literal(out, "\"f:spec\":{");
    write_containers(out, pod);
    text_put(out, "\"f:dnsPolicy\":{},\"f:enableServiceLinks\":{},\"f:restartPolicy\":{},",
             "\"f:schedulerName\":{},\"f:securityContext\":{},",
             pod->has_service_account ? "\"f:serviceAccount\":{},\"f:serviceAccountName\":{}," : "",
             "\"f:terminationGracePeriodSeconds\":{}");
    if (pod->containers[0].has_config_mount) {
        text_put_literal(out, ",\"f:volumes\":{\".\":{},\"k:{\\\"name\\\":\\\"config\\\"}\":{"
                              "\".\":{},\"f:configMap\":{\".\":{},\"f:defaultMode\":{},"
                              "\"f:name\":{}},\"f:name\":{}}}");
    }
    text_put_literal(out, "}}}");
}

static void write_network_entry(struct text *out, const struct pod_shape *pod)
{
    write_entry_start(out, "multus", pod->scheduled_at);
    text_put_literal(out, "\"f:metadata\":{\"f:annotations\":{"
                          "\"f:k8s.v1.cni.cncf.io/network-status\":{}}}},"
                          "\"subresource\":\"status\"}");
}

static void write_kubelet_entry(struct text *out, const struct pod_shape *pod)
{
    static const char *const conditions[] = {
        "\"k:{\\\"type\\\":\\\"ContainersReady\\\"}\"",
        ",\"k:{\\\"type\\\":\\\"Initialized\\\"}\"",
        ",\"k:{\\\"type\\\":\\\"PodReadyToStartContainers\\\"}\"",
        ",\"k:{\\\"type\\\":\\\"Ready\\\"}\"",
    };
    write_entry_start(out, "kubelet", pod->ready_at);
    text_put_literal(out, "\"f:status\":{\"f:conditions\":{");
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        text_put(out, conditions[i], ":{\".\":{},\"f:lastProbeTime\":{},",
                 "\"f:lastTransitionTime\":{},\"f:status\":{},\"f:type\":{}}");
    }
    text_put(out, "},\"f:containerStatuses\":{},\"f:hostIP\":{},\"f:hostIPs\":{},\"f:phase\":{},",
             "\"f:podIP\":{},\"f:podIPs\":{\".\":{},\"k:{\\\"ip\\\":\\\"", pod->pod_address,
             "\\\"}\":{\".\":{},\"f:ip\":{}}},\"f:startTime\":{}}},\"subresource\":\"status\"}");
}

void pod_write_managed_fields(struct text *out, const struct pod_shape *pod)
{
    text_put_literal(out, "\"managedFields\":[");
    write_controller_entry(out, pod);
    text_put_literal(out, ",");
    if ((pod->annotations & ANNOTATION_NETWORK) != 0) {
        write_network_entry(out, pod);
        text_put_literal(out, ",");
    }
    write_kubelet_entry(out, pod);
    text_put_literal(out, "]");
}
