/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/wire.h"

#include <assert.h>

/* Bits beyond 64 are ignored, as in Go. */
const uint8_t *ki_wire_long_varint(const uint8_t *at, const uint8_t *end, uint64_t *out_number)
{
    assert(at <= end);
    uint64_t number = 0;
    for (unsigned i = 0; i < KI_WIRE_VARINT_BYTES_MAX && at + i < end; i++) {
        number |= (uint64_t)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80) {
            *out_number = number;
            return at + i + 1;
        }
    }
    return NULL;
}

static const uint8_t *skip_scalar(const uint8_t *at, const uint8_t *end, unsigned type)
{
    ki_wire_value ignored;
    switch (type) {
    case KI_WIRE_VARINT:
    case KI_WIRE_FIXED64:
    case KI_WIRE_BYTES:
        return ki_wire_value_read(at, end, type, &ignored);
    case KI_WIRE_FIXED32:
        return end - at < 4 ? NULL : at + 4;
    default:
        return NULL;
    }
}

/* Groups may be nested as deeply as the input is long, so they are counted, without recursion. */
const uint8_t *ki_wire_skip(const uint8_t *at, const uint8_t *end, uint64_t tag)
{
    if (ki_wire_is_bad_tag(tag))
        return NULL;
    if (ki_wire_type_of(tag) != KI_WIRE_GROUP)
        return skip_scalar(at, end, ki_wire_type_of(tag));
    for (size_t open = 1; open > 0;) {
        at = ki_wire_varint(at, end, &tag);
        if (at == NULL)
            return NULL;
        unsigned type = ki_wire_type_of(tag);
        if (type == KI_WIRE_GROUP)
            open++;
        else if (type == KI_WIRE_GROUP_END)
            open--;
        else if ((at = skip_scalar(at, end, type)) == NULL)
            return NULL;
    }
    return at;
}
