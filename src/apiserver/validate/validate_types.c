/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that fields of built-in kinds have values of their types, with Go's error messages. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/schema.h"
#include "apiserver/validate/validate.h"
#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/quantity.h"
#include "apiserver/value/timestamp.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/text/base64.h"

enum { PACKAGE_BYTES = 32 };

struct walk {
    const struct ki_as_resource *resource;
    struct ki_as_failure *failure;
    struct ki_as_check *check; /* gets violations of the types' rules; NULL if the rules are not checked */
};

/* Where a value is. */
struct slot {
    const struct ki_as_path *path;
    const struct ki_as_schema *owner; /* the type that has the field */
    const struct ki_as_schema_field *field;
    bool is_element; /* an element of the field's list or map */
};

/* Go calls "io.k8s.api.core.v1.PodSpec" PodSpec. */
static const char *short_name(const struct ki_as_schema *schema)
{
    const char *dot = schema == NULL ? NULL : strrchr(schema->name, '.');
    return dot == NULL ? "" : dot + 1;
}

static const char *go_name(const struct ki_as_schema_field *field)
{
    static const char *const names[KI_AS_TYPE_COUNT] = {
        [KI_AS_TYPE_ANY] = "interface {}",
        [KI_AS_TYPE_OBJECT] = "map[string]interface {}",
        [KI_AS_TYPE_STRING] = "string",
        [KI_AS_TYPE_TIME] = "string",
        [KI_AS_TYPE_BYTES] = "[]uint8",
        [KI_AS_TYPE_INTEGER] = "int64",
        [KI_AS_TYPE_INT32] = "int32",
        [KI_AS_TYPE_INT64] = "int64",
        [KI_AS_TYPE_NUMBER] = "float64",
        [KI_AS_TYPE_DOUBLE] = "float64",
        [KI_AS_TYPE_BOOLEAN] = "bool",
        [KI_AS_TYPE_INT_OR_STRING] = "intstr.IntOrString",
        [KI_AS_TYPE_QUANTITY] = "resource.Quantity",
    };
    return field->type < KI_AS_TYPE_COUNT ? names[field->type]
                                          : short_name(ki_as_schema_of_type(field->type));
}

/* In the types of lists, maps and structs, Go puts the package before the name: "v1.PodSpec". */
static void write_package(const struct ki_as_schema *schema, char out[PACKAGE_BYTES])
{
    const char *name = schema == NULL ? "" : schema->name;
    const char *dot = strrchr(name, '.');
    const char *start = dot;
    while (start != NULL && start > name && start[-1] != '.')
        start--;
    (void)snprintf(out, PACKAGE_BYTES, "%.*s", dot == NULL ? 0 : (int)(dot - start) + 1,
                   start == NULL ? "" : start);
}

/* Go's messages name the fields but not the index of the element. */
static void write_names(const struct ki_as_path *path, char out[KI_AS_PATH_BYTES])
{
    assert(strlen(out) < KI_AS_PATH_BYTES);
    if (path == NULL)
        return;
    write_names(path->parent, out);
    size_t at = strlen(out);
    if (path->name != NULL && !path->is_key)
        (void)snprintf(out + at, KI_AS_PATH_BYTES - at, "%s%s", at > 0 ? "." : "", path->name);
}

static int fail_type(struct walk *walk, const struct slot *slot, const json_t *value)
{
    assert(slot->field != NULL && slot->field->shape <= KI_AS_FIELD_MAP);
    static const char *const shapes[] = {
        [KI_AS_FIELD_ONE] = "", [KI_AS_FIELD_LIST] = "[]", [KI_AS_FIELD_MAP] = "map[string]"};
    char text[KI_AS_PATH_BYTES] = "";
    char package[PACKAGE_BYTES];
    write_names(slot->path, text);
    write_package(ki_as_schema_of_type(slot->field->type), package);
    const char *kind = walk->resource->kind;
    return ki_as_fail_bad_request(
        walk->failure,
        "%s in version \"%s\" cannot be handled as a %s: json: cannot unmarshal %s into Go "
        "struct field %s.%s of type %s%s%s",
        kind, walk->resource->version, kind, ki_as_json_type_name(value), short_name(slot->owner), text,
        slot->is_element ? "" : shapes[slot->field->shape], package, go_name(slot->field));
}

