/* SPDX-License-Identifier: Apache-2.0 */
/* http - the port, the daemon of libmicrohttpd behind it, and every connection.
 *
 *   From:     apiserver/serve/apiserver.c
 *   To:       exchanges, one for each request
 *   Locks:    none of its own; one caller at a time
 *   Not here: what is answered
 *
 * The address stays ours between two runs: a socket that is bound and never listens holds it.
 */
#ifndef KI_APISERVER_SERVE_HTTP_H
#define KI_APISERVER_SERVE_HTTP_H

#include "apiserver/serve/server.h"

struct ki_as_http_options {
    const char *bind; /* NULL: 127.0.0.1 */
    uint16_t port;
};

/* Takes the address, and writes server->address. Answers nobody yet. */
KI_NODISCARD int ki_as_http_open(struct ki_apiserver *server, const struct ki_as_http_options *options,
                                 ki_error *err);
/* NULL is allowed. Stopped. */
void ki_as_http_close(struct ki_as_http *http);

/* Answers, and ends every connection. Both may be called again. */
KI_NODISCARD int ki_as_http_start(struct ki_apiserver *server, ki_error *err);
void ki_as_http_stop(struct ki_apiserver *server);

struct ki_as_exchange;

/* Ends every connection but that of `spared` (NULL: none is), with RST if `is_reset`; and wakes all that
 * stalls. */
void ki_as_http_cut(struct ki_apiserver *server, bool is_reset, const struct ki_as_exchange *spared);
void ki_as_http_heal(struct ki_apiserver *server);

/* The other side sees RST; the descriptor stays open. */
void ki_as_socket_reset(int fd);

#endif
