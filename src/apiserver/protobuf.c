/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/protobuf.h"

#include <kinformer/error.h>
#include <string.h>

#include "apiserver/protobuf_parts.h"

/* As deep as JSON may be; a stack holds that. */
enum { DEPTH_MAX = 200 };

static int decode_value(uint16_t type, const struct ki_as_entry *entry, unsigned depth, json_t **out);
static int decode_fields(uint16_t type, ki_str message, unsigned depth, json_t *object);

/* ---- messages ------------------------------------------------------------------------------------------ */

static int decode_message(uint16_t type, const struct ki_as_entry *entry, unsigned depth, json_t **out)
{
    if (entry->wire != KI_AS_LENGTH || depth >= DEPTH_MAX)
        return KI_ERR_INVALID;
    json_t *object = json_object();
    int rc = object == NULL ? KI_ERR_NO_MEMORY : decode_fields(type, entry->bytes, depth + 1, object);
    if (rc == 0)
        *out = object;
    else
        json_decref(object);
    return rc;
}

/* A JSON schema may be a list or a bool at some places. */
static int decode_alternatives(ki_str message, uint16_t type, unsigned depth, json_t **out)
{
    struct ki_as_entry entry;
    json_t *list = json_array();
    int rc = list == NULL ? KI_ERR_NO_MEMORY : 1;
    while (rc > 0 && (rc = ki_as_entry_next(&message, &entry)) > 0) {
        json_t *value = NULL;
        int made = entry.number != 2 ? 0 : decode_value(type, &entry, depth, &value);
        if (made < 0)
            rc = made;
        else if (value != NULL && json_array_append_new(list, value) < 0)
            rc = KI_ERR_NO_MEMORY;
    }
    if (rc == 0)
        *out = list;
    else
        json_decref(list);
    return rc;
}

static int decode_schema(uint16_t type, ki_str message, unsigned depth, json_t **out)
{
    struct ki_as_entry entry;
    bool is_or_bool = type == KI_AS_WIRE_SCHEMA_OR_BOOL;
    if (ki_as_entry_find(message, is_or_bool ? 2 : 1, &entry) < 0)
        return KI_ERR_INVALID;
    if (entry.wire == KI_AS_LENGTH)
        return decode_message(ki_as_message_schema, &entry, depth, out);
    if (!is_or_bool)
        return decode_alternatives(
            message, type == KI_AS_WIRE_SCHEMA_OR_LIST ? ki_as_message_schema : KI_AS_WIRE_STRING, depth,
            out);
    if (ki_as_entry_find(message, 1, &entry) < 0)
        return KI_ERR_INVALID;
    *out = json_boolean(entry.integer != 0);
    return 0;
}

static int decode_value(uint16_t type, const struct ki_as_entry *entry, unsigned depth, json_t **out)
{
    if (type >= KI_AS_WIRE_COUNT)
        return decode_message(type, entry, depth, out);
    if (type < KI_AS_WIRE_SCHEMA_OR_BOOL)
        return ki_as_wire_value(type, entry, out);
    return entry->wire == KI_AS_LENGTH ? decode_schema(type, entry->bytes, depth, out) : KI_ERR_INVALID;
}

/* ---- fields -------------------------------------------------------------------------------------------- */

