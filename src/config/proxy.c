/* SPDX-License-Identifier: Apache-2.0 */
#include "config/proxy.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/redact.h"
#include "config/url.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"
#include "util/text/byte.h"
#include "util/text/str.h"

/* ---- addresses ----------------------------------------------------------------------------------------- */

/* IPv4 addresses are stored as IPv4-mapped IPv6 addresses, so that one comparison works for both. */
typedef struct address {
    unsigned char bytes[16];
    bool is_v4;
} address;

static bool parse_address(ki_str text, address *out_address)
{
    char name[INET6_ADDRSTRLEN + 1];
    address parsed = {.bytes = {[10] = 0xff, [11] = 0xff}};
    if (text.len >= sizeof(name))
        return false;
    if (text.len > 0)
        memcpy(name, text.ptr, text.len);
    name[text.len] = 0;
    parsed.is_v4 = inet_pton(AF_INET, name, parsed.bytes + 12) == 1;
    if (!parsed.is_v4 && inet_pton(AF_INET6, name, parsed.bytes) != 1)
        return false;
    *out_address = parsed;
    return true;
}

static bool is_loopback(const address *host)
{
    static const unsigned char v6[16] = {[15] = 1};
    return host->is_v4 ? host->bytes[12] == 127 : memcmp(host->bytes, v6, 16) == 0;
}

static bool has_same_prefix(const address *a, const address *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a->bytes, b->bytes, whole) != 0)
        return false;
    return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

/* "10.0.0.0/8" */
static bool is_in_block(ki_str block, size_t slash, const address *host)
{
    address base;
    unsigned bits = 0;
    if (slash + 1 == block.len || block.len - slash > 4)
        return false;
    for (size_t i = slash + 1; i < block.len; i++) {
        if (block.ptr[i] < '0' || block.ptr[i] > '9')
            return false;
        bits = bits * 10 + (unsigned)(block.ptr[i] - '0');
    }
    if (!parse_address((ki_str){block.ptr, slash}, &base) || bits > (base.is_v4 ? 32 : 128))
        return false;
    return base.is_v4 == host->is_v4 && has_same_prefix(&base, host, base.is_v4 ? bits + 96 : bits);
}

/* ---- NO_PROXY ------------------------------------------------------------------------------------------ */

/* A single colon precedes a port; an IPv6 address has several, unless it is in brackets. */
static ki_str without_port(ki_str entry, ki_str *out_port)
{
    *out_port = (ki_str){0};
    if (entry.len > 0 && entry.ptr[0] == '[') {
        const char *end = memchr(entry.ptr, ']', entry.len);
        if (end == NULL)
            return entry;
        size_t len = (size_t)(end - entry.ptr);
        if (len + 1 < entry.len && end[1] == ':')
            *out_port = (ki_str){end + 2, entry.len - len - 2};
        return (ki_str){entry.ptr + 1, len - 1};
    }
    const char *colon = entry.len > 0 ? memchr(entry.ptr, ':', entry.len) : NULL;
    if (colon == NULL || memchr(colon + 1, ':', entry.len - (size_t)(colon + 1 - entry.ptr)) != NULL)
        return entry;
    *out_port = (ki_str){colon + 1, entry.len - (size_t)(colon + 1 - entry.ptr)};
    return (ki_str){entry.ptr, (size_t)(colon - entry.ptr)};
}

/* "example.com" also matches names that end with ".example.com"; with a leading dot, only those. */
static bool is_domain_of(ki_str domain, ki_str host)
{
    if (domain.len > 1 && domain.ptr[0] == '*' && domain.ptr[1] == '.')
        domain = (ki_str){domain.ptr + 1, domain.len - 1};
    if (domain.len == 0)
        return false;
    if (domain.ptr[0] != '.' && ki_str_equal_any_case(domain, host))
        return true;
    if (domain.ptr[0] == '.')
        domain = (ki_str){domain.ptr + 1, domain.len - 1};
    if (host.len < domain.len + 2)
        return false;
    size_t before = host.len - domain.len;
    return host.ptr[before - 1] == '.' &&
           ki_str_equal_any_case((ki_str){host.ptr + before, domain.len}, domain);
}

