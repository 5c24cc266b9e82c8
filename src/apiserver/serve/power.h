/* SPDX-License-Identifier: Apache-2.0 */
/* power - a server that goes away, and comes back by itself.
 *
 *   From:     ki_apiserver_down(), _up() and _down_for(); /debug/down
 *   To:       apiserver/serve/http.h
 *   Locks:    the server's power; within it everything that stopping takes
 *   Not here: sockets
 *
 * A request cannot stop the threads that serve it. It leaves a wish, which a job of the server's loop carries
 * out once the request has its answer.
 */
#ifndef KI_APISERVER_SERVE_POWER_H
#define KI_APISERVER_SERVE_POWER_H

#include "apiserver/serve/server.h"

/* Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_power_init(struct ki_apiserver *server);
/* Nothing starts or stops by itself after this. Takes a zeroed server. */
void ki_as_power_fini(struct ki_apiserver *server);

/* From the thread of a request: the server goes down soon, for `ms`. */
void ki_as_power_wish_down(struct ki_apiserver *server, uint64_t ms);

#endif
