/* SPDX-License-Identifier: Apache-2.0 */
/* decoded - what a decoder has read: the same for lists and watches, in JSON and in protobuf.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c, proto/proto_list.c, proto/proto_watch.c,
 *             reflector/reflector_list.c, reflector/reflector_stream.c, reflector/reflector_watch.c,
 *             rest/rest_reader.c
 *   To:       reflector/reflector_watch.c, reflector/reflector_list.c, reflector/reflector_stream.c,
 *             rest/rest_reader.c
 *   Locks:    none; a part of one decoder.
 *   Not here: decoding; the results of feeding a watch decoder (api/decode/event.h).
 */
#ifndef KI_API_DECODE_DECODED_H
#define KI_API_DECODE_DECODED_H

#include <kinformer/object.h>

#include "api/decode/refused.h"
#include "api/decode/status.h"

/* The result of feeding a list decoder. */
typedef enum ki_list_step {
    KI_LIST_MORE = 0, /* all bytes are used */
    KI_LIST_METADATA, /* the list's metadata is known, see `metadata` */
    KI_LIST_OBJECT,   /* an object: ki_decoded_take_object() */
    KI_LIST_REFUSED,  /* an item that cannot be used, see `refused`; the list continues */
    KI_LIST_END       /* the list is complete */
} ki_list_step;

typedef struct ki_list_metadata {
    ki_str resource_version; /* owned by the decoder */
    ki_str continue_token;   /* empty: no further page */
    int64_t remaining_items; /* -1 if not given */
} ki_list_metadata;

/* Which of these are set depends on the last result of feeding the decoder: a ki_list_step, or a result
 * from api/decode/event.h. */
typedef struct ki_decoded {
    ki_object *object;
    ki_refused refused;
    ki_status status;          /* of an ERROR event, or sent instead of a list; otherwise zeroed */
    ki_list_metadata metadata; /* of a list */
    /* of an event */
    ki_str resource_version; /* of a bookmark; "" if it has none; owned by the decoder */
    int ends_initial_events; /* 1 for a bookmark with the annotation k8s.io/initial-events-end: "true" */
    int refused_type;        /* the type of a refused event; 0 if it is missing or unknown */
} ki_decoded;

/* `decoded` must be zeroed; it is a part of a new decoder. */
void ki_decoded_init(ki_decoded *decoded);
void ki_decoded_fini(ki_decoded *decoded);

/* Clears everything that belongs to the last event. */
void ki_decoded_clear_event(ki_decoded *decoded);

/* Returns the object of the last step and passes its reference to the caller; NULL if there is none, or if
 * it was already taken. */
ki_object *ki_decoded_take_object(ki_decoded *decoded);

#endif
