/* SPDX-License-Identifier: Apache-2.0 */
/* refusal - describes an error response in words.
 *
 *   From:     reflector/answer.c, rest/rest_reader.c
 *   To:       ki_error
 *   Locks:    none.
 *   Not here: how to handle it (api/decode/reason.h).
 */
#ifndef KI_API_DECODE_REFUSAL_H
#define KI_API_DECODE_REFUSAL_H

#include "api/decode/status.h"

typedef struct ki_refusal {
    int code;                /* of the error */
    int http_status;         /* of the response */
    const ki_status *status; /* NULL if the body is not a Status */
    ki_str body;             /* used if there is no status */
    const char *withheld;    /* for 401 and 403: why no credentials were sent; NULL if they were */
} ki_refusal;

/* Sets code and message. The text from the server comes last: if the message is too long, only that text is
 * cut. */
void ki_refusal_explain(const ki_refusal *refusal, ki_error *err);

#endif
