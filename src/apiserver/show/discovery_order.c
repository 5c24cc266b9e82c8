/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/show/discovery_parts.h"
#include "util/alloc.h"

/* If a kind is in several groups ("events", "ingresses"), kubectl uses the first group that has it. */
static const char *const group_order[] = {
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "storagemigration.k8s.io",
    "lifecycle.k8s.io",
};

static size_t group_rank(const char *group)
{
    size_t count = sizeof(group_order) / sizeof(group_order[0]);
    size_t at = 0;
    while (at < count && strcmp(group_order[at], group) != 0)
        at++;
    return at;
}

/* "v2" before "v1" before "v1beta2" before "v1alpha1" before names of any other form. */
static long version_rank(const char *version)
{
    char *end = NULL;
    if (version[0] != 'v' || version[1] < '0' || version[1] > '9')
        return 0;
    long major = strtol(version + 1, &end, 10) % 1000;
    if (*end == 0)
        return 3000000 + major * 1000;
    long stage = strncmp(end, "beta", 4) == 0 ? 2 : strncmp(end, "alpha", 5) == 0 ? 1 : 0;
    long minor = stage == 0 ? 0 : strtol(end + (stage == 2 ? 4 : 5), NULL, 10) % 1000;
    return stage * 1000000 + major * 1000 + minor;
}

static int compare(const void *left, const void *right)
{
    const struct ki_as_group_version *a = left;
    const struct ki_as_group_version *b = right;
    size_t rank_a = group_rank(a->group);
    size_t rank_b = group_rank(b->group);
    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    int order = strcmp(a->group, b->group);
    if (order != 0)
        return order;
    long version_a = version_rank(a->version);
    long version_b = version_rank(b->version);
    if (version_a != version_b)
        return version_a > version_b ? -1 : 1;
    return strcmp(a->version, b->version);
}

/* "extensions", which Kubernetes has removed, is served but not listed: clients would take its kinds for
 * duplicates of the current kinds, and warn about them. */
static bool is_shown(const struct ki_as_resource *resource)
{
    return resource->is_custom || strcmp(resource->group, "extensions") != 0;
}

struct ki_as_group_version *ki_as_group_versions(const struct ki_as_resources *resources, size_t *out_count)
{
    assert(out_count != NULL);
    struct ki_as_group_version *all =
        resources->count == 0 ? NULL : ki_calloc(resources->count, sizeof(*all));
    size_t count = 0;
    for (size_t i = 0; all != NULL && i < resources->count; i++) {
        const struct ki_as_resource *resource = resources->entries[i];
        if (!is_shown(resource))
            continue;
        struct ki_as_group_version *last = count == 0 ? NULL : &all[count - 1];
        bool is_same = last != NULL && strcmp(last->group, resource->group) == 0 &&
                       strcmp(last->version, resource->version) == 0;
        if (is_same)
            last->count++;
        else
            all[count++] = (struct ki_as_group_version){resource->group, resource->version, i, 1};
    }
    if (all != NULL)
        qsort(all, count, sizeof(*all), compare);
    *out_count = all == NULL ? 0 : count;
    return all;
}

/* A new array of the texts, which end with NULL. Returns NULL if out of memory or if there are none,
 * for "o*" of json_pack(). */
static json_t *text_array(const char *const *texts)
{
    if (texts == NULL || texts[0] == NULL)
        return NULL;
    json_t *array = json_array();
    for (size_t i = 0; texts[i] != NULL; i++) {
        if (json_array_append_new(array, json_string(texts[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

json_t *ki_as_resource_short_names(const struct ki_as_resource *resource)
{
    return text_array(resource->short_names);
}

json_t *ki_as_resource_categories(const struct ki_as_resource *resource)
{
    return text_array(resource->categories);
}

json_t *ki_as_subresource_verbs(void)
{
    return json_pack("[sss]", "get", "patch", "update");
}

json_t *ki_as_resource_verbs(const struct ki_as_resource *resource)
{
    static const char *const all[] = {
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch", NULL};
    static const char *const custom[] = {"delete", "deletecollection", "get",   "list", "patch",
                                         "create", "update",           "watch", NULL};
    static const char *const of_namespaces[] = {"create", "delete", "get",   "list",
                                                "patch",  "update", "watch", NULL};
    static const char *const readable[] = {"get", "list", NULL};
    if (resource->is_custom)
        return text_array(custom);
    if (ki_as_resource_is(resource, "", "namespaces"))
        return text_array(of_namespaces);
    if (ki_as_resource_is(resource, "", "componentstatuses"))
        return text_array(readable);
    return text_array(all);
}
