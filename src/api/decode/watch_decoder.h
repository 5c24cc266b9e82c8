/* SPDX-License-Identifier: Apache-2.0 */
/* watch_decoder - turns the body of a WATCH answer into events, one at a time, as its bytes arrive.
 *
 *   From:     reflector/answer.c   (io: a body in any split)
 *   To:       reflector/reflector_watch.c   (io: one event)
 *   Locks:    none; one owner.
 *   Not here: what an event does to the cache.
 *
 * This is where the words of the wire end: MODIFIED is KI_CHANGE_UPDATED from here on.
 */
#ifndef KI_API_DECODE_WATCH_DECODER_H
#define KI_API_DECODE_WATCH_DECODER_H

#include <kinformer/change.h>

#include "api/decode/envelope.h"
#include "api/decode/refused.h"
#include "api/decode/status.h"
#include "api/object/object_plan.h"

/* What a call of ki_watch_decoder_feed() has brought: a change, or one of the last three.
 *   KI_CHANGE_ADDED, KI_CHANGE_UPDATED, KI_CHANGE_DELETED: see ki_watch_decoder_take_object()
 *   KI_CHANGE_BOOKMARK: see resource_version and ends_initial_events */
enum {
    KI_WATCH_MORE = 0,    /* all bytes are used */
    KI_WATCH_ERROR = 100, /* see status */
    KI_WATCH_REFUSED      /* an event that cannot be used, see refused and refused_type; the stream goes on */
};

typedef struct ki_watch_decoder {
    ki_envelope envelope;
    const ki_object_plan *plan; /* borrowed */
    ki_object *object;
    ki_str resource_version; /* of a bookmark: "" when it has none; its text is the decoder's */
    int ends_initial_events; /* a bookmark annotated k8s.io/initial-events-end: "true" */
    ki_status status;        /* of an ERROR event */
    ki_refused refused;
    int refused_type; /* what it would have been; 0 when its type is missing or unknown */
    ki_buf type;      /* "ADDED" */
    ki_buf value; /* the event's object as JSON, when it had to wait for the type; and a bookmark's version */
    /* of watch_decoder.c */
    int result; /* what the event will be, once it is complete */
    unsigned member;
    unsigned seen;
    int waits; /* the object is in `value` */
    int waiting_overflowed;
    int is_refused; /* the object is no JSON that can be used; `refused` says why */
    int between;    /* the last event was given out */
    int failed;
} ki_watch_decoder;

void ki_watch_decoder_init(ki_watch_decoder *decoder, const ki_object_plan *plan);
void ki_watch_decoder_fini(ki_watch_decoder *decoder);

/* Takes up to `n` bytes. Returns what it has brought, or the error that ends the stream: of JSON (framing is
 * lost), KI_ERR_NO_MEMORY. *out_used is how many bytes were taken; call again with the rest. What an event
 * brought is valid until the next call. */
KI_NODISCARD int ki_watch_decoder_feed(ki_watch_decoder *decoder, const char *bytes, size_t n,
                                       size_t *out_used, ki_error *err);

/* Says that the body has ended. Returns 0 between two events, KI_ERR_JSON_TRUNCATED inside one. */
KI_NODISCARD int ki_watch_decoder_end(ki_watch_decoder *decoder, ki_error *err);

/* After an event with an object: a new reference, once. */
ki_object *ki_watch_decoder_take_object(ki_watch_decoder *decoder);

#endif
