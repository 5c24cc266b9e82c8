/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/whole.h"

#include <assert.h>

#include "proto/leaf.h"
#include "proto/plain.h"

/* What a name and a short value need at most: the name, and what is copied beyond its end. */
enum { ROOM = UINT8_MAX + KI_PROTO_NAME_BYTES + 64 };

/* A length or number that is known to be within the message. */
static inline const uint8_t *read_known(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
    if (*at < 0x80) {
        *out = *at;
        return at + 1;
    }
    at = ki_wire_varint(at, end, out);
    assert(at != NULL);
    return at;
}

static inline char *put_name(char *to, const ki_proto_field *field)
{
    ki_proto_out_copy_name(to, ki_proto_names + field->name, field->name_len);
    return to + field->name_len;
}

/* Text without escapes. Returns 0 if it is not that. */
static inline int put_text(ki_proto_reader *reader, const ki_proto_field *field, const uint8_t *at,
                           const uint8_t *end)
{
    ki_proto_out *out = &reader->out;
    uint64_t n = 0;
    const uint8_t *from = read_known(at, end, &n);
    if (n == 0 && (field->flags & KI_PROTO_OMIT_ZERO) != 0)
        return 0;
    if ((size_t)(out->end - out->at) < n + ROOM)
        return 0;
    char *to = put_name(out->at, field);
    *to++ = '"';
    if (!ki_proto_copy_plain(to, from, n, reader->readable_end))
        return 0;
    to[n] = '"';
    out->at = to + n + 1;
    return 1;
}

static inline int put_number(ki_proto_reader *reader, const ki_proto_field *field, const uint8_t *at,
                             const uint8_t *end)
{
    ki_proto_out *out = &reader->out;
    uint64_t number = 0;
    read_known(at, end, &number);
    int64_t value = field->type == KI_PROTO_INT32 ? (int32_t)(uint32_t)number : (int64_t)number;
    if (value == 0 && (field->flags & KI_PROTO_OMIT_ZERO) != 0)
        return 0;
    out->at = put_name(out->at, field);
    if (field->type == KI_PROTO_BOOL) {
        memcpy(out->at, value != 0 ? "true " : "false", 5);
        out->at += value != 0 ? 4 : 5;
        return 1;
    }
    int rc = ki_proto_out_int(out, value);
    return rc < 0 ? rc : 1;
}

static int put_holder(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor)
{
    int rc = ki_proto_out_name(&reader->out, ki_proto_names + field->name, field->name_len);
    if (rc < 0)
        return rc;
    return (field->flags & KI_PROTO_LIST) != 0 ? ki_proto_put_list(reader, field, cursor, NULL)
                                               : ki_proto_put_map(reader, field, cursor, NULL);
}

static inline int put_message(ki_proto_reader *reader, const ki_proto_field *field, const uint8_t *at,
                              const uint8_t *end)
{
    uint64_t n = 0;
    ki_wire_value value = {.at = read_known(at, end, &n)};
    value.len = (size_t)n;
    reader->out.at = put_name(reader->out.at, field);
    const ki_proto_message *message = ki_proto_message_of(field);
    int rc = message->form == KI_PROTO_FORM_FIELDS && !reader->is_careful
                 ? ki_proto_put_whole(reader, message, &value)
                 : ki_proto_put_message(reader, message, &value, NULL);
    return rc < 0 ? rc : 1;
}

/* A time that is not left out if it is zero. */
static inline int put_time(ki_proto_reader *reader, const ki_proto_field *field, const uint8_t *at,
                           const uint8_t *end)
{
    uint64_t n = 0;
    if ((field->flags & KI_PROTO_OMIT_ZERO) != 0)
        return 0;
    at = read_known(at, end, &n);
    char *to = ki_proto_leaf_usual_time(&reader->out, put_name(reader->out.at, field), at, n);
    if (to == NULL)
        return 0;
    reader->out.at = to;
    return 1;
}

/* Returns 1 if the member was written, 0 if ki_proto_put_field() must do it, or an error. */
static inline int put_usual(ki_proto_reader *reader, const ki_proto_field *field, const uint8_t *at,
                            const uint8_t *end)
{
    if (reader->out.end - reader->out.at < ROOM)
        return 0;
    switch (field->type) {
    case KI_PROTO_STRING:
        return put_text(reader, field, at, end);
    case KI_PROTO_BOOL:
    case KI_PROTO_INT32:
    case KI_PROTO_INT64:
        return put_number(reader, field, at, end);
    case KI_PROTO_MESSAGE:
        return put_message(reader, field, at, end);
    case KI_PROTO_TIME:
        return put_time(reader, field, at, end);
    default:
        return 0;
    }
}

static int put_all(ki_proto_reader *reader, const ki_proto_scope *scope, const ki_wire_value *value,
                   const ki_proto_located *located)
{
    const ki_proto_message *message = scope->message;
    const ki_proto_field *fields = &ki_proto_fields[message->first];
    const uint8_t *end = value->at + value->len;
    const uint64_t present = located->present;
    for (uint64_t left = present | message->required; left != 0; left &= left - 1) {
        const unsigned place = (unsigned)__builtin_ctzll(left);
        int rc = 0;
        if ((present >> place & 1) == 0) {
            rc = ki_proto_put_absent(reader, scope, place);
        } else if (ki_proto_is_holder(&fields[place])) {
            ki_proto_cursor cursor = ki_proto_cursor_at(message, value, located, place);
            rc = put_holder(reader, &fields[place], &cursor);
        } else if ((rc = put_usual(reader, &fields[place], value->at + located->starts[place], end)) == 0) {
            ki_proto_cursor cursor = ki_proto_cursor_at(message, value, located, place);
            rc = ki_proto_put_field(reader, scope, place, &cursor);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ki_proto_put_whole_members(ki_proto_reader *reader, const ki_proto_message *message,
                               const ki_wire_value *value)
{
    const ki_proto_scope scope = {.message = message};
    ki_proto_located located;
    int rc = ki_proto_locate(reader, &scope, value, &located);
    if (reader->is_irregular)
        return rc;
    int written = put_all(reader, &scope, value, &located);
    return rc < 0 ? rc : written;
}

int ki_proto_put_whole(ki_proto_reader *reader, const ki_proto_message *message, const ki_wire_value *value)
{
    size_t start = ki_proto_out_place(&reader->out);
    int rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = ki_proto_put_whole_members(reader, message, value);
    if (rc < 0)
        return rc;
    ki_proto_leave(reader);
    return ki_proto_out_close(&reader->out, start, "{}");
}
