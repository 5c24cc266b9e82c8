/* SPDX-License-Identifier: Apache-2.0 */
/* locate - finds the fields of a message, and skips those that are unknown or not needed by their length.
 *
 *   From:     proto/members.c
 *   To:       proto/wire.h
 *   Locks:    none; one owner.
 *   Not here: what is in the fields.
 *
 * The JSON has its members in the order of the Go type, the wire in that of the numbers. So a message is read
 * twice: once to find its fields, which looks at tags and lengths only, and once to write them.
 */
#ifndef KI_PROTO_LOCATE_H
#define KI_PROTO_LOCATE_H

#include "proto/message_parts.h"

enum { KI_PROTO_FIELDS_MAX = 64 };

#define KI_RARELY(condition) __builtin_expect((condition), 0)

/* Fields by their place in the table. One that is zero and left out in the JSON counts as absent. */
typedef struct ki_proto_located {
    uint64_t present; /* bit i: field i occurs */
    uint64_t packed;  /* bit i: the numbers of a list share a field, its first one */
    /* Where their content begins, from the beginning of the message: behind the tag, the first of a list. */
    uint32_t starts[KI_PROTO_FIELDS_MAX];
} ki_proto_located;

/* Reports a malformed field. */
int ki_proto_malformed_field(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag);

/* A field that the tables do not have, or that is not needed. The former is counted if it could have been
 * kept. `content` is behind the tag, NULL if that is malformed. Returns its end, or NULL after a report. */
const uint8_t *ki_proto_skip_other(ki_proto_reader *reader, const ki_proto_scope *scope,
                                   const uint8_t *content, const uint8_t *end, uint64_t tag);

/* Moves past the content of a field that is known. */
static inline const uint8_t *ki_proto_skip_known(const uint8_t *at, const uint8_t *end, unsigned type)
{
    uint64_t number = 0;
    if (type == KI_WIRE_BYTES || type == KI_WIRE_VARINT) {
        at = ki_wire_varint(at, end, &number);
        number = type == KI_WIRE_BYTES ? number : 0;
        return at != NULL && number <= (uint64_t)(end - at) ? at + number : NULL;
    }
    return type != KI_WIRE_FIXED64 || end - at < 8 ? NULL : at + 8;
}

/* A wire type that is not that of the field. Returns whether it may be: numbers of a list may be packed. */
int ki_proto_note_packed(ki_proto_located *out, unsigned flags, uint64_t tag, uint64_t bit);

/* Where the fields of a message are in the table, by number; 0 for those that are not needed. */
static inline const uint8_t *ki_proto_places_of(const ki_proto_scope *scope)
{
    return scope->view == NULL ? &ki_proto_numbers[scope->message->numbers]
                               : ki_proto_view_places(scope->view);
}

static inline int ki_proto_stop(ki_proto_located *out, uint64_t present, int rc)
{
    out->present = present;
    return rc;
}

/* Returns 0; or KI_ERR_PROTOBUF, with the fields before the malformed one, or with is_irregular set if a
 * field occurs again. All lengths that were located are within the message, and wire types are as the table
 * says.
 *
 * The innermost loop: what is rare stays out of it, so that its variables are in registers. */
static inline __attribute__((always_inline)) int ki_proto_locate(ki_proto_reader *reader,
                                                                 const ki_proto_scope *scope,
                                                                 const ki_wire_value *value,
                                                                 ki_proto_located *out)
{
    const ki_proto_field *fields = &ki_proto_fields[scope->message->first];
    const uint8_t *places = ki_proto_places_of(scope);
    const uint32_t number_max = scope->message->number_max;
    const uint8_t *base = value->at;
    const uint8_t *end = base + value->len;
    const uint8_t *at = base;
    uint64_t present = 0;
    uint64_t before = 0; /* the former tag */
    out->packed = 0;
    while (at < end) {
        uint64_t tag = 0;
        const uint8_t *content = ki_wire_varint(at, end, &tag);
        const uint32_t number = ki_wire_number_of(tag); /* 0 if it is malformed */
        const unsigned place = number <= number_max ? places[number] : 0;
        if (KI_RARELY(place == 0)) {
            at = ki_proto_skip_other(reader, scope, content, end, tag);
            before = 0;
            if (at == NULL)
                break;
            continue;
        }
        const unsigned flags = fields[place - 1].flags;
        const uint64_t bit = UINT64_C(1) << (place - 1);
        at = ki_proto_skip_known(content, end, ki_wire_type_of(tag));
        if (KI_RARELY(at == NULL || (ki_wire_type_of(tag) != ki_proto_wire_type_of(flags) &&
                                     !ki_proto_note_packed(out, flags, tag, bit & ~present))))
            return ki_proto_stop(out, present, ki_proto_malformed_field(reader, scope->message, tag));
        if (KI_RARELY((present & bit) != 0)) {
            if (ki_wire_number_of(before) != number || (flags & (KI_PROTO_LIST | KI_PROTO_MAP)) == 0)
                return ki_proto_irregular(reader);
            continue;
        }
        before = tag;
        if (*content == 0 && (flags & KI_PROTO_OMIT_ZERO) != 0)
            continue; /* as many fields are: an empty text or time, 0 and false are one byte */
        present |= bit;
        out->starts[place - 1] = (uint32_t)(content - base);
    }
    return ki_proto_stop(out, present, at == NULL ? KI_ERR_PROTOBUF : 0);
}

/* A cursor at a field that is present. */
static inline ki_proto_cursor ki_proto_cursor_at(const ki_proto_message *message, const ki_wire_value *value,
                                                 const ki_proto_located *located, unsigned place)
{
    const ki_proto_field *field = &ki_proto_fields[message->first + place];
    unsigned type = (located->packed >> place & 1) != 0 ? KI_WIRE_BYTES : ki_proto_wire_type(field);
    return (ki_proto_cursor){.at = value->at + located->starts[place],
                             .end = value->at + value->len,
                             .tag = (uint64_t)field->number << 3 | type};
}

#endif
