/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the schema of a definition is structural: each path of an object has one type, stated in the
 * schema itself, so that objects can be pruned and defaulted by it. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/keyed_list.h"
#include "apiserver/kind/schema_budget.h"
#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/tree.h"

enum { DEPTH_MAX = 128 };

/* Where a schema is; the error message for a missing type depends on it. */
enum level { LEVEL_ROOT, LEVEL_FIELD, LEVEL_ITEM };

static void check_type(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                       enum level level)
{
    assert(level >= LEVEL_ROOT && level <= LEVEL_ITEM);
    static const char *const types[] = {"array", "boolean", "integer", "number", "object", "string", NULL};
    static const char *const missing[] = {[LEVEL_ROOT] = "must not be empty at the root",
                                          [LEVEL_FIELD] = "must not be empty for specified object fields",
                                          [LEVEL_ITEM] = "must not be empty for specified array items"};
    const struct ki_as_path *at = KI_AS_MEMBER(path, "type");
    const json_t *type = json_object_get(schema, "type");
    bool needs_none =
        level != LEVEL_ROOT && (ki_as_tree_is_true(schema, "x-kubernetes-int-or-string") ||
                                ki_as_tree_is_true(schema, "x-kubernetes-preserve-unknown-fields"));
    if (ki_as_json_str(type).len == 0 && !needs_none)
        ki_as_check_required(check, at, missing[level]);
    else if (level == LEVEL_ROOT && strcmp(ki_as_tree_text(schema, "type"), "object") != 0)
        ki_as_check_invalid(check, at, type, "must be object at the root");
    ki_as_check_one_of(check, at, type, types);
}

/* Keywords that no schema may have. */
static void check_forbidden(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    if (json_object_get(schema, "$ref") != NULL)
        ki_as_check_forbidden(check, KI_AS_MEMBER(path, "$ref"), "$ref is not supported");
    if (ki_as_tree_is_true(schema, "uniqueItems"))
        ki_as_check_forbidden(
            check, KI_AS_MEMBER(path, "uniqueItems"),
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    if (json_object_get(schema, "properties") != NULL &&
        json_object_get(schema, "additionalProperties") != NULL)
        ki_as_check_forbidden(check, KI_AS_MEMBER(path, "additionalProperties"),
                              "additionalProperties and properties are mutual exclusive");
}

/* ---- value validations: they restrict a value but do not set its type ---------------------------------- */

static bool is_plain_type(const json_t *schema, const char *type)
{
    return json_object_size(schema) == 1 && strcmp(ki_as_tree_text(schema, "type"), type) == 0;
}

/* The conditions that code generators write beside x-kubernetes-int-or-string. */
static bool is_integer_or_string(const json_t *conditions)
{
    return json_array_size(conditions) == 2 && is_plain_type(json_array_get(conditions, 0), "integer") &&
           is_plain_type(json_array_get(conditions, 1), "string");
}

static void check_condition(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    static const char *const foreign[] = {"type", "description", "default", "additionalProperties",
                                          "nullable"};
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (json_object_get(schema, foreign[i]) != NULL)
            ki_as_check_forbidden(check, KI_AS_MEMBER(path, foreign[i]), "must be empty to be structural");
}

static void check_conditions(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    static const char *const names[] = {"allOf", "anyOf", "oneOf"};
    bool is_either = ki_as_tree_is_true(schema, "x-kubernetes-int-or-string");
    const json_t *other = json_object_get(schema, "not");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct ki_as_path *list = KI_AS_MEMBER(path, names[i]);
        const json_t *conditions = json_object_get(schema, names[i]);
        if (is_either && is_integer_or_string(conditions))
            continue;
        for (size_t j = 0; j < json_array_size(conditions); j++)
            check_condition(check, KI_AS_ELEMENT(list, j), json_array_get(conditions, j));
    }
    if (json_is_object(other))
        check_condition(check, KI_AS_MEMBER(path, "not"), other);
}

/* ---- lists --------------------------------------------------------------------------------------------- */

