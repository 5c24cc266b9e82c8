/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/value/timestamp.h"
#include "apiserver/value/tree.h"
#include "apiserver/verbs/verbs_parts.h"

/* NAME_BYTES: the longest name and a NUL. */
enum { NAME_BYTES = 254 };

/* Sets the member if it is missing or null. Takes the value. */
static int fill(json_t *object, const char *name, json_t *value)
{
    assert(json_is_object(object));
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
    json_array_foreach(json_object_get(spec, "versions"), index, version)
    {
        json_t *name = json_object_get(version, "name");
        /* Validation reports what is missing. */
        if (!json_is_true(json_object_get(version, "storage")) || !json_is_string(name))
            continue;
        if (json_array_append(names, name) < 0) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

int ki_as_definition_terminate(const struct ki_as_verb *verb, json_t *tree)
{
    json_t *conditions = json_object_get(json_object_get(tree, "status"), "conditions");
    json_t *terminating =
        condition("Terminating", "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    if (!json_is_array(conditions)) {
        json_decref(terminating);
        return 0;
    }
    if (json_array_append_new(conditions, terminating) < 0)
        return ki_as_fail_no_memory(verb->failure);
    return 0;
}

int ki_as_definition_check(const struct ki_as_verb *verb, ki_str name, bool is_apply)
{
    assert(verb->resource->is_custom);
    static const char why[] = "create not allowed while custom resource definition is terminating";
    const struct ki_as_resource *resource = verb->resource;
    struct ki_as_verb other;
    if (ki_as_verb_begin_other(&other, verb, "apiextensions.k8s.io", "customresourcedefinitions") < 0)
        return -1;
    const struct ki_as_object *definition =
        ki_as_collection_find(other.collection, KI_STR(""), ki_str_of(resource->qualified));
    if (definition == NULL || !definition->is_deleting)
        return 0;
    if (is_apply)
        return ki_as_fail_forbidden(verb->failure, resource, name, why);
    return ki_as_fail(verb->failure, 405, "MethodNotAllowed",
                      json_pack("{s:s, s:s}", "group", resource->group, "kind", resource->plural), "%s", why);
}

int ki_as_definition_prepare(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    json_t *spec = json_object_get(tree, "spec");
    json_t *names = json_object_get(spec, "names");
    const char *kind = ki_as_tree_text(names, "kind");
    if (!json_is_object(names) || kind[0] == '\0')
        return 0; /* validation reports what is missing */
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

/* The part of "widgets.example.com" before the first dot; group_of() is the part after it. */
static ki_str plural_of(const struct ki_as_object *definition)
{
    assert(definition->name.len > 0);
    ki_str name = definition->name;
    const char *dot = name.len == 0 ? NULL : memchr(name.ptr, '.', name.len);
    return dot == NULL ? name : (ki_str){name.ptr, (size_t)(dot - name.ptr)};
}

static ki_str group_of(const struct ki_as_object *definition)
{
    ki_str name = definition->name;
    size_t before = plural_of(definition).len + 1;
    return name.len < before ? KI_STR("") : (ki_str){name.ptr + before, name.len - before};
}

/* The collection of the defined resource, served or not. NULL if there is none. */
static struct ki_as_collection *collection_of(const struct ki_as_verb *verb,
                                              const struct ki_as_object *definition)
{
    return ki_as_storage_find_collection(verb->storage, group_of(definition), plural_of(definition));
}

bool ki_as_definition_is_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    const struct ki_as_collection *collection = collection_of(verb, definition);
    return collection == NULL || ki_as_collection_count(collection) == 0;
}

/* `verb` must be for definitions. */
static int empty_with(const struct ki_as_verb *verb, const struct ki_as_object *definition,
                      struct ki_as_collection *collection, ki_str ns)
{
    assert(collection != NULL && definition != NULL);
    struct ki_as_verb other = *verb;
    json_t *tree = ki_as_verb_tree(verb, definition);
    if (tree == NULL)
        return -1;
    struct ki_as_resource *resource = ki_as_resource_of_definition(tree);
    other.resource = resource;
    other.collection = collection;
    int rc = resource == NULL ? ki_as_fail_no_memory(verb->failure) : ki_as_verb_delete_all(&other, ns);
    ki_as_resource_unref(resource);
    json_decref(tree);
    return rc;
}

int ki_as_definition_empty(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    struct ki_as_collection *collection = collection_of(verb, definition);
    return collection == NULL ? 0 : empty_with(verb, definition, collection, KI_STR(""));
}

int ki_as_definition_empty_unserved(const struct ki_as_verb *verb, struct ki_as_collection *collection,
                                    ki_str ns)
{
    struct ki_as_verb other;
    char name[NAME_BYTES];
    if (ki_as_verb_begin_other(&other, verb, "apiextensions.k8s.io", "customresourcedefinitions") < 0)
        return -1;
    int len = snprintf(name, sizeof(name), "%.*s.%.*s", KI_STR_ARGS(ki_as_collection_plural(collection)),
                       KI_STR_ARGS(ki_as_collection_group(collection)));
    assert(len > 0 && (size_t)len < sizeof(name));
    struct ki_as_object *definition =
        ki_as_collection_find(other.collection, KI_STR(""), (ki_str){name, (size_t)len});
    return definition == NULL ? 0 : empty_with(&other, definition, collection, ns);
}

void ki_as_definition_changed(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    struct ki_as_collection *collection = collection_of(verb, definition);
    if (collection != NULL)
        ki_as_collection_end_unserved(collection);
}

void ki_as_definition_end(const struct ki_as_verb *verb, const struct ki_as_object *definition)
{
    struct ki_as_collection *collection = collection_of(verb, definition);
    if (collection != NULL)
        ki_as_collection_end(collection);
    ki_as_resources_undefine(ki_as_storage_resources(verb->storage), group_of(definition),
                             plural_of(definition));
}
