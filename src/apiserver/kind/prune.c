/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/prune.h"

#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/check.h"
#include "apiserver/kind/defaults_parts.h"
#include "apiserver/kind/schema.h"
#include "apiserver/value/quantity.h"
#include "apiserver/value/tree.h"

/* Kubernetes reports at most this number of unknown fields. */
enum { UNKNOWN_MAX = 100 };

struct pruner {
    json_t *unknown; /* NULL if not requested */
    bool keeps_empty;
    bool fills;
    int rc;
};

static void note(struct pruner *pruner, const struct ki_as_path *path)
{
    assert(path != NULL);
    char text[KI_AS_PATH_BYTES];
    if (pruner->unknown == NULL || json_array_size(pruner->unknown) >= UNKNOWN_MAX)
        return;
    ki_as_path_write(path, text);
    json_t *message = json_sprintf("unknown field \"%s\"", text);
    if (json_array_append_new(pruner->unknown, message) < 0)
        pruner->rc = KI_ERR_NO_MEMORY;
}

/* Go always writes the rules of a role and the ports of a slice. */
static bool is_always_written(const struct ki_as_schema *schema)
{
    static const char *const kinds[] = {"ClusterRole", "EndpointSlice", "Role"};
    bool is_one = false;
    for (size_t i = 0; schema->kind != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        is_one = is_one || strcmp(schema->kind, kinds[i]) == 0;
    return is_one;
}

/* Other optional lists and maps are omitted when they are empty. */
static bool is_left_out(const struct ki_as_schema *schema, const struct ki_as_schema_field *field,
                        const json_t *value)
{
    bool is_list = field->shape == KI_AS_FIELD_LIST && json_is_array(value);
    bool is_map = field->shape == KI_AS_FIELD_MAP && json_is_object(value);
    bool is_empty = (is_list || is_map) && json_array_size(value) + json_object_size(value) == 0;
    return is_empty && (field->flags & KI_AS_FIELD_REQUIRED) == 0 && !is_always_written(schema);
}

static void prune_object(struct pruner *pruner, const struct ki_as_path *path,
                         const struct ki_as_schema *schema, json_t *object);

/* Prunes a field whose values have fields themselves. Nulls count as unset, as in Go. */
static void prune_field(struct pruner *pruner, const struct ki_as_path *path,
                        const struct ki_as_schema_field *field, json_t *value)
{
    assert(field->type >= KI_AS_TYPE_COUNT);
    const struct ki_as_schema *schema = ki_as_schema_of_type(field->type);
    size_t index = 0;
    const char *key = NULL;
    json_t *element = NULL;
    if (field->shape == KI_AS_FIELD_ONE) {
        prune_object(pruner, path, schema, value);
        return;
    }
    json_array_foreach(value, index, element)
    {
        prune_object(pruner, KI_AS_ELEMENT(path, index), schema, element);
    }
    if (field->shape != KI_AS_FIELD_MAP)
        return;
    json_object_foreach(value, key, element)
    {
        prune_object(pruner, KI_AS_MEMBER(path, key), schema, element);
    }
}

/* The stored form of a value without fields: quantities in their shortest form; a null is 0 or "" as Go reads
 * it. A new reference; NULL if out of memory. */
static json_t *settled(const struct ki_as_schema_field *field, json_t *value)
{
    assert(field->type < KI_AS_TYPE_COUNT || json_is_null(value));
    if (field->type == KI_AS_TYPE_QUANTITY)
        return json_is_null(value) ? json_string_nocheck("0") : ki_as_quantity_settled(value);
    return field->type == KI_AS_TYPE_STRING && json_is_null(value) ? json_string_nocheck("")
                                                                   : json_incref(value);
}

/* Sets the member at `at`. Takes `kept`, which may be the current value. */
static void keep(struct pruner *pruner, json_t *object, void *at, json_t *kept)
{
    if (kept == NULL || json_object_iter_set_new(object, at, kept) < 0)
        pruner->rc = KI_ERR_NO_MEMORY;
}

static void settle_members(struct pruner *pruner, const struct ki_as_schema_field *field, json_t *map)
{
    for (void *at = json_object_iter(map); at != NULL; at = json_object_iter_next(map, at))
        keep(pruner, map, at, settled(field, json_object_iter_value(at)));
}

static void settle(struct pruner *pruner, const struct ki_as_schema_field *field, json_t *object, void *at)
{
    json_t *value = json_object_iter_value(at);
    if (field->shape == KI_AS_FIELD_MAP)
        settle_members(pruner, field, value);
    if (field->shape != KI_AS_FIELD_ONE || field->type != KI_AS_TYPE_QUANTITY || json_is_null(value))
        return;
    keep(pruner, object, at, ki_as_quantity_settled(value));
}

static void prune_object(struct pruner *pruner, const struct ki_as_path *path,
                         const struct ki_as_schema *schema, json_t *object)
{
    void *next = NULL;
    for (void *at = json_object_iter(object); at != NULL; at = next) {
        ki_str name = {json_object_iter_key(at), json_object_iter_key_len(at)};
        json_t *value = json_object_iter_value(at);
        const struct ki_as_schema_field *field = ki_as_schema_field(schema, name);
        /* Checked first, because settle() may free the value. */
        bool is_null = json_is_null(value);
        next = json_object_iter_next(object, at);
        if (field != NULL && !pruner->keeps_empty && is_left_out(schema, field, value)) {
            (void)json_object_deln(object, name.ptr, name.len);
            continue;
        }
        if (field == NULL)
            note(pruner, KI_AS_MEMBER(path, name.ptr));
        else if (field->type >= KI_AS_TYPE_COUNT && !is_null)
            prune_field(pruner, KI_AS_MEMBER(path, name.ptr), field, value);
        else
            settle(pruner, field, object, at);
        if (field == NULL || is_null)
            (void)json_object_deln(object, name.ptr, name.len);
    }
    if (pruner->fills && pruner->rc == 0)
        pruner->rc = ki_as_defaults_rows(schema, object);
}

/* ---- custom kinds -------------------------------------------------------------------------------------- */

static bool keeps_unknown(const json_t *schema)
{
    return ki_as_tree_is_true(schema, "x-kubernetes-preserve-unknown-fields");
}

/* A member that is not among the properties is unknown, unless the schema has additionalProperties (of any
 * value) or preserves unknown fields. */
static void prune_custom(struct pruner *pruner, const struct ki_as_path *path, const json_t *schema,
                         json_t *value, bool is_kept)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *name = NULL;
    json_t *member = NULL;
    void *next = NULL;
    size_t index = 0;
    is_kept = is_kept || keeps_unknown(schema);
    json_array_foreach(value, index, member)
    {
        prune_custom(pruner, KI_AS_ELEMENT(path, index), json_object_get(schema, "items"), member, is_kept);
    }
    if (!json_is_object(value))
        return;
    json_object_foreach_safe(value, next, name, member)
    {
        const json_t *property = json_object_get(properties, name);
        bool is_own = path == NULL && (strcmp(name, "kind") == 0 || strcmp(name, "apiVersion") == 0 ||
                                       strcmp(name, "metadata") == 0);
        if (is_own)
            continue;
        if (property != NULL)
            prune_custom(pruner, KI_AS_MEMBER(path, name), property, member, false);
        else if (json_is_object(others))
            prune_custom(pruner, KI_AS_MEMBER(path, name), others, member, false);
        else if (others == NULL && !is_kept) {
            note(pruner, KI_AS_MEMBER(path, name));
            (void)json_object_del(value, name);
        }
    }
}

