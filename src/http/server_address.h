/* SPDX-License-Identifier: Apache-2.0 */
/* server_address - the address of the API server, taken apart once.
 *
 *   From:     http/easy.c, http/transfer.c
 *   To:       config/config.h
 *   Locks:    none; constant once made.
 *   Not here: connecting.
 */
#ifndef KI_HTTP_SERVER_ADDRESS_H
#define KI_HTTP_SERVER_ADDRESS_H

#include "config/config.h"

#include <curl/curl.h>

/* A zeroed one is empty. */
typedef struct ki_server_address {
    char *base;                    /* "https://host:6443/prefix", what a request's path is put behind */
    char *host_header;             /* "Host: host:6443" when `base` names another host for TLS; else NULL */
    struct curl_slist *connect_to; /* then: where to go really */
    bool is_tls;
    bool is_name; /* the host has to be looked up */
} ki_server_address;

/* Returns 0, KI_ERR_CONFIG or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_server_address_init(ki_server_address *server, const ki_config *config, ki_error *err);
void ki_server_address_fini(ki_server_address *server);

#endif
