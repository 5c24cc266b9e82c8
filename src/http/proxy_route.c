/* SPDX-License-Identifier: Apache-2.0 */
#include "http/proxy_route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "config/proxy.h"
#include "config/redact.h"
#include "config/url.h"
#include "http/curl_reason.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"
#include "util/text/mask.h"
#include "util/text/str.h"

/* libcurl's default would be 1080. */
enum { HTTP_PORT = 80 };

/* libcurl resolves names locally for "socks5", where they may be unknown. */
static char *url_for_libcurl(const char *address, const ki_url *url)
{
    static const char scheme[] = "socks5h";
    if (!ki_str_is_word(url->scheme, "socks5"))
        return ki_str_copy(ki_str_of(address));
    const char *rest = address + url->scheme.len;
    size_t bytes = sizeof(scheme) + strlen(rest);
    char *copy = ki_malloc(bytes);
    if (copy != NULL)
        (void)snprintf(copy, bytes, "%s%s", scheme, rest);
    return copy;
}

/* The text that the header of basic authentication contains in base64. */
static char *join_pair(const ki_proxy *from)
{
    assert(from->user != NULL && from->password != NULL);
    size_t bytes = strlen(from->user) + strlen(from->password) + sizeof(":");
    char *pair = ki_malloc(bytes);
    if (pair != NULL)
        (void)snprintf(pair, bytes, "%s:%s", from->user, from->password);
    return pair;
}

/* Versions of libcurl differ in whether they decode a user that is set alone, but all decode the pair. */
static char *join_userpwd(const ki_proxy *from)
{
    char *user = ki_url_encode(from->user);
    char *password = ki_url_encode(from->password);
    char *joined = NULL;
    if (user != NULL && password != NULL) {
        size_t bytes = strlen(user) + strlen(password) + sizeof(":");
        joined = ki_malloc(bytes);
        if (joined != NULL)
            (void)snprintf(joined, bytes, "%s:%s", user, password);
    }
    ki_secret_free(user);
    ki_secret_free(password);
    return joined;
}

/* User and password as written in the configuration. A plug-in gets them in this form. */
static char *said_of(const char *address)
{
    ki_url url = {0};
    (void)!ki_url_split(ki_str_of(address), &url);
    return ki_str_copy(url.user);
}

static int fill(ki_proxy_route *proxy, const ki_proxy *from, const char *address)
{
    assert(from->address != NULL);
    ki_url url = {0};
    (void)!ki_url_split(ki_str_of(from->address), &url);
    proxy->url = url_for_libcurl(from->address, &url);
    proxy->port = ki_str_is_word(url.scheme, "http") && url.port.len == 0 ? HTTP_PORT : 0;
    proxy->is_tls = ki_str_is_word(url.scheme, "https");
    if (from->user != NULL) {
        proxy->userpwd = join_userpwd(from);
        proxy->pair = join_pair(from);
        proxy->user_len = strlen(from->user);
        proxy->said = said_of(address);
    }
    bool has_all = proxy->userpwd != NULL && proxy->pair != NULL && proxy->said != NULL;
    return proxy->url == NULL || (from->user != NULL && !has_all) ? KI_ERR_NO_MEMORY : 0;
}

/* Omits the path, which has no meaning for a proxy and may repeat the password. */
static void set_name(ki_proxy_route *proxy, const char *address)
{
    ki_url url = {0};
    ki_str shown = ki_str_of(address);
    if (ki_url_split(shown, &url) == 0)
        shown.len -= url.path.len;
    (void)ki_redact_url(proxy->name, sizeof(proxy->name), shown);
}

int ki_proxy_route_init(ki_proxy_route *proxy, const ki_config *config, ki_error *err)
{
    ki_proxy from = {0};
    ki_proxy_route made = {0};
    const char *problem = NULL;
    if (config->proxy_url == NULL)
        return 0;
    int rc = ki_proxy_parse(config->proxy_url, &from, &problem);
    if (rc == KI_ERR_INVALID)
        return ki_fail(err, KI_ERR_CONFIG, "proxy-url: %s", problem);
    if (rc == 0)
        rc = fill(&made, &from, config->proxy_url);
    ki_proxy_fini(&from);
    if (rc < 0) {
        ki_proxy_route_fini(&made);
        return ki_fail_no_memory(err);
    }
    set_name(&made, config->proxy_url);
    *proxy = made;
    return 0;
}

void ki_proxy_route_fini(ki_proxy_route *proxy)
{
    ki_free(proxy->url);
    ki_secret_free(proxy->userpwd);
    ki_secret_free(proxy->pair);
    ki_secret_free(proxy->said);
    *proxy = (ki_proxy_route){0};
}

/* The pair comes first: it hides a password that is too short to be masked alone. */
static size_t hide_pair(char *text, size_t len, const char *pair, size_t user_len)
{
    assert(user_len <= strlen(pair));
    len = ki_mask_secret(text, len, pair);
    return pair[user_len] == ':' ? ki_mask_secret(text, len, pair + user_len + 1) : len;
}

/* Hides the password in its escaped and in its unescaped form. */
size_t ki_proxy_route_hide(const ki_proxy_route *proxy, char *text, size_t len)
{
    if (proxy->userpwd == NULL)
        return len;
    len = hide_pair(text, len, proxy->pair, proxy->user_len);
    len = hide_pair(text, len, proxy->said, strcspn(proxy->said, ":"));
    return hide_pair(text, len, proxy->userpwd, strcspn(proxy->userpwd, ":"));
}

/* Until the proxy has responded to CONNECT, TLS errors are those of the proxy. A problem with our own
 * certificate is not. */
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
        (void)snprintf(text, size,
                       proxy->userpwd == NULL
                           ? "the proxy %s requires a user and a password; set them in proxy-url"
                           : "the proxy %s does not accept the user and the password in proxy-url",
                       proxy->name);
    else if (is_its_tls(proxy, failure) && ki_curl_is_plaintext(code, message))
        (void)snprintf(text, size,
                       "the proxy %s does not use TLS; its address may have to begin with http://",
                       proxy->name);
    else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_PROXY ||
             is_its_tls(proxy, failure))
        (void)snprintf(text, size, "the proxy %s cannot be reached: %s", proxy->name, message);
    else if (code == CURLE_PROXY || strstr(message, "CONNECT") != NULL)
        (void)snprintf(text, size, "the proxy %s does not connect to the server: %s", proxy->name, message);
    else
        return false;
    return true;
}
