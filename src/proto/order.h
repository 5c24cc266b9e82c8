/* SPDX-License-Identifier: Apache-2.0 */
/* order - the members of an object in the order of the JSON, although they are written as they come.
 *
 *   From:     proto/pass.c
 *   To:       proto/message_parts.h
 *   Locks:    none; one owner.
 *   Not here: what is written.
 *
 * The members that are written are in the order of their places in the table, without a gap; only the last
 * one may have to be moved forward.
 */
#ifndef KI_PROTO_ORDER_H
#define KI_PROTO_ORDER_H

#include "proto/message_parts.h"

enum { KI_PROTO_FIELDS_MAX = 64 };

/* Where each member begins in the text, by its place in the table. */
typedef struct ki_proto_order {
    uint32_t starts[KI_PROTO_FIELDS_MAX];
    int has_captures; /* some of them may be captured */
} ki_proto_order;

/* Moves the member at `place`, which was written last and ends at `to`, before those of `seen` that follow
 * it; bit i of `seen` is the one at place i. Returns the end of the text; or NULL, stopped by an error: the
 * field has occurred before, or too much is moved. */
char *ki_proto_order_move(ki_proto_reader *reader, ki_proto_order *order, uint64_t seen, unsigned place,
                          char *to);

#endif
