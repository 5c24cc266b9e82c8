/* SPDX-License-Identifier: Apache-2.0 */
/* All groups in one document, as clients since Kubernetes 1.26 request it. */
#include <assert.h>
#include <string.h>

#include "apiserver/show/discovery_documents.h"
#include "apiserver/show/discovery_parts.h"
#include "util/alloc.h"

/* The kind that a resource responds with. As in Kubernetes,
 * its group and version are empty for built-in kinds. */
static json_t *kind_entry(const struct ki_as_resource *resource)
{
    return json_pack("{s:s, s:s, s:s}", "group", resource->is_custom ? resource->group : "", "version",
                     resource->is_custom ? resource->version : "", "kind", resource->kind);
}

static json_t *subresource(const char *name, json_t *kind)
{
    return json_pack("{s:s, s:o, s:o}", "subresource", name, "responseKind", kind, "verbs",
                     ki_as_subresource_verbs());
}

/* NULL if out of memory, or if there are none. */
static json_t *subresources(const struct ki_as_resource *resource, int *out_rc)
{
    json_t *list = json_array();
    int rc = list == NULL ? -1 : 0;
    if (rc == 0 && resource->has_scale)
        rc = json_array_append_new(list,
                                   subresource("scale", json_pack("{s:s, s:s, s:s}", "group", "autoscaling",
                                                                  "version", "v1", "kind", "Scale")));
    if (rc == 0 && resource->has_status)
        rc = json_array_append_new(list, subresource("status", kind_entry(resource)));
    *out_rc = rc;
    if (rc < 0 || json_array_size(list) == 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *resource_entry(const struct ki_as_resource *resource)
{
    int rc = 0;
    json_t *more = subresources(resource, &rc);
    if (rc < 0)
        return NULL;
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o*, s:o*, s:o*}", "resource", resource->plural,
                     "responseKind", kind_entry(resource), "scope",
                     resource->is_namespaced ? "Namespaced" : "Cluster", "singularResource",
                     resource->singular, "verbs", ki_as_resource_verbs(resource), "shortNames",
                     ki_as_resource_short_names(resource), "categories", ki_as_resource_categories(resource),
                     "subresources", more);
}

static json_t *version_entry(const struct ki_as_resources *resources, const struct ki_as_group_version *entry)
{
    assert(entry->count > 0 && entry->first + entry->count <= resources->count);
    json_t *list = json_array();
    int rc = list == NULL ? -1 : 0;
    for (size_t i = 0; i < entry->count && rc == 0; i++)
        rc = json_array_append_new(list, resource_entry(resources->entries[entry->first + i]));
    if (rc < 0) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:s}", "version", entry->version, "resources", list, "freshness", "Current");
}

static int add_version(json_t *items, const struct ki_as_resources *resources,
                       const struct ki_as_group_version *all, size_t at)
{
    bool is_first = at == 0 || strcmp(all[at - 1].group, all[at].group) != 0;
    if (is_first) {
        const char *name = all[at].group[0] == 0 ? NULL : all[at].group;
        json_t *item = json_pack("{s:{s:s*}, s:[]}", "metadata", "name", name, "versions");
        if (json_array_append_new(items, item) < 0)
            return -1;
    }
    json_t *item = json_array_get(items, json_array_size(items) - 1);
    assert(json_is_object(item));
    return json_array_append_new(json_object_get(item, "versions"), version_entry(resources, &all[at]));
}

json_t *ki_as_discovery_aggregated(const struct ki_as_resources *resources, bool is_core)
{
    size_t count = 0;
    struct ki_as_group_version *all = ki_as_group_versions(resources, &count);
    json_t *items = all == NULL ? NULL : json_array();
    int rc = items == NULL ? -1 : 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if ((all[i].group[0] == 0) == is_core)
            rc = add_version(items, resources, all, i);
    }
    ki_free(all);
    if (rc < 0) {
        json_decref(items);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:{}, s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
                     "apidiscovery.k8s.io/v2", "metadata", "items", items);
}
