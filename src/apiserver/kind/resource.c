/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/resource.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/resource_set.h"
#include "apiserver/kind/resources_table.h"
#include "apiserver/kind/schema.h"
#include "util/alloc.h"

struct ki_as_resource *ki_as_resource_ref(struct ki_as_resource *resource)
{
    ki_refcount_ref(&resource->refs);
    return resource;
}

void ki_as_resource_unref(struct ki_as_resource *resource)
{
    if (resource == NULL || !ki_refcount_unref(&resource->refs))
        return;
    json_decref(resource->schema);
    json_decref(resource->columns);
    json_decref(resource->scale);
    json_decref(resource->selectable);
    json_decref(resource->versions);
    ki_free(resource);
}

bool ki_as_resource_is(const struct ki_as_resource *resource, const char *group, const char *plural)
{
    return strcmp(resource->plural, plural) == 0 && strcmp(resource->group, group) == 0;
}

void ki_as_resources_fini(struct ki_as_resources *resources)
{
    for (size_t i = 0; i < resources->count; i++)
        ki_as_resource_unref(resources->entries[i]);
    ki_free(resources->entries);
    *resources = (struct ki_as_resources){0};
}

/* NULL if out of memory. */
static struct ki_as_resource *copy_of(const struct ki_as_resource *builtin)
{
    assert(!builtin->is_custom);
    struct ki_as_resource *resource = ki_malloc(sizeof(*resource));
    if (resource == NULL)
        return NULL;
    memcpy(resource, builtin, sizeof(*resource));
    ki_refcount_init(&resource->refs);
    resource->known = ki_as_shape_of(resource).schema;
    return resource;
}

int ki_as_resources_init(struct ki_as_resources *resources)
{
    assert(resources != NULL);
    struct ki_as_resources all = {0};
    all.entries = ki_calloc(ki_as_builtin_resource_count, sizeof(struct ki_as_resource *));
    if (all.entries == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < ki_as_builtin_resource_count; i++) {
        struct ki_as_resource *resource = copy_of(&ki_as_builtin_resources[i]);
        if (resource == NULL) {
            ki_as_resources_fini(&all);
            return KI_ERR_NO_MEMORY;
        }
        all.entries[all.count++] = resource;
    }
    *resources = all;
    return 0;
}

static int compare_text(ki_str a, const char *b)
{
    return ki_str_compare(a, ki_str_of(b));
}

/* The index of (group, version, plural), or where it would be inserted. */
static size_t place_of(const struct ki_as_resources *resources, const ki_str key[3], bool *out_is_there)
{
    size_t low = 0;
    size_t high = resources->count;
    *out_is_there = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ki_as_resource *entry = resources->entries[middle];
        int order = compare_text(key[0], entry->group);
        if (order == 0)
            order = compare_text(key[1], entry->version);
        if (order == 0)
            order = compare_text(key[2], entry->plural);
        if (order == 0) {
            *out_is_there = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    assert(low <= resources->count);
    return low;
}

struct ki_as_resource *ki_as_resources_find(const struct ki_as_resources *resources, ki_str group,
                                            ki_str version, ki_str plural)
{
    bool is_there = false;
    size_t place = place_of(resources, (ki_str[]){group, version, plural}, &is_there);
    return is_there ? resources->entries[place] : NULL;
}

struct ki_as_resource *ki_as_resources_find_kind(const struct ki_as_resources *resources, ki_str api_version,
                                                 ki_str kind)
{
    for (size_t i = 0; i < resources->count; i++) {
        struct ki_as_resource *entry = resources->entries[i];
        if (compare_text(kind, entry->kind) == 0 && compare_text(api_version, entry->api_version) == 0)
            return entry;
    }
    return NULL;
}

int ki_as_resources_reserve(struct ki_as_resources *resources, size_t more)
{
    struct ki_as_resource **entries =
        ki_realloc(resources->entries, (resources->count + more) * sizeof(struct ki_as_resource *));
    if (entries == NULL)
        return KI_ERR_NO_MEMORY;
    resources->entries = entries;
    return 0;
}

void ki_as_resources_insert(struct ki_as_resources *resources, struct ki_as_resource *resource)
{
    assert(resource->is_custom && resources->entries != NULL);
    bool is_there = false;
    ki_str key[] = {ki_str_of(resource->group), ki_str_of(resource->version), ki_str_of(resource->plural)};
    size_t place = place_of(resources, key, &is_there);
    if (is_there) {
        ki_as_resource_unref(resources->entries[place]);
    } else {
        memmove(resources->entries + place + 1, resources->entries + place,
                (resources->count - place) * sizeof(struct ki_as_resource *));
        resources->count++;
    }
    resources->entries[place] = resource;
}

void ki_as_resources_undefine(struct ki_as_resources *resources, ki_str group, ki_str plural)
{
    size_t kept = 0;
    for (size_t i = 0; i < resources->count; i++) {
        struct ki_as_resource *entry = resources->entries[i];
        if (entry->is_custom && compare_text(group, entry->group) == 0 &&
            compare_text(plural, entry->plural) == 0)
            ki_as_resource_unref(entry);
        else
            resources->entries[kept++] = entry;
    }
    resources->count = kept;
}
