/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of built-in kinds hold what their types say; Go's words for those that do not. */
#include <stdio.h>
#include <string.h>

#include "apiserver/patch_parts.h"
#include "apiserver/schema.h"
#include "apiserver/tree.h"
#include "apiserver/validate_parts.h"
#include "util/alloc.h"
#include "util/base64.h"

struct walk {
    const struct ki_as_resource *resource;
    struct ki_as_failure *failure;
};

/* "io.k8s.api.core.v1.PodSpec" is PodSpec to Go. */
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

static int fail_type(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *owner,
                     const struct ki_as_schema_field *field, const json_t *value)
{
    static const char *const shapes[] = {
        [KI_AS_FIELD_ONE] = "", [KI_AS_FIELD_LIST] = "[]", [KI_AS_FIELD_MAP] = "map[string]"};
    bool is_whole = (field->shape == KI_AS_FIELD_LIST) != json_is_array(value) && path->parent != NULL;
    char text[KI_AS_PATH_BYTES];
    ki_as_path_write(path, text);
    const char *kind = walk->resource->kind;
    return ki_as_fail_bad_request(
        walk->failure,
        "%s in version \"%s\" cannot be handled as a %s: json: cannot unmarshal %s into Go "
        "struct field %s.%s of type %s%s",
        kind, walk->resource->version, kind, ki_as_patch_type_name(value), short_name(owner), text,
        is_whole ? shapes[field->shape] : "", go_name(field));
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

static int check_fields(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *schema,
                        const json_t *object);

/* One value of the field's type: the field itself, or an element of it. */
static int check_value(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *owner,
                       const struct ki_as_schema_field *field, const json_t *value)
{
    const struct ki_as_schema *schema = ki_as_schema_of_type(field->type);
    if (json_is_null(value))
        return 0;
    if (schema == NULL ? !is_scalar_good(field->type, value) : !json_is_object(value))
        return fail_type(walk, path, owner, field, value);
    if (field->type == KI_AS_TYPE_BYTES)
        return check_bytes(walk, value);
    return schema == NULL ? 0 : check_fields(walk, path, schema, value);
}

static int check_field(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *owner,
                       const struct ki_as_schema_field *field, const json_t *value)
{
    size_t index = 0;
    json_t *element = NULL;
    const char *key = NULL;
    int rc = 0;
    if (value == walk->resource->tolerations)
        return 0; /* the server's own */
    if (field->shape == KI_AS_FIELD_ONE || json_is_null(value))
        return check_value(walk, path, owner, field, value);
    if (field->shape == KI_AS_FIELD_LIST ? !json_is_array(value) : !json_is_object(value))
        return fail_type(walk, path, owner, field, value);
    json_array_foreach(value, index, element)
    {
        if (rc == 0)
            rc = check_value(walk, path, owner, field, element);
    }
    json_object_foreach((json_t *)value, key, element)
    {
        if (rc == 0)
            rc = check_value(walk, path, owner, field, element);
    }
    return rc;
}

static int check_fields(struct walk *walk, const struct ki_as_path *path, const struct ki_as_schema *schema,
                        const json_t *object)
{
    json_t *tree = (json_t *)object;
    for (void *at = json_object_iter(tree); at != NULL; at = json_object_iter_next(tree, at)) {
        ki_str name = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const json_t *value = json_object_iter_value(at);
        const struct ki_as_schema_field *field = ki_as_schema_field(schema, name);
        int rc = field == NULL ? 0 : check_field(walk, KI_AS_MEMBER(path, name.ptr), schema, field, value);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ki_as_check_types(const struct ki_as_resource *resource, const json_t *tree,
                      struct ki_as_failure *failure)
{
    struct walk walk = {resource, failure};
    struct ki_as_shape shape = ki_as_shape_of(resource);
    if (shape.custom == NULL && shape.schema != NULL)
        return check_fields(&walk, NULL, shape.schema, tree);
    struct ki_as_shape metadata = ki_as_shape_metadata();
    const json_t *value = json_object_get(tree, "metadata");
    return json_is_object(value) ? check_fields(&walk, KI_AS_PATH("metadata"), metadata.schema, value) : 0;
}
