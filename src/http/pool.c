/* SPDX-License-Identifier: Apache-2.0 */
#include "http/pool.h"

#include <assert.h>

#include "http/http_parts.h"
#include "util/alloc.h"
#include "util/units.h"

enum { IDLE_CONNECTIONS_MAX = 25 };

/* After this long without a byte, middleboxes may have forgotten the connections, or the machine may have
 * been suspended, which libcurl's own clock does not notice. On a connection that watches share, a bookmark
 * arrives each minute. */
enum { STALE_MS = 90 * 1000 };

/* ---- the timer --------------------------------------------------------------------------------------- */

static void run_timer(ki_job *job)
{
    ki_pool *pool = KI_CONTAINER_OF(job, ki_pool, timer);
    KI_ASSERT_ON(pool->http->options.loop);
    ki_sockets_act(pool, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
    ki_pool *pool = user;
    KI_ASSERT_ON(pool->http->options.loop);
    (void)multi;
    if (timeout_ms < 0) {
        ki_job_wake_at(&pool->timer, UINT64_MAX);
    } else if (timeout_ms == 0) {
        ki_job_wake_at(&pool->timer, UINT64_MAX);
        ki_job_wake(&pool->timer);
    } else {
        uint64_t now_ns = ki_clock_now_ns(pool->http->clock);
        ki_job_wake_at(&pool->timer, now_ns + (uint64_t)timeout_ms * KI_NS_PER_MS);
    }
    return 0;
}

/* ---- creating and freeing ---------------------------------------------------------------------------- */

/* CURLMOPT_QUICK_EXIT: since libcurl 8.20 the lookup threads belong to the multi handle, and this option
 * keeps it from waiting for them. Older versions do not have the option. */
static void let_lookups_go(CURLM *multi)
{
    enum { QUICK_EXIT = 21 };
    (void)curl_multi_setopt(multi, (CURLMoption)QUICK_EXIT, 1L);
}

static bool open_multi(ki_pool *pool)
{
    long connections_max = (long)pool->http->options.connections_max;
    pool->multi = curl_multi_init();
    if (pool->multi == NULL)
        return false;
    let_lookups_go(pool->multi);
    return curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, ki_sockets_on_change) == CURLM_OK &&
           curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool) == CURLM_OK &&
           curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
           curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool) == CURLM_OK &&
           curl_multi_setopt(pool->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_max) == CURLM_OK;
}

/* Closing connections makes libcurl call back for their sockets. */
static void free_pool(ki_pool *pool)
{
    KI_ASSERT_ON(pool->http->options.loop);
    assert(pool->count == 0 && pool->http->depth == 0);
    if (pool->multi != NULL)
        (void)curl_multi_cleanup(pool->multi);
    ki_list_remove(&pool->node);
    ki_job_fini(&pool->timer);
    ki_free(pool);
}

static ki_pool *make_pool(ki_http *http, const ki_identity *identity, bool is_http2)
{
    ki_pool *made = ki_calloc(1, sizeof(*made));
    if (made == NULL || ki_job_init(&made->timer, http->options.loop, run_timer) < 0) {
        ki_free(made);
        return NULL;
    }
    made->http = http;
    made->certificate_generation = identity->certificate_generation;
    made->heard_ns = ki_clock_now_ns(http->clock);
    made->is_http2 = is_http2;
    ki_list_push_back(&http->pools, &made->node);
    if (open_multi(made))
        return made;
    made->is_retired = true; /* freed after libcurl has returned */
    return NULL;
}

void ki_pools_reap(ki_http *http)
{
    assert(http != NULL);
    KI_ASSERT_ON(http->options.loop);
    for (ki_list_node *node = ki_list_first(&http->pools), *next = NULL; node != NULL; node = next) {
        ki_pool *pool = KI_CONTAINER_OF(node, ki_pool, node);
        next = ki_list_next(&http->pools, node);
        if (pool->is_retired && pool->count == 0)
            free_pool(pool);
    }
}

void ki_pools_free(ki_http *http)
{
    assert(http != NULL);
    for (ki_list_node *node = ki_list_first(&http->pools); node != NULL; node = ki_list_first(&http->pools))
        free_pool(KI_CONTAINER_OF(node, ki_pool, node));
}

/* ---- places ------------------------------------------------------------------------------------------ */

static bool is_good(const ki_pool *pool, const ki_identity *identity)
{
    uint64_t quiet_ns = ki_clock_now_ns(pool->http->clock) - pool->heard_ns;
    return pool->certificate_generation == identity->certificate_generation &&
           quiet_ns < STALE_MS * KI_NS_PER_MS;
}

/* libcurl's limit applies to all connections, including those of watches, so it must grow with them. */
static void keep_idle(ki_pool *pool)
{
    (void)curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS, (long)(pool->count + IDLE_CONNECTIONS_MAX));
}

/* At most one pool of each kind is not retired. */
ki_pool *ki_pool_join(ki_http *http, const ki_identity *identity, bool is_http2)
{
    assert(http != NULL);
    KI_ASSERT_ON(http->options.loop);
    ki_pool *found = NULL;
    for (ki_list_node *node = ki_list_first(&http->pools); node != NULL && found == NULL;
         node = ki_list_next(&http->pools, node)) {
        ki_pool *pool = KI_CONTAINER_OF(node, ki_pool, node);
        if (pool->is_retired || pool->is_http2 != is_http2)
            continue;
        if (is_good(pool, identity))
            found = pool;
        else
            pool->is_retired = true;
    }
    if (found == NULL)
        found = make_pool(http, identity, is_http2);
    if (found != NULL) {
        found->count++;
        found->unanswered++;
        keep_idle(found);
    }
    return found;
}

void ki_pool_leave(ki_pool *pool, bool is_answered)
{
    assert(pool != NULL);
    KI_ASSERT_ON(pool->http->options.loop);
    pool->count--;
    if (!is_answered)
        pool->unanswered--;
}

void ki_pool_answer(ki_pool *pool)
{
    assert(pool != NULL);
    KI_ASSERT_ON(pool->http->options.loop);
    pool->unanswered--;
    ki_pool_hear(pool);
}

void ki_pool_hear(ki_pool *pool)
{
    assert(pool != NULL);
    KI_ASSERT_ON(pool->http->options.loop);
    pool->heard_ns = ki_clock_now_ns(pool->http->clock);
    pool->has_heard = true;
}

/* If nothing was received so far, there is no connection that another request could get. */
void ki_pool_suspect(ki_pool *pool, bool is_silent)
{
    assert(pool != NULL);
    KI_ASSERT_ON(pool->http->options.loop);
    if (is_silent || pool->has_heard)
        pool->is_retired = true;
}
