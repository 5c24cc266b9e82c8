/* SPDX-License-Identifier: Apache-2.0 */
/* curl_reason - what libcurl says of a transfer that failed, in our words.
 *
 *   From:     http/transfer.c
 *   To:       ki_reason of <kinformer/list_watch.h>
 *   Locks:    none.
 *   Not here: what the server itself says (a status).
 */
#ifndef KI_HTTP_CURL_REASON_H
#define KI_HTTP_CURL_REASON_H

#include <curl/curl.h>
#include <kinformer/list_watch.h>
#include <stdbool.h>

/* `os_error` is what CURLINFO_OS_ERRNO says; 0: nothing. */
ki_reason ki_curl_reason(CURLcode code, long os_error);

/* The other side has answered a handshake with something that is none of TLS. */
bool ki_curl_is_no_tls(CURLcode code, const char *message);

/* What some releases of libcurl call otherwise, by the name that 7.88 has for it: a key of another
 * certificate; with `is_tunnel_refused`, a proxy that has answered and does not connect. */
CURLcode ki_curl_settle(CURLcode code, const char *message, bool is_tunnel_refused);

/* Something is larger than libcurl's own limit for it, or it is out of memory: not all releases tell these
 * apart. */
bool ki_curl_is_too_large(CURLcode code);

/* Of CURLE_SSL_CERTPROBLEM: our key is not that of our certificate. */
bool ki_curl_is_other_key(const char *message);

typedef struct ki_curl_scene {
    bool is_tls;       /* the server is to speak it */
    bool was_answered; /* this server has answered before */
} ki_curl_scene;

/* What a person has to know instead of libcurl's own message: http where https has to be, or the other way
 * round; a certificate without a name. NULL: libcurl has said it. Constant. */
const char *ki_curl_hint(CURLcode code, const char *message, ki_curl_scene scene);

#endif
