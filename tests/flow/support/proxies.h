/* SPDX-License-Identifier: Apache-2.0 */
/* proxies - what a scripted server does as a proxy: CONNECT of HTTP, and SOCKS5. Wherever they are asked to
 * go, they go to one port of 127.0.0.1, and write down what they were asked. */
#ifndef KI_TESTS_FLOW_SUPPORT_PROXIES_H
#define KI_TESTS_FLOW_SUPPORT_PROXIES_H

#include "support/scripted_http.h"

typedef struct proxied {
    int port;         /* where they go; 0: they refuse */
    bool wants_user;  /* SOCKS5: user and password */
    char asked[300];  /* "api.example:6443"; SOCKS5: "name api.example:6443" or "address 127.0.0.1:6443" */
    char user[300];   /* "user:password", SOCKS5 */
    char client[64];  /* of its certificate, CONNECT */
    char head[16384]; /* of CONNECT */
    int tunnels;      /* that were made */
} proxied;

/* As scripted_http_options has them; `user` is a proxied, to be read when the server has stopped. */
scripted_next proxies_connect(scripted_connection *connection, const scripted_request *request, void *user);
void proxies_socks5(scripted_connection *connection, void *user);

#endif
