/* SPDX-License-Identifier: Apache-2.0 */
/* reason - the one word for what a server has said.
 *
 *   From:     reflector/answer.c, reflector/reflector_watch.c
 *   To:       <kinformer/list_watch.h>
 *   Not here: what is done about it.
 */
#ifndef KI_API_DECODE_REASON_H
#define KI_API_DECODE_REASON_H

#include <kinformer/list_watch.h>

#include "api/decode/status.h"

/* Of an answer with that code, or of an ERROR event in one with code 200; `status` may be empty. */
ki_reason ki_reason_of_status(int http_status, const ki_status *status);

/* 1 for those that say nothing about the server but that it was not reached, or lost. */
int ki_reason_is_transport(ki_reason reason);

/* 1 for those of requests that were not sent, and for lack of memory: they say nothing about what the server
 * makes of a kind of request. */
int ki_reason_is_before_sending(ki_reason reason);

#endif
