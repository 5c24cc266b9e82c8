/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_shape.h"

static void write_volumes(struct text *out, const struct pod_shape *pod)
{
    text_put_literal(out, "\"volumes\":[");
    if (pod->containers[0].has_config_mount) {
        text_put(out, "{\"name\":\"config\",\"configMap\":{\"name\":\"", pod->app,
                 "-config\",\"defaultMode\":420}},");
    }
    text_put(out, "{\"name\":\"kube-api-access-", pod->api_access_volume,
             "\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,",
             "\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{",
             "\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{\"downwardAPI\":{\"items\":[{",
             "\"path\":\"namespace\",\"fieldRef\":{\"apiVersion\":\"v1\",",
             "\"fieldPath\":\"metadata.namespace\"}}]}}],\"defaultMode\":420}}],");
}

static void write_environment_entry(struct text *out, const struct pod_shape *pod,
                                    const struct environment_entry *entry)
{
    text_put(out, "{\"name\":\"", entry->name);
    switch (entry->source) {
    case ENVIRONMENT_VALUE:
        text_put(out, "\",\"value\":\"", entry->value, "\"}");
        break;
    case ENVIRONMENT_FIELD:
        text_put(out, "\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"", entry->value,
                 "\"}}}");
        break;
    case ENVIRONMENT_SECRET:
        text_put(out, "\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"", pod->app, "-secrets\",\"key\":\"",
                 entry->value, "\"}}}");
        break;
    }
}

static void write_environment(struct text *out, const struct pod_shape *pod, unsigned environment)
{
    const char *before = "\"env\":[";
    for (size_t i = 0; i < pod_environment_count; i++) {
        if ((environment >> i & 1) != 0) {
            text_put(out, before);
            write_environment_entry(out, pod, &pod_environment[i]);
            before = ",";
        }
    }
    text_put_literal(out, "],");
}

static void write_mounts(struct text *out, const struct pod_shape *pod, const struct pod_container *container)
{
    text_put_literal(out, "\"volumeMounts\":[");
    if (container->has_config_mount) {
        text_put_literal(out, "{\"name\":\"config\",\"readOnly\":true,\"mountPath\":\"/etc/config\"},");
    }
    text_put(out, "{\"name\":\"kube-api-access-", pod->api_access_volume, "\",\"readOnly\":true,",
             "\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}],");
}

static void write_probe(struct text *out, const char *name, const char *path, const char *port)
{
    text_put(out, "\"", name, "\":{\"httpGet\":{\"path\":\"", path, "\",\"port\":", port,
             ",\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,\"periodSeconds\":10,",
             "\"successThreshold\":1,\"failureThreshold\":3},");
}

static void write_container(struct text *out, const struct pod_shape *pod,
                            const struct pod_container *container)
{
    text_put(out, "{\"name\":\"", container->name, "\",\"image\":\"", container->image,
             "\",\"args\":[\"--listen=0.0.0.0:", container->port,
             "\",\"--log-format=json\",\"--shutdown-timeout=25s\",",
             "\"--trace-endpoint=http://otel-collector.observability.svc:4317\"],");
    if (container->has_port) {
        text_put(out, "\"ports\":[{\"containerPort\":", container->port, ",\"protocol\":\"TCP\"}],");
    }
    if (container->environment != 0) {
        write_environment(out, pod, container->environment);
    }
    text_put(out, "\"resources\":{\"limits\":{", container->has_cpu_limit ? "\"cpu\":\"1\"," : "",
             "\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"", container->cpu_request, "\",\"memory\":\"",
             container->memory_request, "\"}},");
    write_mounts(out, pod, container);
    if ((container->probes & PROBE_LIVENESS) != 0) {
        write_probe(out, "livenessProbe", "/healthz", container->port);
    }
    if ((container->probes & PROBE_READINESS) != 0) {
        write_probe(out, "readinessProbe", "/readyz?verbose\\u0026exclude=log", container->port);
    }
    text_put_literal(out, "\"terminationMessagePath\":\"/dev/termination-log\","
                          "\"terminationMessagePolicy\":\"File\","
                          "\"imagePullPolicy\":\"IfNotPresent\"}");
}

static void write_tolerations(struct text *out)
{
    text_put_literal(out, "\"tolerations\":["
                          "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
                          "\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
                          "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
                          "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],");
}

void pod_write_spec(struct text *out, const struct pod_shape *pod)
{
    const char *service_account = pod->has_service_account ? pod->app : "default";
    text_put_literal(out, "\"spec\":{");
    write_volumes(out, pod);
    text_put_literal(out, "\"containers\":[");
    for (size_t i = 0; i < pod->container_count; i++) {
        text_put(out, i == 0 ? "" : ",");
        write_container(out, pod, &pod->containers[i]);
    }
    text_put(out, "],\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,",
             "\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":\"", service_account,
             "\",\"serviceAccount\":\"", service_account, "\",\"nodeName\":\"", pod->node_name,
             "\",\"securityContext\":{},", "\"imagePullSecrets\":[{\"name\":\"registry-credentials\"}],",
             "\"schedulerName\":\"default-scheduler\",");
    write_tolerations(out);
    text_put_literal(out, "\"priority\":0,\"enableServiceLinks\":true,"
                          "\"preemptionPolicy\":\"PreemptLowerPriority\"}");
}
