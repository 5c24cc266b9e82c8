/* SPDX-License-Identifier: Apache-2.0 */
/* status - a Kubernetes Status: how a server reports an error.
 *
 *   From:     api/decode/ (ERROR events, responses that should have been a list), rest/rest_reader.c, proto/;
 *             also reflector/answer.c
 *   To:       <kinformer/status.h>
 *   Locks:    none; plain data with an owner.
 *   Not here: how to handle it.
 */
#ifndef KI_API_DECODE_STATUS_H
#define KI_API_DECODE_STATUS_H

#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/status.h>

#include "util/text/mask.h"

/* Reads a Status from valid JSON. Members that are missing or of a wrong type stay empty. Returns 0;
 * KI_ERR_TYPE if the JSON is not an object of kind Status; or KI_ERR_NO_MEMORY. `out` is only written on
 * success; the caller frees it with ki_status_fini(). */
KI_NODISCARD int ki_status_read(ki_json json, ki_status *out);

/* The same for any text, such as the body of a response. Also returns JSON errors. */
KI_NODISCARD int ki_status_parse(ki_str body, ki_status *out, ki_error *err);

/* Masks secrets in the human-readable texts. */
void ki_status_mask(ki_status *status, const ki_mask *mask);

void ki_status_fini(ki_status *status);

/* Whether a Status has been read into the struct. */
static inline int ki_status_is_present(const ki_status *status)
{
    return status->reserved[0] != 0;
}

#endif
