/* SPDX-License-Identifier: Apache-2.0 */
/* A custom resource is one allocation: the struct, the two lists of names, then all texts. */
#include <assert.h>
#include <ctype.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/resource_set.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

/* The space after the struct, handed out piece by piece. */
struct block {
    const char **pointers;
    char *texts;
};

static size_t list_bytes(const json_t *list)
{
    size_t bytes = sizeof(char *);
    size_t index = 0;
    const json_t *entry = NULL;
    json_array_foreach(list, index, entry) bytes += sizeof(char *) + json_string_length(entry) + 1;
    return bytes;
}

static const char *keep(struct block *block, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = memcpy(block->texts, text, bytes);
    block->texts += bytes;
    return copy;
}

static const char *keep_joined(struct block *block, const char *first, const char *separator,
                               const char *second)
{
    char *copy = block->texts;
    size_t bytes = strlen(first) + strlen(separator) + strlen(second) + 1;
    (void)snprintf(copy, bytes, "%s%s%s", first, separator, second);
    block->texts += bytes;
    return copy;
}

static const char *keep_singular(struct block *block, const json_t *names, const char *kind)
{
    const char *given = ki_as_tree_text(names, "singular");
    if (given[0] != '\0')
        return keep(block, given);
    char *copy = block->texts;
    size_t len = strlen(kind);
    for (size_t i = 0; i <= len; i++)
        copy[i] = (char)tolower((unsigned char)kind[i]);
    block->texts += len + 1;
    return copy;
}

static const char *const *keep_list(struct block *block, const json_t *list)
{
    const char **start = block->pointers;
    size_t index = 0;
    const json_t *entry = NULL;
    json_array_foreach(list, index, entry) if (json_is_string(entry)) *block->pointers++ =
        keep(block, json_string_value(entry));
    assert((char *)block->pointers < block->texts);
    *block->pointers++ = NULL;
    return start;
}

static size_t bytes_for(const json_t *spec, const char *version)
{
    const json_t *names = json_object_get(spec, "names");
    size_t kind = strlen(ki_as_tree_text(names, "kind"));
    size_t group = strlen(ki_as_tree_text(spec, "group"));
    size_t plural = strlen(ki_as_tree_text(names, "plural"));
    size_t texts = group * 3 + strlen(version) * 2 + plural * 2 + kind * 3 + sizeof("List") +
                   strlen(ki_as_tree_text(names, "singular")) + strlen(ki_as_tree_text(names, "listKind")) +
                   16;
    return sizeof(struct ki_as_resource) + list_bytes(json_object_get(names, "shortNames")) +
           list_bytes(json_object_get(names, "categories")) + texts;
}

static void fill_names(struct ki_as_resource *resource, const json_t *spec, const char *version)
{
    const json_t *names = json_object_get(spec, "names");
    const json_t *short_names = json_object_get(names, "shortNames");
    const json_t *categories = json_object_get(names, "categories");
    struct block block = {.pointers = (const char **)(resource + 1)};
    block.texts = (char *)(block.pointers + json_array_size(short_names) + json_array_size(categories) + 2);
    resource->short_names = keep_list(&block, short_names);
    resource->categories = keep_list(&block, categories);
    resource->group = keep(&block, ki_as_tree_text(spec, "group"));
    resource->version = keep(&block, version);
    resource->plural = keep(&block, ki_as_tree_text(names, "plural"));
    resource->kind = keep(&block, ki_as_tree_text(names, "kind"));
    resource->singular = keep_singular(&block, names, resource->kind);
    const char *list_kind = ki_as_tree_text(names, "listKind");
    resource->list_kind =
        list_kind[0] == '\0' ? keep_joined(&block, resource->kind, "", "List") : keep(&block, list_kind);
    resource->api_version = keep_joined(&block, resource->group, "/", resource->version);
    resource->qualified = keep_joined(&block, resource->plural, ".", resource->group);
    assert((size_t)(block.texts - (char *)resource) <= bytes_for(spec, version));
}

