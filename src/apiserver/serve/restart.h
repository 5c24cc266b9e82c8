/* SPDX-License-Identifier: Apache-2.0 */
/* restart - takes the server down, and brings it back up after a time.
 *
 *   From:     apiserver/serve/apiserver.c: ki_apiserver_down(), _up() and _down_for();
 *             apiserver/serve/exchange.c
 *   To:       apiserver/serve/http.h
 *   Locks:    restart_mu of the server; while it is held, all locks that stopping needs are taken
 *   Not here: sockets
 *
 * A request cannot stop the threads that serve it. So it only records for how long the server should go down,
 * and a job of the server's loop takes the server down after the response was sent.
 */
#ifndef KI_APISERVER_SERVE_RESTART_H
#define KI_APISERVER_SERVE_RESTART_H

#include "apiserver/serve/server.h"

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_restart_init(struct ki_apiserver *server);
/* After this, the server does not start or stop by itself. A zeroed server is allowed. */
void ki_as_restart_fini(struct ki_apiserver *server);

/* Called from the thread of a request: the server goes down soon, for `ms`. */
void ki_as_restart_wish_down(struct ki_apiserver *server, uint64_t ms);

#endif
