/* SPDX-License-Identifier: Apache-2.0 */
#include "proto_encode.h"

#include <jansson.h>
#include <kinformer/timestamp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/table.h"
#include "reference.h"

enum { NAME_BYTES_MAX = 256, WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bench: protobuf: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static void put_varint(struct text *out, uint64_t number)
{
    char bytes[10];
    size_t n = 0;
    for (; number >= 0x80; number >>= 7) {
        bytes[n++] = (char)(number | 0x80);
    }
    bytes[n++] = (char)number;
    text_append(out, bytes, n);
}

static void put_number(struct text *out, unsigned field, uint64_t number)
{
    put_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(out, number);
}

static void put_bytes(struct text *out, unsigned field, const char *bytes, size_t n)
{
    put_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(out, n);
    if (n > 0) {
        text_append(out, bytes, n);
    }
}

static void put_text(struct text *out, unsigned field, const json_t *string)
{
    put_bytes(out, field, string == NULL ? "" : json_string_value(string), json_string_length(string));
}

static void put_nested(struct text *out, unsigned field, struct text *content)
{
    put_bytes(out, field, content->data, content->length);
    text_fini(content);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void put_message(struct text *out, const ki_proto_message *message, const json_t *object);

static void put_time(struct text *out, const json_t *value)
{
    ki_timestamp time = {0};
    if (json_is_string(value)) {
        require(ki_timestamp_parse(ki_str_of(json_string_value(value)), &time) == 0, "a time");
        put_number(out, 1, (uint64_t)time.seconds);
        put_number(out, 2, 0);
    }
}

static void put_int_or_string(struct text *out, const json_t *value)
{
    put_number(out, 1, json_is_string(value));
    put_number(out, 2, json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0);
    put_text(out, 3, json_is_string(value) ? value : NULL);
}

static void put_raw(struct text *out, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    require(text != NULL, "JSON text");
    put_bytes(out, 1, text, strlen(text));
    free(text);
}

static void put_value(struct text *out, const ki_proto_field *field, const json_t *value)
{
    struct text content = {0};
    switch (field->type) {
    case KI_PROTO_STRING:
        put_text(out, field->number, value);
        return;
    case KI_PROTO_BOOL:
        put_number(out, field->number, json_is_true(value));
        return;
    case KI_PROTO_INT32:
    case KI_PROTO_INT64:
        put_number(out, field->number, (uint64_t)json_integer_value(value));
        return;
    case KI_PROTO_TIME:
        put_time(&content, value);
        break;
    case KI_PROTO_QUANTITY:
        put_text(&content, 1, value);
        break;
    case KI_PROTO_INT_OR_STRING:
        put_int_or_string(&content, value);
        break;
    case KI_PROTO_RAW:
        put_raw(&content, value);
        break;
    default:
        require(field->type == KI_PROTO_MESSAGE || field->type == KI_PROTO_INLINE,
                "a type that pods do not have");
        put_message(&content, ki_proto_message_of(field), value);
    }
    put_nested(out, field->number, &content);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_map(struct text *out, const ki_proto_field *field, json_t *map)
{
    const char *names[64];
    size_t count = 0;
    for (void *at = json_object_iter(map); at != NULL; at = json_object_iter_next(map, at)) {
        require(count < sizeof(names) / sizeof(names[0]), "a large map");
        names[count++] = json_object_iter_key(at);
    }
    qsort(names, count, sizeof(names[0]), compare_names);
    for (size_t i = 0; i < count; i++) {
        ki_proto_field value = *field;
        struct text entry = {0};
        value.number = 2;
        put_bytes(&entry, 1, names[i], strlen(names[i]));
        put_value(&entry, &value, json_object_get(map, names[i]));
        put_nested(out, field->number, &entry);
    }
}

/* Whether Go writes the field although the JSON does not have it: it is not a pointer. */
static bool is_always_there(const ki_proto_field *field)
{
    return (field->flags & KI_PROTO_OMIT_ZERO) != 0 ||
           (field->flags & KI_PROTO_ABSENT) == KI_PROTO_ABSENT_ZERO;
}

static void put_field(struct text *out, const ki_proto_field *field, const json_t *object)
{
    char name[NAME_BYTES_MAX];
    if (field->type == KI_PROTO_INLINE) {
        put_value(out, field, object);
        return;
    }
    snprintf(name, sizeof(name), "%.*s", field->name_len - 4, ki_proto_names + field->name + 2);
    json_t *value = json_object_get(object, name);
    if (json_is_null(value)) {
        value = NULL;
    }
    if ((field->flags & KI_PROTO_MAP) != 0) {
        put_map(out, field, value);
    } else if ((field->flags & KI_PROTO_LIST) != 0) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            put_value(out, field, json_array_get(value, i));
        }
    } else if (value != NULL || is_always_there(field)) {
        put_value(out, field, value);
    }
}

static void put_message(struct text *out, const ki_proto_message *message, const json_t *object)
{
    require(message->form == KI_PROTO_FORM_FIELDS, "a form that pods do not have");
    for (uint32_t number = 1; number <= message->number_max; number++) {
        unsigned place = ki_proto_place(message, number);
        if (place > 0) {
            put_field(out, &ki_proto_fields[message->first + place - 1], object);
        }
    }
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static void put_list(struct text *out, const json_t *list)
{
    const ki_proto_message *pod = ki_proto_find(KI_STR("v1"), KI_STR("Pod"));
    const json_t *items = json_object_get(list, "items");
    const json_t *metadata = json_object_get(list, "metadata");
    const json_t *remaining = json_object_get(metadata, "remainingItemCount");
    struct text type = {0}, raw = {0}, list_metadata = {0};
    require(pod != NULL && json_is_array(items), "a list");
    put_text(&list_metadata, 1, NULL);
    put_text(&list_metadata, 2, json_object_get(metadata, "resourceVersion"));
    put_text(&list_metadata, 3, json_object_get(metadata, "continue"));
    if (remaining != NULL) {
        put_number(&list_metadata, 4, (uint64_t)json_integer_value(remaining));
    }
    put_nested(&raw, 1, &list_metadata);
    for (size_t i = 0; i < json_array_size(items); i++) {
        struct text item = {0};
        put_message(&item, pod, json_array_get(items, i));
        put_nested(&raw, 2, &item);
    }
    put_bytes(&type, 1, "v1", 2);
    put_bytes(&type, 2, "PodList", 7);
    text_append(out, "k8s", 4);
    put_nested(out, 1, &type);
    put_nested(out, 2, &raw);
    put_bytes(out, 3, NULL, 0);
    put_bytes(out, 4, NULL, 0);
}

void proto_encode_lists(struct documents *out, const struct documents *json)
{
    *out = (struct documents){.count = json->count, .objects = json->objects};
    out->items = calloc(json->count, sizeof(*out->items));
    require(out->items != NULL, "out of memory");
    for (size_t i = 0; i < json->count; i++) {
        json_t *list = json_loadb(json->items[i].data, json->items[i].length, 0, NULL);
        require(list != NULL, "a document");
        put_list(&out->items[i], list);
        text_reserve(&out->items[i], REFERENCE_PADDING);
        out->bytes += out->items[i].length;
        json_decref(list);
    }
}
