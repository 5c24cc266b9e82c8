/* SPDX-License-Identifier: Apache-2.0 */
/* proxies - a scripted server as a proxy: HTTP CONNECT, and SOCKS5. Whatever the target is, they connect to
 * one port of 127.0.0.1, and record the target. */
#ifndef KI_TESTS_FLOW_SUPPORT_PROXIES_H
#define KI_TESTS_FLOW_SUPPORT_PROXIES_H

#include "support/client/scripted_http.h"

typedef struct proxied {
    int port;         /* the port they connect to; 0: they refuse */
    bool wants_user;  /* SOCKS5: requires user and password */
    char asked[300];  /* "api.example:6443"; SOCKS5: "name api.example:6443" or "address 127.0.0.1:6443" */
    char user[300];   /* SOCKS5: "user:password" */
    char client[64];  /* CONNECT: the name in the client's certificate */
    char head[16384]; /* CONNECT: the head of the request */
    int tunnels;      /* number of tunnels opened */
} proxied;

/* Callbacks for scripted_http_options; `user` is a proxied,
 * which may be read after the server has stopped. */
scripted_next proxies_connect(scripted_connection *connection, const scripted_request *request, void *user);
void proxies_socks5(scripted_connection *connection, void *user);

#endif
