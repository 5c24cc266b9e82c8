/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs/verbs_parts.h"

static struct ki_as_resource *core(struct ki_as_storage *storage, const char *plural)
{
    ki_as_storage_lock(storage);
    struct ki_as_resource *resource =
        ki_as_resources_find(ki_as_storage_resources(storage), KI_STR(""), KI_STR("v1"), ki_str_of(plural));
    ki_as_storage_unlock(storage);
    return resource;
}

/* Takes the body. */
static int create(const struct ki_as_call *call, json_t *body, struct ki_as_failure *failure)
{
    struct ki_as_object *object = NULL;
    if (body == NULL)
        return ki_as_fail_no_memory(failure);
    int rc = ki_as_create(call, body, &object, failure);
    ki_as_object_unref(object);
    json_decref(body);
    return rc;
}

static json_t *service_body(void)
{
    return json_pack(
        "{s:{s:s, s:{s:s, s:s}}, s:{s:s, s:[s], s:[s], s:s, s:s, s:s, s:[{s:s, s:s, s:i, s:i}]}}", "metadata",
        "name", "kubernetes", "labels", "component", "apiserver", "provider", "kubernetes", "spec",
        "clusterIP", "10.0.0.1", "clusterIPs", "10.0.0.1", "ipFamilies", "IPv4", "ipFamilyPolicy",
        "SingleStack", "type", "ClusterIP", "sessionAffinity", "None", "ports", "name", "https", "protocol",
        "TCP", "port", 443, "targetPort", 6443);
}

int ki_as_seed(struct ki_as_storage *storage, struct ki_as_failure *failure)
{
    static const char *const names[] = {"default", "kube-node-lease", "kube-public", "kube-system"};
    struct ki_as_call call = {.storage = storage, .field_manager = KI_STR("kube-apiserver")};
    call.resource = core(storage, "namespaces");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (create(&call, json_pack("{s:{s:s}}", "metadata", "name", names[i]), failure) < 0)
            return -1;
    call.resource = core(storage, "services");
    call.ns = KI_STR("default");
    return create(&call, service_body(), failure);
}
