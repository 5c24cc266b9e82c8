/* SPDX-License-Identifier: Apache-2.0 */
/* nghttpx - the proxy of that name, as a child: speaks HTTP/2 over TLS with the client, HTTP/1.1 with the
 * server.
 *
 *   From:     a client under test, over real sockets
 *   To:       a scripted_http of the test
 *
 * Each request bears "Forwarded: for=…", another for each connection of a client, and "Via: 2 nghttpx" when
 * that one speaks HTTP/2.
 */
#ifndef KI_TESTS_FLOW_SUPPORT_NGHTTPX_H
#define KI_TESTS_FLOW_SUPPORT_NGHTTPX_H

#include <sys/types.h>

#include "support/certificates.h"
#include "support/temp_dir.h"

typedef struct nghttpx {
    temp_dir dir;
    pid_t pid; /* 0: it does not run */
    int port;  /* the same after each start */
    char url[64];
} nghttpx;

/* Writes its files and chooses a port. */
void nghttpx_init(nghttpx *proxy, int server_port, const certificate *own);
void nghttpx_fini(nghttpx *proxy);

/* Returns when it takes connections. Fails the test when it cannot. */
void nghttpx_start(nghttpx *proxy);

/* Without a good-bye; returns when it is gone. */
void nghttpx_kill(nghttpx *proxy);

#endif
