/* SPDX-License-Identifier: Apache-2.0 */
/* alt_name - a server's certificate has to bear its name as a subject alternative name, as Go's programs want
 * it; libcurl would take the common name of one that has none.
 *
 *   From:     http/easy.c
 *   To:       OpenSSL, while it verifies; http/curl_reason.c knows what it says then
 *   Locks:    none; io's.
 *   Not here: whether the name is the right one, which libcurl compares.
 */
#ifndef KI_HTTP_ALT_NAME_H
#define KI_HTTP_ALT_NAME_H

#include <curl/curl.h>
#include <stdbool.h>

#include "http/proxy_route.h"

/* For a handle that verifies its server. Proxies are left alone: their certificates are libcurl's matter.
 * Where libcurl has another back end than our OpenSSL, nothing is done. `proxy` lives as long as the handle.
 * Returns whether libcurl took it. */
bool ki_alt_name_require(CURL *easy, const ki_proxy_route *proxy);

/* What a handshake that fails for want of one has in its message. */
#define KI_ALT_NAME_MESSAGE "application verification failure"

#endif
