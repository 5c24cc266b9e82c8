/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "http/close_on_exec.h"
#include "http/http_parts.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

enum { CONNECT_TIMEOUT_MS = 30 * 1000, HEAD_TIMEOUT_MS = 60 * 1000, IDLE_CONNECTIONS_MAX = 25 };

/* ---- calls into libcurl ---------------------------------------------------------------------------------- */

void ki_http_enter(ki_http *http)
{
    http->depth++;
}

/* What has ended is told outside of libcurl, so that the callback may do anything. */
static void tell_ends(ki_http *http)
{
    int left = 0;
    for (CURLMsg *said = curl_multi_info_read(http->multi, &left); said != NULL;
         said = curl_multi_info_read(http->multi, &left)) {
        void *transfer = NULL;
        CURLcode code = said->data.result;
        if (said->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &transfer);
        ki_transfer_done(transfer, code);
    }
}

void ki_http_leave(ki_http *http)
{
    if (http->depth == 1) {
        ki_transfers_pause(http);
        tell_ends(http);
        ki_transfers_reap(http);
    }
    http->depth--;
}

void ki_http_act(ki_http *http, curl_socket_t fd, int flags)
{
    int running = 0;
    ki_http_enter(http);
    (void)curl_multi_socket_action(http->multi, fd, flags, &running);
    ki_http_leave(http);
}

/* libcurl's limit is for all connections, those of watches as well: so it has to grow with these. */
void ki_http_keep_idle(ki_http *http)
{
    (void)curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
                            (long)(http->alive_count + IDLE_CONNECTIONS_MAX));
}

/* ---- the timer ------------------------------------------------------------------------------------------- */

static void run_timer(ki_job *job)
{
    ki_http_act(KI_CONTAINER_OF(job, ki_http, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
    ki_http *http = user;
    (void)multi;
    if (timeout_ms < 0) {
        ki_job_wake_at(&http->timer, UINT64_MAX);
    } else if (timeout_ms == 0) {
        ki_job_wake_at(&http->timer, UINT64_MAX);
        ki_job_wake(&http->timer);
    } else {
        uint64_t now_ns = ki_clock_now_ns(http->clock);
        ki_job_wake_at(&http->timer, now_ns + (uint64_t)timeout_ms * KI_NS_PER_MS);
    }
    return 0;
}

/* ---- making and freeing ---------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode global_code;

/* Never undone: others in the process may use libcurl as well, and a name lookup of ours may still be on its way. */
static void init_global(void)
{
    global_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int open_multi(ki_http *http, ki_error *err)
{
    http->multi = curl_multi_init();
    if (http->multi == NULL)
        return ki_fail_no_memory(err);
    ki_close_on_exec_multi(http->multi);
    if (curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, ki_sockets_on_change) != CURLM_OK ||
        curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http) != CURLM_OK ||
        curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer) != CURLM_OK ||
        curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http) != CURLM_OK ||
        curl_multi_setopt(http->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)http->options.connections_max) !=
            CURLM_OK)
        return ki_fail(err, KI_ERR_SYSTEM, "libcurl does not take its options");
    return 0;
}

static int copy_proxy(ki_http *http, const ki_config *config, ki_error *err)
{
    if (config->proxy_url == NULL)
        return 0;
    size_t size = strlen(config->proxy_url) + 1;
    http->proxy_url = ki_malloc(size);
    if (http->proxy_url == NULL)
        return ki_fail_no_memory(err);
    memcpy(http->proxy_url, config->proxy_url, size);
    return 0;
}

static int copy_user_agent(ki_http *http, ki_error *err)
{
    const char *given = http->options.user_agent;
    size_t size = strlen(given == NULL ? ki_version() : given) + sizeof("kinformer/");
    http->user_agent = ki_malloc(size);
    if (http->user_agent == NULL)
        return ki_fail_no_memory(err);
    (void)snprintf(http->user_agent, size, "%s%s", given == NULL ? "kinformer/" : "",
                   given == NULL ? ki_version() : given);
    http->options.user_agent = NULL;
    return 0;
}

/* "host:6443", as the server is known by. */
static ki_str host_of(const ki_server *server)
{
    const char *at = server->host_header != NULL ? server->host_header + strlen("Host: ") : NULL;
    if (at == NULL)
        at = strstr(server->base, "://") + strlen("://");
    return (ki_str){at, strcspn(at, "/")};
}

static int init_parts(ki_http *http, const ki_config *config, ki_error *err)
{
    int rc = ki_server_init(&http->server, config, err);
    if (rc == 0)
        rc = ki_trust_init(&http->trust, config, err);
    if (rc == 0)
        rc = copy_proxy(http, config, err);
    if (rc == 0)
        rc = copy_user_agent(http, err);
    if (rc == 0)
        ki_http_metrics_init(&http->metrics, http->options.metrics, host_of(&http->server));
    if (rc == 0 && ki_job_init(&http->timer, http->options.loop, run_timer) < 0)
        rc = ki_fail_no_memory(err);
    return rc == 0 ? open_multi(http, err) : rc;
}

static void set_defaults(ki_http *http)
{
    ki_http_options *options = &http->options;
    if (options->connect_timeout_ms == 0)
        options->connect_timeout_ms = CONNECT_TIMEOUT_MS;
    if (options->head_timeout_ms == 0)
        options->head_timeout_ms = HEAD_TIMEOUT_MS;
    http->use_gzip = options->use_gzip && !options->config->disable_compression;
    http->clock = options->loop->clock;
    options->config = NULL;
}

ki_http *ki_http_new(const ki_http_options *options, ki_error *err)
{
    (void)pthread_once(&once, init_global);
    if (global_code != CURLE_OK) {
        ki_error_set(err, KI_ERR_SYSTEM, 0, "libcurl cannot be used: %s", curl_easy_strerror(global_code));
        return NULL;
    }
    ki_http *http = ki_calloc(1, sizeof(*http));
    if (http == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    http->options = *options;
    set_defaults(http);
    ki_list_init(&http->alive);
    ki_list_init(&http->over);
    ki_list_init(&http->heard);
    ki_sockets_init(&http->sockets);
    if (init_parts(http, options->config, err) < 0) {
        ki_http_free(http);
        return NULL;
    }
    return http;
}

bool ki_http_uses_http2(const ki_http *http)
{
    return http->options.use_http2 && http->server.is_tls;
}

uint64_t ki_http_request_timeout_ms(const ki_http *http)
{
    return http->options.request_timeout_ms;
}

ki_http_metrics *ki_http_metrics_of(ki_http *http)
{
    return &http->metrics;
}

/* Closing connections calls back for their sockets. */
void ki_http_free(ki_http *http)
{
    if (http == NULL)
        return;
    assert(http->alive_count == 0 && http->depth == 0);
    if (http->multi != NULL)
        (void)curl_multi_cleanup(http->multi);
    ki_sockets_fini(&http->sockets);
    ki_job_fini(&http->timer);
    ki_server_fini(&http->server);
    ki_trust_fini(&http->trust);
    ki_http_metrics_fini(&http->metrics);
    ki_free(http->proxy_url);
    ki_free(http->user_agent);
    ki_free(http);
}
