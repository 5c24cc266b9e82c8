/* SPDX-License-Identifier: Apache-2.0 */
/* respond - sends a response whose text is built (render.h), or the stream of a watch, with the faults of its
 * body.
 *
 *   From:     apiserver/serve/exchange.c, apiserver/serve/handle_watch.c
 *   To:       libmicrohttpd
 *   Locks:    none of its own
 *   Not here: the content of the response
 */
#ifndef KI_APISERVER_SERVE_RESPOND_H
#define KI_APISERVER_SERVE_RESPOND_H

#include "apiserver/serve/exchange.h"

/* Passes the response (or the stream) to libmicrohttpd. */
enum MHD_Result ki_as_respond(struct ki_as_exchange *exchange);

/* Whether its fault ends or stalls the body at some point.
 * Only such faults use after_bytes and after_events. */
bool ki_as_respond_has_end(const struct ki_as_exchange *exchange);

#endif
