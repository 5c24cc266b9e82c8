/* SPDX-License-Identifier: Apache-2.0 */
/* tls_context - settings made in OpenSSL itself, because libcurl has no option for them.
 *
 *   From:     http/request_options.c, http/http.c
 *   To:       http/alt_name.h, http/read_ahead.h
 *   Locks:    none; io only.
 *   Not here: trust and certificates (http/request_options.c).
 */
#ifndef KI_HTTP_TLS_CONTEXT_H
#define KI_HTTP_TLS_CONTEXT_H

#include <curl/curl.h>
#include <stdbool.h>

struct ki_http;

/* Whether libcurl uses the OpenSSL that we are linked with: only then may its objects be touched. */
bool ki_tls_context_is_ours(void);

/* Applies the settings to the connection to the server, but not to that of a proxy. Does nothing if libcurl
 * does not use our OpenSSL. Returns whether libcurl accepted the callback. */
bool ki_tls_context_set(CURL *easy, struct ki_http *http);

#endif
