/* SPDX-License-Identifier: Apache-2.0 */
/* linger - keeps a connection open whose response was sent before the whole request was received.
 *
 *   From:     apiserver/serve/connection.c, when libmicrohttpd closes it; apiserver/serve/http.c, at the end
 *   To:       the server's loop, which discards further bytes
 *   Locks:    the server's mu
 *   Not here: responses
 *
 * Closing a socket with unread bytes resets the connection. A client that is still sending then sees the
 * reset and never the response. So the socket stays open until the client closes it,
 * within limits of time and bytes.
 */
#ifndef KI_APISERVER_SERVE_LINGER_H
#define KI_APISERVER_SERVE_LINGER_H

#include "apiserver/serve/server.h"

/* Keeps a duplicate of the descriptor; the caller closes `fd` as usual. Does nothing if too many connections
 * linger already, or if out of memory: then the connection just ends. */
void ki_as_linger_start(struct ki_apiserver *server, int fd);
/* Ends all lingering connections. Must not be called from the loop. */
void ki_as_linger_end_all(struct ki_apiserver *server);

#endif
