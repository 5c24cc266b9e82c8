/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf_parts - the fields on the wire, and values that are written in their own way.
 *
 *   From:     protobuf.c
 *   To:       JSON values
 *   Locks:    none
 *   Not here: messages and their names
 */
#ifndef KI_APISERVER_PROTOBUF_PARTS_H
#define KI_APISERVER_PROTOBUF_PARTS_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/messages_table.h"

/* How a field is written. */
enum ki_as_wire { KI_AS_VARINT = 0, KI_AS_FIXED64 = 1, KI_AS_LENGTH = 2, KI_AS_FIXED32 = 5 };

/* One field as it stands there. */
struct ki_as_entry {
    uint64_t number;
    enum ki_as_wire wire;
    uint64_t integer; /* of all but KI_AS_LENGTH */
    ki_str bytes;     /* of KI_AS_LENGTH; borrowed */
};

/* The next field, and `rest` without it. 1, 0 at the end, KI_ERR_INVALID. */
KI_NODISCARD int ki_as_entry_next(ki_str *rest, struct ki_as_entry *out);
/* The last field of that number; 0 or KI_ERR_INVALID. Zeroed when there is none. */
KI_NODISCARD int ki_as_entry_find(ki_str message, uint64_t number, struct ki_as_entry *out);

/* The value of a type without fields: 0 with *out, KI_ERR_INVALID or KI_ERR_NO_MEMORY. *out is NULL for no time at all. */
KI_NODISCARD int ki_as_wire_value(uint16_t type, const struct ki_as_entry *entry, json_t **out);
/* Whether it is what its Go type is when nobody sets it, and what JSON leaves out then: an empty object is not. */
bool ki_as_wire_is_zero(const json_t *value);

#endif
