/* SPDX-License-Identifier: Apache-2.0 */
/* connection - a socket of libmicrohttpd's, and whether its client still sends.
 *
 *   From:     apiserver/serve/http.c, which is told of each
 *   To:       the exchange that is under way on it
 *   Locks:    the server's mu
 *   Not here: bytes
 */
#ifndef KI_APISERVER_SERVE_CONNECTION_H
#define KI_APISERVER_SERVE_CONNECTION_H

#include "apiserver/serve/exchange.h"
#include "util/loop/fd_watch.h"

struct ki_as_connection {
    struct ki_apiserver *server; /* constant, as the next */
    int fd;                      /* may be cut by others, while this is in the list */
    char remote[64];             /* "127.0.0.1:40123"; "" when the system does not say */
    ki_list_node node;           /* guarded by the server's mu, as the next two */
    struct ki_as_exchange *exchange;
    bool is_half_closed;
    ki_fd_watch hang_up;
    uint64_t nudge_ns; /* of its job: from one nudge to the next */
    bool lingers;      /* its client may be sending when it ends; of the thread that serves it */
};

/* NULL without memory; then nobody can cut it, and it ends when it is idle for long. */
struct ki_as_connection *ki_as_connection_new(struct ki_apiserver *server, int fd);
/* Before the descriptor is closed. NULL is allowed. */
void ki_as_connection_free(struct ki_as_connection *connection);

/* A new exchange is under way; until it is freed. */
void ki_as_connection_attach(struct ki_as_connection *connection, struct ki_as_exchange *exchange);

#endif
