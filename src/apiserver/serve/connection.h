/* SPDX-License-Identifier: Apache-2.0 */
/* connection - a socket of libmicrohttpd, and whether its client has closed it.
 *
 *   From:     apiserver/serve/http.c, which is notified of each
 *   To:       the exchange in progress on it
 *   Locks:    the server's mu
 *   Not here: reading and writing
 */
#ifndef KI_APISERVER_SERVE_CONNECTION_H
#define KI_APISERVER_SERVE_CONNECTION_H

#include "apiserver/serve/exchange.h"
#include "util/loop/fd_watch.h"

struct ki_as_connection {
    struct ki_apiserver *server; /* constant, like `fd` */
    int fd;                      /* other threads may shut it down while the connection is in the list */
    char remote[64];             /* "127.0.0.1:40123"; "" if unknown */
    ki_list_node node;           /* guarded by the server's mu, like `exchange` and `is_half_closed` */
    struct ki_as_exchange *exchange;
    bool is_half_closed;
    ki_fd_watch hang_up;
    uint64_t nudge_ns; /* interval between two nudges; used by the job of `hang_up` */
    bool lingers;      /* the client may still be sending at the end; used by the serving thread */
};

/* NULL if out of memory. Then the connection cannot be cut, and ends with the idle timeout. */
struct ki_as_connection *ki_as_connection_new(struct ki_apiserver *server, int fd);
/* Must be called before the descriptor is closed. NULL is allowed. */
void ki_as_connection_free(struct ki_as_connection *connection);

/* Sets the exchange in progress. Freeing the exchange unsets it. */
void ki_as_connection_attach(struct ki_as_connection *connection, struct ki_as_exchange *exchange);

#endif
