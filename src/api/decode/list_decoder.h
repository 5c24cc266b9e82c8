/* SPDX-License-Identifier: Apache-2.0 */
/* list_decoder - turns the body of a LIST response into objects, one at a time, as its bytes arrive.
 *
 *   From:     reflector/body_decoder.c, rest/rest_reader.c   (io: a body in any split)
 *   To:       api/decode/decoded.h   (one object, or the list's own metadata)
 *   Locks:    none; one owner.
 *   Not here: pages; what a list proves.
 *
 * One decoder reads one page. Objects are returned before the end of the page is seen: the reflector decides
 * what to do with them if the page turns out to be truncated or not a list.
 */
#ifndef KI_API_DECODE_LIST_DECODER_H
#define KI_API_DECODE_LIST_DECODER_H

#include "api/decode/decoded.h"
#include "api/decode/envelope.h"
#include "api/object/object_plan.h"

typedef struct ki_list_decoder {
    ki_envelope envelope;
    ki_object_plan
        *plan; /* borrowed; takes kind and apiVersion from the list if the resource does not have them */
    ki_decoded decoded;
    ki_buf kind; /* of the list: "PodList" */
    ki_buf api_version;
    ki_buf resource_version;
    ki_buf continue_token;
    ki_buf document; /* the members of a Status as JSON, in case the response is one */
    size_t member;   /* the current member; private to list_decoder.c, like the two below */
    unsigned seen;
    int state;
} ki_list_decoder;

void ki_list_decoder_init(ki_list_decoder *decoder, ki_object_plan *plan);
void ki_list_decoder_fini(ki_list_decoder *decoder);

/* Takes up to `n` bytes. Returns a ki_list_step, or the error that ends the list: a JSON error (framing is
 * lost), KI_ERR_NOT_A_LIST, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY. *out_used is the number of bytes consumed;
 * call again with the rest. */
KI_NODISCARD int ki_list_decoder_feed(ki_list_decoder *decoder, const char *bytes, size_t n, size_t *out_used,
                                      ki_error *err);

/* Signals the end of the body. Returns 0 after a complete list, else an error. */
KI_NODISCARD int ki_list_decoder_end(ki_list_decoder *decoder, ki_error *err);

#endif
