/* SPDX-License-Identifier: Apache-2.0 */
/* body_decoder - decodes the body of a list or of a watch, in JSON or in protobuf.
 *
 *   From:     reflector/answer.c (io: a body in any split)
 *   To:       api/decode/list_decoder.h, api/decode/watch_decoder.h, proto/proto_list.h, proto/proto_watch.h
 *   Locks:    none; one owner.
 *   Not here: which format is requested; what a step means.
 *
 * Each of the four decoders gives the same steps and results for the same objects. So everything above reads
 * them here and does not know the format.
 */
#ifndef KI_REFLECTOR_BODY_DECODER_H
#define KI_REFLECTOR_BODY_DECODER_H

#include <kinformer/list_watch.h>

#include "api/decode/list_decoder.h"
#include "api/decode/watch_decoder.h"
#include "proto/proto_list.h"
#include "proto/proto_watch.h"

typedef enum ki_body_form {
    KI_BODY_NONE = 0, /* zeroed: there is no decoder */
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

/* Takes up to `n` bytes. Returns a ki_list_step, or the result of a watch (api/decode/event.h), or the error
 * that ends the body. *out_used is the number of bytes consumed; call again with the rest. */
KI_NODISCARD int ki_body_decoder_feed(ki_body_decoder *decoder, ki_str bytes, size_t *out_used,
                                      ki_error *err);

/* Signals the end of the body. Returns 0 if it is complete, else an error. */
KI_NODISCARD int ki_body_decoder_end(ki_body_decoder *decoder, ki_error *err);

/* After a step with an object: a new reference, once. */
ki_object *ki_body_decoder_take_object(ki_body_decoder *decoder);

/* Of a refused item or event. */
ki_refused *ki_body_decoder_refused(ki_body_decoder *decoder);

/* What the server sent instead of a list, or the status of an ERROR event. */
ki_status *ki_body_decoder_status(ki_body_decoder *decoder);

/* Of a list. */
const ki_list_metadata *ki_body_decoder_metadata(const ki_body_decoder *decoder);

/* Of the current event of a watch. The text is owned by the decoder. */
typedef struct ki_body_event {
    ki_str resource_version; /* of a bookmark: "" if it has none */
    int ends_initial_events; /* a bookmark annotated k8s.io/initial-events-end: "true" */
    int refused_type;        /* the type of a refused event; 0 if it is missing or unknown */
} ki_body_event;

ki_body_event ki_body_decoder_event(const ki_body_decoder *decoder);

int ki_body_decoder_is_proto(const ki_body_decoder *decoder);

/* The fields that were skipped since the beginning because the tables do not have them; NULL for JSON. */
const ki_proto_unknown *ki_body_decoder_unknown(const ki_body_decoder *decoder);

/* Whether the tables do not have a kind that the server has sent. */
int ki_body_decoder_is_unknown_kind(const ki_body_decoder *decoder);

#endif