static int prune(struct pruner *pruner, const struct ki_as_resource *resource, json_t *tree)
{
    assert(pruner->rc == 0 && !(pruner->fills && pruner->keeps_empty));
    assert(resource != NULL && tree != NULL);
    struct ki_as_shape shape = ki_as_shape_of(resource);
    if (shape.schema != NULL) {
        prune_object(pruner, NULL, shape.schema, tree);
        return pruner->rc;
    }
    const struct ki_as_path *path = KI_AS_PATH("metadata");
    prune_object(pruner, path, ki_as_shape_metadata().schema, json_object_get(tree, "metadata"));
    if (resource->is_custom && resource->schema != NULL)
        prune_custom(pruner, NULL, resource->schema, tree, false);
    return pruner->rc;
}

int ki_as_prune(const struct ki_as_resource *resource, json_t *tree, json_t *unknown)
{
    struct pruner pruner = {.unknown = unknown};
    return prune(&pruner, resource, tree);
}

int ki_as_prune_applied(const struct ki_as_resource *resource, json_t *tree)
{
    struct pruner pruner = {.keeps_empty = true};
    return prune(&pruner, resource, tree);
}

int ki_as_prune_and_fill(const struct ki_as_resource *resource, json_t *tree)
{
    struct pruner pruner = {.fills = true};
    return prune(&pruner, resource, tree);
}
