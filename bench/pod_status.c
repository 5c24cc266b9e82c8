/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_shape.h"

static void write_condition(struct text *out, const char *type, const char *time)
{
    text_put(out, "{\"type\":\"", type, "\",\"observedGeneration\":1,\"status\":\"True\",",
             "\"lastProbeTime\":null,\"lastTransitionTime\":\"", time, "\"}");
}

static void write_conditions(struct text *out, const struct pod_shape *pod)
{
    text_put_literal(out, "\"conditions\":[");
    write_condition(out, "PodReadyToStartContainers", pod->ready_at);
    text_put_literal(out, ",");
    write_condition(out, "Initialized", pod->scheduled_at);
    text_put_literal(out, ",");
    write_condition(out, "Ready", pod->ready_at);
    text_put_literal(out, ",");
    write_condition(out, "ContainersReady", pod->ready_at);
    text_put_literal(out, ",");
    write_condition(out, "PodScheduled", pod->created_at);
    text_put_literal(out, "],");
}

static void write_last_state(struct text *out, const struct pod_shape *pod,
                             const struct pod_container *container)
{
    if (container->restarts == 0) {
        text_put_literal(out, "\"lastState\":{},");
        return;
    }
    text_put(out, "\"lastState\":{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\",",
             "\"startedAt\":\"", pod->scheduled_at, "\",\"finishedAt\":\"", pod->ready_at,
             "\",\"containerID\":\"containerd://", container->image_digest, "\"}},");
}

/* A repository and its digest, without the tag, as a node reports it. */
static void write_image_id(struct text *out, const struct pod_container *container)
{
    size_t length = (size_t)(strrchr(container->image, ':') - container->image);
    text_put_literal(out, "\"imageID\":\"");
    text_append(out, container->image, length);
    text_put(out, "@sha256:", container->image_digest, "\",");
}

static void write_status_mounts(struct text *out, const struct pod_shape *pod,
                                const struct pod_container *container)
{
    text_put_literal(out, "\"volumeMounts\":[");
    if (container->has_config_mount) {
        text_put_literal(out, "{\"name\":\"config\",\"mountPath\":\"/etc/config\","
                              "\"readOnly\":true,\"recursiveReadOnly\":\"Disabled\"},");
    }
    text_put(out, "{\"name\":\"kube-api-access-", pod->api_access_volume,
             "\",\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\",",
             "\"readOnly\":true,\"recursiveReadOnly\":\"Disabled\"}],");
}

static void write_container_status(struct text *out, const struct pod_shape *pod,
                                   const struct pod_container *container)
{
    text_put(out, "{\"name\":\"", container->name, "\",\"state\":{\"running\":{\"startedAt\":\"",
             pod->ready_at, "\"}},");
    write_last_state(out, pod, container);
    text_put_literal(out, "\"ready\":true,\"restartCount\":");
    text_put_number(out, container->restarts);
    text_put(out, ",\"image\":\"", container->image, "\",");
    write_image_id(out, container);
    text_put(out, "\"containerID\":\"containerd://", container->container_digest,
             "\",\"started\":true,\"allocatedResources\":{\"cpu\":\"", container->cpu_request,
             "\",\"memory\":\"", container->memory_request, "\"},\"resources\":{\"limits\":{",
             container->has_cpu_limit ? "\"cpu\":\"1\"," : "", "\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"",
             container->cpu_request, "\",\"memory\":\"", container->memory_request, "\"}},");
    write_status_mounts(out, pod, container);
    text_put_literal(out, "\"user\":{\"linux\":{\"uid\":65532,\"gid\":65532,"
                          "\"supplementalGroups\":[65532]}}}");
}

void pod_write_status(struct text *out, const struct pod_shape *pod)
{
    text_put_literal(out, "\"status\":{\"observedGeneration\":1,\"phase\":\"Running\",");
    write_conditions(out, pod);
    text_put(out, "\"hostIP\":\"", pod->host_address, "\",\"hostIPs\":[{\"ip\":\"", pod->host_address,
             "\"}],\"podIP\":\"", pod->pod_address, "\",\"podIPs\":[{\"ip\":\"", pod->pod_address,
             "\"}],\"startTime\":\"", pod->scheduled_at, "\",\"containerStatuses\":[");
    for (size_t i = 0; i < pod->container_count; i++) {
        text_put(out, i == 0 ? "" : ",");
        write_container_status(out, pod, &pod->containers[i]);
    }
    text_put_literal(out, "],\"qosClass\":\"Burstable\"}");
}
