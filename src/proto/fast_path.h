/* SPDX-License-Identifier: Apache-2.0 */
/* fast_path - writes the members that most messages consist of: short text, numbers, times, messages and
 * lists.
 *
 *   From:     proto/message_write.c
 *   To:       proto/message_write.h again, for messages; proto/map.c, for maps
 *   Locks:    none; one owner.
 *   Not here: projections; other values (proto/members.c writes them).
 *
 * The space for a name and a short value is checked once. Both are copied in large blocks, so bytes beyond
 * their ends are written too.
 */
#ifndef KI_PROTO_FAST_PATH_H
#define KI_PROTO_FAST_PATH_H

#include "proto/leaf.h"
#include "proto/message_write.h"
#include "proto/plain.h"

/* Where reading and writing continue. If `to` is NULL, either reader->rc is an error, or the field is not
 * for the fast path and nothing was read. */
typedef struct ki_proto_step {
    const uint8_t *at;
    char *to;
} ki_proto_step;

/* These functions are all inlined into the innermost loop, where they become one switch. */
#define KI_PROTO_IN_LOOP static inline __attribute__((always_inline))

#define KI_PROTO_NOT_USUAL ((ki_proto_step){NULL, NULL})

/* The maximum space for a name and a short value, including the bytes that are copied beyond their ends. */
enum { KI_PROTO_SPACE = UINT8_MAX + KI_PROTO_NAME_BYTES + 64 };

static inline int ki_proto_has_space(const ki_proto_reader *reader, const char *to, size_t n)
{
    return (size_t)(reader->out.end - to) >= n + KI_PROTO_SPACE;
}

KI_PROTO_IN_LOOP char *ki_proto_put_name(char *to, const ki_proto_field *field)
{
    const size_t n = field->name_len;
    ki_proto_out_copy_name(to, ki_proto_names + field->name, n);
    return to + n;
}

/* Write a list of messages or text, or a map; `rest` begins after the tag of its first element. */
ki_proto_step ki_proto_fast_list(ki_proto_reader *reader, const ki_proto_field *field, ki_str rest, char *to);
ki_proto_step ki_proto_fast_map(ki_proto_reader *reader, const ki_proto_field *field, ki_str rest, char *to);

/* Writes text that needs no escapes; returns NULL for other text. */
KI_PROTO_IN_LOOP char *ki_proto_fast_text(ki_proto_reader *reader, const ki_proto_field *field,
                                          const ki_wire_value *text, char *to)
{
    if (!ki_proto_has_space(reader, to, text->len))
        return NULL;
    to = ki_proto_put_name(to, field);
    *to++ = '"';
    if (!ki_proto_copy_plain(to, text->at, text->len, reader->readable_end))
        return NULL;
    to[text->len] = '"';
    return to + text->len + 1;
}

KI_PROTO_IN_LOOP char *ki_proto_fast_message(ki_proto_reader *reader, const ki_proto_field *field,
                                             const ki_wire_value *value, char *to)
{
    const ki_proto_message *message = ki_proto_message_of(field);
    if (message->form != KI_PROTO_FORM_FIELDS || !ki_proto_has_space(reader, to, 0))
        return NULL;
    return ki_proto_write_whole(reader, message, ki_proto_bytes(value), ki_proto_put_name(to, field));
}

/* Writes a time. The caller has already omitted an empty value, if the field omits zero values. */
KI_PROTO_IN_LOOP char *ki_proto_fast_time(ki_proto_reader *reader, const ki_proto_field *field,
                                          const ki_wire_value *value, char *to)
{
    if (!ki_proto_has_space(reader, to, 0))
        return NULL;
    if (value->len == 0) {
        static const char null[4] = {'n', 'u', 'l', 'l'};
        to = ki_proto_put_name(to, field);
        memcpy(to, null, sizeof(null));
        return to + sizeof(null);
    }
    return ki_proto_leaf_usual_time(&reader->out, ki_proto_put_name(to, field), value->at, value->len);
}

