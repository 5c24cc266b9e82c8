/* SPDX-License-Identifier: Apache-2.0 */
/* linger - a connection that was answered before its client had sent everything, until it has read that.
 *
 *   From:     apiserver/serve/connection.c, when libmicrohttpd is done with it
 *   To:       the server's loop, which reads and forgets what still comes
 *   Locks:    the server's mu
 *   Not here: answers
 *
 * Closing a socket with bytes in it that nobody has read resets the connection, and a client that is still
 * sending then sees that, and never the answer. So the socket is kept open until the client ends it, for some
 * time and some bytes at the most.
 */
#ifndef KI_APISERVER_SERVE_LINGER_H
#define KI_APISERVER_SERVE_LINGER_H

#include "apiserver/serve/server.h"

/* Keeps a duplicate of the descriptor, which the caller closes as ever. Nothing happens when there are too
 * many already, or no memory: then the connection just ends. */
void ki_as_linger_start(struct ki_apiserver *server, int fd);
/* All at once. Never from the loop. */
void ki_as_linger_end_all(struct ki_apiserver *server);

#endif
