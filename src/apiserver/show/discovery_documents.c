/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/show/discovery_documents.h"

#include <assert.h>
#include <string.h>

#include "apiserver/show/discovery_parts.h"
#include "util/alloc.h"
#include "util/text/base64.h"

json_t *ki_as_discovery_api(const char *server_address)
{
    return json_pack("{s:s, s:[s], s:[{s:s, s:s}]}", "kind", "APIVersions", "versions", "v1",
                     "serverAddressByClientCIDRs", "clientCIDR", "0.0.0.0/0", "serverAddress",
                     server_address);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static json_t *version_entry(const struct ki_as_group_version *entry)
{
    return json_pack("{s:o, s:s}", "groupVersion", json_sprintf("%s/%s", entry->group, entry->version),
                     "version", entry->version);
}

/* The group that starts at `entries`; *out_count is the number of its versions. */
static json_t *group_of(const struct ki_as_group_version *entries, size_t left, size_t *out_count)
{
    assert(left > 0);
    json_t *versions = json_array();
    size_t count = 0;
    int rc = 0;
    for (; count < left && strcmp(entries[count].group, entries[0].group) == 0; count++)
        rc |= json_array_append_new(versions, version_entry(&entries[count]));
    assert(count > 0);
    *out_count = count;
    if (rc != 0) {
        json_decref(versions);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o}", "name", entries[0].group, "versions", versions, "preferredVersion",
                     version_entry(&entries[0]));
}

json_t *ki_as_discovery_groups(const struct ki_as_resources *resources)
{
    size_t count = 0;
    struct ki_as_group_version *all = ki_as_group_versions(resources, &count);
    json_t *groups = all == NULL ? NULL : json_array();
    int rc = groups == NULL ? -1 : 0;
    for (size_t i = 0, step = 0; i < count && rc == 0; i += step) {
        json_t *group = group_of(&all[i], count - i, &step);
        if (all[i].group[0] == 0)
            json_decref(group); /* the core group has no name and is listed separately */
        else
            rc = json_array_append_new(groups, group);
    }
    ki_free(all);
    if (rc < 0) {
        json_decref(groups);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", groups);
}

json_t *ki_as_discovery_group(const struct ki_as_resources *resources, ki_str group)
{
    size_t count = 0;
    size_t step = 0;
    struct ki_as_group_version *all = ki_as_group_versions(resources, &count);
    json_t *answer = all == NULL ? NULL : json_null();
    for (size_t i = 0; i < count && json_is_null(answer); i++) {
        if (all[i].group[0] == 0 || !ki_str_equal(ki_str_of(all[i].group), group))
            continue;
        json_t *entry = group_of(&all[i], count - i, &step);
        answer = json_pack("{s:s, s:s}", "kind", "APIGroup", "apiVersion", "v1");
        if (entry == NULL || answer == NULL || json_object_update(answer, entry) < 0) {
            json_decref(answer);
            answer = NULL;
        }
        json_decref(entry);
    }
    ki_free(all);
    return answer;
}

/* ---- resources of one version -------------------------------------------------------------------------- */

/* A text that differs between kinds; clients do not interpret it. */
static json_t *storage_hash(const struct ki_as_resource *resource)
{
    uint64_t hash = 14695981039346656037U;
    const char *const parts[] = {resource->group, "/", resource->kind};
    char bytes[8];
    char text[KI_BASE64_ENCODED_BYTES(8)];
    for (size_t i = 0; i < 3; i++) {
        for (const char *c = parts[i]; *c != 0; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211U;
    }
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (char)(hash >> (8 * i) & 255);
    size_t len = ki_base64_encode((ki_str){bytes, 8}, text);
    return json_stringn(text, len);
}

static json_t *resource_entry(const struct ki_as_resource *resource)
{
    return json_pack("{s:s, s:s, s:b, s:s, s:o, s:o*, s:o*, s:o}", "name", resource->plural, "singularName",
                     resource->singular, "namespaced", resource->is_namespaced, "kind", resource->kind,
                     "verbs", ki_as_resource_verbs(resource), "shortNames",
                     ki_as_resource_short_names(resource), "categories", ki_as_resource_categories(resource),
                     "storageVersionHash", storage_hash(resource));
}

static json_t *status_entry(const struct ki_as_resource *resource)
{
    return json_pack("{s:o, s:s, s:b, s:s, s:o}", "name", json_sprintf("%s/status", resource->plural),
                     "singularName", "", "namespaced", resource->is_namespaced, "kind", resource->kind,
                     "verbs", ki_as_subresource_verbs());
}

static json_t *scale_entry(const struct ki_as_resource *resource)
{
    return json_pack("{s:o, s:s, s:b, s:s, s:s, s:s, s:o}", "name",
                     json_sprintf("%s/scale", resource->plural), "singularName", "", "namespaced",
                     resource->is_namespaced, "group", "autoscaling", "version", "v1", "kind", "Scale",
                     "verbs", ki_as_subresource_verbs());
}

static int add_resource(json_t *list, const struct ki_as_resource *resource)
{
    int rc = json_array_append_new(list, resource_entry(resource));
    if (rc == 0 && resource->has_scale)
        rc = json_array_append_new(list, scale_entry(resource));
    if (rc == 0 && resource->has_status)
        rc = json_array_append_new(list, status_entry(resource));
    return rc;
}

json_t *ki_as_discovery_version(const struct ki_as_resources *resources, ki_str group, ki_str version)
{
    json_t *list = json_array();
    const char *api_version = NULL;
    int rc = list == NULL ? -1 : 0;
    for (size_t i = 0; i < resources->count && rc == 0; i++) {
        const struct ki_as_resource *resource = resources->entries[i];
        if (!ki_str_equal(ki_str_of(resource->group), group) ||
            !ki_str_equal(ki_str_of(resource->version), version))
            continue;
        api_version = resource->api_version;
        rc = add_resource(list, resource);
    }
    if (rc < 0 || api_version == NULL) {
        json_decref(list);
        return rc < 0 ? NULL : json_null();
    }
    /* The list of the core group omits its own apiVersion. */
    return json_pack("{s:s, s:s*, s:s, s:o}", "kind", "APIResourceList", "apiVersion",
                     group.len == 0 ? NULL : "v1", "groupVersion", api_version, "resources", list);
}

json_t *ki_as_discovery_server_version(void)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "major", "1",
                     "minor", "36", "emulationMajor", "1", "emulationMinor", "36", "minCompatibilityMajor",
                     "1", "minCompatibilityMinor", "35", "gitVersion", "v1.36.3+kinformer", "gitCommit", "",
                     "gitTreeState", "", "buildDate", "1970-01-01T00:00:00Z", "goVersion", "", "compiler", "",
                     "platform", "linux");
}