static bool is_scalar_good(uint16_t type, const json_t *value)
{
    switch (type) {
    case KI_AS_TYPE_STRING:
    case KI_AS_TYPE_TIME:
    case KI_AS_TYPE_BYTES:
        return json_is_string(value);
    case KI_AS_TYPE_INT32:
        return json_is_integer(value) && json_integer_value(value) >= INT32_MIN &&
               json_integer_value(value) <= INT32_MAX;
    case KI_AS_TYPE_INTEGER:
    case KI_AS_TYPE_INT64:
        return json_is_integer(value);
    case KI_AS_TYPE_NUMBER:
    case KI_AS_TYPE_DOUBLE:
        return json_is_number(value);
    case KI_AS_TYPE_BOOLEAN:
        return json_is_boolean(value);
    case KI_AS_TYPE_INT_OR_STRING:
        return json_is_integer(value) || json_is_string(value);
    case KI_AS_TYPE_QUANTITY:
        return json_is_number(value) || json_is_string(value);
    default:
        return type == KI_AS_TYPE_ANY || json_is_object(value);
    }
}

static int fail_base64(struct walk *walk)
{
    const char *kind = walk->resource->kind;
    return ki_as_fail_bad_request(walk->failure,
                                  "%s in version \"%s\" cannot be handled as a %s: illegal base64 data", kind,
                                  walk->resource->version, kind);
}

static int check_bytes(struct walk *walk, const json_t *value)
{
    ki_str text = ki_as_json_str(value);
    size_t len = 0;
    char *decoded = ki_malloc(KI_BASE64_DECODED_BYTES(text.len));
    if (decoded == NULL)
        return ki_as_fail_no_memory(walk->failure);
    int rc = ki_base64_decode(text, decoded, &len);
    ki_free(decoded);
    return rc < 0 ? fail_base64(walk) : 0;
}

