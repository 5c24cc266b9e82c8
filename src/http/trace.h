/* SPDX-License-Identifier: Apache-2.0 */
/* trace - logs the heads of requests and responses, with secrets masked.
 *
 *   From:     http/request_options.c
 *   To:       util/log.h at KI_LOG_TRACE, by config/redact.h
 *   Locks:    none; io only.
 *   Not here: bodies; libcurl's own messages, which may contain unmasked HTTP/2 headers.
 */
#ifndef KI_HTTP_TRACE_H
#define KI_HTTP_TRACE_H

#include <curl/curl.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "util/text/mask.h"

/* Part of a transfer. */
typedef struct ki_trace {
    ki_mask mask;        /* for secrets in any line */
    bool is_inside_sent; /* the last piece ended inside a line */
    bool is_inside_received;
} ki_trace;

/* For a new handle; `trace` must live as long as the handle. Costs nothing unless KI_LOG_TRACE is enabled
 * now. Returns whether libcurl accepted it. */
bool ki_trace_set(ki_trace *trace, CURL *easy, ki_mask mask);

/* Takes some bytes of a head, as libcurl passes them. A request arrives in as many pieces as it is sent in,
 * and a piece may begin and end within a line. */
void ki_trace_take(ki_trace *trace, bool is_sent, ki_str piece);

#endif
