/* SPDX-License-Identifier: Apache-2.0 */
/* alt_name - requires a subject alternative name in a server's certificate, like Go; libcurl would fall back
 * to the common name.
 *
 *   From:     http/easy.c
 *   To:       OpenSSL's verification; http/curl_reason.c recognises its error
 *   Locks:    none; io only.
 *   Not here: comparing the name, which libcurl does.
 */
#ifndef KI_HTTP_ALT_NAME_H
#define KI_HTTP_ALT_NAME_H

#include <curl/curl.h>
#include <stdbool.h>

#include "http/proxy_route.h"

/* For a handle that verifies its server. Proxies are not affected: libcurl checks their certificates. Does
 * nothing if libcurl has another back end than our OpenSSL. `proxy` lives as long as the handle. Returns
 * whether libcurl accepted it. */
bool ki_alt_name_require(CURL *easy, const ki_proxy_route *proxy);

/* Part of the message of a handshake that fails for this reason. */
#define KI_ALT_NAME_MESSAGE "application verification failure"

#endif
