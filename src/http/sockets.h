/* SPDX-License-Identifier: Apache-2.0 */
/* sockets - libcurl's sockets as watches of the loop.
 *
 *   From:     libcurl, by CURLMOPT_SOCKETFUNCTION; and the loop, when one is ready
 *   To:       ki_pool_act()
 *   Locks:    none; io's.
 *   Not here: opening and closing them (easy.c, libcurl).
 *
 * A socket that libcurl wants watched cannot be refused without ending all of its work; so what is needed for
 * one is set aside with each transfer, before it begins.
 */
#ifndef KI_HTTP_SOCKETS_H
#define KI_HTTP_SOCKETS_H

#include <curl/curl.h>

#include "util/fd_watch.h"

typedef struct ki_sockets {
    ki_list spare;
    ki_list used;
    size_t count; /* of both */
    struct ki_socket
        *running; /* the one whose watch runs; NULL: none, or libcurl has given it up meanwhile */
} ki_sockets;

struct ki_http;

void ki_sockets_init(ki_sockets *sockets);

/* libcurl is gone. */
void ki_sockets_fini(ki_sockets *sockets);

/* Has enough for so many transfers; fewer: lets go of what is too much. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_sockets_reserve(struct ki_http *http, size_t transfers);

/* CURLMOPT_SOCKETFUNCTION; `user` is the ki_pool. */
int ki_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *user, void *socket);

#endif