static int check_quantity(struct walk *walk, const json_t *value)
{
    const char *kind = walk->resource->kind;
    ki_quantity_text quantity;
    if (ki_as_quantity_of(value, &quantity) >= 0)
        return 0;
    return ki_as_fail_bad_request(walk->failure,
                                  "%s in version \"%s\" cannot be handled as a %s: quantities must match the "
                                  "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                                  kind, walk->resource->version, kind);
}

static int check_time(struct walk *walk, const struct ki_as_schema_field *field, const json_t *value)
{
    assert(json_is_string(value));
    bool is_micro = (field->flags & KI_AS_FIELD_MICRO) != 0;
    const char *kind = walk->resource->kind;
    struct ki_as_time_fault fault = ki_as_time_check(ki_as_json_str(value), is_micro);
    if (fault.wanted == NULL)
        return 0;
    return ki_as_fail_bad_request(walk->failure,
                                  "%s in version \"%s\" cannot be handled as a %s: parsing time \"%s\" as "
                                  "\"2006-01-02T15:04:05%sZ07:00\": cannot parse \"%.*s\" as \"%s\"",
                                  kind, walk->resource->version, kind, json_string_value(value),
                                  is_micro ? ".000000" : "", KI_STR_ARGS(fault.rest), fault.wanted);
}

/* Checks the content of a text or number of the right type. */
static int check_meaning(struct walk *walk, const struct ki_as_schema_field *field, const json_t *value)
{
    switch (field->type) {
    case KI_AS_TYPE_BYTES:
        return check_bytes(walk, value);
    case KI_AS_TYPE_QUANTITY:
        return check_quantity(walk, value);
    case KI_AS_TYPE_TIME:
        return check_time(walk, field, value);
    default:
        return 0;
    }
}

static int check_fields(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *schema,
                        const json_t *object);

/* Checks one value of the field's type: the field itself, or an element of it. */
static int check_value(struct walk *walk, const struct slot *slot, const json_t *value)
{
    const struct ki_as_schema *schema = ki_as_schema_of_type(slot->field->type);
    if (json_is_null(value))
        return 0;
    if (schema == NULL ? !is_scalar_good(slot->field->type, value) : !json_is_object(value))
        return fail_type(walk, slot, value);
    return schema == NULL ? check_meaning(walk, slot->field, value)
                          : check_fields(walk, slot->path, schema, value);
}

static int check_elements(struct walk *walk, const struct slot *slot, const json_t *value)
{
    assert(!slot->is_element && slot->field->shape != KI_AS_FIELD_ONE);
    size_t index = 0;
    json_t *element = NULL;
    const char *key = NULL;
    struct slot own = {.owner = slot->owner, .field = slot->field, .is_element = true};
    int rc = 0;
    json_array_foreach(value, index, element)
    {
        own.path = KI_AS_ELEMENT(slot->path, index);
        if (rc == 0)
            rc = check_value(walk, &own, element);
    }
    json_object_foreach((json_t *)value, key, element)
    {
        own.path = KI_AS_KEY(slot->path, key);
        if (rc == 0)
            rc = check_value(walk, &own, element);
    }
    return rc;
}

static int check_field(struct walk *walk, const struct slot *slot, const json_t *value)
{
    uint8_t shape = slot->field->shape;
    if (shape == KI_AS_FIELD_ONE || json_is_null(value))
        return check_value(walk, slot, value);
    if (shape == KI_AS_FIELD_LIST ? !json_is_array(value) : !json_is_object(value))
        return fail_type(walk, slot, value);
    return check_elements(walk, slot, value);
}

static int check_fields(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *schema,
                        const json_t *object)
{
    assert(schema != NULL);
    json_t *tree = (json_t *)object;
    for (void *at = json_object_iter(tree); at != NULL; at = json_object_iter_next(tree, at)) {
        ki_str name = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const struct slot slot = {KI_AS_MEMBER(path, name.ptr), schema, ki_as_schema_field(schema, name),
                                  false};
        int rc = slot.field == NULL ? 0 : check_field(walk, &slot, json_object_iter_value(at));
        if (rc < 0)
            return rc;
    }
    if (walk->check != NULL)
        ki_as_check_rules(walk->check, path, schema, object);
    return 0;
}

int ki_as_check_types(const struct ki_as_resource *resource, const json_t *tree, struct ki_as_check *check,
                      struct ki_as_failure *failure)
{
    assert(resource != NULL && failure != NULL);
    struct walk walk = {resource, failure, check};
    struct ki_as_shape shape = ki_as_shape_of(resource);
    if (shape.custom == NULL && shape.schema != NULL)
        return check_fields(&walk, NULL, shape.schema, tree);
    struct ki_as_shape metadata = ki_as_shape_metadata();
    const json_t *value = json_object_get(tree, "metadata");
    return json_is_object(value) ? check_fields(&walk, KI_AS_PATH("metadata"), metadata.schema, value) : 0;
}

int ki_as_check_own_types(const struct ki_as_resource *resource, const json_t *tree,
                          struct ki_as_failure *failure)
{
    struct walk walk = {resource, failure, NULL};
    struct ki_as_shape shape = ki_as_shape_of(resource);
    struct slot slot = {KI_AS_PATH("status"), shape.schema, NULL, false};
    const json_t *metadata = json_object_get(tree, "metadata");
    const json_t *status = json_object_get(tree, "status");
    if (json_is_object(metadata) &&
        check_fields(&walk, KI_AS_PATH("metadata"), ki_as_shape_metadata().schema, metadata) < 0)
        return -1;
    if (shape.custom == NULL && shape.schema != NULL)
        slot.field = ki_as_schema_field(shape.schema, KI_STR("status"));
    return slot.field == NULL || status == NULL ? 0 : check_field(&walk, &slot, status);
}
