/* SPDX-License-Identifier: Apache-2.0 */
/* envelope - splits the outermost JSON object of a response into its members, as its bytes arrive.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c   (io)
 *   To:       json/scan.c, for every value in it
 *   Locks:    none; one owner.
 *   Not here: what the members mean.
 *
 * A list is an object with an array that is too large to be buffered. A watch event is an object that
 * contains the object of interest. So only the outermost level is parsed here; the scanner reads each
 * member, or each element of the array, as one value.
 */
#ifndef KI_API_DECODE_ENVELOPE_H
#define KI_API_DECODE_ENVELOPE_H

#include "json/scan.h"

/* The result of a step. */
typedef enum ki_envelope_step {
    KI_ENVELOPE_MORE = 0,  /* all bytes are used */
    KI_ENVELOPE_NAME,      /* a member's name is in the sink, as JSON: call ki_envelope_take() */
    KI_ENVELOPE_VALUE,     /* the member's value is complete; for an object see scanner.refused */
    KI_ENVELOPE_ELEMENT,   /* an element of the array is complete; see scanner.refused */
    KI_ENVELOPE_ARRAY_END, /* the array has ended */
    KI_ENVELOPE_END        /* the object has ended */
} ki_envelope_step;

typedef struct ki_envelope {
    ki_json_scanner scanner;
    ki_json_sink sink;
    int state;
    int next_state; /* the state after the scan of a value */
    int take;       /* KI_TAKE_… */
    const ki_projection *projection;
    size_t bytes_max;
} ki_envelope;

/* How to take a value. */
enum {
    KI_TAKE_SKIP = 0, /* check only */
    KI_TAKE_VALUE,    /* into the sink */
    KI_TAKE_OBJECT,   /* into the sink; scanned leniently: some errors refuse only this object */
    KI_TAKE_ELEMENTS  /* an array: takes each element as KI_TAKE_OBJECT; other values as KI_TAKE_VALUE */
};

/* Maximum length of a name, and of the members other than objects and items. */
#define KI_ENVELOPE_TEXT_BYTES_MAX ((size_t)1024 * 1024)

/* A larger value is an error, even if only a part of it is kept. */
#define KI_ENVELOPE_VALUE_BYTES_MAX ((size_t)1 << 30)

void ki_envelope_init(ki_envelope *envelope, uint32_t depth_max);
void ki_envelope_fini(ki_envelope *envelope);

/* Prepares for the next object; offsets continue. */
void ki_envelope_begin(ki_envelope *envelope);

/* Whether any byte of the object was seen. */
int ki_envelope_has_begun(const ki_envelope *envelope);

/* Takes up to `n` bytes. Returns a ki_envelope_step, or a JSON error at scanner.error_offset. *out_used is
 * the number of bytes consumed. */
KI_NODISCARD int ki_envelope_feed(ki_envelope *envelope, const char *bytes, size_t n, size_t *out_used);

/* Call this after KI_ENVELOPE_NAME; without a call, the value is skipped. `projection` may be NULL.
 * `bytes_max` limits the part that is kept of the value, or of each element; if the part is larger, the
 * sink overflows. */
void ki_envelope_take(ki_envelope *envelope, int take, const ki_projection *projection, size_t bytes_max);

/* Signals that no byte follows. Returns 0 if no object has begun, the earlier error if there was one, else
 * KI_ERR_JSON_TRUNCATED. */
KI_NODISCARD int ki_envelope_end(ki_envelope *envelope);

#endif