KI_PROTO_IN_LOOP char *ki_proto_fast_bytes(ki_proto_reader *reader, const ki_proto_field *field,
                                           const ki_wire_value *value, char *to)
{
    switch (field->type) {
    case KI_PROTO_STRING:
        return ki_proto_fast_text(reader, field, value, to);
    case KI_PROTO_MESSAGE:
        return ki_proto_fast_message(reader, field, value, to);
    case KI_PROTO_TIME:
        return ki_proto_fast_time(reader, field, value, to);
    case KI_PROTO_INLINE:
        return ki_proto_write_inline(reader, ki_proto_message_of(field), ki_proto_bytes(value), to);
    default:
        return NULL;
    }
}

KI_PROTO_IN_LOOP char *ki_proto_fast_number(ki_proto_reader *reader, const ki_proto_field *field,
                                            uint64_t number, char *to)
{
    if (!ki_proto_has_space(reader, to, 0))
        return NULL;
    const int64_t value = field->type == KI_PROTO_INT32 ? (int32_t)(uint32_t)number : (int64_t)number;
    if (value == 0 && (field->flags & KI_PROTO_OMIT_ZERO) != 0)
        return to;
    to = ki_proto_put_name(to, field);
    if (field->type != KI_PROTO_BOOL)
        return ki_proto_out_digits(to, value);
    static const char words[2][5] = {{'f', 'a', 'l', 's', 'e'}, {'t', 'r', 'u', 'e'}};
    memcpy(to, words[value != 0], sizeof(words[0]));
    return to + 5 - (value != 0);
}

/* Writes a single value whose wire type is bytes. */
KI_PROTO_IN_LOOP ki_proto_step ki_proto_fast_single(ki_proto_reader *reader, const ki_proto_field *field,
                                                    ki_proto_cursor cursor, char *to)
{
    ki_wire_value value;
    const uint8_t *at = ki_wire_bytes(cursor.at, cursor.end, &value);
    if (KI_RARELY(at == NULL))
        return KI_PROTO_NOT_USUAL;
    if (value.len == 0 && (field->flags & KI_PROTO_OMIT_ZERO) != 0)
        return (ki_proto_step){at, to}; /* common, because Go also writes empty text */
    return (ki_proto_step){at, ki_proto_fast_bytes(reader, field, &value, to)};
}

/* Writes the member whose tag is before the cursor. If the member is omitted, `to` of the result is
 * unchanged. */
KI_PROTO_IN_LOOP ki_proto_step ki_proto_fast_field(ki_proto_reader *reader, const ki_proto_field *field,
                                                   ki_proto_cursor cursor, char *to)
{
    const unsigned flags = field->flags;
    ki_wire_value value;
    if (ki_wire_type_of(cursor.tag) == KI_WIRE_BYTES && flags < KI_PROTO_LIST)
        return ki_proto_fast_single(reader, field, cursor, to); /* the most common case */
    if (KI_RARELY(ki_wire_type_of(cursor.tag) != ki_proto_wire_type_of(flags)))
        return KI_PROTO_NOT_USUAL;
    if ((flags & (KI_PROTO_LIST | KI_PROTO_MAP)) != 0) {
        const ki_str rest = {(const char *)cursor.at, (size_t)(cursor.end - cursor.at)};
        return (flags & KI_PROTO_LIST) != 0 ? ki_proto_fast_list(reader, field, rest, to)
                                            : ki_proto_fast_map(reader, field, rest, to);
    }
    if (KI_RARELY(flags >= KI_PROTO_FIXED64))
        return KI_PROTO_NOT_USUAL;
    const uint8_t *at = ki_wire_varint(cursor.at, cursor.end, &value.number);
    if (KI_RARELY(at == NULL))
        return KI_PROTO_NOT_USUAL;
    return (ki_proto_step){at, ki_proto_fast_number(reader, field, value.number, to)};
}

#endif
