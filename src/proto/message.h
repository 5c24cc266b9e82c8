/* SPDX-License-Identifier: Apache-2.0 */
/* message - turns one protobuf message of a built-in kind into the JSON that Go would write for it.
 *
 *   From:     proto/item.c
 *   To:       api/object/object_build.c, through the sink: text, side text and captures
 *   Locks:    none; one owner.
 *   Not here: envelopes; where a message ends.
 *
 * Go's encoder writes each field once, by its number, and sorts the names of maps. Such a message is read in
 * one pass (proto/pass.c). Protobuf also allows a field to occur again (the last one counts, lists go on,
 * messages are merged), and any order of maps. When that is met, or anything is wrong, the message is read
 * again with is_careful set: each part of it is first brought into the order of the JSON (proto/normal.c).
 * Only then are errors reported, so that they do not depend on the order, nor on what a projection skips.
 */
#ifndef KI_PROTO_MESSAGE_H
#define KI_PROTO_MESSAGE_H

#include "json/scan.h"
#include "proto/out.h"
#include "proto/table.h"
#include "proto/view.h"

/* Fields that were skipped because the tables do not have them; not those of parts that are not kept. */
typedef struct ki_proto_unknown {
    uint64_t count;
    ki_str message; /* of the first: "PodSpec"; constant text */
    uint32_t number;
} ki_proto_unknown;

typedef struct ki_proto_reader {
    ki_json_sink sink;
    ki_proto_unknown unknown; /* since ki_proto_reader_init() */
    /* private to message.c, raw.c, map.c */
    ki_proto_views views;
    ki_proto_out out;
    ki_json_sink raw; /* JSON text inside the message */
    uint32_t depth;
    uint32_t depth_max;
    int is_careful;
    int rc;                      /* the error that proto/pass.c stopped with, or 0 */
    const uint8_t *readable_end; /* of the memory that the message is in; NULL if parts of it are copied */
    ki_str ahead;                /* of the source, without what was requested */
    size_t work;                 /* how many bytes may still be copied, sorted or moved */
    ki_error *err;
} ki_proto_reader;

typedef struct ki_proto_source {
    const ki_proto_message *message;
    ki_str bytes;
    ki_str ahead; /* what is read next, if that is known: it is brought into the cache meanwhile */
    ki_str kind;  /* written as members, if they are not empty */
    ki_str api_version;
    size_t bytes_max; /* of the JSON */
    int is_whole;     /* the projection does not apply */
} ki_proto_source;

/* `projection` is borrowed; NULL keeps everything. `depth_max` 0 is the scanner's default. */
void ki_proto_reader_init(ki_proto_reader *reader, const ki_projection *projection, uint32_t depth_max);
void ki_proto_reader_fini(ki_proto_reader *reader);

/* Reads a message into the sink; a text that is too large overflows it. Returns 0; KI_ERR_PROTOBUF,
 * KI_ERR_JSON_… (in JSON text inside the message, or nested too deeply); or KI_ERR_NO_MEMORY. After an error,
 * the sink has what was read before. */
KI_NODISCARD int ki_proto_read(ki_proto_reader *reader, const ki_proto_source *source, ki_error *err);

#endif
