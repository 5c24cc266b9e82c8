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
#include <stdbool.h>

/* For a handle that is new. Costs nothing unless someone listens at that level now. Returns whether libcurl
 * took it. */
bool ki_trace_set(CURL *easy);

#endif
