/* SPDX-License-Identifier: Apache-2.0 */
/* reason - classifies an error response as a ki_reason.
 *
 *   From:     reflector/, rest/
 *   To:       <kinformer/list_watch.h>
 *   Not here: how it is handled.
 */
#ifndef KI_API_DECODE_REASON_H
#define KI_API_DECODE_REASON_H

#include <kinformer/list_watch.h>

#include "api/decode/status.h"

/* The reason for an error response with this HTTP status or, if `http_status` is 2xx, for an ERROR event in
 * the stream. `status` may be empty. */
ki_reason ki_reason_of_status(int http_status, const ki_status *status);

/* 1 for reasons that only say that the server was not reached, or that the connection was lost. */
int ki_reason_is_transport(ki_reason reason);

/* 1 if the request was not sent, or memory ran out: these reasons do not tell whether the server supports a
 * kind of request. */
int ki_reason_is_before_sending(ki_reason reason);

/* Whether the cause is in this program, not in the server or the network. */
int ki_reason_is_ours(ki_reason reason);

#endif
