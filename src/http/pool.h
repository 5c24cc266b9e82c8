/* SPDX-License-Identifier: Apache-2.0 */
/* pool - connections that requests share or reuse: one multi handle of libcurl's.
 *
 *   From:     http/transfer_send.c (joins), http/transfer.c (leaves; reports that a connection seems dead);
 *             also http/http.c, http/transfer_receive.c
 *   To:       libcurl
 *   Locks:    none; io only.
 *   Not here: sockets (http/sockets.h); requests.
 *
 * libcurl would put a request on any connection to the same host. So there is one pool per protocol:
 * otherwise a watch that could share an HTTP/2 connection would get an idle HTTP/1.1 connection of a list. A
 * pool is retired when one of its connections seems dead, when the machine seems to have been suspended, or
 * when our certificate has changed. Its transfers continue, new ones use another pool, and its connections
 * are closed when the last transfer leaves.
 */
#ifndef KI_HTTP_POOL_H
#define KI_HTTP_POOL_H

#include <curl/curl.h>

#include "credentials/credentials.h"
#include "util/list.h"
#include "util/loop/loop.h"

struct ki_http;

typedef struct ki_pool {
    ki_list_node node;
    struct ki_http *http;
    CURLM *multi;
    ki_job timer;      /* libcurl's */
    size_t count;      /* of transfers */
    size_t unanswered; /* transfers without a head so far, which may need a name lookup */
    uint64_t certificate_generation;
    uint64_t heard_ns; /* when data was last received; at first, when the pool was created */
    bool is_http2;
    bool has_heard;
    bool is_retired;
} ki_pool;

/* Joins the pool for this protocol. NULL when out of memory. */
KI_NODISCARD ki_pool *ki_pool_join(struct ki_http *http, const ki_identity *identity, bool is_http2);
void ki_pool_leave(ki_pool *pool, bool is_answered);

/* Data was received on one of the connections. ki_pool_answer() is for the head of a response, ki_pool_hear()
 * for other data. */
void ki_pool_answer(ki_pool *pool);
void ki_pool_hear(ki_pool *pool);

/* A connection failed; `is_silent` if nothing was received on it. */
void ki_pool_suspect(ki_pool *pool, bool is_silent);

/* Frees retired, empty pools; must not be called inside libcurl. */
void ki_pools_reap(struct ki_http *http);

/* Frees all pools, which must be empty. */
void ki_pools_free(struct ki_http *http);

#endif
