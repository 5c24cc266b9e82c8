/* SPDX-License-Identifier: Apache-2.0 */
/* reason - classifies an error response as a ki_reason.
 *
 *   From:     reflector/answer.c, reflector/reflector_watch.c
 *   To:       <kinformer/list_watch.h>
 *   Not here: how it is handled.
 */
#ifndef KI_API_DECODE_REASON_H
#define KI_API_DECODE_REASON_H

#include <kinformer/list_watch.h>

#include "api/decode/status.h"

/* For a response with that code, or for an ERROR event in one with code 200; `status` may be empty. */
ki_reason ki_reason_of_status(int http_status, const ki_status *status);

/* 1 for reasons that only say that the server was not reached, or that the connection was lost. */
int ki_reason_is_transport(ki_reason reason);

/* 1 for requests that were not sent, and for lack of memory: these do not tell whether the server supports
 * a kind of request. */
int ki_reason_is_before_sending(ki_reason reason);

/* Whether the cause is in this program, not in the server or the network. */
int ki_reason_is_ours(ki_reason reason);

#endif
