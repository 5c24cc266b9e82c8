/* SPDX-License-Identifier: Apache-2.0 */
/* pool - connections that requests may share or use one after the other: one multi handle of libcurl's.
 *
 *   From:     http/transfer_send.c (takes a place), http/transfer.c (leaves it; says that a connection seems
 *             dead)
 *   To:       libcurl
 *   Locks:    none; io's.
 *   Not here: sockets (http/sockets.h); what is asked.
 *
 * libcurl would put a request on any connection to the same host. So there is one pool for each way of
 * speaking: else a watch that could share an HTTP/2 connection gets the HTTP/1.1 one that a list has left.
 * And a pool is retired when one of its connections seems dead, when the machine seems to have slept, or when
 * our certificate is another: who has a place keeps it, nobody gets a new one, and with the last who leaves
 * all of its connections are closed.
 */
#ifndef KI_HTTP_POOL_H
#define KI_HTTP_POOL_H

#include <curl/curl.h>

#include "config/credentials.h"
#include "util/list.h"
#include "util/loop/loop.h"

struct ki_http;

typedef struct ki_pool {
    ki_list_node node;
    struct ki_http *http;
    CURLM *multi;
    ki_job timer;      /* libcurl's */
    size_t count;      /* of transfers */
    size_t unanswered; /* of them, those whose head has not come: a name may be looked up for them */
    uint64_t certificate_generation;
    uint64_t heard_ns; /* when anything came last; before that, when it was made */
    bool is_http2;
    bool has_heard;
    bool is_retired;
} ki_pool;

/* A place among those who speak so. Returns NULL without memory. */
KI_NODISCARD ki_pool *ki_pool_join(struct ki_http *http, const ki_identity *identity, bool is_http2);
void ki_pool_leave(ki_pool *pool, bool is_answered);

/* Something has come on one of the connections: for who waits for a head, that; or more. */
void ki_pool_answer(ki_pool *pool);
void ki_pool_hear(ki_pool *pool);

/* A connection failed, `is_silent`: without a word. */
void ki_pool_suspect(ki_pool *pool, bool is_silent);

/* Frees those that are retired and empty; not inside libcurl. */
void ki_pools_reap(struct ki_http *http);

/* All of them; nobody has a place. */
void ki_pools_free(struct ki_http *http);

#endif
