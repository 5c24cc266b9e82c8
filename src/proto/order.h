/* SPDX-License-Identifier: Apache-2.0 */
/* order - brings the members of an object into the order of the JSON while they are written in the order of
 * the fields.
 *
 *   From:     proto/message_write.c
 *   To:       proto/message_parts.h
 *   Locks:    none; one owner.
 *   Not here: what is written.
 *
 * Invariant: the members written so far are in the order of their places in the table, without a gap
 * between them. Only the member written last may have to be moved forward.
 */
#ifndef KI_PROTO_ORDER_H
#define KI_PROTO_ORDER_H

#include "proto/message_parts.h"

enum { KI_PROTO_FIELDS_MAX = 64 };

/* Where each member begins in the text, by its place in the table. */
typedef struct ki_proto_order {
    uint32_t starts[KI_PROTO_FIELDS_MAX];
    int has_captures; /* members may be captured */
} ki_proto_order;

/* Moves the member at `place`, which was written last and ends at `to`, before the members with later
 * places. Bit i of `seen` says that the member at place i was written. Returns the end of the text; or NULL
 * after an error, for example if the field has occurred before, or too much would be moved. */
char *ki_proto_order_move(ki_proto_reader *reader, ki_proto_order *order, uint64_t seen, unsigned place,
                          char *to);

#endif
