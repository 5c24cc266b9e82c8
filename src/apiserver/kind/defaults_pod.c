/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of pods beyond the rows of defaults.txt. */
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/defaults_parts.h"
#include "apiserver/value/tree.h"

/* ---- containers ---------------------------------------------------------------------------------------- */

/* "nginx" and "nginx:latest" are always pulled; "nginx:1.27" and digests are pulled if not present. */
static bool is_latest(const char *image)
{
    const char *slash = strrchr(image, '/');
    const char *name = slash == NULL ? image : slash + 1;
    const char *tag = strchr(name, ':');
    if (strchr(name, '@') != NULL)
        return false;
    return tag == NULL || strcmp(tag, ":latest") == 0;
}

/* A resource with a limit but no request gets a request equal to the limit. */
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
        rc = ki_as_tree_default(container, "imagePullPolicy",
                                json_string_nocheck(is_pulled ? "Always" : "IfNotPresent"));
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
    /* A negative grace period counts as the minimum. */
    if (rc == 0 && ki_as_tree_integer(spec, "terminationGracePeriodSeconds", 0) < 0 &&
        json_object_set_new(spec, "terminationGracePeriodSeconds", json_integer(1)) < 0)
        rc = KI_ERR_NO_MEMORY;
    return rc;
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
    json_t *spec = json_object_get(tree, "spec");
    if (!json_is_object(spec))
        return 0;
    int rc = ki_as_defaults_pod_spec(spec);
    if (rc == 0)
        rc = set_tolerations(spec, tolerations);
    return rc < 0 ? rc : ki_as_tree_default(tree, "status.qosClass", json_string_nocheck(quality_of(spec)));
}
