/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_route - the proxy on the way to the server, as libcurl has to be told of it to do what Go's programs
 * do.
 *
 *   From:     http/easy.c, http/transfer.c
 *   To:       config/config.h
 *   Locks:    none; constant once made.
 *   Not here: which one the environment names (config/proxy.h); connecting.
 */
#ifndef KI_HTTP_PROXY_ROUTE_H
#define KI_HTTP_PROXY_ROUTE_H

#include <curl/curl.h>

#include "config/config.h"

/* A zeroed one is none. */
typedef struct ki_proxy_route {
    char *url;       /* NULL: none. Without a user. A SOCKS proxy looks up names itself, as kubectl has it */
    char *userpwd;   /* escaped, as CURLOPT_PROXYUSERPWD takes it; NULL: none */
    char *pair;      /* user and password as they are, with a colon between them; NULL: none */
    char *said;      /* the same as the configuration has it, with its escapes; NULL: none */
    size_t user_len; /* in the pair, before the colon */
    char name[128];  /* as the configuration has it, without user and password */
    long port;       /* where the URL has none; 0: as libcurl has it */
    bool is_tls;     /* https: the way to the proxy itself */
} ki_proxy_route;

/* Returns 0, KI_ERR_CONFIG for an address that is none, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proxy_route_init(ki_proxy_route *proxy, const ki_config *config, ki_error *err);
void ki_proxy_route_fini(ki_proxy_route *proxy);

/* As ki_mask has it, for its password, alone and behind the user. */
size_t ki_proxy_route_hide(const ki_proxy_route *proxy, char *text, size_t len);

/* What went wrong on the way, and not at the server. */
typedef struct ki_proxy_route_failure {
    CURLcode code;
    const char *message;  /* of libcurl */
    long detail;          /* a CURLproxycode, of SOCKS */
    bool was_asked_to_go; /* it has answered CONNECT: what follows is the server's */
} ki_proxy_route_failure;

/* Writes a text that names the proxy. Returns false, and writes nothing, when it is not its fault. */
bool ki_proxy_route_name_failure(const ki_proxy_route *proxy, const ki_proxy_route_failure *failure,
                                 char *text, size_t size);

#endif
