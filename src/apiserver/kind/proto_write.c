/* SPDX-License-Identifier: Apache-2.0 */
/* The length of a message precedes the message, but is known only after it. So it is inserted when the
 * message is complete. As in Go, fields are in the order of their numbers, and values that are not pointers
 * are written even if they are zero. So a decoder must not take the presence of a field for a value. */
#include "apiserver/kind/proto_write.h"

#include <assert.h>
#include <kinformer/error.h>
#include <kinformer/timestamp.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/schema.h"
#include "apiserver/value/encode.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/text/base64.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, VARINT_BYTES_MAX = 10 };

/* After the first error nothing more is written. */
struct writer {
    ki_buf *out;
    int rc;
};

/* ---- bytes --------------------------------------------------------------------------------------------- */

static size_t write_varint(char *bytes, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    assert(n <= VARINT_BYTES_MAX);
    return n;
}

static void put_plain(struct writer *writer, ki_str bytes)
{
    if (writer->rc == 0)
        writer->rc = ki_as_encode_plain(writer->out, bytes);
}

static void put_varint(struct writer *writer, uint64_t value)
{
    char bytes[VARINT_BYTES_MAX];
    put_plain(writer, (ki_str){bytes, write_varint(bytes, value)});
}

static void put_number(struct writer *writer, unsigned number, uint64_t value)
{
    put_varint(writer, (uint64_t)number << 3 | WIRE_VARINT);
    put_varint(writer, value);
}

static void put_bytes(struct writer *writer, unsigned number, ki_str bytes)
{
    put_varint(writer, (uint64_t)number << 3 | WIRE_BYTES);
    put_varint(writer, bytes.len);
    put_plain(writer, bytes);
}

static void put_double(struct writer *writer, unsigned number, double value)
{
    uint64_t bits = 0;
    char bytes[sizeof(bits)];
    memcpy(&bits, &value, sizeof(bits));
    for (size_t i = 0; i < sizeof(bits); i++)
        bytes[i] = (char)(bits >> 8 * i);
    put_varint(writer, (uint64_t)number << 3 | WIRE_FIXED64);
    put_plain(writer, (ki_str){bytes, sizeof(bytes)});
}

static void insert(struct writer *writer, size_t at, ki_str bytes)
{
    assert(at <= writer->out->len);
    ki_buf *out = writer->out;
    if (writer->rc == 0)
        writer->rc = ki_as_encode_reserve(out, bytes.len);
    if (writer->rc < 0)
        return;
    memmove(out->data + at + bytes.len, out->data + at, out->len - at);
    memcpy(out->data + at, bytes.ptr, bytes.len);
    out->len += bytes.len;
}

/* Turns the bytes from `at` on into the content of a field, by inserting its tag and length before them. */
static void wrap(struct writer *writer, size_t at, unsigned number)
{
    assert(number > 0 && at <= writer->out->len);
    char bytes[2 * VARINT_BYTES_MAX];
    size_t n = write_varint(bytes, (uint64_t)number << 3 | WIRE_BYTES);
    n += write_varint(bytes + n, writer->out->len - at);
    insert(writer, at, (ki_str){bytes, n});
}

/* ---- values; NULL is written as zero ------------------------------------------------------------------- */

static void put_base64(struct writer *writer, unsigned number, ki_str text)
{
    ki_buf *out = writer->out;
    size_t at = out->len;
    size_t len = 0;
    if (writer->rc == 0)
        writer->rc = ki_as_encode_reserve(out, KI_BASE64_DECODED_BYTES(text.len));
    if (writer->rc < 0)
        return;
    if (ki_base64_decode(text, out->data + at, &len) == 0)
        out->len += len;
    wrap(writer, at, number);
}

/* A time without a value is an empty message. */
static void put_time(struct writer *writer, unsigned number, const json_t *value, bool is_micro)
{
    size_t at = writer->out->len;
    ki_str text = ki_as_json_str(value);
    ki_timestamp time;
    if (ki_timestamp_parse(text, &time) == 0) {
        put_number(writer, 1, (uint64_t)time.seconds);
        put_number(writer, 2, is_micro ? (uint64_t)(time.nanos - time.nanos % 1000) : 0);
    }
    wrap(writer, at, number);
}

static void put_int_or_string(struct writer *writer, unsigned number, const json_t *value)
{
    size_t at = writer->out->len;
    put_number(writer, 1, json_is_string(value));
    put_number(writer, 2, (uint64_t)json_integer_value(value));
    put_bytes(writer, 3, ki_as_json_str(value));
    wrap(writer, at, number);
}

static void put_quantity(struct writer *writer, unsigned number, ki_str text)
{
    size_t at = writer->out->len;
    put_bytes(writer, 1, text.len > 0 ? text : KI_STR("0"));
    wrap(writer, at, number);
}

/* RawExtension, FieldsV1 and JSON contain text. ExtraValue, the only one of these types that occurs in a map,
 * contains strings. */
