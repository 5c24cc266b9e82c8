/* SPDX-License-Identifier: Apache-2.0 */
/* listen - the address of the server: held while it is down, listened at while it is up.
 *
 *   From:     apiserver/serve/http.c
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

/* Binds `address` ("127.0.0.1" for NULL; numbers only, and "localhost") and never listens: the port is ours,
 * and who connects is refused. Returns the descriptor, KI_ERR_INVALID or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_as_listen_reserve(const char *address, uint16_t port, struct ki_as_listen_address *out,
                                      ki_error *err);

/* A descriptor that listens there, or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_as_listen_open(const struct ki_as_listen_address *address, ki_error *err);

/* "127.0.0.1:8001", "[::1]:8001": as a client on this machine reaches it,
 * also when it is bound to all addresses. */
void ki_as_listen_format(const struct ki_as_listen_address *address, char *out, size_t out_bytes);

#endif
