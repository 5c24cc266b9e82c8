/* SPDX-License-Identifier: Apache-2.0 */
/* sockets - libcurl's sockets as watches of the loop.
 *
 *   From:     http/http.c; libcurl, by CURLMOPT_SOCKETFUNCTION; the loop, when one is ready (received bytes);
 *             also http/pool.c, http/transfer.c, http/transfer_receive.c
 *   To:       libcurl, which reads them and calls http/transfer_receive.c; then http/http.c (ki_http_leave)
 *   Locks:    none; io only.
 *   Not here: opening and closing them (http/request_options.c, libcurl).
 *
 * A request by libcurl to watch a socket cannot be refused without ending all of its transfers. So the memory
 * for it is reserved with each transfer, before it begins.
 *
 * A transfer is paused by holding its socket: it is not watched, and libcurl finds nothing to read on it
 * (http/stand_in.h). libcurl's own pauses are not used, because their cost varies between releases, up to a
 * timer that is always due. libcurl's timers and the other transfers continue. A held socket may still
 * deliver the bytes that OpenSSL has already read (http/read_ahead.h); those that it does not deliver are
 * read when the transfer continues.
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
    size_t count; /* of both lists */
    ki_stand_in stand_in;
    bool has_closed;    /* a connection was closed during the current call into libcurl */
    ki_socket *running; /* the socket whose watch runs; NULL if none, or if libcurl has given it up */
} ki_sockets;

struct ki_http;
struct ki_pool;
struct ki_transfer;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_sockets_init(ki_sockets *sockets, ki_error *err);

/* Must be called after libcurl's handles have been freed. A zeroed struct is allowed. */
void ki_sockets_fini(ki_sockets *sockets);

/* Reserves entries for this many transfers, and frees surplus ones. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_sockets_reserve(struct ki_http *http, size_t transfers);

/* Stops reading for this transfer, which has its connection to itself and was marked as paused. If libcurl
 * has not asked to watch its socket yet, the socket is held as soon as it does. */
void ki_sockets_hold(struct ki_transfer *transfer);

/* Watches its socket again. Does nothing if none is held. */
void ki_sockets_let_go(struct ki_transfer *transfer);

/* libcurl has removed this transfer: no socket refers to it any more. */
void ki_sockets_forget(struct ki_transfer *transfer);

/* Tells libcurl that a socket is ready, or that its timer is due (CURL_SOCKET_TIMEOUT). libcurl calls back
 * with the data that it receives. */
void ki_sockets_act(struct ki_pool *pool, curl_socket_t fd, int flags);

/* CURLMOPT_SOCKETFUNCTION; `user` is the ki_pool. */
int ki_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *user, void *socket);

#endif