static void put_raw(struct writer *writer, unsigned number, const struct ki_as_schema_field *field,
                    const json_t *value)
{
    size_t at = writer->out->len;
    if (field->shape == KI_AS_FIELD_MAP) {
        for (size_t i = 0; i < json_array_size(value); i++)
            put_bytes(writer, 1, ki_as_json_str(json_array_get(value, i)));
    } else if (value != NULL) {
        if (writer->rc == 0)
            writer->rc = ki_as_encode(writer->out, value);
        wrap(writer, at, 1);
    }
    wrap(writer, at, number);
}

static void put_scalar(struct writer *writer, unsigned number, const struct ki_as_schema_field *field,
                       const json_t *value)
{
    switch (field->type) {
    case KI_AS_TYPE_STRING:
        put_bytes(writer, number, ki_as_json_str(value));
        return;
    case KI_AS_TYPE_BYTES:
        put_base64(writer, number, ki_as_json_str(value));
        return;
    case KI_AS_TYPE_TIME:
        put_time(writer, number, value, (field->flags & KI_AS_FIELD_MICRO) != 0);
        return;
    case KI_AS_TYPE_INTEGER:
    case KI_AS_TYPE_INT32:
    case KI_AS_TYPE_INT64:
        put_number(writer, number, (uint64_t)json_integer_value(value));
        return;
    case KI_AS_TYPE_NUMBER:
    case KI_AS_TYPE_DOUBLE:
        put_double(writer, number, json_number_value(value));
        return;
    case KI_AS_TYPE_BOOLEAN:
        put_number(writer, number, json_is_true(value));
        return;
    case KI_AS_TYPE_INT_OR_STRING:
        put_int_or_string(writer, number, value);
        return;
    case KI_AS_TYPE_QUANTITY:
        put_quantity(writer, number, ki_as_json_str(value));
        return;
    default:
        put_raw(writer, number, field, value);
    }
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static void put_message(struct writer *writer, unsigned number, const struct ki_as_schema *schema,
                        const json_t *object);

/* A boolean is field 1; elements of a list are field 2. Where a boolean is allowed instead of a schema, the
 * schema is field 2, and the boolean is written as true; otherwise the schema is field 1. */
static void put_json_schema(struct writer *writer, unsigned number, const struct ki_as_schema_field *field,
                            const json_t *value)
{
    const struct ki_as_schema *schema =
        ki_as_schema_named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    bool allows_boolean = strncmp(field->name, "additional", strlen("additional")) == 0;
    size_t at = writer->out->len;
    if (allows_boolean)
        put_number(writer, 1, json_is_true(value) || json_is_object(value));
    if (json_is_object(value))
        put_message(writer, allows_boolean ? 2 : 1, schema, value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *element = json_array_get(value, i);
        if (json_is_string(element))
            put_bytes(writer, 2, ki_as_json_str(element));
        else
            put_message(writer, 2, schema, element);
    }
    wrap(writer, at, number);
}

static void put_value(struct writer *writer, unsigned number, const struct ki_as_schema_field *field,
                      const json_t *value)
{
    const struct ki_as_schema *schema = ki_as_schema_of_type(field->type);
    if (schema != NULL)
        put_message(writer, number, schema, value);
    else if ((field->flags & KI_AS_FIELD_SCHEMA) != 0)
        put_json_schema(writer, number, field, value);
    else
        put_scalar(writer, number, field, value);
}

static ki_str entry_name(void *entry)
{
    return (ki_str){json_object_iter_key(entry), json_object_iter_key_len(entry)};
}

static int compare_entries(const void *left, const void *right)
{
    return ki_str_compare(entry_name(*(void *const *)left), entry_name(*(void *const *)right));
}

/* Go sorts the entries by their names. */
static void put_map(struct writer *writer, const struct ki_as_schema_field *field, const json_t *map)
{
    /* jansson's iterators want a non-const object but do not modify it. */
    json_t *object = (json_t *)map;
    size_t count = 0;
    if (json_object_size(map) == 0)
        return;
    void **entries = ki_calloc(json_object_size(map), sizeof(*entries));
    if (entries == NULL) {
        writer->rc = KI_ERR_NO_MEMORY;
        return;
    }
    for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i))
        entries[count++] = i;
    assert(count == json_object_size(map));
    qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < count; i++) {
        size_t at = writer->out->len;
        put_bytes(writer, 1, entry_name(entries[i]));
        put_value(writer, 2, field, json_object_iter_value(entries[i]));
        wrap(writer, at, field->number);
    }
    ki_free(entries);
}

static void put_field(struct writer *writer, const struct ki_as_schema_field *field, const json_t *value)
{
    if (field->shape == KI_AS_FIELD_MAP) {
        put_map(writer, field, value);
    } else if (field->shape == KI_AS_FIELD_LIST) {
        for (size_t i = 0; i < json_array_size(value); i++)
            put_value(writer, field->number, field, json_array_get(value, i));
    } else if (value != NULL && (!json_is_null(value) || field->type == KI_AS_TYPE_TIME)) {
        put_value(writer, field->number, field, value); /* in Go's JSON, null is the zero time */
    } else if ((field->flags & KI_AS_FIELD_POINTER) == 0 && field->type != KI_AS_TYPE_BYTES) {
        put_value(writer, field->number, field, NULL);
    }
}

