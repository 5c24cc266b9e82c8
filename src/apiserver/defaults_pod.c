/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/defaults_members.h"
#include "apiserver/defaults_parts.h"
#include "apiserver/tree.h"

/* ---- tables -------------------------------------------------------------------------------------------- */

static const struct ki_as_member default_mode_members[] = {
    KI_AS_HAS_NUMBER("defaultMode", 420),
};
static const struct ki_as_members default_mode = KI_AS_MEMBERS(default_mode_members);
static const struct ki_as_member token_members[] = {
    KI_AS_HAS_NUMBER("expirationSeconds", 3600),
};
static const struct ki_as_members token = KI_AS_MEMBERS(token_members);
static const struct ki_as_member source_members[] = {
    KI_AS_WITHIN("serviceAccountToken", &token),
};
static const struct ki_as_members source = KI_AS_MEMBERS(source_members);
static const struct ki_as_member projected_members[] = {
    KI_AS_HAS_NUMBER("defaultMode", 420),
    KI_AS_EACH("sources", &source),
};
static const struct ki_as_members projected = KI_AS_MEMBERS(projected_members);
static const struct ki_as_member field_reference_members[] = {
    KI_AS_HAS_TEXT("apiVersion", "v1"),
};
static const struct ki_as_members field_reference = KI_AS_MEMBERS(field_reference_members);
static const struct ki_as_member downward_item_members[] = {
    KI_AS_WITHIN("fieldRef", &field_reference),
};
static const struct ki_as_members downward_item = KI_AS_MEMBERS(downward_item_members);
static const struct ki_as_member downward_members[] = {
    KI_AS_HAS_NUMBER("defaultMode", 420),
    KI_AS_EACH("items", &downward_item),
};
static const struct ki_as_members downward = KI_AS_MEMBERS(downward_members);
static const struct ki_as_member host_path_members[] = {
    KI_AS_HAS_TEXT("type", ""),
};
static const struct ki_as_members host_path = KI_AS_MEMBERS(host_path_members);
static const struct ki_as_member volume_members[] = {
    KI_AS_WITHIN("configMap", &default_mode), KI_AS_WITHIN("secret", &default_mode),
    KI_AS_WITHIN("projected", &projected),    KI_AS_WITHIN("downwardAPI", &downward),
    KI_AS_WITHIN("hostPath", &host_path),
};
static const struct ki_as_members volume = KI_AS_MEMBERS(volume_members);
static const struct ki_as_member spec_defaults_members[] = {
    KI_AS_HAS_TEXT("restartPolicy", "Always"),
    KI_AS_HAS_NUMBER("terminationGracePeriodSeconds", 30),
    KI_AS_HAS_TEXT("dnsPolicy", "ClusterFirst"),
    KI_AS_HAS_OBJECT("securityContext"),
    KI_AS_HAS_TEXT("schedulerName", "default-scheduler"),
    KI_AS_EACH("volumes", &volume),
};
static const struct ki_as_members spec_defaults = KI_AS_MEMBERS(spec_defaults_members);
static const struct ki_as_member port_members[] = {
    KI_AS_HAS_TEXT("protocol", "TCP"),
};
static const struct ki_as_members port = KI_AS_MEMBERS(port_members);
static const struct ki_as_member value_from_members[] = {
    KI_AS_WITHIN("fieldRef", &field_reference),
};
static const struct ki_as_members value_from = KI_AS_MEMBERS(value_from_members);
static const struct ki_as_member variable_members[] = {
    KI_AS_WITHIN("valueFrom", &value_from),
};
static const struct ki_as_members variable = KI_AS_MEMBERS(variable_members);
static const struct ki_as_member probe_request_members[] = {
    KI_AS_HAS_TEXT("path", "/"),
    KI_AS_HAS_TEXT("scheme", "HTTP"),
};
static const struct ki_as_members probe_request = KI_AS_MEMBERS(probe_request_members);
static const struct ki_as_member probe_members[] = {
    KI_AS_WITHIN("httpGet", &probe_request), KI_AS_HAS_NUMBER("timeoutSeconds", 1),
    KI_AS_HAS_NUMBER("periodSeconds", 10),   KI_AS_HAS_NUMBER("successThreshold", 1),
    KI_AS_HAS_NUMBER("failureThreshold", 3),
};
static const struct ki_as_members probe = KI_AS_MEMBERS(probe_members);
static const struct ki_as_member hook_request_members[] = {
    KI_AS_HAS_TEXT("scheme", "HTTP"),
};
static const struct ki_as_members hook_request = KI_AS_MEMBERS(hook_request_members);
static const struct ki_as_member hook_members[] = {
    KI_AS_WITHIN("httpGet", &hook_request),
};
static const struct ki_as_members hook = KI_AS_MEMBERS(hook_members);
static const struct ki_as_member lifecycle_members[] = {
    KI_AS_WITHIN("postStart", &hook),
    KI_AS_WITHIN("preStop", &hook),
};
static const struct ki_as_members lifecycle = KI_AS_MEMBERS(lifecycle_members);
static const struct ki_as_member container_defaults_members[] = {
    KI_AS_EACH("ports", &port),
    KI_AS_EACH("env", &variable),
    KI_AS_HAS_OBJECT("resources"),
    KI_AS_WITHIN("livenessProbe", &probe),
    KI_AS_WITHIN("readinessProbe", &probe),
    KI_AS_WITHIN("startupProbe", &probe),
    KI_AS_WITHIN("lifecycle", &lifecycle),
    KI_AS_HAS_TEXT("terminationMessagePath", "/dev/termination-log"),
    KI_AS_HAS_TEXT("terminationMessagePolicy", "File"),
};
static const struct ki_as_members container_defaults = KI_AS_MEMBERS(container_defaults_members);
static const struct ki_as_member pod_defaults_members[] = {
    KI_AS_HAS_NUMBER("priority", 0),
    KI_AS_HAS_TRUE("enableServiceLinks"),
    KI_AS_HAS_TEXT("preemptionPolicy", "PreemptLowerPriority"),
};
static const struct ki_as_members pod_defaults = KI_AS_MEMBERS(pod_defaults_members);
static const struct ki_as_member status_defaults_members[] = {
    KI_AS_HAS_TEXT("phase", "Pending"),
};
static const struct ki_as_members status_defaults = KI_AS_MEMBERS(status_defaults_members);

