/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_route - libcurl's options for the proxy, so that it behaves as in Go.
 *
 *   From:     http/request_options.c, http/transfer.c, http/http.c
 *   To:       config/config.h
 *   Locks:    none; immutable.
 *   Not here: the environment's proxy (config/proxy.h); connecting.
 */
#ifndef KI_HTTP_PROXY_ROUTE_H
#define KI_HTTP_PROXY_ROUTE_H

#include <curl/curl.h>

#include "config/config.h"

/* A zeroed struct means no proxy. */
typedef struct ki_proxy_route {
    char *url;       /* NULL for none. Without a user. A SOCKS proxy resolves names itself, as with kubectl */
    char *userpwd;   /* escaped, for CURLOPT_PROXYUSERPWD; NULL for none */
    char *pair;      /* user and password, unescaped, separated by a colon; NULL for none */
    char *said;      /* the pair as written in the configuration, with its escapes; NULL for none */
    size_t user_len; /* length of the user in the pair */
    char name[128];  /* as configured, with user and password masked, and without a path */
    long port;       /* to use if the URL has none; 0 for libcurl's default */
    bool is_tls;     /* https: the connection to the proxy itself */
} ki_proxy_route;

/* Returns 0, KI_ERR_CONFIG for an invalid address, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proxy_route_init(ki_proxy_route *proxy, const ki_config *config, ki_error *err);
void ki_proxy_route_fini(ki_proxy_route *proxy);

/* For ki_mask: hides the password, both alone and together with the user. */
size_t ki_proxy_route_hide(const ki_proxy_route *proxy, char *text, size_t len);

/* A failure that may be the proxy's, not the server's. */
typedef struct ki_proxy_route_failure {
    CURLcode code;
    const char *message;  /* of libcurl */
    long detail;          /* a CURLproxycode, for SOCKS */
    bool was_asked_to_go; /* the proxy has responded to CONNECT: later failures are the server's */
} ki_proxy_route_failure;

/* Writes a message that names the proxy. Returns false, and writes nothing, if it is not the proxy's
 * failure. */
bool ki_proxy_route_name_failure(const ki_proxy_route *proxy, const ki_proxy_route_failure *failure,
                                 char *text, size_t size);

#endif
