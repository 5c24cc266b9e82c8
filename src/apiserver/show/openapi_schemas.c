/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/schema.h"
#include "apiserver/show/openapi_parts.h"
#include "apiserver/value/tree.h"

#define REFERENCE "#/components/schemas/"

static const char *const quantity_name = "io.k8s.apimachinery.pkg.api.resource.Quantity";
static const char *const int_or_string_name = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
static const char *const time_name = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";

json_t *ki_as_openapi_kind(const struct ki_as_resource *resource)
{
    return json_pack("{s:s, s:s, s:s}", "group", resource->group, "kind", resource->kind, "version",
                     resource->version);
}

static json_t *reference(const char *name)
{
    return json_pack("{s:o}", "$ref", json_sprintf(REFERENCE "%s", name));
}

/* ---- built-in kinds ------------------------------------------------------------------------------------ */

static json_t *scalar(uint16_t type)
{
    assert(type < KI_AS_TYPE_COUNT);
    switch (type) {
    case KI_AS_TYPE_ANY:
        return json_pack("{s:b}", "x-kubernetes-preserve-unknown-fields", 1);
    case KI_AS_TYPE_OBJECT:
        return json_pack("{s:s, s:b}", "type", "object", "x-kubernetes-preserve-unknown-fields", 1);
    case KI_AS_TYPE_STRING:
        return json_pack("{s:s}", "type", "string");
    case KI_AS_TYPE_TIME:
        return reference(time_name);
    case KI_AS_TYPE_BYTES:
        return json_pack("{s:s, s:s}", "type", "string", "format", "byte");
    case KI_AS_TYPE_INT32:
        return json_pack("{s:s, s:s}", "type", "integer", "format", "int32");
    case KI_AS_TYPE_INTEGER:
    case KI_AS_TYPE_INT64:
        return json_pack("{s:s, s:s}", "type", "integer", "format", "int64");
    case KI_AS_TYPE_NUMBER:
    case KI_AS_TYPE_DOUBLE:
        return json_pack("{s:s, s:s}", "type", "number", "format", "double");
    case KI_AS_TYPE_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case KI_AS_TYPE_INT_OR_STRING:
        return reference(int_or_string_name);
    default:
        return reference(quantity_name);
    }
}

static json_t *type_of(uint16_t type)
{
    const struct ki_as_schema *schema = ki_as_schema_of_type(type);
    return schema == NULL ? scalar(type) : reference(schema->name);
}

/* Descriptions of the fields that every kind has. */
static const char *description_of(const char *name)
{
    static const char *const texts[][2] = {
        {"apiVersion", "The group and version of the API that this object is written in."},
        {"kind", "The name of the object's type."},
        {"metadata", "Name, namespace, labels and other data that all objects have."},
        {"spec", "The desired state."},
        {"status", "The last observed state."},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i][0], name) == 0)
            return texts[i][1];
    }
    return NULL;
}

static json_t *keys_of(const char *text)
{
    assert(text != NULL);
    json_t *keys = json_array();
    while (keys != NULL && text != NULL) {
        size_t len = strcspn(text, ",");
        if (json_array_append_new(keys, json_stringn(text, len)) < 0) {
            json_decref(keys);
            return NULL;
        }
        text = text[len] == 0 ? NULL : text + len + 1;
    }
    return keys;
}

/* Adds the extensions that tell clients how patch and apply treat the field. */
static int add_extensions(json_t *property, const struct ki_as_schema_field *field)
{
    bool is_merged = (field->flags & KI_AS_FIELD_MERGE) != 0;
    bool is_retained = (field->flags & KI_AS_FIELD_RETAIN) != 0;
    int rc = 0;
    if (field->shape == KI_AS_FIELD_LIST) {
        const char *kind = field->keys != NULL                     ? "map"
                           : (field->flags & KI_AS_FIELD_SET) != 0 ? "set"
                                                                   : "atomic";
        rc = json_object_set_new(property, "x-kubernetes-list-type", json_string(kind));
    }
    if (rc == 0 && field->keys != NULL)
        rc = json_object_set_new(property, "x-kubernetes-list-map-keys", keys_of(field->keys));
    if (rc == 0 && (field->flags & KI_AS_FIELD_ATOMIC) != 0)
        rc = json_object_set_new(property, "x-kubernetes-map-type", json_string("atomic"));
    if (rc == 0 && (is_merged || is_retained))
        rc = json_object_set_new(property, "x-kubernetes-patch-strategy",
                                 json_string(is_merged && is_retained ? "merge,retainKeys"
                                             : is_merged              ? "merge"
                                                                      : "retainKeys"));
    if (rc == 0 && field->merge_key != NULL)
        rc = json_object_set_new(property, "x-kubernetes-patch-merge-key", json_string(field->merge_key));
    return rc;
}

static json_t *property_of(const struct ki_as_schema_field *field)
{
    const char *description = description_of(field->name);
    json_t *type = type_of(field->type);
    json_t *property = NULL;
    if (field->shape == KI_AS_FIELD_LIST)
        property = json_pack("{s:s, s:o}", "type", "array", "items", type);
    else if (field->shape == KI_AS_FIELD_MAP)
        property = json_pack("{s:s, s:o}", "type", "object", "additionalProperties", type);
    else if (json_object_get(type, "$ref") != NULL) /* a reference must not have siblings */
        property = json_pack("{s:[o]}", "allOf", type);
    else
        property = type;
    int rc = property == NULL ? -1 : add_extensions(property, field);
    if (rc == 0 && description != NULL)
        rc = json_object_set_new(property, "description", json_string(description));
    if (rc < 0) {
        json_decref(property);
        return NULL;
    }
    return property;
}

