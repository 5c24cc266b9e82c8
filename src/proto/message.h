/* SPDX-License-Identifier: Apache-2.0 */
/* message - the reader of messages: its state, its limits and errors, and which values are kept.
 *
 *   From:     proto/item.c, which begins; the files of proto/message_parts.h; also proto/proto_list.c,
 *             proto/proto_status.c, proto/proto_watch.c
 *   Locks:    none; one owner.
 *   Not here: the fields (proto/message_write.c).
 */
#ifndef KI_PROTO_MESSAGE_H
#define KI_PROTO_MESSAGE_H

#include "json/scan.h"
#include "proto/out.h"
#include "proto/table.h"
#include "proto/view.h"

/* Fields that were skipped because the tables do not have them. Parts of a message that are not kept do not
 * count. */
typedef struct ki_proto_unknown {
    uint64_t count;
    ki_str message; /* the message of the first such field: "PodSpec"; constant text */
    uint32_t number;
} ki_proto_unknown;

typedef struct ki_proto_reader {
    ki_json_sink sink;
    ki_proto_unknown unknown; /* since ki_proto_reader_init() */
    /* private to the files of proto/message_parts.h */
    ki_proto_views views;
    ki_proto_out out;
    ki_json_sink raw; /* for JSON text inside the message */
    uint32_t depth;
    uint32_t depth_max;
    int is_careful;
    int rc;                      /* the error that proto/message_write.c stopped with, or 0 */
    const uint8_t *readable_end; /* the end of the message's memory; NULL if parts of it are copied */
    ki_str ahead;                /* as in ki_proto_source, without what was already prefetched */
    size_t work;                 /* the number of bytes that may still be copied, sorted or moved */
    ki_error *err;
} ki_proto_reader;

/* `projection` is borrowed; NULL keeps everything. `depth_max` 0 is the scanner's default. */
void ki_proto_reader_init(ki_proto_reader *reader, const ki_projection *projection, uint32_t depth_max);
void ki_proto_reader_fini(ki_proto_reader *reader);

#endif
