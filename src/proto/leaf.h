/* SPDX-License-Identifier: Apache-2.0 */
/* leaf - values whose JSON does not follow from their fields: times, quantities, IntOrString, doubles.
 *
 *   From:     proto/value.c, proto/fast_path.h, proto/map.c, proto/raw.c
 *   To:       proto/out.h
 *   Locks:    none; pure functions.
 *   Not here: raw JSON, which needs the scanner (proto/raw.c).
 *
 * The functions that return an int and take a ki_proto_out write one value. They return 0, an error of
 * proto/out.h, or KI_ERR_PROTOBUF if the content is malformed or cannot be written as JSON.
 */
#ifndef KI_PROTO_LEAF_H
#define KI_PROTO_LEAF_H

#include "proto/out.h"
#include "proto/wire.h"

/* Writes {1: seconds, 2: nanoseconds} as RFC 3339 in UTC, or null for the zero time (year 1). A Time has
 * whole seconds, a MicroTime six more digits. */
KI_NODISCARD int ki_proto_leaf_time(ki_proto_out *out, ki_str message);
KI_NODISCARD int ki_proto_leaf_micro_time(ki_proto_out *out, ki_str message);

/* Writes a Time at `to`, which has space for 32 bytes, if the message is as Go writes it. Returns the end of
 * the text; or NULL if the message is different: then use ki_proto_leaf_time(). */
char *ki_proto_leaf_other_time(ki_proto_out *out, char *to, const uint8_t *message, size_t n);

/* Like ki_proto_leaf_other_time(), but faster if the time is the same as the last one, as many are. */
static inline char *ki_proto_leaf_usual_time(ki_proto_out *out, char *to, const uint8_t *message, size_t n)
{
    enum { TEXT_BYTES = 22 };
    uint64_t word = 0;
    if (n == sizeof(word))
        memcpy(&word, message, sizeof(word));
    if (word != out->usual_message || word == 0)
        return ki_proto_leaf_other_time(out, to, message, n);
    memcpy(to, out->usual, sizeof(out->usual));
    return to + TEXT_BYTES;
}

/* Returns 1 with the text of a quantity if it is a short whole number with a usual suffix, in canonical form,
 * else 0. */
KI_NODISCARD int ki_proto_leaf_usual_quantity(ki_str message, ki_str *out_text);

/* Writes {1: text} in canonical form, "1" for "1000m". A missing text is written as "0". A value beyond an
 * int64, or finer than a nano, stays as it is. */
KI_NODISCARD int ki_proto_leaf_quantity(ki_proto_out *out, ki_str message);

/* Writes {1: type, 2: number, 3: text} as a number or a string, depending on the type. */
KI_NODISCARD int ki_proto_leaf_int_or_string(ki_proto_out *out, ki_str message);

KI_NODISCARD int ki_proto_leaf_double(ki_proto_out *out, uint64_t bits);

/* The content of field 1 of {1: bytes}. Returns 1, 0 if there is none, or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_leaf_bytes(ki_str message, ki_str *out_bytes);

#endif
