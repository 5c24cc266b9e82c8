/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "apiserver/verbs_parts.h"

/* PLURAL_BYTES: of the longest name and a NUL. */
enum { PLURAL_BYTES = 254 };

static const char *text_at(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

/* Takes the value over unless something is there. */
static int fill(json_t *object, const char *name, json_t *value)
{
    if (value == NULL)
        return -1;
    if (json_is_null(json_object_get(object, name)) || json_object_get(object, name) == NULL)
        return json_object_set_new(object, name, value);
    json_decref(value);
    return 0;
}

static json_t *singular_of(const char *kind)
{
    json_t *string = json_string(kind);
    char *text = string == NULL ? NULL : (char *)json_string_value(string);
    for (size_t i = 0; text != NULL && text[i] != '\0'; i++)
        text[i] = (char)tolower((unsigned char)text[i]);
    return string;
}

static json_t *condition(const char *type, const char *reason, const char *message)
{
    char now[KI_AS_TIME_BYTES];
    ki_as_time_now(now);
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", "True", "lastTransitionTime", now,
                     "reason", reason, "message", message);
}

static json_t *stored_versions(const json_t *spec)
{
    json_t *names = json_array();
    size_t index = 0;
    const json_t *version = NULL;
    json_array_foreach(json_object_get(spec, "versions"), index,
                       version) if (json_is_true(json_object_get(version, "storage")) &&
                                    json_array_append(names, json_object_get(version, "name")) < 0)
    {
        json_decref(names);
        return NULL;
    }
    return names;
}

int ki_as_definition_prepare(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    json_t *spec = json_object_get(tree, "spec");
    json_t *names = json_object_get(spec, "names");
    const char *kind = text_at(names, "kind");
    if (!json_is_object(names) || kind[0] == '\0')
        return 0; /* validation says what is missing */
    if (fill(names, "singular", singular_of(kind)) < 0 ||
        fill(names, "listKind", json_sprintf("%sList", kind)) < 0 ||
        fill(spec, "conversion", json_pack("{s:s}", "strategy", "None")) < 0)
        return ki_as_fail_no_memory(verb->failure);
    json_t *conditions = json_incref(json_object_get(json_object_get(before, "status"), "conditions"));
    if (conditions == NULL)
        conditions = json_pack(
            "[o, o]", condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"));
    json_t *status = json_pack("{s:o, s:O, s:o}", "conditions", conditions, "acceptedNames", names,
                               "storedVersions", stored_versions(spec));
    if (status == NULL || json_object_set_new(tree, "status", status) < 0)
        return ki_as_fail_no_memory(verb->failure);
    return 0;
}

int ki_as_definition_serve(const struct ki_as_verb *verb, const json_t *tree)
{
    return ki_as_resources_define(ki_as_storage_resources(verb->storage), tree, verb->failure);
}

/* "widgets.example.com": the name says what it defines. */
static struct ki_as_resource resource_named(const struct ki_as_object *definition, char plural[PLURAL_BYTES])
{
    struct ki_as_resource resource = {0};
    size_t len = definition->name.len < PLURAL_BYTES ? definition->name.len : PLURAL_BYTES - 1;
    memcpy(plural, definition->name.ptr, len);
    plural[len] = '\0';
    char *dot = strchr(plural, '.');
    resource.plural = plural;
    resource.group = "";
    if (dot != NULL) {
        *dot = '\0';
        resource.group = dot + 1;
    }
    return resource;
}

/* The collection of what it defines, when that is served; NULL otherwise. */
static struct ki_as_collection *collection_of(const struct ki_as_verb *verb,
                                              const struct ki_as_object *definition,
                                              struct ki_as_resource **out_resource)
{
    char plural[PLURAL_BYTES];
    struct ki_as_resource named = resource_named(definition, plural);
    const struct ki_as_resources *resources = ki_as_storage_resources(verb->storage);
    for (size_t i = 0; i < resources->count; i++) {
        struct ki_as_resource *entry = resources->entries[i];
        if (entry->is_custom && strcmp(entry->plural, named.plural) == 0 &&
            strcmp(entry->group, named.group) == 0) {
            *out_resource = entry;
            return ki_as_storage_collection(verb->storage, entry);
        }
    }
    return NULL;
}

bool ki_as_definition_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    struct ki_as_resource *resource = NULL;
    const struct ki_as_collection *collection = collection_of(verb, definition, &resource);
    return collection == NULL || ki_as_collection_count(collection) == 0;
}

int ki_as_definition_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    struct ki_as_verb other = *verb;
    other.collection = collection_of(verb, definition, &other.resource);
    return other.collection == NULL ? 0 : ki_as_verb_delete_all(&other, KI_STR(""));
}

void ki_as_definition_changed(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    char plural[PLURAL_BYTES];
    struct ki_as_resource named = resource_named(definition, plural);
    named.is_namespaced = true;
    struct ki_as_resource *resource = NULL;
    struct ki_as_collection *collection = collection_of(verb, definition, &resource);
    /* Not one version is served: it is found by its names alone. */
    if (collection == NULL)
        collection = ki_as_storage_collection(verb->storage, &named);
    if (collection != NULL)
        ki_as_collection_end_unserved(collection);
}

void ki_as_definition_end(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    char plural[PLURAL_BYTES];
    struct ki_as_resource *resource = NULL;
    struct ki_as_collection *collection = collection_of(verb, definition, &resource);
    struct ki_as_resource named = resource_named(definition, plural);
    if (collection != NULL)
        ki_as_collection_end_watches(collection);
    ki_as_resources_undefine(ki_as_storage_resources(verb->storage), ki_str_of(named.group),
                             ki_str_of(named.plural));
}
