/* SPDX-License-Identifier: Apache-2.0 */
/* proto_watch - turns the body of a WATCH response in protobuf into events, one at a time, as its bytes
 * arrive.
 *
 *   From:     reflector/body_decoder.c   (io: a body in any split)
 *   To:       api/decode/event.c, proto/item.c; api/decode/decoded.h, with the same results as
 *             api/decode/watch_decoder.h
 *   Locks:    none; one owner.
 *   Not here: the effect of an event on the cache; which responses are protobuf.
 *
 * The body is a sequence of frames: a length of four bytes, most significant first, and {1: type, 2: {1:
 * object}}; the object is an envelope (proto/typed.h). An event is buffered only if it arrives in more than
 * one piece.
 */
#ifndef KI_PROTO_PROTO_WATCH_H
#define KI_PROTO_PROTO_WATCH_H

#include "api/decode/decoded.h"
#include "api/decode/event.h"
#include "proto/gather.h"
#include "proto/item.h"

typedef struct ki_proto_watch {
    const ki_object_plan *plan; /* borrowed */
    ki_decoded decoded;
    int is_unknown_kind;    /* an event was refused because its kind is not in the tables */
    ki_proto_reader reader; /* reader.unknown: the fields that were lost */
    /* private to proto_watch.c */
    ki_proto_gather gather;
    ki_buf version;
    ki_buf kind; /* of the last event, like `api_version` and `message` */
    ki_buf api_version;
    const ki_proto_message *message;
    int in_frame;
    int failed;
} ki_proto_watch;

void ki_proto_watch_init(ki_proto_watch *decoder, const ki_object_plan *plan);
void ki_proto_watch_fini(ki_proto_watch *decoder);

/* Takes up to `n` bytes. Returns a result of api/decode/event.h, or the error that ends the stream:
 * KI_ERR_PROTOBUF (framing is lost) or KI_ERR_NO_MEMORY. *out_used is the number of bytes consumed; call
 * again with the rest. The data of an event is valid until the next call. */
KI_NODISCARD int ki_proto_watch_feed(ki_proto_watch *decoder, const char *bytes, size_t n, size_t *out_used,
                                     ki_error *err);

/* Signals the end of the body. Returns 0 between two events, KI_ERR_PROTOBUF_TRUNCATED inside one. */
KI_NODISCARD int ki_proto_watch_end(ki_proto_watch *decoder, ki_error *err);

#endif