/* ---- containers ---------------------------------------------------------------------------------------- */

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
    const json_t *resources = json_object_get(container, "resources");
    json_t *limits = json_object_size(resources) == 0 ? NULL : json_object_get(resources, "limits");
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
        rc = ki_as_defaults_members(container, &container_defaults);
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
    const char *old_account = ki_as_tree_text(spec, "serviceAccount");
    if (rc == 0 && account[0] != 0)
        rc = ki_as_tree_default(spec, "serviceAccount", json_string(account));
    else if (rc == 0 && old_account[0] != 0)
        rc = ki_as_tree_default(spec, "serviceAccountName", json_string(old_account));
    /* No time at all is the least that there is. */
    if (rc == 0 && ki_as_tree_integer(spec, "terminationGracePeriodSeconds", 0) < 0 &&
        json_object_set_new(spec, "terminationGracePeriodSeconds", json_integer(1)) < 0)
        rc = KI_ERR_NO_MEMORY;
    return rc < 0 ? rc : ki_as_defaults_members(spec, &spec_defaults);
}

/* ---- quality of service -------------------------------------------------------------------------------- */

static bool is_guaranteed(const json_t *resources)
{
    static const char *const names[] = {"cpu", "memory"};
    const json_t *limits = json_object_get(resources, "limits");
    const json_t *requests = json_object_get(resources, "requests");
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
        const json_t *resources = json_object_get(container, "resources");
        has_any = has_any || json_object_size(json_object_get(resources, "requests")) > 0 ||
                  json_object_size(json_object_get(resources, "limits")) > 0;
        has_all = has_all && is_guaranteed(resources);
    }
    return !has_any ? "BestEffort" : has_all ? "Guaranteed" : "Burstable";
}

/* ---- pods ---------------------------------------------------------------------------------------------- */

json_t *ki_as_default_tolerations(void)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    json_t *tolerations = json_array();
    for (size_t i = 0; i < 2; i++) {
        json_t *one = json_object();
        bool is_made = json_object_set_new_nocheck(one, "key", json_string_nocheck(keys[i])) == 0 &&
                       json_object_set_new_nocheck(one, "operator", json_string_nocheck("Exists")) == 0 &&
                       json_object_set_new_nocheck(one, "effect", json_string_nocheck("NoExecute")) == 0 &&
                       json_object_set_new_nocheck(one, "tolerationSeconds", json_integer(300)) == 0;
        if (json_array_append_new(tolerations, one) < 0 || !is_made) {
            json_decref(tolerations);
            return NULL;
        }
    }
    return tolerations;
}

static int set_tolerations(json_t *spec, json_t *shared)
{
    if (json_object_get(spec, "tolerations") != NULL)
        return 0;
    json_t *tolerations = shared == NULL ? ki_as_default_tolerations() : json_incref(shared);
    return json_object_set_new_nocheck(spec, "tolerations", tolerations) < 0 ? KI_ERR_NO_MEMORY : 0;
}

int ki_as_defaults_pod(json_t *tree, json_t *tolerations)
{
    json_t *status = NULL;
    json_t *spec = json_object_get(tree, "spec");
    if (!json_is_object(spec))
        return 0;
    int rc = ki_as_defaults_pod_spec(spec);
    if (rc == 0)
        rc = set_tolerations(spec, tolerations);
    if (rc == 0)
        rc = ki_as_defaults_members(spec, &pod_defaults);
    if (rc == 0)
        rc = ki_as_tree_object(tree, "status", &status);
    if (rc < 0 || status == NULL)
        return rc;
    rc = ki_as_defaults_members(status, &status_defaults);
    if (rc == 0)
        rc = ki_as_tree_default(status, "qosClass", json_string_nocheck(quality_of(spec)));
    return rc;
}
