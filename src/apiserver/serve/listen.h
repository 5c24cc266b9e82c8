/* SPDX-License-Identifier: Apache-2.0 */
/* listen - the server's address: reserved while the server is down, listening while it is up.
 *
 *   From:     apiserver/serve/http.c, apiserver/serve/connection.c
 *   To:       socket(2)
 *   Locks:    none
 *   Not here: accepting
 */
#ifndef KI_APISERVER_SERVE_LISTEN_H
#define KI_APISERVER_SERVE_LISTEN_H

#include <kinformer/error.h>
#include <sys/socket.h>

struct ki_as_listen_address {
    struct sockaddr_storage address;
    socklen_t bytes;
};

/* Binds `address` (numeric or "localhost"; NULL means "127.0.0.1") without listening: the port is reserved,
 * and connections are refused. Returns the descriptor, KI_ERR_INVALID or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_as_listen_reserve(const char *address, uint16_t port, struct ki_as_listen_address *out,
                                      ki_error *err);

/* Returns a listening descriptor, or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_as_listen_open(const struct ki_as_listen_address *address, ki_error *err);

/* "127.0.0.1:8001", "[::1]:8001": the address for a client on this machine, even if bound to all
 * addresses. */
void ki_as_listen_format(const struct ki_as_listen_address *address, char *out, size_t out_bytes);

#endif
