/* SPDX-License-Identifier: Apache-2.0 */
/* leaf - values whose JSON is not what their fields say: times, quantities, IntOrString, doubles.
 *
 *   From:     proto/value.c, proto/usual.h, proto/map.c, proto/raw.c
 *   To:       proto/out.h
 *   Locks:    none; pure functions.
 *   Not here: raw JSON, which needs the scanner (proto/message.c).
 *
 * Each writes one value, and returns 0, an error of proto/out.h, or KI_ERR_PROTOBUF if the content is
 * malformed or has no JSON.
 */
#ifndef KI_PROTO_LEAF_H
#define KI_PROTO_LEAF_H

#include "proto/out.h"
#include "proto/wire.h"

/* {1: seconds, 2: nanoseconds}: RFC 3339 in UTC; null for the zero time, year 1. A Time has whole seconds, a
 * MicroTime six digits more. */
KI_NODISCARD int ki_proto_leaf_time(ki_proto_out *out, ki_str message);
KI_NODISCARD int ki_proto_leaf_micro_time(ki_proto_out *out, ki_str message);

/* A Time as Go writes it, at `to`, which has room for 32 bytes. Returns its end, or NULL if it is not that;
 * then ki_proto_leaf_time() reads it. */
char *ki_proto_leaf_other_time(ki_proto_out *out, char *to, const uint8_t *message, size_t n);

/* Many are the same as the last one. */
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

/* The text of a quantity, if it is a short whole number with a usual suffix. Returns whether it is. */
KI_NODISCARD int ki_proto_leaf_usual_quantity(ki_str message, ki_str *out_text);

/* {1: text}, which servers send in canonical form. No text is "0". */
KI_NODISCARD int ki_proto_leaf_quantity(ki_proto_out *out, ki_str message);

/* {1: type, 2: number, 3: text}: the type decides which. */
KI_NODISCARD int ki_proto_leaf_int_or_string(ki_proto_out *out, ki_str message);

KI_NODISCARD int ki_proto_leaf_double(ki_proto_out *out, uint64_t bits);

/* The content of field 1 of {1: bytes}. Returns 1, 0 if there is none, or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_leaf_bytes(ki_str message, ki_str *out_bytes);

#endif
