/* SPDX-License-Identifier: Apache-2.0 */
/* http - the port, libmicrohttpd's daemon, and all connections.
 *
 *   From:     apiserver/serve/apiserver.c and apiserver/serve/restart.c (starts, stops),
 *             apiserver/serve/exchange.c, apiserver/serve/respond.c and apiserver/serve/handle_debug.c (cuts,
 *             faults); libmicrohttpd calls it for connections and requests
 *   To:       apiserver/serve/connection.h, apiserver/serve/exchange.h, one per request
 *   Locks:    none of its own; one caller opens, closes, starts and stops. ki_as_http_cut() and
 *             ki_as_http_clear_faults() may be called on any thread; they take the server's mu and, under it,
 *             each exchange's
 *   Not here: the content of responses
 *
 * The address stays reserved while the server is down, by a socket that is bound but never listens.
 */
#ifndef KI_APISERVER_SERVE_HTTP_H
#define KI_APISERVER_SERVE_HTTP_H

#include "apiserver/serve/server.h"

struct ki_as_http_options {
    const char *bind; /* NULL means 127.0.0.1 */
    uint16_t port;
};

/* Binds the address and sets server->address. Does not serve yet. */
KI_NODISCARD int ki_as_http_open(struct ki_apiserver *server, const struct ki_as_http_options *options,
                                 ki_error *err);
/* The daemon must be stopped. NULL is allowed. */
void ki_as_http_close(struct ki_as_http *http);

/* Start and stop serving; stopping ends every connection. Both may be called repeatedly. */
KI_NODISCARD int ki_as_http_start(struct ki_apiserver *server, ki_error *err);
void ki_as_http_stop(struct ki_apiserver *server);

struct ki_as_exchange;

/* Ends every connection except that of `spared` (may be NULL), with RST if `is_reset`, and wakes all stalled
 * exchanges. */
void ki_as_http_cut(struct ki_apiserver *server, bool is_reset, const struct ki_as_exchange *spared);
/* Clears the faults of all requests in progress: those that are stalled continue,
 * and those that would be cut later are not cut. */
void ki_as_http_clear_faults(struct ki_apiserver *server);

/* Resets the connection; the descriptor stays open. */
void ki_as_socket_reset(int fd);

#endif
