/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/fast_path.h"

/* Whether the next field has the same tag, in its shortest encoding; if so, *at moves past it. The same tag
 * in a longer encoding is treated as a repeated field. */
static inline int take_same_tag(const uint8_t **at, const uint8_t *end, uint64_t tag)
{
    if (tag < 0x80) {
        const int is_same = *at < end && **at == tag;
        *at += is_same;
        return is_same;
    }
    if (end - *at < 2 || (*at)[0] != (uint8_t)(tag | 0x80) || (*at)[1] != tag >> 7)
        return 0;
    *at += 2;
    return 1;
}

/* Writes one element, with a comma before it. */
static inline char *put_element(ki_proto_reader *reader, const ki_proto_message *message, ki_str value,
                                char *to)
{
    enum { EXTRA = 3 }; /* ,"" */
    /* For a message, its size is not reserved: much of it may not be in its JSON. */
    const size_t space = (message == NULL ? value.len : 0) + EXTRA + KI_PROTO_NAME_BYTES;
    int rc = 0;
    if (KI_RARELY((size_t)(reader->out.end - to) < space)) {
        reader->out.at = to;
        rc = ki_proto_out_reserve(&reader->out, space);
        if (rc < 0)
            return ki_proto_stop(reader, to, rc);
        to = reader->out.at;
    }
    *to++ = ',';
    if (message != NULL)
        return ki_proto_write_whole(reader, message, value, to);
    *to = '"';
    if (ki_proto_copy_plain(to + 1, (const uint8_t *)value.ptr, value.len, reader->readable_end)) {
        to[value.len + 1] = '"';
        return to + value.len + 2;
    }
    reader->out.at = to;
    rc = ki_proto_out_string(&reader->out, value);
    return rc < 0 ? ki_proto_stop(reader, to, rc) : reader->out.at;
}

/* Whether the elements of a list are messages with fields, or text. */
static inline int is_usual(const ki_proto_field *field, const ki_proto_message *message)
{
    return message == NULL ? field->type == KI_PROTO_STRING : message->form == KI_PROTO_FORM_FIELDS;
}

ki_proto_step ki_proto_fast_list(ki_proto_reader *reader, const ki_proto_field *field, ki_str rest, char *to)
{
    const ki_proto_message *message = field->type == KI_PROTO_MESSAGE ? ki_proto_message_of(field) : NULL;
    const uint64_t tag = (uint64_t)field->number << 3 | KI_WIRE_BYTES;
    const uint8_t *end = (const uint8_t *)rest.ptr + rest.len;
    ki_wire_value value;
    const uint8_t *at = ki_wire_bytes((const uint8_t *)rest.ptr, end, &value);
    if (at == NULL || !is_usual(field, message) || !ki_proto_has_space(reader, to, 0) ||
        ki_proto_enter(reader) < 0)
        return KI_PROTO_NOT_USUAL;
    to = ki_proto_put_name(to, field);
    const size_t start = (size_t)(to - reader->out.text);
    for (;;) {
        to = put_element(reader, message, ki_proto_bytes(&value), to);
        if (to == NULL)
            return KI_PROTO_NOT_USUAL;
        if (!take_same_tag(&at, end, tag))
            break;
        at = ki_wire_bytes(at, end, &value);
        if (at == NULL)
            return (ki_proto_step){NULL, ki_proto_stop(reader, to, ki_proto_malformed(reader, "a list"))};
    }
    ki_proto_leave(reader);
    return (ki_proto_step){at, ki_proto_end_container(reader, start, to, "[]")};
}

ki_proto_step ki_proto_fast_map(ki_proto_reader *reader, const ki_proto_field *field, ki_str rest, char *to)
{
    const uint8_t *at = (const uint8_t *)rest.ptr;
    ki_proto_cursor cursor = {at, at + rest.len, (uint64_t)field->number << 3 | KI_WIRE_BYTES};
    ki_wire_value first;
    if (ki_wire_bytes(at, cursor.end, &first) == NULL || !ki_proto_has_space(reader, to, 0))
        return KI_PROTO_NOT_USUAL;
    reader->out.at = ki_proto_put_name(to, field);
    int rc = ki_proto_put_map(reader, field, &cursor, NULL);
    return (ki_proto_step){cursor.at, rc < 0 ? ki_proto_stop(reader, reader->out.at, rc) : reader->out.at};
}
