/* SPDX-License-Identifier: Apache-2.0 */
/* target_server - a server whose response depends on the target of the request.
 *
 *   From:     tests of http/transfer
 *   To:       support/client/scripted_http.h
 *
 * "/plain", "/chunked", "/until-closed" and "/bytewise" respond with "hello", each in its way; "/interim"
 * after another head. "/cut-head", "/cut-length" and "/cut-chunk" end too early, "/reset" and "/close" at
 * once. "/wait" responds after the first scripted_http_poke(), "/echo" with the head of the request,
 * "/status/<line>" with that status and a Retry-After, "/redirect" with a location that contains secrets.
 * All other targets are not found.
 */
#ifndef KI_FLOW_SUPPORT_TARGET_SERVER_H
#define KI_FLOW_SUPPORT_TARGET_SERVER_H

#include "support/client/scripted_http.h"

extern const scripted_http_options target_server;

#endif