static json_t *schema_of(const struct ki_as_schema *schema)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    int rc = properties == NULL || required == NULL ? -1 : 0;
    for (size_t i = 0; i < schema->field_count && rc == 0; i++) {
        const struct ki_as_schema_field *field = &ki_as_schema_fields[schema->first_field + i];
        rc = json_object_set_new(properties, field->name, property_of(field));
        if (rc == 0 && (field->flags & KI_AS_FIELD_REQUIRED) != 0)
            rc = json_array_append_new(required, json_string(field->name));
    }
    bool is_atomic = schema->is_atomic;
    if (rc < 0 || json_array_size(required) == 0) {
        json_decref(required);
        required = NULL;
    }
    if (rc < 0) {
        json_decref(properties);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o*, s:s*}", "type", "object", "properties", properties, "required",
                     required, "x-kubernetes-map-type", is_atomic ? "atomic" : NULL);
}

static int add_special(json_t *schemas)
{
    int rc = json_object_set_new(schemas, time_name,
                                 json_pack("{s:s, s:s}", "type", "string", "format", "date-time"));
    if (rc == 0)
        rc = json_object_set_new(schemas, int_or_string_name,
                                 json_pack("{s:s, s:[{s:s}, {s:s}]}", "format", "int-or-string", "oneOf",
                                           "type", "integer", "type", "string"));
    if (rc == 0)
        rc =
            json_object_set_new(schemas, quantity_name,
                                json_pack("{s:[{s:s}, {s:s}]}", "oneOf", "type", "string", "type", "number"));
    return rc < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* Adds the schema and all schemas that it refers to, each once. */
static int add_reachable(json_t *schemas, const struct ki_as_schema *schema)
{
    assert(schema != NULL);
    if (json_object_get(schemas, schema->name) != NULL)
        return 0;
    if (json_object_set_new(schemas, schema->name, schema_of(schema)) < 0)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct ki_as_schema *next =
            ki_as_schema_of_type(ki_as_schema_fields[schema->first_field + i].type);
        int rc = next == NULL ? 0 : add_reachable(schemas, next);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- custom kinds -------------------------------------------------------------------------------------- */

/* "example.com" becomes "com.example" in names. */
static json_t *custom_name(const struct ki_as_resource *resource)
{
    char reversed[300] = "";
    size_t at = 0;
    for (const char *end = resource->group + strlen(resource->group); end > resource->group;) {
        const char *start = end;
        while (start > resource->group && start[-1] != '.')
            start--;
        int len = snprintf(reversed + at, sizeof(reversed) - at, "%.*s.", (int)(end - start), start);
        at += (size_t)len;
        if (at >= sizeof(reversed))
            break;
        end = start > resource->group ? start - 1 : start;
    }
    return json_sprintf("%s%s.%s", reversed, resource->version, resource->kind);
}

static json_t *custom_schema(const struct ki_as_resource *resource, const char *metadata_name)
{
    assert(metadata_name != NULL);
    json_t *schema = resource->schema != NULL ? ki_as_json_copy(resource->schema)
                                              : json_pack("{s:s, s:b}", "type", "object",
                                                          "x-kubernetes-preserve-unknown-fields", 1);
    json_t *properties = NULL;
    if (schema == NULL || ki_as_tree_object(schema, "properties", &properties) < 0 || properties == NULL) {
        json_decref(schema);
        return NULL;
    }
    int rc = json_object_set_new(properties, "metadata",
                                 json_pack("{s:[o], s:s}", "allOf", reference(metadata_name), "description",
                                           description_of("metadata")));
    static const char *const names[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < 2 && rc == 0; i++)
        rc = json_object_set_new(
            properties, names[i],
            json_pack("{s:s, s:s}", "type", "string", "description", description_of(names[i])));
    if (rc < 0) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

static int set_kind(json_t *schema, const struct ki_as_resource *resource)
{
    json_t *kinds = json_pack("[o]", ki_as_openapi_kind(resource));
    return json_object_set_new(schema, "x-kubernetes-group-version-kind", kinds) < 0 ? KI_ERR_NO_MEMORY : 0;
}

int ki_as_openapi_add(json_t *schemas, const struct ki_as_resource *resource)
{
    const struct ki_as_schema *known = ki_as_shape_of(resource).schema;
    const struct ki_as_schema *metadata = ki_as_shape_metadata().schema;
    int rc = add_special(schemas);
    if (rc == 0)
        rc = add_reachable(schemas, metadata);
    if (rc < 0)
        return rc;
    if (known != NULL) {
        rc = add_reachable(schemas, known);
        return rc < 0 ? rc : set_kind(json_object_get(schemas, known->name), resource);
    }
    json_t *name = custom_name(resource);
    json_t *schema = name == NULL ? NULL : custom_schema(resource, metadata->name);
    rc = schema == NULL ? KI_ERR_NO_MEMORY : set_kind(schema, resource);
    if (rc == 0 && json_object_set(schemas, json_string_value(name), schema) < 0)
        rc = KI_ERR_NO_MEMORY;
    json_decref(schema);
    json_decref(name);
    return rc;
}
