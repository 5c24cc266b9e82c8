/* SPDX-License-Identifier: Apache-2.0 */
/* list_decoder - turns the body of a LIST response into objects, one at a time, as its bytes arrive.
 *
 *   From:     reflector/answer.c, rest/rest_reader.c   (io: a body in any split)
 *   To:       reflector/reflector_list.c   (io: one object, or the list's own metadata)
 *   Locks:    none; one owner.
 *   Not here: pages; what a list proves.
 *
 * One decoder reads one page. Objects are returned before the end of the page is seen: the reflector decides
 * what to do with them if the page turns out to be truncated or not a list.
 */
#ifndef KI_API_DECODE_LIST_DECODER_H
#define KI_API_DECODE_LIST_DECODER_H

#include "api/decode/envelope.h"
#include "api/decode/refused.h"
#include "api/decode/status.h"
#include "api/object/object_plan.h"

typedef enum ki_list_step {
    KI_LIST_MORE = 0, /* all bytes are used */
    KI_LIST_METADATA, /* the list's metadata is known, see `metadata` */
    KI_LIST_OBJECT,   /* an object: ki_list_decoder_take_object() */
    KI_LIST_REFUSED,  /* an item that cannot be used, see `refused`; the list continues */
    KI_LIST_END       /* the list is complete */
} ki_list_step;

typedef struct ki_list_metadata {
    ki_str resource_version; /* owned by the decoder */
    ki_str continue_token;   /* empty: no further page */
    int64_t remaining_items; /* -1 if not given */
} ki_list_metadata;

typedef struct ki_list_decoder {
    ki_envelope envelope;
    ki_object_plan
        *plan; /* borrowed; takes kind and apiVersion from the list if the resource does not have them */
    ki_list_metadata metadata;
    ki_refused refused;
    ki_object *object;
    ki_buf kind; /* of the list: "PodList" */
    ki_buf api_version;
    ki_buf resource_version;
    ki_buf continue_token;
    ki_buf document; /* the members of a Status, in case it is one, as JSON */
    size_t member;   /* the current one; private to list_decoder.c, like the two below */
    unsigned seen;
    int state;
    ki_status status; /* what the server sent instead of a list; otherwise zeroed */
} ki_list_decoder;

void ki_list_decoder_init(ki_list_decoder *decoder, ki_object_plan *plan);
void ki_list_decoder_fini(ki_list_decoder *decoder);

/* Takes up to `n` bytes. Returns a ki_list_step, or the error that ends the list: a JSON error (framing is
 * lost), KI_ERR_NOT_A_LIST or KI_ERR_NO_MEMORY. *out_used is the number of bytes consumed; call again with
 * the rest. */
KI_NODISCARD int ki_list_decoder_feed(ki_list_decoder *decoder, const char *bytes, size_t n, size_t *out_used,
                                      ki_error *err);

/* Signals the end of the body. Returns 0 after a complete list, else an error. */
KI_NODISCARD int ki_list_decoder_end(ki_list_decoder *decoder, ki_error *err);

/* After KI_LIST_OBJECT: a new reference, once. */
ki_object *ki_list_decoder_take_object(ki_list_decoder *decoder);

#endif
