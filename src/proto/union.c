/* SPDX-License-Identifier: Apache-2.0 */
/* Messages whose JSON is the value of one of their fields: messages that only contain a list, and
 * alternatives to a schema (a boolean, schemas or strings). */
#include <assert.h>

#include "proto/message_parts.h"
#include "proto/reorder.h"
#include "util/alloc.h"

/* The fields of such a message. */
typedef struct parts {
    ki_wire_value single; /* the schema */
    ki_wire_value flag;
    ki_proto_cursor list; /* at its first element */
    int has_single;
    int has_list;
} parts;

/* The field that is the list; NULL if there is none. */
static const ki_proto_field *list_field(const ki_proto_message *message)
{
    for (unsigned i = 0; i < message->count; i++)
        if ((ki_proto_fields[message->first + i].flags & KI_PROTO_LIST) != 0)
            return &ki_proto_fields[message->first + i];
    return NULL;
}

static const ki_proto_field *schema_field(const ki_proto_message *message)
{
    for (unsigned i = 0; i < message->count; i++) {
        const ki_proto_field *field = &ki_proto_fields[message->first + i];
        if (field->type == KI_PROTO_MESSAGE && (field->flags & KI_PROTO_LIST) == 0)
            return field;
    }
    return NULL;
}

static int skip_list(ki_proto_cursor *cursor)
{
    do {
        cursor->at = ki_wire_skip(cursor->at, cursor->end, cursor->tag);
    } while (cursor->at != NULL && ki_proto_next_same(cursor));
    return cursor->at == NULL ? KI_ERR_PROTOBUF : 0;
}

/* Notes where a field is, and moves past it. Returns 0, or an error if the field is malformed or has
 * occurred before. */
static int take_field(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                      parts *out)
{
    int is_list = (field->flags & KI_PROTO_LIST) != 0;
    if (is_list ? out->has_list : field->type == KI_PROTO_MESSAGE && out->has_single)
        return ki_proto_irregular(reader);
    if (is_list) {
        out->has_list = 1;
        out->list = *cursor;
        return skip_list(cursor);
    }
    unsigned type = ki_wire_type_of(cursor->tag);
    int is_flag = field->type == KI_PROTO_BOOL;
    out->has_single |= !is_flag;
    cursor->at = type != ki_proto_wire_type(field)
                     ? NULL
                     : ki_wire_value_read(cursor->at, cursor->end, type, is_flag ? &out->flag : &out->single);
    return cursor->at == NULL ? KI_ERR_PROTOBUF : 0;
}

static int find_parts(ki_proto_reader *reader, const ki_proto_message *message, const ki_wire_value *value,
                      parts *out)
{
    ki_proto_cursor cursor = {.at = value->at, .end = value->at + value->len};
    int rc = 0;
    while (rc == 0 && cursor.at < cursor.end) {
        cursor.at = ki_wire_varint(cursor.at, cursor.end, &cursor.tag);
        if (cursor.at == NULL)
            return KI_ERR_PROTOBUF;
        unsigned place = ki_proto_place(message, ki_wire_number_of(cursor.tag));
        if (place > 0) {
            rc = take_field(reader, &ki_proto_fields[message->first + place - 1], &cursor, out);
        } else {
            cursor.at = ki_wire_skip(cursor.at, cursor.end, cursor.tag);
            rc = cursor.at == NULL ? KI_ERR_PROTOBUF : 0;
        }
    }
    return rc;
}

static int put_parts(ki_proto_reader *reader, const ki_proto_message *message, parts *found,
                     ki_proto_rule *rule)
{
    assert(!found->has_list || list_field(message) != NULL);
    assert(!found->has_single || schema_field(message) != NULL);
    if (found->has_list)
        return ki_proto_put_list(reader, list_field(message), &found->list, rule);
    if (found->has_single)
        return ki_proto_put_message(reader, ki_proto_message_of(schema_field(message)), &found->single, rule);
    switch (message->form) {
    case KI_PROTO_FORM_ITEMS:
        return ki_proto_out_text(&reader->out, KI_STR("[]"));
    case KI_PROTO_FORM_SCHEMA_OR_BOOL:
        return ki_proto_out_text(&reader->out, found->flag.number != 0 ? KI_STR("true") : KI_STR("false"));
    default:
        return ki_proto_out_text(&reader->out, KI_STR("null"));
    }
}

int ki_proto_put_union(ki_proto_reader *reader, const ki_proto_message *message, const ki_wire_value *value,
                       ki_proto_rule *rule)
{
    assert(message->form != KI_PROTO_FORM_FIELDS);
    ki_wire_value bytes = *value;
    parts found = {0};
    char *copy = NULL;
    int rc = 0;
    if (reader->is_careful)
        rc = ki_proto_reorder(reader, message, &bytes, &copy);
    if (rc == 0)
        rc = find_parts(reader, message, &bytes, &found);
    if (rc == KI_ERR_PROTOBUF)
        rc = ki_proto_malformed(reader, "a list or schema");
    /* The rules for the message apply to the field that is written instead of it. */
    ki_proto_rule inner = {.node = rule == NULL ? NULL : rule->node};
    if (rc == 0)
        rc = put_parts(reader, message, &found, &inner);
    ki_free(copy);
    return rc;
}
