/* SPDX-License-Identifier: Apache-2.0 */
/* item - makes a ki_object of one message, or says why it cannot be used.
 *
 *   From:     proto/proto_list.c, proto/proto_watch.c
 *   To:       proto/message.c, api/object/object_build.c
 *   Locks:    none; one owner.
 *   Not here: lists and events.
 */
#ifndef KI_PROTO_ITEM_H
#define KI_PROTO_ITEM_H

#include "api/decode/refused.h"
#include "api/object/object_plan.h"
#include "proto/message.h"

typedef struct ki_proto_item {
    const ki_proto_message *message; /* NULL: its kind is not in the tables */
    ki_str bytes;
    ki_str ahead; /* what is read next, as in ki_proto_source */
    int is_cut;   /* larger than ki_proto_item_bytes_max(); only the beginning is there */
    ki_str kind;
    ki_str api_version;
    int has_names; /* kind and apiVersion go into the object; else those of the plan do */
} ki_proto_item;

/* The most that is buffered of a message. */
size_t ki_proto_item_bytes_max(const ki_object_plan *plan);

/* Returns 1 with a new reference; 0 if the item is refused, with the reason and the key in `refused`; or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_item_build(ki_proto_reader *reader, const ki_object_plan *plan,
                                     const ki_proto_item *item, ki_object **out_object, ki_refused *refused);

#endif
