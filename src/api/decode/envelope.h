/* SPDX-License-Identifier: Apache-2.0 */
/* envelope - takes the outermost JSON object of an answer apart, member by member, as its bytes arrive.
 *
 *   From:     api/decode/list_decoder.c, api/decode/watch_decoder.c   (io)
 *   To:       json/scan.c, for every value in it
 *   Locks:    none; one owner.
 *   Not here: what the members mean.
 *
 * A list is an object with an array that is too large to wait for, a watch event an object with an object
 * that is wanted for itself. So the outermost level is walked here, and whatever stands in it is one value
 * for the scanner.
 */
#ifndef KI_API_DECODE_ENVELOPE_H
#define KI_API_DECODE_ENVELOPE_H

#include "json/scan.h"

/* What a step has come to. */
typedef enum ki_envelope_step {
    KI_ENVELOPE_MORE = 0,  /* all bytes are used */
    KI_ENVELOPE_NAME,      /* a member's name is in the sink, as JSON: say how to take its value */
    KI_ENVELOPE_VALUE,     /* the member's value is complete; of an object see scanner.refused */
    KI_ENVELOPE_ELEMENT,   /* an element of the array is complete; likewise */
    KI_ENVELOPE_ARRAY_END, /* the array has ended */
    KI_ENVELOPE_END        /* the object has ended */
} ki_envelope_step;

typedef struct ki_envelope {
    ki_json_scanner scanner;
    ki_json_sink sink;
    int state;
    int next_state; /* where the scan of a value leads */
    int take;       /* KI_TAKE_… */
    const ki_projection *projection;
    size_t bytes_max;
} ki_envelope;

/* How to take a value. */
enum {
    KI_TAKE_SKIP = 0, /* check only */
    KI_TAKE_VALUE,    /* into the sink */
    KI_TAKE_OBJECT,   /* likewise; what is wrong in it, but not with its brackets, refuses it alone */
    KI_TAKE_ELEMENTS  /* an array: each element as KI_TAKE_OBJECT; anything else as KI_TAKE_VALUE */
};

/* What a name may be long, and what the members around the one that matters may be large. */
#define KI_ENVELOPE_TEXT_BYTES_MAX ((size_t)1024 * 1024)

/* A value of this size is an error, whatever is kept of it: nobody waits for its end any longer. */
#define KI_ENVELOPE_VALUE_BYTES_MAX ((size_t)1 << 30)

void ki_envelope_init(ki_envelope *envelope, uint32_t depth_max);
void ki_envelope_fini(ki_envelope *envelope);

/* Gets ready for the next object; offsets go on counting. */
void ki_envelope_begin(ki_envelope *envelope);

/* Whether a byte of the object was seen. */
int ki_envelope_has_begun(const ki_envelope *envelope);

/* Takes up to `n` bytes. Returns a ki_envelope_step or an error of JSON (scanner.error_offset says where),
 * and in *out_used the bytes taken. */
KI_NODISCARD int ki_envelope_feed(ki_envelope *envelope, const char *bytes, size_t n, size_t *out_used);

/* After KI_ENVELOPE_NAME. `projection` may be NULL. `bytes_max` limits what is kept of the value, or of
 * each element; one that is larger overflows the sink. */
void ki_envelope_take(ki_envelope *envelope, int take, const ki_projection *projection, size_t bytes_max);

/* Says that no byte follows. Returns 0 when no object had begun, else KI_ERR_JSON_TRUNCATED. */
KI_NODISCARD int ki_envelope_end(ki_envelope *envelope);

#endif