static int put(json_t *object, ki_str name, json_t *value)
{
    return json_object_setn_new(object, name.ptr, name.len, value) < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* The list or map of that name, made when it is not there yet. */
static json_t *collection(json_t *object, const char *name, bool is_list)
{
    json_t *found = json_object_get(object, name);
    if (found != NULL)
        return found;
    found = is_list ? json_array() : json_object();
    return found == NULL || json_object_set_new(object, name, found) < 0 ? NULL : found;
}

static int add_to_list(const struct ki_as_message_field *field, const struct ki_as_entry *entry,
                       unsigned depth, json_t *object)
{
    json_t *list = collection(object, field->name, true);
    json_t *value = NULL;
    int rc = list == NULL ? KI_ERR_NO_MEMORY : decode_value(field->type, entry, depth, &value);
    if (rc < 0 || value == NULL)
        return rc;
    return json_array_append_new(list, value) < 0 ? KI_ERR_NO_MEMORY : 0;
}

/* An entry of a map is a message with key and value. */
static int add_to_map(const struct ki_as_message_field *field, const struct ki_as_entry *entry,
                      unsigned depth, json_t *object)
{
    struct ki_as_entry key;
    struct ki_as_entry content;
    json_t *value = NULL;
    json_t *name = NULL;
    if (entry->wire != KI_AS_LENGTH || ki_as_entry_find(entry->bytes, 1, &key) < 0 ||
        ki_as_entry_find(entry->bytes, 2, &content) < 0)
        return KI_ERR_INVALID;
    /* A value that is not there is its zero. */
    if (content.number == 0)
        content.wire = KI_AS_LENGTH;
    key.wire = KI_AS_LENGTH;
    int rc = ki_as_wire_value(KI_AS_WIRE_STRING, &key, &name);
    json_t *map = collection(object, field->name, false);
    if (rc == 0)
        rc = map == NULL ? KI_ERR_NO_MEMORY : decode_value(field->type, &content, depth, &value);
    if (rc == 0 && value != NULL)
        rc = put(map, (ki_str){json_string_value(name), json_string_length(name)}, value);
    json_decref(name);
    return rc;
}

static int add_one(const struct ki_as_message_field *field, const struct ki_as_entry *entry, unsigned depth,
                   json_t *object)
{
    json_t *value = NULL;
    int rc = decode_value(field->type, entry, depth, &value);
    if (rc < 0 || value == NULL)
        return rc;
    if (!field->is_pointer && ki_as_wire_is_zero(value)) {
        json_decref(value);
        return 0;
    }
    return put(object, ki_str_of(field->name), value);
}

static int add_field(const struct ki_as_message_field *field, const struct ki_as_entry *entry, unsigned depth,
                     json_t *object)
{
    switch (field->shape) {
    case KI_AS_WIRE_LIST:
        return add_to_list(field, entry, depth, object);
    case KI_AS_WIRE_MAP:
        return add_to_map(field, entry, depth, object);
    case KI_AS_WIRE_INLINE:
        if (entry->wire != KI_AS_LENGTH || depth >= DEPTH_MAX)
            return KI_ERR_INVALID;
        return decode_fields(field->type, entry->bytes, depth + 1, object);
    default:
        return add_one(field, entry, depth, object);
    }
}

static int decode_fields(uint16_t type, ki_str message, unsigned depth, json_t *object)
{
    const struct ki_as_message *kind = &ki_as_messages[type - KI_AS_WIRE_COUNT];
    const struct ki_as_message_field *fields = &ki_as_message_fields[kind->first_field];
    struct ki_as_entry entry;
    int rc;
    while ((rc = ki_as_entry_next(&message, &entry)) > 0) {
        size_t i = 0;
        while (i < kind->field_count && fields[i].number != entry.number)
            i++;
        rc = i < kind->field_count ? add_field(&fields[i], &entry, depth, object) : 0;
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static const char magic[] = {'k', '8', 's', 0};

/* The number of its type; 0: there is no such kind. Options are the same for all groups. */
static uint16_t find_kind(ki_str api_version, ki_str kind)
{
    bool is_options = ki_str_equal(kind, KI_STR("DeleteOptions"));
    for (size_t i = 0; i < ki_as_message_count; i++)
        if (ki_as_messages[i].kind != NULL && ki_str_equal(kind, ki_str_of(ki_as_messages[i].kind)) &&
            (is_options || ki_str_equal(api_version, ki_str_of(ki_as_messages[i].api_version))))
            return (uint16_t)(KI_AS_WIRE_COUNT + i);
    return 0;
}

static int put_text(json_t *object, const char *name, ki_str text)
{
    json_t *value = json_stringn(text.ptr, text.len);
    return value == NULL || json_object_set_new(object, name, value) < 0 ? KI_ERR_NO_MEMORY : 0;
}

static int decode_kind(ki_str type_meta, ki_str raw, json_t *object, struct ki_as_failure *failure)
{
    struct ki_as_entry version;
    struct ki_as_entry kind;
    if (ki_as_entry_find(type_meta, 1, &version) < 0 || ki_as_entry_find(type_meta, 2, &kind) < 0)
        return KI_ERR_INVALID;
    uint16_t type = find_kind(version.bytes, kind.bytes);
    if (type == 0)
        return ki_as_fail_bad_request(failure, "no kind \"%.*s\" is registered for version \"%.*s\"",
                                      KI_STR_ARGS(kind.bytes), KI_STR_ARGS(version.bytes));
    int rc = put_text(object, "apiVersion", version.bytes);
    if (rc == 0)
        rc = put_text(object, "kind", kind.bytes);
    return rc < 0 ? rc : decode_fields(type, raw, 0, object);
}

bool ki_as_protobuf_is_type(ki_str media_type)
{
    return ki_str_equal(media_type, KI_STR("application/vnd.kubernetes.protobuf"));
}

int ki_as_protobuf_decode(ki_str body, json_t **out, struct ki_as_failure *failure)
{
    struct ki_as_entry type_meta;
    struct ki_as_entry raw;
    if (body.len < sizeof(magic) || memcmp(body.ptr, magic, sizeof(magic)) != 0)
        return ki_as_fail_bad_request(failure, "provided data does not appear to be a protobuf message, "
                                               "expected prefix [107 56 115 0]");
    ki_str rest = {body.ptr + sizeof(magic), body.len - sizeof(magic)};
    json_t *object = json_object();
    int rc = object == NULL ? KI_ERR_NO_MEMORY : 0;
    if (rc == 0 && (ki_as_entry_find(rest, 1, &type_meta) < 0 || ki_as_entry_find(rest, 2, &raw) < 0))
        rc = KI_ERR_INVALID;
    if (rc == 0)
        rc = decode_kind(type_meta.bytes, raw.bytes, object, failure);
    if (rc == 0) {
        *out = object;
        return 0;
    }
    json_decref(object);
    if (failure->code != 0)
        return -1;
    return rc == KI_ERR_NO_MEMORY ? ki_as_fail_no_memory(failure)
                                  : ki_as_fail_bad_request(failure, "the protobuf of the body is malformed");
}