/* A message whose fields are being written. */
struct message {
    const struct ki_as_schema *schema;
    const json_t *object;
    size_t next; /* in the order of the wire */
};

/* Writes the next fields, as long as they are in the nested messages `outer` (four bits for each level).
 * `shift` is the position of the bits of the next level. */
static void put_fields(struct writer *writer, struct message *message, unsigned outer, unsigned shift)
{
    assert(shift <= 8 && outer >> shift == 0);
    const struct ki_as_schema *schema = message->schema;
    const uint8_t *order = ki_as_schema_wire_order + schema->first_field;
    unsigned mask = (1U << shift) - 1;
    while (message->next < schema->field_count) {
        assert(order[message->next] < schema->field_count);
        const struct ki_as_schema_field *field =
            &ki_as_schema_fields[schema->first_field + order[message->next]];
        unsigned inner = field->outer >> shift & 0x0f;
        if ((field->outer & mask) != outer)
            return;
        if (inner > 0) {
            size_t at = writer->out->len;
            put_fields(writer, message, outer | inner << shift, shift + 4);
            wrap(writer, at, inner);
            continue;
        }
        message->next++;
        if (field->number != 0) /* kind and apiVersion are in the envelope */
            put_field(writer, field, json_object_get(message->object, field->name));
    }
}

static void put_message(struct writer *writer, unsigned number, const struct ki_as_schema *schema,
                        const json_t *object)
{
    assert(schema != NULL);
    size_t at = writer->out->len;
    struct message message = {.schema = schema, .object = object};
    put_fields(writer, &message, 0, 0);
    wrap(writer, at, number);
}

/* ---- envelopes ----------------------------------------------------------------------------------------- */

/* The numbers of fields differ between versions, so the schema of another version cannot be used. */
static const struct ki_as_schema *find_schema(ki_str api_version, ki_str kind)
{
    const struct ki_as_schema *schema = ki_as_schema_find(api_version, kind);
    return schema != NULL && ki_str_equal(ki_str_of(schema->api_version), api_version) ? schema : NULL;
}

bool ki_as_proto_has(const char *api_version, const char *kind)
{
    return find_schema(ki_str_of(api_version), ki_str_of(kind)) != NULL;
}

static const struct ki_as_schema *schema_of(const json_t *tree)
{
    return find_schema(ki_as_json_str(json_object_get(tree, "apiVersion")),
                       ki_as_json_str(json_object_get(tree, "kind")));
}

/* The envelope up to its content. */
static void put_type(struct writer *writer, const json_t *tree)
{
    put_plain(writer, (ki_str){"k8s", 4});
    size_t at = writer->out->len;
    put_bytes(writer, 1, ki_as_json_str(json_object_get(tree, "apiVersion")));
    put_bytes(writer, 2, ki_as_json_str(json_object_get(tree, "kind")));
    wrap(writer, at, 1);
}

/* The encoding and the type of the content. Both are empty: they are those of the response. */
static void put_rest(struct writer *writer)
{
    put_bytes(writer, 3, (ki_str){0});
    put_bytes(writer, 4, (ki_str){0});
}

int ki_as_proto_object(ki_buf *out, const json_t *tree)
{
    struct writer writer = {.out = out};
    const struct ki_as_schema *schema = schema_of(tree);
    if (schema == NULL)
        return KI_ERR_RESOURCE;
    put_type(&writer, tree);
    put_message(&writer, 2, schema, tree);
    put_rest(&writer);
    return writer.rc;
}

int ki_as_proto_list_begin(ki_buf *out, const json_t *head, size_t *out_at)
{
    struct writer writer = {.out = out};
    put_type(&writer, head);
    *out_at = out->len;
    put_message(&writer, 1, ki_as_schema_named("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"),
                json_object_get(head, "metadata"));
    return writer.rc;
}

int ki_as_proto_list_item(ki_buf *out, const json_t *tree)
{
    struct writer writer = {.out = out};
    const struct ki_as_schema *schema = schema_of(tree);
    if (schema == NULL)
        return KI_ERR_RESOURCE;
    put_message(&writer, 2, schema, tree);
    return writer.rc;
}

int ki_as_proto_list_end(ki_buf *out, size_t at)
{
    assert(at <= out->len);
    struct writer writer = {.out = out};
    wrap(&writer, at, 2);
    put_rest(&writer);
    return writer.rc;
}

int ki_as_proto_event(ki_buf *out, const json_t *event)
{
    struct writer writer = {.out = out};
    size_t at = out->len;
    put_bytes(&writer, 1, ki_as_json_str(json_object_get(event, "type")));
    size_t object_at = out->len;
    if (writer.rc == 0)
        writer.rc = ki_as_proto_object(out, json_object_get(event, "object"));
    wrap(&writer, object_at, 1);
    wrap(&writer, object_at, 2);
    size_t len = out->len - at;
    const char frame[4] = {(char)(len >> 24), (char)(len >> 16), (char)(len >> 8), (char)len};
    insert(&writer, at, (ki_str){frame, sizeof(frame)});
    return writer.rc;
}
