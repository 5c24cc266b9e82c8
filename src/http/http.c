/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "http/http_parts.h"
#include "http/tls_context.h"
#include "util/alloc.h"
#include "util/error.h"

enum {
    CONNECT_TIMEOUT_MS = 30 * 1000,
    HEAD_TIMEOUT_MS = 60 * 1000,
    ERROR_TIMEOUT_MS = 10 * 1000,
    HEAD_BYTES_MAX = 64 * 1024
};

/* ---- calls into libcurl ------------------------------------------------------------------------------ */

void ki_http_enter(ki_http *http)
{
    assert(http != NULL);
    if (http->depth++ == 0)
        http->bytes_taken = 0;
}

/* Ends are reported outside libcurl, so that a callback may call any function. */
static void tell_ends(CURLM *multi)
{
    int left = 0;
    for (CURLMsg *said = curl_multi_info_read(multi, &left); said != NULL;
         said = curl_multi_info_read(multi, &left)) {
        void *transfer = NULL;
        CURLcode code = said->data.result;
        if (said->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &transfer);
        ki_transfer_done(transfer, code);
    }
}

void ki_http_reap(ki_http *http)
{
    assert(http != NULL);
    http->depth++; /* removing a transfer makes libcurl call back */
    ki_transfers_reap(http);
    http->depth--;
    ki_pools_reap(http);
}

/* Pools are only created and freed outside callbacks. */
void ki_http_leave(ki_http *http)
{
    assert(http != NULL);
    if (http->depth > 1) {
        http->depth--;
        return;
    }
    for (ki_list_node *node = ki_list_first(&http->pools); node != NULL;
         node = ki_list_next(&http->pools, node))
        tell_ends(KI_CONTAINER_OF(node, ki_pool, node)->multi);
    http->depth--;
    ki_http_reap(http);
}

/* ---- creating and freeing ---------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode global_code;

/* Never undone: other code in the process may use libcurl as well, and a name lookup of ours may still be
 * running. */
static void init_global(void)
{
    global_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int copy_user_agent(ki_http *http, ki_error *err)
{
    const char *given = http->options.user_agent;
    for (const char *c = given; c != NULL && *c != 0; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return ki_fail(err, KI_ERR_CONFIG,
                           "user_agent: contains a character that is not allowed in a header");
    size_t size = strlen(given == NULL ? ki_version() : given) + sizeof("kinformer/");
    http->user_agent = ki_malloc(size);
    if (http->user_agent == NULL)
        return ki_fail_no_memory(err);
    (void)snprintf(http->user_agent, size, "%s%s", given == NULL ? "kinformer/" : "",
                   given == NULL ? ki_version() : given);
    http->options.user_agent = NULL;
    return 0;
}

/* "host:6443", the label of the server. */
static ki_str host_of(const ki_server_address *server)
{
    const char *at = server->host_header != NULL ? server->host_header + strlen("Host: ") : NULL;
    if (at == NULL)
        at = strstr(server->base, "://") + strlen("://");
    return (ki_str){at, strcspn(at, "/")};
}

static int init_parts(ki_http *http, const ki_config *config, ki_error *err)
{
    if (ki_descriptors_init(&http->descriptors) < 0)
        return ki_fail_no_memory(err);
    int rc = ki_server_address_init(&http->server, config, err);
    if (rc == 0)
        rc = ki_trust_init(&http->trust, config, err);
    if (rc == 0)
        rc = ki_proxy_route_init(&http->proxy, config, err);
    http->reads_ahead = http->server.is_tls && !http->proxy.is_tls && ki_tls_context_is_ours();
    if (rc == 0)
        rc = copy_user_agent(http, err);
    if (rc == 0)
        ki_http_metrics_init(&http->metrics, http->options.metrics, host_of(&http->server));
    return rc;
}

static void set_defaults(ki_http *http)
{
    ki_http_options *options = &http->options;
    if (options->head_bytes_max == 0)
        options->head_bytes_max = HEAD_BYTES_MAX;
    if (options->connect_timeout_ms == 0)
        options->connect_timeout_ms = CONNECT_TIMEOUT_MS;
    if (options->head_timeout_ms == 0)
        options->head_timeout_ms = HEAD_TIMEOUT_MS;
    if (options->error_timeout_ms == 0)
        options->error_timeout_ms = ERROR_TIMEOUT_MS;
    http->use_gzip = options->use_gzip && !options->config->disable_compression;
    http->clock = options->loop->clock;
    options->config = NULL;
}

ki_http *ki_http_new(const ki_http_options *options, ki_error *err)
{
    assert(options != NULL);
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
    ki_list_init(&http->pools);
    if (ki_sockets_init(&http->sockets, err) < 0 || init_parts(http, options->config, err) < 0) {
        ki_http_free(http);
        return NULL;
    }
    return http;
}

bool ki_http_uses_http2(const ki_http *http)
{
    assert(http != NULL);
    return http->options.use_http2 && http->server.is_tls;
}

uint64_t ki_http_request_timeout_ms(const ki_http *http)
{
    assert(http != NULL);
    return http->options.request_timeout_ms;
}

static size_t hide(char *text, size_t len, const void *user)
{
    const ki_http *http = user;
    if (http->options.credentials != NULL)
        len = ki_credentials_hide(text, len, http->options.credentials);
    return ki_proxy_route_hide(&http->proxy, text, len);
}

ki_mask ki_http_mask_of(const ki_http *http)
{
    return (ki_mask){hide, http};
}

const char *ki_http_withheld(const ki_http *http)
{
    assert(http != NULL);
    return http->options.credentials == NULL ? NULL : ki_credentials_withheld(http->options.credentials);
}

ki_http_metrics *ki_http_metrics_of(ki_http *http)
{
    assert(http != NULL);
    return &http->metrics;
}

void ki_http_close_descriptors(ki_http *http)
{
    if (http == NULL)
        return;
    ki_descriptors_close_all(&http->descriptors);
    ki_stand_in_close(&http->sockets.stand_in);
}

void ki_http_free(ki_http *http)
{
    if (http == NULL)
        return;
    assert(http->alive_count == 0 && http->depth == 0);
    ki_pools_free(http);
    ki_sockets_fini(&http->sockets);
    ki_descriptors_fini(&http->descriptors);
    ki_server_address_fini(&http->server);
    ki_trust_fini(&http->trust);
    ki_http_metrics_fini(&http->metrics);
    ki_proxy_route_fini(&http->proxy);
    ki_free(http->user_agent);
    ki_free(http);
}
