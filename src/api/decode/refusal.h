/* SPDX-License-Identifier: Apache-2.0 */
/* refusal - what a server means by an answer that is an error, in words.
 *
 *   From:     reflector/answer.c, rest/rest_reader.c
 *   To:       ki_error
 *   Locks:    none.
 *   Not here: what to do about it (api/decode/reason.h).
 */
#ifndef KI_API_DECODE_REFUSAL_H
#define KI_API_DECODE_REFUSAL_H

#include "api/decode/status.h"

typedef struct ki_refusal {
    int code;                /* of the error */
    int http_status;         /* of the answer */
    const ki_status *status; /* NULL: the body is none */
    ki_str body;             /* looked at without a status */
    const char *withheld;    /* to be said of 401 and 403: why nobody was named; NULL: somebody was */
} ki_refusal;

/* Writes code and message. What the server says comes last, so that it is what is cut. */
void ki_refusal_explain(const ki_refusal *refusal, ki_error *err);

#endif
