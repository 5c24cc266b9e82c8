/* SPDX-License-Identifier: Apache-2.0 */
/* http_parts - what http.c, sockets.c, easy.c and transfer.c know of each other.
 *
 *   From:     http/ only
 *   Locks:    none; io's.
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
    ki_list pools;      /* ki_pool, of which one of each kind takes new transfers */
    int depth;          /* of calls into libcurl: inside no transfer may be taken away */
    size_t bytes_taken; /* of bodies, since the outermost of these */
    ki_list alive;      /* ki_transfer */
    size_t alive_count;
    uint64_t serial; /* of the last transfer */
    ki_list over;    /* those that wait to be taken away */
    ki_list heard;   /* those whose on_pause is owed; of the alive */
    ki_sockets sockets;
    ki_descriptors descriptors; /* of connections, and of what libcurl has beside them */
    ki_server_address server;
    ki_trust trust;
    ki_http_metrics metrics;
    ki_proxy_route proxy;
    char *user_agent;
    bool use_gzip;
    bool was_answered; /* once, by the server */
};

/* Around each call into libcurl that may call back; the outermost leave takes away what is over and tells who
 * waits for an end. */
void ki_http_enter(ki_http *http);
void ki_http_leave(ki_http *http);

/* What the outermost leave takes away; nobody is inside libcurl. */
void ki_http_reap(ki_http *http);

/* ---- transfer.c -------------------------------------------------------------------------------------- */

/* libcurl is done with it. */
void ki_transfer_done(ki_transfer *transfer, CURLcode code);

/* Tells those that have heard something that libcurl has given all it has. */
void ki_transfers_pause(ki_http *http);

/* Frees those that are over. */
void ki_transfers_reap(ki_http *http);

/* ---- easy.c ------------------------------------------------------------------------------------------ */

/* A handle for a request of this identity, as far as it concerns the connection.
 * Returns NULL without memory. */
KI_NODISCARD CURL *ki_easy_new(ki_http *http, const ki_identity *identity, ki_trace *trace);

#endif