static bool entry_matches(ki_str entry, ki_str host, ki_str port)
{
    address host_address, entry_address;
    bool is_address = parse_address(host, &host_address);
    const char *slash = entry.len > 0 ? memchr(entry.ptr, '/', entry.len) : NULL;
    if (slash != NULL)
        return is_address && is_in_block(entry, (size_t)(slash - entry.ptr), &host_address);
    ki_str entry_port;
    ki_str name = without_port(entry, &entry_port);
    if (entry_port.len > 0 && !ki_str_equal(entry_port, port))
        return false;
    if (parse_address(name, &entry_address))
        return is_address && memcmp(entry_address.bytes, host_address.bytes, 16) == 0;
    return is_domain_of(name, host);
}

int ki_proxy_is_excluded(ki_str list, ki_str host, ki_str port)
{
    assert((list.ptr != NULL || list.len == 0) && (host.ptr != NULL || host.len == 0) &&
           (port.ptr != NULL || port.len == 0));
    while (host.len > 0 && host.ptr[host.len - 1] == '.')
        host.len--;
    while (list.len > 0) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma == NULL ? list.len : (size_t)(comma - list.ptr);
        ki_str entry = ki_str_trim((ki_str){list.ptr, len});
        if (ki_str_equal(entry, KI_STR("*")) || (entry.len > 0 && entry_matches(entry, host, port)))
            return 1;
        len += comma != NULL;
        list = (ki_str){list.ptr + len, list.len - len};
    }
    return 0;
}

/* ---- the environment ----------------------------------------------------------------------------------- */

/* In a CGI program, $HTTP_PROXY is the request header "Proxy", which anyone can send. */
static bool is_from_a_request(const char *name)
{
    const char *method = getenv("REQUEST_METHOD");
    return strcmp(name, "HTTP_PROXY") == 0 && method != NULL && method[0] != 0;
}

static const char *variable(const char *large, const char *small, const char **out_name)
{
    const char *value = is_from_a_request(large) ? NULL : getenv(large);
    *out_name = large;
    if (value == NULL || value[0] == 0) {
        value = getenv(small);
        *out_name = small;
    }
    return value == NULL || value[0] == 0 ? NULL : value;
}

static bool is_scheme(ki_str scheme)
{
    return ki_str_equal_any_case(scheme, KI_STR("http")) || ki_str_equal_any_case(scheme, KI_STR("https")) ||
           ki_str_equal_any_case(scheme, KI_STR("socks5"));
}

/* The limit of SOCKS; HTTP allows more. */
enum { SOCKS_TEXT_BYTES_MAX = 255 };

/* Whether Go accepts the text before the last '@'. In other parsers a backslash ends the host, so they would
 * use another proxy. */
static bool is_user_text(ki_str text)
{
    static const char marks[] = "-._:~!$&'()*+,;=%@";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_plain = ki_byte_is_letter_or_digit(c);
        if (!is_plain && (c == 0 || strchr(marks, c) == NULL))
            return false;
    }
    return true;
}

/* Decodes "user:password". */
static int parse_user(ki_proxy *proxy, ki_str text)
{
    assert(text.len > 0);
    const char *colon = memchr(text.ptr, ':', text.len);
    size_t len = colon == NULL ? text.len : (size_t)(colon - text.ptr);
    ki_str password = colon == NULL ? (ki_str){text.ptr, 0} : (ki_str){colon + 1, text.len - len - 1};
    int rc = ki_url_decode((ki_str){text.ptr, len}, &proxy->user);
    return rc < 0 ? rc : ki_url_decode(password, &proxy->password);
}

/* Scheme, host and port as written. */
static char *address_of(const ki_url *url)
{
    assert(url->path.ptr >= url->host.ptr + url->host.len);
    const char *host = url->host.ptr[-1] == '[' ? url->host.ptr - 1 : url->host.ptr;
    size_t bytes = url->scheme.len + strlen("://") + (size_t)(url->path.ptr - host) + 1;
    char *text = ki_malloc(bytes);
    if (text != NULL)
        snprintf(text, bytes, "%.*s://%.*s", KI_STR_ARGS(url->scheme), (int)(url->path.ptr - host), host);
    return text;
}

