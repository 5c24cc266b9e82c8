/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/proto.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/schema.h"
#include "apiserver/value/timestamp.h"
#include "util/alloc.h"
#include "util/text/base64.h"
#include "util/units.h"

enum { DEPTH_MAX = 64 };
enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* One field of a message. */
struct field {
    uint32_t number;
    enum wire wire;
    uint64_t value; /* of a number */
    ki_str bytes;
};

static bool read_varint(ki_str *message, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && message->len > 0; shift += 7) {
        unsigned char byte = (unsigned char)message->ptr[0];
        message->ptr++;
        message->len--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool read_bytes(ki_str *message, uint64_t len, ki_str *out)
{
    if (len > message->len)
        return false;
    *out = (ki_str){message->ptr, (size_t)len};
    message->ptr += len;
    message->len -= (size_t)len;
    return true;
}

/* False if the message is truncated or malformed. */
static bool next_field(ki_str *message, struct field *out)
{
    assert(message->len > 0);
    uint64_t tag = 0;
    uint64_t len = 0;
    *out = (struct field){0};
    if (!read_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > 255 * 4)
        return false;
    out->number = (uint32_t)(tag >> 3);
    out->wire = (enum wire)(tag & 7);
    switch (out->wire) {
    case WIRE_VARINT:
        return read_varint(message, &out->value);
    case WIRE_BYTES:
        return read_varint(message, &len) && read_bytes(message, len, &out->bytes);
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        if (!read_bytes(message, out->wire == WIRE_FIXED64 ? 8 : 4, &out->bytes))
            return false;
        for (size_t i = out->bytes.len; i-- > 0;)
            out->value = out->value << 8 | (unsigned char)out->bytes.ptr[i];
        return true;
    }
    return false;
}

/* The first field with this number; false if there is none. */
static bool find_field(ki_str message, uint32_t number, struct field *out)
{
    assert(number > 0);
    struct field field;
    while (message.len > 0 && next_field(&message, &field)) {
        if (field.number == number) {
            *out = field;
            return true;
        }
    }
    return false;
}

/* ---- values; NULL if not of this type, or out of memory ------------------------------------------------ */

/* Like parsed JSON, texts must not contain NUL. */
static bool has_nul(ki_str text)
{
    return text.len > 0 && memchr(text.ptr, 0, text.len) != NULL;
}

static json_t *string_of(ki_str text)
{
    return has_nul(text) ? NULL : json_stringn(text.len > 0 ? text.ptr : "", text.len);
}

static json_t *time_of(ki_str message, bool is_micro)
{
    struct field seconds = {0};
    struct field nanos = {0};
    char text[KI_AS_TIME_BYTES];
    if (message.len == 0)
        return json_null();
    (void)find_field(message, 1, &seconds);
    (void)find_field(message, 2, &nanos);
    if (nanos.value >= KI_NS_PER_S)
        return NULL;
    int micros = is_micro ? (int)(nanos.value / KI_NS_PER_US) : -1;
    return ki_as_time_write((int64_t)seconds.value, micros, text) ? json_string(text) : NULL;
}

static json_t *int_or_string(ki_str message)
{
    struct field kind = {0};
    struct field value = {0};
    (void)find_field(message, 1, &kind);
    if (find_field(message, kind.value == 0 ? 2 : 3, &value) && kind.value != 0)
        return string_of(value.bytes);
    return kind.value == 0 ? json_integer((json_int_t)(int32_t)value.value) : json_string("");
}

static json_t *bytes_of(ki_str bytes)
{
    char *text = ki_malloc(KI_BASE64_ENCODED_BYTES(bytes.len) + 1);
    if (text == NULL)
        return NULL;
    json_t *value = json_stringn(text, ki_base64_encode(bytes, text));
    ki_free(text);
    return value;
}

/* Embedded JSON: RawExtension, FieldsV1 and JSON. No map has values of these types. */
static json_t *raw_of(ki_str message)
{
    struct field raw = {0};
    return find_field(message, 1, &raw) ? json_loadb(raw.bytes.ptr, raw.bytes.len, JSON_DECODE_ANY, NULL)
                                        : json_null();
}

/* ExtraValue. */
static json_t *strings_of(ki_str message)
{
    struct field element = {0};
    json_t *list = json_array();
    while (list != NULL && message.len > 0) {
        if (next_field(&message, &element) &&
            (element.number != 1 || json_array_append_new(list, string_of(element.bytes)) == 0))
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *scalar_of(const struct ki_as_schema_field *known, const struct field *field)
{
    struct field text = {0};
    double real = 0;
    switch (known->type) {
    case KI_AS_TYPE_STRING:
        return string_of(field->bytes);
    case KI_AS_TYPE_BYTES:
        return bytes_of(field->bytes);
    case KI_AS_TYPE_TIME:
        return time_of(field->bytes, (known->flags & KI_AS_FIELD_MICRO) != 0);
    case KI_AS_TYPE_INT32:
        return json_integer((json_int_t)(int32_t)field->value);
    case KI_AS_TYPE_INTEGER:
    case KI_AS_TYPE_INT64:
        return json_integer((json_int_t)field->value);
    case KI_AS_TYPE_NUMBER:
    case KI_AS_TYPE_DOUBLE:
        memcpy(&real, &field->value, sizeof(real));
        return json_real(real); /* NULL if JSON cannot represent it */
    case KI_AS_TYPE_BOOLEAN:
        return json_boolean(field->value != 0);
    case KI_AS_TYPE_INT_OR_STRING:
        return int_or_string(field->bytes);
    case KI_AS_TYPE_QUANTITY:
        (void)find_field(field->bytes, 1, &text);
        return string_of(text.bytes);
    default:
        return known->shape == KI_AS_FIELD_MAP ? strings_of(field->bytes) : raw_of(field->bytes);
    }
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static int read_message(ki_str message, const struct ki_as_schema *schema, uint8_t outer, unsigned depth,
                        json_t *object);

static json_t *object_of(ki_str message, const struct ki_as_schema *schema, unsigned depth)
{
    assert(schema != NULL && depth <= DEPTH_MAX);
    json_t *object = json_object();
    if (object != NULL && read_message(message, schema, 0, depth + 1, object) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Where a boolean is allowed instead of a schema, the boolean is field 1 and the schema is field 2; otherwise
 * the schema is field 1. No served kind has lists of schemas. */
static json_t *json_schema_of(ki_str message, unsigned depth)
{
    struct field first = {0};
    struct field second = {0};
    const struct ki_as_schema *schema =
        ki_as_schema_named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    bool has_first = find_field(message, 1, &first);
    bool has_second = find_field(message, 2, &second);
    if (schema == NULL || (!has_first && has_second))
        return NULL;
    if (has_first && first.wire == WIRE_BYTES)
        return object_of(first.bytes, schema, depth);
    return has_second ? object_of(second.bytes, schema, depth) : json_boolean(first.value != 0);
}

static json_t *value_of(const struct ki_as_schema_field *known, const struct field *field, unsigned depth)
{
    const struct ki_as_schema *schema = ki_as_schema_of_type(known->type);
    if (schema != NULL)
        return object_of(field->bytes, schema, depth);
    if ((known->flags & KI_AS_FIELD_SCHEMA) != 0)
        return json_schema_of(field->bytes, depth);
    return scalar_of(known, field);
}

/* In protobuf, Go writes all strings, numbers and booleans; in JSON it omits the empty ones. */
static bool is_worth_it(const struct ki_as_schema_field *known, const json_t *value)
{
    if ((known->flags & (KI_AS_FIELD_REQUIRED | KI_AS_FIELD_POINTER)) != 0)
        return true;
    bool is_zero =
        (json_is_integer(value) && json_integer_value(value) == 0 && known->type != KI_AS_TYPE_INT_OR_STRING);
    bool is_empty = json_is_string(value) && json_string_length(value) == 0;
    return !is_zero && !is_empty && !json_is_false(value) && !json_is_null(value);
}

static int put_entry(json_t *map, const struct ki_as_schema_field *known, ki_str entry, unsigned depth)
{
    assert(json_is_object(map) && known->shape == KI_AS_FIELD_MAP);
    struct field key = {0};
    struct field value = {.wire = WIRE_BYTES};
    (void)find_field(entry, 1, &key);
    (void)find_field(entry, 2, &value);
    if (has_nul(key.bytes))
        return -1;
    json_t *decoded = value_of(known, &value, depth);
    return json_object_setn_new(map, key.bytes.len > 0 ? key.bytes.ptr : "", key.bytes.len, decoded);
}

static int put(json_t *object, const struct ki_as_schema_field *known, const struct field *field,
               unsigned depth)
{
    json_t *there = json_object_get(object, known->name);
    if (known->shape == KI_AS_FIELD_ONE) {
        json_t *value = value_of(known, field, depth);
        if (value == NULL)
            return -1;
        int rc = is_worth_it(known, value) ? json_object_set(object, known->name, value) : 0;
        json_decref(value);
        return rc;
    }
    if (there == NULL) {
        there = known->shape == KI_AS_FIELD_LIST ? json_array() : json_object();
        if (json_object_set_new(object, known->name, there) < 0)
            return -1;
    }
    assert(known->shape == KI_AS_FIELD_MAP ? json_is_object(there) : json_is_array(there));
    if (known->shape == KI_AS_FIELD_MAP)
        return put_entry(there, known, field->bytes, depth);
    return json_array_append_new(there, value_of(known, field, depth));
}

static int read_field(const struct field *field, const struct ki_as_schema *schema, uint8_t outer,
                      unsigned depth, json_t *object)
{
    assert(depth <= DEPTH_MAX && field->number > 0);
    bool is_inline = false;
    uint8_t inner = (uint8_t)(outer == 0 ? field->number : outer | field->number << 4);
    unsigned mask = outer == 0 ? 0x0f : 0xff;
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct ki_as_schema_field *known = &ki_as_schema_fields[schema->first_field + i];
        if (known->number == field->number && known->outer == outer && known->number != 0)
            return put(object, known, field, depth);
        is_inline =
            is_inline || (field->number < 16 && known->outer != outer && (known->outer & mask) == inner);
    }
    /* A message whose members belong to the enclosing object in JSON. Unknown fields are skipped. */
    return is_inline ? read_message(field->bytes, schema, inner, depth + 1, object) : 0;
}

static int read_message(ki_str message, const struct ki_as_schema *schema, uint8_t outer, unsigned depth,
                        json_t *object)
{
    assert(schema != NULL && json_is_object(object));
    struct field field;
    while (message.len > 0) {
        if (depth > DEPTH_MAX || !next_field(&message, &field) ||
            read_field(&field, schema, outer, depth, object) < 0)
            return -1;
    }
    return 0;
}

/* ---- the envelope -------------------------------------------------------------------------------------- */

static const struct ki_as_schema *schema_of(ki_str api_version, ki_str kind)
{
    static const char options[] = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
    return ki_str_equal(kind, KI_STR("DeleteOptions")) ? ki_as_schema_named(options)
                                                       : ki_as_schema_find(api_version, kind);
}

bool ki_as_proto_is_type(ki_str media_type)
{
    return ki_str_equal(media_type, KI_STR("application/vnd.kubernetes.protobuf"));
}

int ki_as_proto_parse(ki_str body, json_t **out, struct ki_as_failure *failure)
{
    assert(out != NULL && failure != NULL);
    static const char magic[4] = {'k', '8', 's', 0};
    struct field type = {0};
    struct field raw = {0};
    struct field api_version = {0};
    struct field kind = {0};
    if (body.len < sizeof(magic) || memcmp(body.ptr, magic, sizeof(magic)) != 0)
        return ki_as_fail_bad_request(
            failure, "provided data does not appear to be a protobuf message, expected prefix "
                     "[107 56 115 0]");
    ki_str message = {body.ptr + sizeof(magic), body.len - sizeof(magic)};
    bool is_typed = find_field(message, 1, &type) && find_field(type.bytes, 2, &kind);
    (void)find_field(type.bytes, 1, &api_version);
    (void)find_field(message, 2, &raw);
    const struct ki_as_schema *schema = is_typed ? schema_of(api_version.bytes, kind.bytes) : NULL;
    if (schema == NULL)
        return ki_as_fail_bad_request(failure, "no kind \"%.*s\" is registered for version \"%.*s\"",
                                      KI_STR_ARGS(kind.bytes), KI_STR_ARGS(api_version.bytes));
    json_t *object =
        json_pack("{s:o, s:o}", "kind", string_of(kind.bytes), "apiVersion", string_of(api_version.bytes));
    if (object == NULL || read_message(raw.bytes, schema, 0, 0, object) < 0) {
        json_decref(object);
        return ki_as_fail_bad_request(
            failure, "the object provided is unrecognized: the protobuf message does not match its kind");
    }
    *out = object;
    return 0;
}
