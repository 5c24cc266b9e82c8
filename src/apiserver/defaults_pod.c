/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/defaults_parts.h"
#include "apiserver/tree.h"

static const struct ki_as_default spec_defaults[] = {
    KI_AS_TEXT("restartPolicy", "Always"),
    KI_AS_NUMBER("terminationGracePeriodSeconds", 30),
    KI_AS_TEXT("dnsPolicy", "ClusterFirst"),
    KI_AS_OBJECT("securityContext"),
    KI_AS_TEXT("schedulerName", "default-scheduler"),
    KI_AS_NUMBER("volumes[].configMap?.defaultMode", 420),
    KI_AS_NUMBER("volumes[].secret?.defaultMode", 420),
    KI_AS_NUMBER("volumes[].projected?.defaultMode", 420),
    KI_AS_NUMBER("volumes[].projected?.sources[].serviceAccountToken?.expirationSeconds", 3600),
    KI_AS_NUMBER("volumes[].downwardAPI?.defaultMode", 420),
    KI_AS_TEXT("volumes[].downwardAPI?.items[].fieldRef?.apiVersion", "v1"),
    KI_AS_TEXT("volumes[].hostPath?.type", ""),
    {NULL, 0, NULL, 0},
};

static const struct ki_as_default container_defaults[] = {
    KI_AS_TEXT("ports[].protocol", "TCP"),
    KI_AS_TEXT("env[].valueFrom?.fieldRef?.apiVersion", "v1"),
    KI_AS_OBJECT("resources"),
    KI_AS_TEXT("livenessProbe?.httpGet?.path", "/"),
    KI_AS_TEXT("livenessProbe?.httpGet?.scheme", "HTTP"),
    KI_AS_NUMBER("livenessProbe?.timeoutSeconds", 1),
    KI_AS_NUMBER("livenessProbe?.periodSeconds", 10),
    KI_AS_NUMBER("livenessProbe?.successThreshold", 1),
    KI_AS_NUMBER("livenessProbe?.failureThreshold", 3),
    KI_AS_TEXT("readinessProbe?.httpGet?.path", "/"),
    KI_AS_TEXT("readinessProbe?.httpGet?.scheme", "HTTP"),
    KI_AS_NUMBER("readinessProbe?.timeoutSeconds", 1),
    KI_AS_NUMBER("readinessProbe?.periodSeconds", 10),
    KI_AS_NUMBER("readinessProbe?.successThreshold", 1),
    KI_AS_NUMBER("readinessProbe?.failureThreshold", 3),
    KI_AS_TEXT("startupProbe?.httpGet?.path", "/"),
    KI_AS_TEXT("startupProbe?.httpGet?.scheme", "HTTP"),
    KI_AS_NUMBER("startupProbe?.timeoutSeconds", 1),
    KI_AS_NUMBER("startupProbe?.periodSeconds", 10),
    KI_AS_NUMBER("startupProbe?.successThreshold", 1),
    KI_AS_NUMBER("startupProbe?.failureThreshold", 3),
    KI_AS_TEXT("lifecycle?.postStart?.httpGet?.scheme", "HTTP"),
    KI_AS_TEXT("lifecycle?.preStop?.httpGet?.scheme", "HTTP"),
    KI_AS_TEXT("terminationMessagePath", "/dev/termination-log"),
    KI_AS_TEXT("terminationMessagePolicy", "File"),
    {NULL, 0, NULL, 0},
};

/* "nginx", "nginx:latest" are pulled each time; "nginx:1.27" and digests need not be. */
static bool is_latest(const char *image)
{
    const char *slash = strrchr(image, '/');
    const char *name = slash == NULL ? image : slash + 1;
    const char *tag = strchr(name, ':');
    if (strchr(name, '@') != NULL)
        return false;
    return tag == NULL || strcmp(tag, ":latest") == 0;
}

/* What is limited and not requested is requested, up to the limit. */
static int default_requests(json_t *container)
{
    json_t *limits = ki_as_tree_at(container, "resources.limits");
    json_t *requests = NULL;
    const char *name = NULL;
    json_t *amount = NULL;
    if (json_object_size(limits) == 0)
        return 0;
    int rc = ki_as_tree_object(container, "resources.requests", &requests);
    json_object_foreach(limits, name, amount)
    {
        if (rc == 0 && requests != NULL && json_object_get(requests, name) == NULL)
            rc = json_object_set(requests, name, amount) < 0 ? KI_ERR_NO_MEMORY : 0;
    }
    return rc;
}