/* Each key of a list of type "map" must be a required property or have a default. */
static void check_keys(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    const json_t *keys = json_object_get(schema, "x-kubernetes-list-map-keys");
    const json_t *items = json_object_get(schema, "items");
    const struct ki_as_identity identity = ki_as_identity_of("");
    const struct ki_as_path *at = KI_AS_MEMBER(KI_AS_MEMBER(path, "items"), "properties");
    struct ki_as_keyed_list required = {0};
    size_t index = 0;
    json_t *key = NULL;
    if (json_array_size(keys) == 0)
        ki_as_check_required(check, KI_AS_MEMBER(path, "x-kubernetes-list-map-keys"),
                             "must not be empty if x-kubernetes-list-type is map");
    if (ki_as_keyed_list_init(&required, &identity, json_object_get(items, "required"), 0) < 0)
        ki_as_check_no_memory(check);
    json_array_foreach(keys, index, key)
    {
        const json_t *property = ki_as_json_member(json_object_get(items, "properties"), ki_as_json_str(key));
        if (json_object_get(property, "default") == NULL && ki_as_keyed_list_find(&required, key) < 0)
            ki_as_check_required(
                check, KI_AS_MEMBER(KI_AS_KEY(at, json_string_value(key)), "default"),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or "
                "be a required property");
    }
    ki_as_keyed_list_fini(&required);
}

static void check_list(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    if (json_is_array(items))
        ki_as_check_forbidden(check, KI_AS_MEMBER(path, "items"),
                              "items must be a schema object and not an array");
    else if (items == NULL)
        ki_as_check_required(check, KI_AS_MEMBER(path, "items"), "must be specified");
    if (strcmp(ki_as_tree_text(schema, "x-kubernetes-list-type"), "map") == 0)
        check_keys(check, path, schema);
}

/* ---- schemas ------------------------------------------------------------------------------------------- */

static void check_schema(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema);

static bool is_too_deep(const struct ki_as_path *path)
{
    size_t depth = 0;
    for (; path != NULL; path = path->parent)
        depth++;
    return depth > DEPTH_MAX;
}

static void check_place(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema,
                        enum level level)
{
    if (!json_is_object(schema) || is_too_deep(path))
        return;
    check_type(check, path, schema, level);
    check_schema(check, path, schema);
}

static void check_schema(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    const json_t *value = json_object_get(schema, "default");
    const char *name = NULL;
    json_t *property = NULL;
    check_forbidden(check, path, schema);
    check_conditions(check, path, schema);
    if (strcmp(ki_as_tree_text(schema, "type"), "array") == 0)
        check_list(check, path, schema);
    if (value != NULL)
        ki_as_check_schema_within(check, KI_AS_MEMBER(path, "default"), schema, value);
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        check_place(check, KI_AS_KEY(KI_AS_MEMBER(path, "properties"), name), property, LEVEL_FIELD);
    }
    check_place(check, KI_AS_MEMBER(path, "additionalProperties"),
                json_object_get(schema, "additionalProperties"), LEVEL_FIELD);
    check_place(check, KI_AS_MEMBER(path, "items"), json_object_get(schema, "items"), LEVEL_ITEM);
}

/* Checks the fields that all kinds have. Their schemas are implied,
 * so a definition can say little about them. */
static void check_own_fields(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    static const char *const texts[] = {"apiVersion", "kind"};
    const struct ki_as_path *properties = KI_AS_MEMBER(path, "properties");
    const char *name = NULL;
    json_t *property = NULL;
    bool is_more = false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const json_t *type =
            json_object_get(json_object_get(json_object_get(schema, "properties"), texts[i]), "type");
        if (type != NULL && !ki_str_equal(ki_as_json_str(type), KI_STR("string")))
            ki_as_check_invalid(check, KI_AS_MEMBER(KI_AS_KEY(properties, texts[i]), "type"), type,
                                "must be string");
    }
    json_object_foreach(ki_as_tree_at(schema, "properties.metadata.properties"), name, property)
    {
        is_more = is_more || (strcmp(name, "name") != 0 && strcmp(name, "generateName") != 0);
    }
    if (is_more)
        ki_as_check_forbidden(check, KI_AS_KEY(properties, "metadata"),
                              "must not specify anything other than name and generateName, but metadata is "
                              "implicitly specified");
}

void ki_as_check_structural(struct ki_as_check *check, const struct ki_as_path *path, const json_t *schema)
{
    struct ki_as_schema_budget budget = {0};
    check->budget = &budget;
    check_own_fields(check, path, schema);
    check_place(check, path, schema, LEVEL_ROOT);
    check->budget = NULL;
    if (budget.is_spent)
        ki_as_check_forbidden(check, path, "its defaults are too costly to validate");
    ki_as_schema_budget_fini(&budget);
}
