/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/show/openapi.h"

#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/show/discovery_parts.h"
#include "apiserver/show/openapi_parts.h"
#include "util/alloc.h"

#define TITLE "Kubernetes"
#define VERSION "v1.36.3"

/* ---- version 2 ----------------------------------------------------------------------------------------- */

json_t *ki_as_openapi_old(void)
{
    return json_pack("{s:s, s:{s:s, s:s}, s:{}, s:{}}", "swagger", "2.0", "info", "title", TITLE, "version",
                     VERSION, "paths", "definitions");
}

/* openapi.v2.Document: swagger is field 1, info 2 (title 1, version 2), paths 8. */
ki_str ki_as_openapi_old_bytes(void)
{
    static const char bytes[] = "\x0a\x03"
                                "2.0"
                                "\x12\x15"
                                "\x0a\x0a" TITLE "\x12\x07" VERSION "\x42";
    return (ki_str){bytes, sizeof(bytes)}; /* the NUL at the end is the length of paths */
}

/* ---- the index ----------------------------------------------------------------------------------------- */

static int hash_bytes(const char *bytes, size_t len, void *user)
{
    uint64_t *hash = user;
    for (size_t i = 0; i < len; i++)
        *hash = (*hash ^ (unsigned char)bytes[i]) * 1099511628211U;
    return 0;
}

/* A hash that changes whenever the document changes: clients cache the document by its URL,
 * which contains the hash. */
static uint64_t hash_of(const struct ki_as_resources *resources, const struct ki_as_group_version *entry)
{
    assert(entry->count > 0 && entry->first + entry->count <= resources->count);
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < entry->count; i++) {
        const struct ki_as_resource *resource = resources->entries[entry->first + i];
        (void)hash_bytes(resource->plural, strlen(resource->plural) + 1, &hash);
        (void)hash_bytes(resource->kind, strlen(resource->kind) + 1, &hash);
        if (resource->schema != NULL)
            (void)json_dump_callback(resource->schema, hash_bytes, &hash, JSON_COMPACT);
    }
    return hash;
}

json_t *ki_as_openapi_index(const struct ki_as_resources *resources)
{
    size_t count = 0;
    struct ki_as_group_version *all = ki_as_group_versions(resources, &count);
    json_t *paths = all == NULL ? NULL : json_object();
    int rc = paths == NULL ? -1 : 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        bool is_core = all[i].group[0] == 0;
        char path[512];
        (void)snprintf(path, sizeof(path), "%s%s%s/%s", is_core ? "api" : "apis", is_core ? "" : "/",
                       all[i].group, all[i].version);
        json_t *url = json_sprintf("/openapi/v3/%s?hash=%016llX", path,
                                   (unsigned long long)hash_of(resources, &all[i]));
        rc = json_object_set_new(paths, path, json_pack("{s:o}", "serverRelativeURL", url));
    }
    ki_free(all);
    if (rc < 0) {
        json_decref(paths);
        return NULL;
    }
    return json_pack("{s:o}", "paths", paths);
}

/* ---- one version --------------------------------------------------------------------------------------- */

static json_t *query_parameters(const char *const *names)
{
    json_t *parameters = json_array();
    for (; parameters != NULL && *names != NULL; names++) {
        json_t *one = json_pack("{s:s, s:s, s:{s:s, s:b}}", "name", *names, "in", "query", "schema", "type",
                                "string", "uniqueItems", 1);
        if (json_array_append_new(parameters, one) < 0) {
            json_decref(parameters);
            return NULL;
        }
    }
    return parameters;
}

static json_t *operation(const struct ki_as_resource *resource, const char *action)
{
    static const char *const of_lists[] = {"labelSelector",   "fieldSelector", "limit", "continue",
                                           "resourceVersion", "watch",         NULL};
    static const char *const of_writes[] = {"dryRun", "fieldManager", "fieldValidation", "force", NULL};
    bool is_read = strcmp(action, "get") == 0 || strcmp(action, "list") == 0;
    bool is_delete = strcmp(action, "delete") == 0;
    json_t *parameters = query_parameters(is_read ? of_lists : of_writes + (is_delete ? 4 : 0));
    return json_pack("{s:o, s:{s:{s:s}}, s:s, s:o}", "parameters", parameters, "responses", "200",
                     "description", "OK", "x-kubernetes-action", action, "x-kubernetes-group-version-kind",
                     ki_as_openapi_kind(resource));
}

/* "/apis/apps/v1/namespaces/{namespace}/deployments", and the same with "/{name}". */
static int add_paths(json_t *paths, const struct ki_as_resource *resource)
{
    char path[600];
    bool is_core = resource->group[0] == 0;
    int len = snprintf(path, sizeof(path), "/%s%s%s/%s/%s%s", is_core ? "api" : "apis", is_core ? "" : "/",
                       resource->group, resource->version,
                       resource->is_namespaced ? "namespaces/{namespace}/" : "", resource->plural);
    assert(len > 0 && (size_t)len < sizeof(path) - sizeof("/{name}"));
    json_t *collection =
        json_pack("{s:o, s:o}", "get", operation(resource, "list"), "post", operation(resource, "post"));
    int rc = json_object_set_new(paths, path, collection);
    (void)snprintf(path + len, sizeof(path) - (size_t)len, "/{name}");
    json_t *item = json_pack("{s:o, s:o, s:o, s:o}", "get", operation(resource, "get"), "put",
                             operation(resource, "put"), "patch", operation(resource, "patch"), "delete",
                             operation(resource, "delete"));
    if (rc == 0)
        rc = json_object_set_new(paths, path, item);
    else
        json_decref(item);
    return rc;
}

static int add_resources(const struct ki_as_resources *resources, ki_str group, ki_str version, json_t *paths,
                         json_t *schemas)
{
    assert(json_is_object(paths) && json_is_object(schemas));
    int found = 0;
    for (size_t i = 0; i < resources->count; i++) {
        const struct ki_as_resource *resource = resources->entries[i];
        if (!ki_str_equal(ki_str_of(resource->group), group) ||
            !ki_str_equal(ki_str_of(resource->version), version))
            continue;
        if (add_paths(paths, resource) < 0 || ki_as_openapi_add(schemas, resource) < 0)
            return KI_ERR_NO_MEMORY;
        found++;
    }
    return found;
}

json_t *ki_as_openapi_version(const struct ki_as_resources *resources, ki_str group, ki_str version)
{
    json_t *paths = json_object();
    json_t *schemas = json_object();
    int found = paths == NULL || schemas == NULL ? KI_ERR_NO_MEMORY
                                                 : add_resources(resources, group, version, paths, schemas);
    if (found <= 0) {
        json_decref(paths);
        json_decref(schemas);
        return found < 0 ? NULL : json_null();
    }
    return json_pack("{s:s, s:{s:s, s:s}, s:o, s:{s:o}}", "openapi", "3.0.0", "info", "title", TITLE,
                     "version", VERSION, "paths", paths, "components", "schemas", schemas);
}
