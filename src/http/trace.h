/* SPDX-License-Identifier: Apache-2.0 */
/* trace - the heads of requests and answers in the log, without their secrets.
 *
 *   From:     http/easy.c
 *   To:       util/log.h at KI_LOG_TRACE, by config/redact.h
 *   Locks:    none; io's.
 *   Not here: bodies; what libcurl has to say itself, which may have headers of HTTP/2 in it as they are.
 */
#ifndef KI_HTTP_TRACE_H
#define KI_HTTP_TRACE_H

#include <curl/curl.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "util/mask.h"

/* Part of a transfer. */
typedef struct ki_trace {
    ki_mask mask;        /* of secrets in any line */
    bool is_inside_sent; /* of a line, when the last piece ended */
    bool is_inside_received;
} ki_trace;

/* For a handle that is new; `trace` lives as long. Costs nothing unless someone listens at that level now.
 * Returns whether libcurl took it. */
bool ki_trace_set(ki_trace *trace, CURL *easy, ki_mask mask);

/* Some bytes of a head, as libcurl has them: a request's in as many pieces as it is sent in, which may begin
 * and end within a line. */
void ki_trace_take(ki_trace *trace, bool is_sent, ki_str piece);

#endif
