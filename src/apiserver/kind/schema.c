/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/schema.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "apiserver/kind/resource.h"
#include "apiserver/value/tree.h"

static ki_str group_of(ki_str api_version)
{
    const char *slash = api_version.len > 0 ? memchr(api_version.ptr, '/', api_version.len) : NULL;
    return slash == NULL ? (ki_str){0} : (ki_str){api_version.ptr, (size_t)(slash - api_version.ptr)};
}

static size_t first_of_kind(ki_str kind)
{
    size_t low = 0;
    size_t high = ki_as_schema_kind_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki_str_compare(ki_str_of(ki_as_schemas[ki_as_schema_kinds[middle]].kind), kind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low <= ki_as_schema_kind_count);
    return low;
}

/* Fields hardly differ between versions, so the schema of another version can stand in. For the group
 * "extensions", the schema of the kind's new group stands in. */
const struct ki_as_schema *ki_as_schema_find(ki_str api_version, ki_str kind)
{
    const struct ki_as_schema *of_group = NULL;
    const struct ki_as_schema *of_kind = NULL;
    for (size_t i = first_of_kind(kind); i < ki_as_schema_kind_count; i++) {
        const struct ki_as_schema *schema = &ki_as_schemas[ki_as_schema_kinds[i]];
        if (!ki_str_equal(ki_str_of(schema->kind), kind))
            break;
        if (ki_str_equal(ki_str_of(schema->api_version), api_version))
            return schema;
        if (ki_str_equal(group_of(ki_str_of(schema->api_version)), group_of(api_version)))
            of_group = schema;
        of_kind = schema;
    }
    if (of_group != NULL)
        return of_group;
    return ki_str_equal(group_of(api_version), KI_STR("extensions")) ? of_kind : NULL;
}

/* ---- fields by name ------------------------------------------------------------------------------------ */

/* Four bytes; the first becomes the highest. */
static uint64_t four_at(const char *bytes)
{
    uint32_t word = 0;
    memcpy(&word, bytes, sizeof(word));
    return be32toh(word);
}

/* The opening of a name, as in ki_as_schema_openings. Never reads beyond the name. */
static uint64_t opening_of(ki_str name)
{
    if (name.len >= 8)
        return four_at(name.ptr) << 32 | four_at(name.ptr + 4);
    if (name.len >= 4) {
        /* The last four bytes may overlap the first four; the shift drops those that appear twice. */
        uint64_t rest = four_at(name.ptr + name.len - 4) << (8 * (8 - name.len));
        return four_at(name.ptr) << 32 | (rest & UINT32_MAX);
    }
    uint64_t opening = 0;
    for (size_t i = 0; i < name.len; i++)
        opening |= (uint64_t)(unsigned char)name.ptr[i] << (56 - 8 * i);
    return opening;
}

/* Compares two names with equal openings. Names contain no NUL. */
static bool is_same_name(const char *own, ki_str name)
{
    if (name.len < 8)
        return true;
    return strncmp(own + 8, name.ptr + 8, name.len - 8) == 0 && own[name.len] == '\0';
}

const struct ki_as_schema_field *ki_as_schema_field(const struct ki_as_schema *schema, ki_str name)
{
    if (schema == NULL)
        return NULL;
    const uint64_t *openings = ki_as_schema_openings + schema->first_field;
    uint64_t opening = opening_of(name);
    size_t low = 0;
    size_t left = schema->field_count;
    while (left > 0) {
        size_t half = left / 2;
        bool is_behind = openings[low + half] < opening;
        low += is_behind ? half + 1 : 0;
        left = is_behind ? left - half - 1 : half;
    }
    for (; low < schema->field_count && openings[low] == opening; low++)
        if (is_same_name(ki_as_schema_fields[schema->first_field + low].name, name))
            return &ki_as_schema_fields[schema->first_field + low];
    return NULL;
}

const struct ki_as_schema *ki_as_schema_named(const char *name)
{
    for (size_t i = 0; i < ki_as_schema_count; i++)
        if (strcmp(ki_as_schemas[i].name, name) == 0)
            return &ki_as_schemas[i];
    return NULL;
}

const struct ki_as_schema *ki_as_schema_of_type(uint16_t type)
{
    assert(type < KI_AS_TYPE_COUNT + ki_as_schema_count);
    return type < KI_AS_TYPE_COUNT ? NULL : &ki_as_schemas[type - KI_AS_TYPE_COUNT];
}

struct ki_as_shape ki_as_shape_of(const struct ki_as_resource *resource)
{
    assert(resource->known == NULL || !resource->is_custom);
    if (resource->is_custom)
        return (struct ki_as_shape){.custom = resource->schema, .is_root = true};
    if (resource->known != NULL)
        return (struct ki_as_shape){.schema = resource->known};
    return (struct ki_as_shape){
        .schema = ki_as_schema_find(ki_str_of(resource->api_version), ki_str_of(resource->kind))};
}

struct ki_as_shape ki_as_shape_of_kind(const json_t *object)
{
    ki_str api_version = ki_as_json_str(json_object_get(object, "apiVersion"));
    ki_str kind = ki_as_json_str(json_object_get(object, "kind"));
    return (struct ki_as_shape){.schema = ki_as_schema_find(api_version, kind)};
}

struct ki_as_shape ki_as_shape_metadata(void)
{
    const struct ki_as_schema *any = ki_as_schema_find(KI_STR("v1"), KI_STR("ConfigMap"));
    const struct ki_as_schema_field *field = ki_as_schema_field(any, KI_STR("metadata"));
    assert(field != NULL);
    return (struct ki_as_shape){.schema = field == NULL ? NULL : ki_as_schema_of_type(field->type)};
}

