/* SPDX-License-Identifier: Apache-2.0 */
/* reorder - brings the fields of a message into the order of the JSON.
 *
 *   From:     proto/message_write.c, proto/union.c: only for messages that are not in that order
 *   To:       proto/table.h
 *   Locks:    none.
 *   Not here: the order of maps (proto/map.c); what is in the parts of a message.
 *
 * If a field occurs several times, the last one is kept of a scalar. Of a message, the bytes are joined:
 * reading the joined bytes is how protobuf merges messages. The elements of a list, and the entries of a
 * map, are moved next to each other.
 */
#ifndef KI_PROTO_REORDER_H
#define KI_PROTO_REORDER_H

#include "proto/message_parts.h"

/* If the message must be changed, *value becomes a copy, which the caller frees with ki_free(*out_copy);
 * otherwise *out_copy is unchanged. Unknown fields are kept. Returns 0; KI_ERR_PROTOBUF if the message is
 * malformed or too much work; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_reorder(ki_proto_reader *reader, const ki_proto_message *message,
                                  ki_wire_value *value, char **out_copy);

#endif
