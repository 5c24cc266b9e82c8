/* SPDX-License-Identifier: Apache-2.0 */
/* sockets - libcurl's sockets as watches of the loop.
 *
 *   From:     libcurl, by CURLMOPT_SOCKETFUNCTION; and the loop, when one is ready
 *   To:       libcurl, which calls http/transfer_receive.c
 *   Locks:    none; io's.
 *   Not here: opening and closing them (http/easy.c, libcurl).
 *
 * A socket that libcurl wants watched cannot be refused without ending all of its work; so what is needed for
 * one is set aside with each transfer, before it begins.
 *
 * A transfer is paused by holding its socket: it is not watched, and libcurl finds nothing to read on it
 * (http/stand_in.h). libcurl's own pauses are not used: what they cost differs from release to release, up to
 * a timer that is always due. libcurl's timers, those of the other transfers, and what OpenSSL has read
 * already go on as ever; what still comes of a held socket are such bytes, and they are few.
 */
#ifndef KI_HTTP_SOCKETS_H
#define KI_HTTP_SOCKETS_H

#include <curl/curl.h>

#include "http/stand_in.h"
#include "util/loop/fd_watch.h"

typedef struct ki_socket ki_socket;

typedef struct ki_sockets {
    ki_list spare;
    ki_list used;
    size_t count; /* of both */
    ki_stand_in stand_in;
    ki_socket *running; /* the one whose watch runs; NULL: none, or libcurl has given it up meanwhile */
} ki_sockets;

struct ki_http;
struct ki_pool;
struct ki_transfer;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_sockets_init(ki_sockets *sockets, ki_error *err);

/* libcurl is gone. Takes a zeroed struct. */
void ki_sockets_fini(ki_sockets *sockets);

/* Has enough for so many transfers; fewer: lets go of what is too much. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_sockets_reserve(struct ki_http *http, size_t transfers);

/* No more is read for this transfer, which has its connection to itself and has been marked as paused. Where
 * libcurl has not asked for its socket to be watched yet, it is held as soon as it does. */
void ki_sockets_hold(struct ki_transfer *transfer);

/* Its socket is watched again. Nothing is held: does nothing. */
void ki_sockets_let_go(struct ki_transfer *transfer);

/* libcurl is told that a socket is ready, or CURL_SOCKET_TIMEOUT; it calls back with what it has read. */
void ki_sockets_act(struct ki_pool *pool, curl_socket_t fd, int flags);

/* CURLMOPT_SOCKETFUNCTION; `user` is the ki_pool. */
int ki_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *user, void *socket);

#endif
