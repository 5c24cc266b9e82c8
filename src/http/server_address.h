/* SPDX-License-Identifier: Apache-2.0 */
/* server_address - the parsed address of the API server.
 *
 *   From:     http/request_options.c, http/transfer.c, http/http.c
 *   To:       config/config.h
 *   Locks:    none; immutable.
 *   Not here: connecting.
 */
#ifndef KI_HTTP_SERVER_ADDRESS_H
#define KI_HTTP_SERVER_ADDRESS_H

#include "config/config.h"

#include <curl/curl.h>

/* A zeroed struct is empty. */
typedef struct ki_server_address {
    char *base;                    /* "https://host:6443/prefix", to which a request's path is appended */
    char *host_header;             /* "Host: host:6443" if `base` has another host name for TLS; else NULL */
    struct curl_slist *connect_to; /* in that case: where to connect */
    bool is_tls;
    bool is_name; /* the host must be resolved */
} ki_server_address;

/* Returns 0, KI_ERR_CONFIG or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_server_address_init(ki_server_address *server, const ki_config *config, ki_error *err);
void ki_server_address_fini(ki_server_address *server);

#endif