static struct ki_as_shape custom_member(const json_t *custom, ki_str name)
{
    const json_t *property = ki_as_json_member(json_object_get(custom, "properties"), name);
    if (property == NULL) {
        const json_t *others = json_object_get(custom, "additionalProperties");
        property = json_is_object(others) ? others : NULL;
    }
    return (struct ki_as_shape){.custom = property};
}

struct ki_as_shape ki_as_shape_member(struct ki_as_shape shape, ki_str name)
{
    assert(shape.custom == NULL || (shape.schema == NULL && shape.field == NULL));
    if (shape.is_root && ki_str_equal(name, KI_STR("metadata")))
        return ki_as_shape_metadata();
    if (shape.custom != NULL)
        return custom_member(shape.custom, name);
    if (shape.field != NULL && shape.field->shape == KI_AS_FIELD_MAP)
        return (struct ki_as_shape){.schema = ki_as_schema_of_type(shape.field->type)};
    const struct ki_as_schema_field *field = ki_as_schema_field(shape.schema, name);
    if (field == NULL)
        return (struct ki_as_shape){0};
    bool is_one = field->shape == KI_AS_FIELD_ONE;
    return (struct ki_as_shape){.field = field, .schema = is_one ? ki_as_schema_of_type(field->type) : NULL};
}

struct ki_as_shape ki_as_shape_element(struct ki_as_shape shape)
{
    assert(shape.custom == NULL || (shape.schema == NULL && shape.field == NULL));
    if (shape.custom != NULL)
        return (struct ki_as_shape){.custom = json_object_get(shape.custom, "items")};
    if (shape.field == NULL || shape.field->shape != KI_AS_FIELD_LIST)
        return (struct ki_as_shape){0};
    return (struct ki_as_shape){.schema = ki_as_schema_of_type(shape.field->type)};
}

static void sort_keys(struct ki_as_keys *keys)
{
    assert(keys->count <= KI_AS_KEYS_MAX);
    for (size_t i = 1; i < keys->count; i++)
        for (size_t j = i; j > 0 && ki_str_compare(keys->names[j], keys->names[j - 1]) < 0; j--) {
            ki_str name = keys->names[j];
            keys->names[j] = keys->names[j - 1];
            keys->names[j - 1] = name;
        }
}

static struct ki_as_keys split_keys(const char *text)
{
    struct ki_as_keys keys = {0};
    while (text != NULL && keys.count < KI_AS_KEYS_MAX) {
        const char *comma = strchr(text, ',');
        keys.names[keys.count++] = comma == NULL ? ki_str_of(text) : (ki_str){text, (size_t)(comma - text)};
        text = comma == NULL ? NULL : comma + 1;
    }
    assert(text == NULL); /* no kind has more keys */
    sort_keys(&keys);
    return keys;
}

static enum ki_as_list_kind custom_list(const json_t *custom, struct ki_as_keys *out_keys)
{
    const char *kind = ki_as_tree_text(custom, "x-kubernetes-list-type");
    if (strcmp(kind, "set") == 0)
        return KI_AS_LIST_SET;
    if (strcmp(kind, "map") != 0)
        return KI_AS_LIST_ATOMIC;
    size_t i = 0;
    json_t *key = NULL;
    *out_keys = (struct ki_as_keys){0};
    json_array_foreach(json_object_get(custom, "x-kubernetes-list-map-keys"), i, key)
    {
        if (json_is_string(key) && out_keys->count < KI_AS_KEYS_MAX)
            out_keys->names[out_keys->count++] = ki_as_json_str(key);
    }
    sort_keys(out_keys);
    return out_keys->count > 0 ? KI_AS_LIST_KEYED : KI_AS_LIST_ATOMIC;
}

enum ki_as_list_kind ki_as_shape_list(struct ki_as_shape shape, struct ki_as_keys *out_keys)
{
    assert(out_keys != NULL);
    if (shape.custom != NULL)
        return custom_list(shape.custom, out_keys);
    if (shape.field == NULL || shape.field->shape != KI_AS_FIELD_LIST)
        return KI_AS_LIST_ATOMIC;
    if (shape.field->keys != NULL) {
        *out_keys = split_keys(shape.field->keys);
        return KI_AS_LIST_KEYED;
    }
    return (shape.field->flags & KI_AS_FIELD_SET) != 0 ? KI_AS_LIST_SET : KI_AS_LIST_ATOMIC;
}

bool ki_as_shape_is_atomic(struct ki_as_shape shape)
{
    if (shape.custom != NULL)
        return strcmp(ki_as_tree_text(shape.custom, "x-kubernetes-map-type"), "atomic") == 0;
    if (shape.field != NULL && (shape.field->flags & KI_AS_FIELD_ATOMIC) != 0)
        return true;
    return shape.schema != NULL && shape.schema->is_atomic;
}

const char *ki_as_shape_key_default(struct ki_as_shape element, ki_str key)
{
    if (element.custom != NULL) {
        const json_t *property = ki_as_json_member(json_object_get(element.custom, "properties"), key);
        return json_string_value(json_object_get(property, "default"));
    }
    return ki_str_equal(key, KI_STR("protocol")) ? "TCP" : NULL;
}

bool ki_as_shape_is_merged(struct ki_as_shape shape, const char **out_key)
{
    if (shape.field == NULL || shape.field->shape != KI_AS_FIELD_LIST ||
        (shape.field->flags & KI_AS_FIELD_MERGE) == 0)
        return false;
    *out_key = shape.field->merge_key == NULL ? "" : shape.field->merge_key;
    return true;
}