/* The user is parsed here; libcurl gets the address without it. */
static int parse(const char *text, ki_proxy *proxy, const char **out_problem)
{
    ki_url url, bare;
    *out_problem = "is not the address of an http, https or socks5 proxy";
    if (ki_url_split(ki_str_of(text), &url) < 0)
        return KI_ERR_INVALID;
    if (!is_scheme(url.scheme))
        return KI_ERR_INVALID;
    proxy->address = address_of(&url);
    int rc = proxy->address == NULL ? KI_ERR_NO_MEMORY : ki_url_check(proxy->address, &bare);
    if (rc < 0 || url.user.len == 0)
        return rc;
    *out_problem = "has a user or password with a character that must be escaped, such as %5C for a \\";
    if (!is_user_text(url.user))
        return KI_ERR_INVALID;
    *out_problem = "has a user or password with a control character, or a '%' without two digits";
    rc = parse_user(proxy, url.user);
    if (rc < 0 || !ki_str_equal_any_case(url.scheme, KI_STR("socks5")))
        return rc;
    *out_problem = "has a user or password that is too long for SOCKS";
    bool is_long =
        strlen(proxy->user) > SOCKS_TEXT_BYTES_MAX || strlen(proxy->password) > SOCKS_TEXT_BYTES_MAX;
    return is_long ? KI_ERR_INVALID : 0;
}

int ki_proxy_parse(const char *url, ki_proxy *out_proxy, const char **out_problem)
{
    assert(out_proxy != NULL);
    ki_proxy proxy = {0};
    int rc = parse(url, &proxy, out_problem);
    if (rc < 0)
        ki_proxy_fini(&proxy);
    else
        *out_proxy = proxy;
    return rc;
}

void ki_proxy_fini(ki_proxy *proxy)
{
    assert(proxy != NULL);
    ki_free(proxy->address);
    ki_secret_free(proxy->user);
    ki_secret_free(proxy->password);
    *proxy = (ki_proxy){0};
}

int ki_proxy_check(const char *url, const char **out_problem)
{
    ki_proxy proxy = {0};
    int rc = ki_proxy_parse(url, &proxy, out_problem);
    ki_proxy_fini(&proxy);
    return rc;
}

/* An address without a scheme, "proxy:3128", is that of an HTTP proxy. */
static int proxy_of_text(const char *name, const char *text, char **out_proxy, ki_error *err)
{
    const char *scheme = strstr(text, "://") == NULL ? "http://" : "";
    size_t bytes = strlen(scheme) + strlen(text) + 1;
    char *proxy = ki_malloc(bytes);
    if (proxy == NULL)
        return ki_fail_no_memory(err);
    snprintf(proxy, bytes, "%s%s", scheme, text);
    const char *problem = NULL;
    int rc = ki_proxy_check(proxy, &problem);
    if (rc < 0) {
        ki_secret_free(proxy);
        return rc == KI_ERR_NO_MEMORY ? ki_fail_no_memory(err)
                                      : ki_fail(err, KI_ERR_CONFIG, "$%s: %s", name, problem);
    }
    *out_proxy = proxy;
    return 0;
}

static bool is_this_machine(ki_str host)
{
    address host_address;
    return ki_str_equal_any_case(host, KI_STR("localhost")) ||
           (parse_address(host, &host_address) && is_loopback(&host_address));
}

int ki_proxy_of_environment(const char *server, char **out_proxy, ki_error *err)
{
    ki_url url;
    const char *name, *ignored;
    if (ki_url_split(ki_str_of(server), &url) < 0) {
        char shown[128];
        (void)ki_redact_invalid_url(shown, sizeof(shown), ki_str_of(server));
        return ki_fail(err, KI_ERR_CONFIG, "server: is not an address: \"%s\"", shown);
    }
    bool is_tls = ki_str_equal_any_case(url.scheme, KI_STR("https"));
    const char *value =
        is_tls ? variable("HTTPS_PROXY", "https_proxy", &name) : variable("HTTP_PROXY", "http_proxy", &name);
    const char *excluded = variable("NO_PROXY", "no_proxy", &ignored);
    ki_str port = url.port.len > 0 ? url.port : is_tls ? KI_STR("443") : KI_STR("80");
    if (value == NULL || is_this_machine(url.host) ||
        ki_proxy_is_excluded(ki_str_of(excluded), url.host, port)) {
        *out_proxy = NULL;
        return 0;
    }
    return proxy_of_text(name, value, out_proxy, err);
}
