/* SPDX-License-Identifier: Apache-2.0 */
/* nghttpx - the proxy of that name, as a child process: it uses HTTP/2 over TLS with the client, and HTTP/1.1
 * with the server.
 *
 *   From:     a client under test, over real sockets
 *   To:       a scripted_http of the test
 *
 * It adds "Forwarded: for=…" to each request, with a different value for each connection of a client, and
 * "Via: 2 nghttpx" if the client uses HTTP/2.
 */
#ifndef KI_TESTS_FLOW_SUPPORT_NGHTTPX_H
#define KI_TESTS_FLOW_SUPPORT_NGHTTPX_H

#include <sys/types.h>

#include "support/client/certificates.h"
#include "support/temp_dir.h"

typedef struct nghttpx {
    temp_dir dir;
    pid_t pid; /* 0: it is not running */
    int port;  /* the same after each start */
    char url[64];
} nghttpx;

/* Writes its files and chooses a port. */
void nghttpx_init(nghttpx *proxy, int server_port, const certificate *own);
void nghttpx_fini(nghttpx *proxy);

/* Returns when it accepts connections. Fails the test on an error. */
void nghttpx_start(nghttpx *proxy);

/* Kills it; returns when it has ended. */
void nghttpx_kill(nghttpx *proxy);

#endif
