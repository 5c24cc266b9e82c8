/* SPDX-License-Identifier: Apache-2.0 */
/* message_write - reads the fields of a message once, and writes the fields in the order of arrival.
 *
 *   From:     proto/item.c, proto/members.c, proto/fast_path.c
 *   To:       proto/fast_path.h; proto/members.c for other fields; proto/order.c and proto/reorder.c;
 *             proto/message.c (what is kept)
 *   Locks:    none; one owner.
 *   Not here: the values; messages in which a field occurs several times (proto/reorder.c brings them into
 *             order).
 *
 * Go writes protobuf in the order of the field numbers, and JSON in the order of the Go type. For most
 * messages both are the same. A member that comes earlier in the JSON is moved there after it was written.
 * The same is done for a member that JSON has although its field is absent.
 */
#ifndef KI_PROTO_MESSAGE_WRITE_H
#define KI_PROTO_MESSAGE_WRITE_H

#include "proto/message_parts.h"

/* Writes all members of an object, each with a comma before it. */
KI_NODISCARD int ki_proto_put_members(ki_proto_reader *reader, const ki_proto_scope *scope,
                                      ki_wire_value value);

/* The functions below write at `to`, which is used instead of out.at, and return the end of what they
 * wrote. After an error they return NULL; reader->rc is the error, and out.at is the end of what was
 * written. */

/* Writes a message as an object. The message is kept whole, and not read carefully. */
char *ki_proto_write_whole(ki_proto_reader *reader, const ki_proto_message *message, ki_str bytes, char *to);

/* Writes the members of such a message among the members of the outer message. */
char *ki_proto_write_inline(ki_proto_reader *reader, const ki_proto_message *message, ki_str bytes, char *to);

#endif
