/* SPDX-License-Identifier: Apache-2.0 */
/* watch_decoder - turns the body of a WATCH response into events, one at a time, as its bytes arrive.
 *
 *   From:     reflector/body_decoder.c   (io: a body in any split)
 *   To:       api/decode/envelope.c, api/decode/event.c, api/object/object_build.c; the event is in
 *             api/decode/decoded.h
 *   Locks:    none; one owner.
 *   Not here: the effect of an event on the cache.
 */
#ifndef KI_API_DECODE_WATCH_DECODER_H
#define KI_API_DECODE_WATCH_DECODER_H

#include "api/decode/decoded.h"
#include "api/decode/envelope.h"
#include "api/decode/event.h"
#include "api/object/object_plan.h"

typedef struct ki_watch_decoder {
    ki_envelope envelope;
    const ki_object_plan *plan; /* borrowed */
    ki_decoded decoded;
    ki_buf type;  /* "ADDED" */
    ki_buf value; /* the event's object as JSON, if it precedes the type; or the version of a bookmark */
    /* private to watch_decoder.c */
    int result; /* the event's result, once it is complete */
    unsigned member;
    unsigned seen;
    int waits; /* the object is in `value` */
    int waiting_overflowed;
    int is_refused; /* the object is not usable JSON; `refused` has the reason */
    int between;    /* an event was returned, and the next one has not begun */
    int failed;
} ki_watch_decoder;

void ki_watch_decoder_init(ki_watch_decoder *decoder, const ki_object_plan *plan);
void ki_watch_decoder_fini(ki_watch_decoder *decoder);

/* Takes up to `n` bytes. Returns a result of api/decode/event.h, or the error that ends the stream: a JSON
 * error (framing is lost) or KI_ERR_NO_MEMORY. *out_used is the number of bytes consumed; call again with
 * the rest. The data of an event is valid until the next call. */
KI_NODISCARD int ki_watch_decoder_feed(ki_watch_decoder *decoder, const char *bytes, size_t n,
                                       size_t *out_used, ki_error *err);

/* Signals the end of the body. Returns 0 between two events, KI_ERR_JSON_TRUNCATED inside one. */
KI_NODISCARD int ki_watch_decoder_end(ki_watch_decoder *decoder, ki_error *err);

#endif
