/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls_context.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "http/alt_name.h"
#include "http/read_ahead.h"
#include "http/transfer_parts.h"

/* libcurl's OpenSSL objects may be used only if libcurl uses an OpenSSL of our major version. libcurl names
 * its back end "OpenSSL/3.0.15". */
bool ki_tls_context_is_ours(void)
{
    static const char name[] = "OpenSSL/";
    const char *backend = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return backend != NULL && strncmp(backend, name, sizeof(name) - 1) == 0 &&
           strtoul(backend + sizeof(name) - 1, NULL, 10) == OPENSSL_version_major();
}

/* With an https proxy, the handshake before CONNECT is that of the proxy. */
static bool is_proxy(CURL *easy, const ki_proxy_route *proxy)
{
    long answer = 0;
    return proxy->is_tls &&
           (curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &answer) != CURLE_OK || answer == 0);
}

/* The requests that share an HTTP/2 connection come and go, so no request identifies its socket. */
static bool is_of_one_request(CURL *easy)
{
    const ki_transfer *transfer = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    return transfer != NULL && transfer->pool != NULL && !transfer->pool->is_http2;
}

static CURLcode on_context(CURL *easy, void *context, void *user)
{
    const ki_http *http = user;
    if (is_proxy(easy, &http->proxy))
        return CURLE_OK;
    if (!http->trust.is_off)
        ki_alt_name_require(context);
    if (http->reads_ahead && is_of_one_request(easy))
        ki_read_ahead_enable(context);
    return CURLE_OK;
}

bool ki_tls_context_set(CURL *easy, ki_http *http)
{
    if (!ki_tls_context_is_ours())
        return true;
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, http) == CURLE_OK;
}
