/* SPDX-License-Identifier: Apache-2.0 */
/* Options that all requests share: connections, trust, and restrictions. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_parts.h"
#include "http/tls_context.h"
#include "http/trace.h"

/* A dead peer is detected within a minute, and not after TCP's quarter of an hour. */
enum { KEEPALIVE_SECONDS = 15, KEEPALIVE_PROBES = 3, USER_TIMEOUT_MS = 45 * 1000 };

/* How long idle connections are kept; middleboxes usually forget them only later. */
enum { IDLE_SECONDS = 60 };

static int close_socket(void *user, curl_socket_t fd)
{
    ki_http *http = user;
    ki_descriptors_lock(&http->descriptors); /* a copy in a child would keep the connection open */
    ki_descriptors_remove_locked(&http->descriptors, fd);
    int rc = close(fd);
    ki_descriptors_unlock(&http->descriptors);
    http->sockets.has_closed = true;
    return rc;
}

static void set_number(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

static int prepare_socket(void *user, curl_socket_t fd, curlsocktype purpose)
{
    (void)user;
    (void)purpose;
    set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_SECONDS);
    set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_SECONDS);
    set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
    return CURL_SOCKOPT_OK;
}

/* Options take a value of one of three kinds, and libcurl copies strings. Setting one fails when out of
 * memory, or if the running library is too old for the option. */
static bool set_long(CURL *easy, CURLoption option, long value)
{
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_text(CURL *easy, CURLoption option, const char *value)
{
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_blob(CURL *easy, CURLoption option, ki_str bytes)
{
    struct curl_blob blob = {.data = (void *)bytes.ptr, .len = bytes.len, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob) == CURLE_OK;
}

static bool set_sockets(CURL *easy, ki_http *http)
{
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, prepare_socket) == CURLE_OK;
}

static bool set_connection(CURL *easy, const ki_http *http)
{
    bool is_set = set_long(easy, CURLOPT_NOSIGNAL, 1) && set_long(easy, CURLOPT_QUICK_EXIT, 1) &&
                  set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
                  set_text(easy, CURLOPT_USERAGENT, http->user_agent) &&
                  set_long(easy, CURLOPT_FOLLOWLOCATION, 0) &&
                  set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) &&
                  set_long(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS) &&
                  set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)http->options.connect_timeout_ms);
    if (is_set) /* the environment's proxy is already part of the configuration */
        is_set = set_text(easy, CURLOPT_PROXY, http->proxy.url == NULL ? "" : http->proxy.url) &&
                 set_long(easy, CURLOPT_PROXYPORT, http->proxy.port) && set_text(easy, CURLOPT_NOPROXY, "");
    if (is_set && http->proxy.userpwd != NULL)
        is_set = set_text(easy, CURLOPT_PROXYUSERPWD, http->proxy.userpwd);
    if (is_set && http->server.connect_to != NULL)
        is_set = curl_easy_setopt(easy, CURLOPT_CONNECT_TO, http->server.connect_to) == CURLE_OK;
    return is_set;
}

/* The certificate of an HTTPS proxy is verified with the same settings as the server's, and it gets our
 * client certificate if it asks for one. It must prove its own name, though. */
static bool set_proxy_tls(CURL *easy, const ki_http *http, const ki_identity *identity)
{
    const ki_trust *trust = &http->trust;
    bool is_set = set_long(easy, CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2) &&
                  set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, trust->is_off ? 0 : 1) &&
                  set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, trust->is_off ? 0 : 2);
    if (is_set && trust->pem.len > 0)
        is_set = set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, ki_buf_str(&trust->pem)) &&
                 curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL) == CURLE_OK;
    if (is_set && identity->certificate_pem != NULL && identity->key_pem != NULL)
        is_set = set_blob(easy, CURLOPT_PROXY_SSLCERT_BLOB, ki_str_of(identity->certificate_pem)) &&
                 set_blob(easy, CURLOPT_PROXY_SSLKEY_BLOB, ki_str_of(identity->key_pem)) &&
                 set_text(easy, CURLOPT_PROXY_SSLCERTTYPE, "PEM") &&
                 set_text(easy, CURLOPT_PROXY_SSLKEYTYPE, "PEM");
    return is_set;
}

static bool set_tls(CURL *easy, ki_http *http, const ki_identity *identity)
{
    const ki_trust *trust = &http->trust;
    bool is_set = set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2) &&
                  set_long(easy, CURLOPT_SSL_VERIFYPEER, trust->is_off ? 0 : 1) &&
                  set_long(easy, CURLOPT_SSL_VERIFYHOST, trust->is_off ? 0 : 2);
    if (is_set && http->server.is_tls)
        is_set = ki_tls_context_set(easy, http);
    if (is_set && trust->pem.len > 0)
        is_set = set_blob(easy, CURLOPT_CAINFO_BLOB, ki_buf_str(&trust->pem)) &&
                 curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
    if (is_set && identity->certificate_pem != NULL && identity->key_pem != NULL)
        is_set = set_blob(easy, CURLOPT_SSLCERT_BLOB, ki_str_of(identity->certificate_pem)) &&
                 set_blob(easy, CURLOPT_SSLKEY_BLOB, ki_str_of(identity->key_pem)) &&
                 set_text(easy, CURLOPT_SSLCERTTYPE, "PEM") && set_text(easy, CURLOPT_SSLKEYTYPE, "PEM");
    return is_set;
}

CURL *ki_easy_new(ki_http *http, const ki_identity *identity, ki_trace *trace)
{
    CURL *easy = curl_easy_init();
    ki_trust_refresh(&http->trust);
    if (easy != NULL && set_sockets(easy, http) && set_connection(easy, http) &&
        set_tls(easy, http, identity) && (!http->proxy.is_tls || set_proxy_tls(easy, http, identity)) &&
        ki_trace_set(trace, easy, ki_http_mask_of(http)))
        return easy;
    curl_easy_cleanup(easy);
    return NULL;
}
