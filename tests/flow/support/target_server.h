/* SPDX-License-Identifier: Apache-2.0 */
/* target_server - what the server of a test does with its requests: the answer is in the target.
 *
 *   From:     tests of http/transfer
 *   To:       support/scripted_http.h
 *
 * "/plain", "/chunked", "/until-closed" and "/bytewise" answer "hello", in these ways; "/interim" after
 * another head. "/cut-head", "/cut-length" and "/cut-chunk" end too early, "/reset" and "/close" at once.
 * "/wait" answers after the first scripted_http_poke(), "/echo" with the head of the request,
 * "/status/<line>" with that and a Retry-After, "/redirect" with a place that has secrets.
 * All else is not found.
 */
#ifndef KI_FLOW_SUPPORT_TARGET_SERVER_H
#define KI_FLOW_SUPPORT_TARGET_SERVER_H

#include "support/scripted_http.h"

extern const scripted_http_options target_server;

#endif
