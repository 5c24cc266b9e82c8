/* SPDX-License-Identifier: Apache-2.0 */
/* http_parts - shared by http.c, sockets.c, request_options.c and transfer.c.
 *
 *   From:     http/ only
 *   Locks:    none; io only.
 */
#ifndef KI_HTTP_HTTP_PARTS_H
#define KI_HTTP_HTTP_PARTS_H

#include <curl/curl.h>

#include "http/http.h"
#include "http/pool.h"
#include "http/proxy_route.h"
#include "http/server_address.h"
#include "http/sockets.h"
#include "http/trace.h"
#include "http/transfer.h"
#include "http/trust.h"
#include "util/loop/descriptors.h"

struct ki_http {
    ki_http_options options;
    const ki_clock *clock;
    ki_list pools;      /* ki_pool; at most one of each kind accepts new transfers */
    int depth;          /* of nested calls into libcurl; while it is > 0, no transfer may be removed */
    size_t bytes_taken; /* of bodies, since the outermost call */
    ki_list alive;      /* ki_transfer */
    size_t alive_count;
    ki_list over; /* transfers that wait to be removed */
    ki_sockets sockets;
    ki_descriptors descriptors; /* of connections, and of libcurl's own */
    ki_server_address server;
    ki_trust trust;
    ki_http_metrics metrics;
    ki_proxy_route proxy;
    char *user_agent;
    bool use_gzip;
    bool reads_ahead;  /* over TLS (http/read_ahead.h) */
    bool was_answered; /* the server has responded once */
};

/* Enclose each call into libcurl that may call back. The outermost ki_http_leave() reports the ends of
 * transfers and frees those that have ended. */
void ki_http_enter(ki_http *http);
void ki_http_leave(ki_http *http);

/* Frees transfers and connections that have ended, as the outermost ki_http_leave() does; must not be called
 * inside libcurl. */
void ki_http_reap(ki_http *http);

/* ---- transfer.c -------------------------------------------------------------------------------------- */

/* libcurl has finished the transfer. */
void ki_transfer_done(ki_transfer *transfer, CURLcode code);

/* Frees the transfers that have ended. */
void ki_transfers_reap(ki_http *http);

/* ---- request_options.c ------------------------------------------------------------------------------- */

/* A handle for a request with this identity, with all options of the connection set. NULL when out of
 * memory. */
KI_NODISCARD CURL *ki_easy_new(ki_http *http, const ki_identity *identity, ki_trace *trace);

#endif
