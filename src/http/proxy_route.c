/* SPDX-License-Identifier: Apache-2.0 */
#include "http/proxy_route.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/redact.h"
#include "config/url.h"
#include "http/curl_reason.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"

/* libcurl has 1080 here. */
enum { HTTP_PORT = 80 };

static bool has_scheme(const ki_url *url, const char *scheme)
{
    return url->scheme.len == strlen(scheme) && strncasecmp(url->scheme.ptr, scheme, url->scheme.len) == 0;
}

/* To libcurl, the names of "socks5" are looked up here, where they may mean nothing. */
static char *copy_url(ki_str text, const ki_url *url)
{
    static const char scheme[] = "socks5h";
    if (!has_scheme(url, "socks5"))
        return ki_secret_copy(text);
    ki_str rest = {text.ptr + url->scheme.len, text.len - url->scheme.len};
    size_t bytes = sizeof(scheme) + rest.len;
    char *copy = ki_malloc(bytes);
    if (copy != NULL)
        (void)snprintf(copy, bytes, "%s%.*s", scheme, (int)rest.len, rest.ptr);
    return copy;
}

int ki_proxy_route_init(ki_proxy_route *proxy, const ki_config *config, ki_error *err)
{
    ki_str text = ki_str_of(config->proxy_url);
    ki_url url = {0};
    ki_proxy_route made = {0};
    if (config->proxy_url == NULL)
        return 0;
    if (ki_url_split(text, &url) < 0) /* as a program gives it, unchecked: libcurl says what is wrong */
        url = (ki_url){0};
    made.url = copy_url(text, &url);
    if (made.url == NULL)
        return ki_fail_no_memory(err);
    (void)ki_redact_url(made.name, sizeof(made.name), text);
    made.port = has_scheme(&url, "http") && url.port.len == 0 ? HTTP_PORT : 0;
    made.is_tls = has_scheme(&url, "https");
    *proxy = made;
    return 0;
}

void ki_proxy_route_fini(ki_proxy_route *proxy)
{
    ki_secret_free(proxy->url);
    *proxy = (ki_proxy_route){0};
}

/* Until it has answered CONNECT, TLS is spoken with the proxy. Our own certificate is not its fault. */
static bool is_its_tls(const ki_proxy_route *proxy, const ki_proxy_route_failure *failure)
{
    return proxy->is_tls && !failure->was_asked_to_go && failure->code != CURLE_SSL_CERTPROBLEM &&
           ki_curl_reason(failure->code, 0) == KI_REASON_TLS;
}

bool ki_proxy_route_name_failure(const ki_proxy_route *proxy, const ki_proxy_route_failure *failure,
                                 char *text, size_t size)
{
    const char *message = failure->message;
    CURLcode code = failure->code;
    if (proxy->url == NULL)
        return false;
    if (strstr(message, "response 407") != NULL || failure->detail == CURLPX_NO_AUTH)
        (void)snprintf(text, size, "the proxy %s wants a user and a password, which belong into proxy-url",
                       proxy->name);
    else if (is_its_tls(proxy, failure) && ki_curl_is_no_tls(code, message))
        (void)snprintf(text, size,
                       "the proxy %s does not answer with TLS; its address may have to begin with http://",
                       proxy->name);
    else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_PROXY ||
             is_its_tls(proxy, failure))
        (void)snprintf(text, size, "the proxy %s cannot be reached: %s", proxy->name, message);
    else if (code == CURLE_PROXY)
        (void)snprintf(text, size, "the proxy %s does not connect to the server: %s", proxy->name, message);
    else
        return false;
    return true;
}
