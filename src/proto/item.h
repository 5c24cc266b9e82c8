/* SPDX-License-Identifier: Apache-2.0 */
/* item - turns one protobuf message of a built-in kind into the JSON that Go would write for it, and builds
 * a ki_object from that, or reports why the message cannot be used.
 *
 *   From:     proto/proto_list.c, proto/proto_watch.c, proto/proto_status.c
 *   To:       proto/message_write.c; api/object/object_build.c, through the sink: text, side text and
 *             captures
 *   Locks:    none; one owner.
 *   Not here: lists, events and envelopes; where a message ends.
 *
 * Go's encoder writes each field once, in the order of the numbers, and sorts maps by name. Such a message
 * is read in one pass (proto/message_write.c). Protobuf also allows a field to occur several times (the last
 * one counts, lists continue, messages are merged), and maps in any order. If a message has any of this, or
 * an error, it is read again with is_careful set: each part of it is first brought into the order of the JSON
 * (proto/reorder.c). Only the second reading reports errors, so that they depend neither on the order of
 * fields nor on what a projection skips.
 */
#ifndef KI_PROTO_ITEM_H
#define KI_PROTO_ITEM_H

#include "api/decode/refused.h"
#include "api/object/object_plan.h"
#include "proto/message.h"

typedef struct ki_proto_source {
    const ki_proto_message *message;
    ki_str bytes;
    ki_str ahead; /* the bytes that will be read next, if known: they are prefetched meanwhile */
    ki_str kind;  /* `kind` and `api_version` are written as members if they are not empty */
    ki_str api_version;
    size_t bytes_max; /* of the JSON */
    int is_whole;     /* the projection does not apply */
} ki_proto_source;

/* Reads a message into the sink; a text that is too large overflows the sink. Returns 0; KI_ERR_PROTOBUF;
 * KI_ERR_JSON_… for JSON text inside the message, or if it is nested too deeply; or KI_ERR_NO_MEMORY. After
 * an error, the sink contains what was read before. */
KI_NODISCARD int ki_proto_read(ki_proto_reader *reader, const ki_proto_source *source, ki_error *err);

typedef struct ki_proto_item {
    const ki_proto_message *message; /* NULL if its kind is not in the tables */
    ki_str bytes;
    ki_str ahead; /* as in ki_proto_source */
    int is_cut;   /* larger than ki_proto_item_bytes_max(): `bytes` is only the beginning */
    ki_str kind;
    ki_str api_version;
    int has_names; /* the object gets `kind` and `api_version`; otherwise those of the plan */
} ki_proto_item;

/* A larger message is not buffered whole. */
size_t ki_proto_item_bytes_max(const ki_object_plan *plan);

/* Returns 1 with a new reference; 0 if the item is refused, with the reason and the key in `refused`; or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_item_build(ki_proto_reader *reader, const ki_object_plan *plan,
                                     const ki_proto_item *item, ki_object **out_object, ki_refused *refused);

#endif
