/* SPDX-License-Identifier: Apache-2.0 */
/* wire - the bytes of protobuf: numbers, tags, lengths.
 *
 *   From:     all of proto/
 *   Locks:    none; pure functions.
 *   Not here: what a field means.
 *
 * Every function takes the end of the enclosing message, and returns NULL instead of reading past it.
 */
#ifndef KI_PROTO_WIRE_H
#define KI_PROTO_WIRE_H

#include <kinformer/common.h>
#include <string.h>

enum {
    KI_WIRE_VARINT = 0,
    KI_WIRE_FIXED64 = 1,
    KI_WIRE_BYTES = 2,
    KI_WIRE_GROUP = 3,
    KI_WIRE_GROUP_END = 4,
    KI_WIRE_FIXED32 = 5
};

enum { KI_WIRE_VARINT_BYTES_MAX = 10 };

/* The content of one field: bytes, or a number. */
typedef struct ki_wire_value {
    const uint8_t *at;
    size_t len;
    uint64_t number;
} ki_wire_value;

const uint8_t *ki_wire_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *out_number);

static inline const uint8_t *ki_wire_varint(const uint8_t *at, const uint8_t *end, uint64_t *out_number)
{
    if (at < end && *at < 0x80) {
        *out_number = *at;
        return at + 1;
    }
    if (end - at >= 2 && at[1] < 0x80) {
        *out_number = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        return at + 2;
    }
    uint64_t number = 0; /* a local variable, so that *out_number can stay in a register */
    at = ki_wire_long_varint(at, end, &number);
    *out_number = number;
    return at;
}

/* The number of the field, cut to 32 bits as in Go. */
static inline uint32_t ki_wire_number_of(uint64_t tag)
{
    return (uint32_t)(tag >> 3);
}

static inline unsigned ki_wire_type_of(uint64_t tag)
{
    return (unsigned)(tag & 7);
}

/* Reads a length, and sets `out` to the content of that length. */
static inline const uint8_t *ki_wire_bytes(const uint8_t *at, const uint8_t *end, ki_wire_value *out)
{
    uint64_t len = 0;
    at = ki_wire_varint(at, end, &len);
    if (at == NULL || len > (uint64_t)(end - at))
        return NULL;
    out->at = at;
    out->len = (size_t)len;
    return at + len;
}

/* Reads the value after a tag: bytes, a varint or 64 bits. Returns NULL for other wire types. */
static inline const uint8_t *ki_wire_value_read(const uint8_t *at, const uint8_t *end, unsigned type,
                                                ki_wire_value *out)
{
    if (type == KI_WIRE_BYTES)
        return ki_wire_bytes(at, end, out);
    if (type == KI_WIRE_VARINT)
        return ki_wire_varint(at, end, &out->number);
    if (type != KI_WIRE_FIXED64 || end - at < 8)
        return NULL;
    out->number = 0;
    for (unsigned i = 0; i < 8; i++)
        out->number |= (uint64_t)at[i] << (8 * i);
    return at + 8;
}

/* Skips the value of `tag`; a group is skipped with its content. Also returns NULL for an invalid tag. */
const uint8_t *ki_wire_skip(const uint8_t *at, const uint8_t *end, uint64_t tag);

/* Whether a tag is malformed: the number of a field must be a positive int32, and a group cannot end
 * here. */
static inline int ki_wire_is_bad_tag(uint64_t tag)
{
    return (int32_t)ki_wire_number_of(tag) <= 0 || ki_wire_type_of(tag) == KI_WIRE_GROUP_END;
}

#endif
