/* SPDX-License-Identifier: Apache-2.0 */
/* curl_reason - translates libcurl's errors into reasons and messages.
 *
 *   From:     http/transfer.c, http/proxy_route.c
 *   To:       ki_reason of <kinformer/list_watch.h>
 *   Locks:    none.
 *   Not here: errors that the server itself reports (a Status).
 */
#ifndef KI_HTTP_CURL_REASON_H
#define KI_HTTP_CURL_REASON_H

#include <curl/curl.h>
#include <kinformer/list_watch.h>
#include <stdbool.h>

/* `os_error` is the value of CURLINFO_OS_ERRNO; 0 for none. */
ki_reason ki_curl_reason(CURLcode code, long os_error);

/* Whether the peer responded to a handshake with something other than TLS. */
bool ki_curl_is_plaintext(CURLcode code, const char *message);

/* Maps the codes of other releases of libcurl to those of 7.88: for a key that does not match the
 * certificate and, with `is_tunnel_refused`, for a proxy that responded but did not connect. */
CURLcode ki_curl_settle(CURLcode code, const char *message, bool is_tunnel_refused);

/* Whether something exceeds one of libcurl's limits, or libcurl is out of memory: not all releases
 * distinguish these. */
bool ki_curl_is_too_large(CURLcode code);

/* For CURLE_SSL_CERTPROBLEM: our key does not match our certificate. */
bool ki_curl_is_other_key(const char *message);

typedef struct ki_curl_scene {
    bool is_tls;       /* the server should use TLS */
    bool was_answered; /* this server has responded before */
} ki_curl_scene;

/* Returns a better message than libcurl's own: for http instead of https or vice versa, or for a certificate
 * without a name. NULL if libcurl's message is good enough. Constant. */
const char *ki_curl_hint(CURLcode code, const char *message, ki_curl_scene scene);

#endif