/* NULL if out of memory. The resource shares parts of the definition, which are never modified. */
static struct ki_as_resource *resource_of(const json_t *spec, const json_t *version)
{
    const char *version_name = ki_as_tree_text(version, "name");
    struct ki_as_resource *resource = ki_malloc(bytes_for(spec, version_name));
    if (resource == NULL)
        return NULL;
    *resource = (struct ki_as_resource){.is_custom = true, .has_generation = true};
    ki_refcount_init(&resource->refs);
    fill_names(resource, spec, version_name);
    const json_t *subresources = json_object_get(version, "subresources");
    resource->is_namespaced = strcmp(ki_as_tree_text(spec, "scope"), "Namespaced") == 0;
    resource->has_status = json_object_get(subresources, "status") != NULL;
    resource->scale = json_incref(json_object_get(subresources, "scale"));
    resource->has_scale = resource->scale != NULL;
    resource->schema = json_incref(json_object_get(json_object_get(version, "schema"), "openAPIV3Schema"));
    resource->columns = json_incref(json_object_get(version, "additionalPrinterColumns"));
    resource->selectable = json_incref(json_object_get(version, "selectableFields"));
    resource->versions = json_incref(json_object_get(spec, "versions"));
    return resource;
}

struct ki_as_resource *ki_as_resource_of_definition(const json_t *definition)
{
    const json_t *spec = json_object_get(definition, "spec");
    const json_t *versions = json_object_get(spec, "versions");
    size_t stored = 0;
    while (stored + 1 < json_array_size(versions) &&
           !json_is_true(json_object_get(json_array_get(versions, stored), "storage")))
        stored++;
    return resource_of(spec, json_array_get(versions, stored));
}

/* A definition cannot replace a built-in resource. */
static bool is_built_in(const struct ki_as_resources *resources, const json_t *spec)
{
    const char *group = ki_as_tree_text(spec, "group");
    const char *plural = ki_as_tree_text(spec, "names.plural");
    for (size_t i = 0; i < resources->count; i++) {
        const struct ki_as_resource *entry = resources->entries[i];
        if (!entry->is_custom && ki_as_resource_is(entry, group, plural))
            return true;
    }
    return false;
}

int ki_as_resources_define(struct ki_as_resources *resources, const json_t *definition,
                           struct ki_as_failure *failure)
{
    const json_t *spec = json_object_get(definition, "spec");
    if (is_built_in(resources, spec))
        return ki_as_fail(failure, 422, "Invalid", NULL,
                          "CustomResourceDefinition.apiextensions.k8s.io \"%s.%s\" is invalid: "
                          "spec.names.plural: Invalid value: conflicts with a built-in resource",
                          ki_as_tree_text(spec, "names.plural"), ki_as_tree_text(spec, "group"));
    const json_t *versions = json_object_get(spec, "versions");
    size_t count = json_array_size(versions);
    struct ki_as_resource **made = ki_calloc(count + 1, sizeof(struct ki_as_resource *));
    bool is_enough = made != NULL && ki_as_resources_reserve(resources, count) == 0;
    size_t made_count = 0;
    for (size_t i = 0; is_enough && i < count; i++) {
        const json_t *version = json_array_get(versions, i);
        if (!json_is_true(json_object_get(version, "served")))
            continue;
        made[made_count] = resource_of(spec, version);
        is_enough = made[made_count] != NULL;
        made_count += is_enough;
    }
    if (is_enough) {
        const char *plural = ki_as_tree_text(spec, "names.plural");
        ki_as_resources_undefine(resources, ki_str_of(ki_as_tree_text(spec, "group")), ki_str_of(plural));
    }
    for (size_t i = 0; i < made_count; i++)
        if (is_enough)
            ki_as_resources_insert(resources, made[i]);
        else
            ki_as_resource_unref(made[i]);
    ki_free(made);
    return is_enough ? 0 : ki_as_fail_no_memory(failure);
}
