/* SPDX-License-Identifier: Apache-2.0 */
/* body_decoder - decodes the body of a list or of a watch, in JSON or in protobuf.
 *
 *   From:     reflector/answer.c (io: a body in any split); also reflector/reflector_list.c,
 *             reflector/reflector_wire.c
 *   To:       api/decode/list_decoder.h, api/decode/watch_decoder.h, proto/proto_list.h, proto/proto_watch.h
 *   Locks:    none; one owner.
 *   Not here: which format is requested; what a result means.
 *
 * The four decoders give the same steps and results for the same objects,
 * so callers do not depend on the format.
 */
#ifndef KI_REFLECTOR_BODY_DECODER_H
#define KI_REFLECTOR_BODY_DECODER_H

#include <kinformer/list_watch.h>

#include "api/decode/list_decoder.h"
#include "api/decode/watch_decoder.h"
#include "proto/proto_list.h"
#include "proto/proto_watch.h"

typedef enum ki_body_form {
    KI_BODY_NONE = 0, /* a zeroed struct: there is no decoder */
    KI_BODY_JSON_LIST,
    KI_BODY_JSON_WATCH,
    KI_BODY_PROTO_LIST,
    KI_BODY_PROTO_WATCH
} ki_body_form;

typedef struct ki_body_decoder {
    ki_body_form form;
    union {
        ki_list_decoder json_list;
        ki_watch_decoder json_watch;
        ki_proto_list proto_list;
        ki_proto_watch proto_watch;
    } as;
} ki_body_decoder;

/* `plan` is borrowed. */
void ki_body_decoder_init(ki_body_decoder *decoder, ki_body_form form, ki_object_plan *plan);

/* A zeroed struct is allowed. */
void ki_body_decoder_fini(ki_body_decoder *decoder);

/* Reads some or all of the bytes. Returns a ki_list_step, or the result of a watch (api/decode/event.h), or
 * the error that ends the body. *out_used is the number of bytes consumed; call again with the rest. */
KI_NODISCARD int ki_body_decoder_feed(ki_body_decoder *decoder, ki_str bytes, size_t *out_used,
                                      ki_error *err);

/* Signals the end of the body. Returns 0 if it is complete, else an error. */
KI_NODISCARD int ki_body_decoder_end(ki_body_decoder *decoder, ki_error *err);

/* What the last call of ki_body_decoder_feed() has decoded. */
ki_decoded *ki_body_decoder_result(ki_body_decoder *decoder);

int ki_body_decoder_is_proto(const ki_body_decoder *decoder);

/* The fields that were skipped in this body because the tables do not have them; NULL for JSON. */
const ki_proto_unknown *ki_body_decoder_unknown(const ki_body_decoder *decoder);

/* Whether the server has sent a kind that the tables do not have. */
int ki_body_decoder_is_unknown_kind(const ki_body_decoder *decoder);

#endif