static int default_containers(json_t *containers)
{
    size_t index = 0;
    json_t *container = NULL;
    int rc = 0;
    json_array_foreach(containers, index, container)
    {
        if (rc < 0 || !json_is_object(container))
            return rc;
        bool is_pulled = is_latest(ki_as_tree_text(container, "image"));
        rc = ki_as_defaults_fill(container, container_defaults);
        if (rc == 0)
            rc = ki_as_tree_default(container, "imagePullPolicy",
                                    json_string(is_pulled ? "Always" : "IfNotPresent"));
        if (rc == 0)
            rc = default_requests(container);
    }
    return rc;
}

int ki_as_defaults_pod_spec(json_t *spec)
{
    if (!json_is_object(spec))
        return 0;
    int rc = default_containers(json_object_get(spec, "containers"));
    if (rc == 0)
        rc = default_containers(json_object_get(spec, "initContainers"));
    const char *account = ki_as_tree_text(spec, "serviceAccountName");
    if (rc == 0 && account[0] != 0)
        rc = ki_as_tree_default(spec, "serviceAccount", json_string(account));
    return rc < 0 ? rc : ki_as_defaults_fill(spec, spec_defaults);
}

/* ---- quality of service -------------------------------------------------------------------------------- */

static bool is_guaranteed(const json_t *container)
{
    static const char *const names[] = {"cpu", "memory"};
    const json_t *limits = ki_as_tree_at(container, "resources.limits");
    const json_t *requests = ki_as_tree_at(container, "resources.requests");
    for (size_t i = 0; i < 2; i++) {
        const json_t *limit = json_object_get(limits, names[i]);
        const json_t *request = json_object_get(requests, names[i]);
        if (limit == NULL || request == NULL || !json_equal(limit, request))
            return false;
    }
    return true;
}

static const char *quality_of(const json_t *spec)
{
    bool has_any = false;
    bool has_all = true;
    size_t index = 0;
    json_t *container = NULL;
    json_array_foreach(json_object_get(spec, "containers"), index, container)
    {
        has_any = has_any || json_object_size(ki_as_tree_at(container, "resources.requests")) > 0 ||
                  json_object_size(ki_as_tree_at(container, "resources.limits")) > 0;
        has_all = has_all && is_guaranteed(container);
    }
    return !has_any ? "BestEffort" : has_all ? "Guaranteed" : "Burstable";
}

static int default_tolerations(json_t *spec)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    if (json_object_get(spec, "tolerations") != NULL)
        return 0;
    json_t *tolerations = json_array();
    for (size_t i = 0; i < 2; i++) {
        json_t *one = json_object();
        bool is_made = json_object_set_new_nocheck(one, "key", json_string_nocheck(keys[i])) == 0 &&
                       json_object_set_new_nocheck(one, "operator", json_string_nocheck("Exists")) == 0 &&
                       json_object_set_new_nocheck(one, "effect", json_string_nocheck("NoExecute")) == 0 &&
                       json_object_set_new_nocheck(one, "tolerationSeconds", json_integer(300)) == 0;
        if (json_array_append_new(tolerations, one) < 0 || !is_made) {
            json_decref(tolerations);
            return KI_ERR_NO_MEMORY;
        }
    }
    return ki_as_tree_default(spec, "tolerations", tolerations);
}

int ki_as_defaults_pod(json_t *tree)
{
    static const struct ki_as_default defaults[] = {
        KI_AS_NUMBER("priority", 0),
        KI_AS_TRUE("enableServiceLinks"),
        KI_AS_TEXT("preemptionPolicy", "PreemptLowerPriority"),
        {NULL, 0, NULL, 0},
    };
    json_t *status = NULL;
    json_t *spec = json_object_get(tree, "spec");
    if (!json_is_object(spec))
        return 0;
    int rc = ki_as_defaults_pod_spec(spec);
    if (rc == 0)
        rc = default_tolerations(spec);
    if (rc == 0)
        rc = ki_as_defaults_fill(spec, defaults);
    if (rc == 0)
        rc = ki_as_tree_object(tree, "status", &status);
    if (rc < 0 || status == NULL)
        return rc;
    rc = ki_as_tree_default(status, "phase", json_string_nocheck("Pending"));
    if (rc == 0)
        rc = ki_as_tree_default(status, "qosClass", json_string_nocheck(quality_of(spec)));
    return rc;
}
