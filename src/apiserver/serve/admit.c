/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/admit.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "util/text/str.h"

/* ---- tokens -------------------------------------------------------------------------------------------- */

static bool is_token_equal(ki_str given, const char *token)
{
    size_t len = strlen(token);
    unsigned char difference = given.len != len;
    for (size_t i = 0; i < len && i < given.len; i++)
        difference |= (unsigned char)(given.ptr[i] ^ token[i]);
    return difference == 0;
}

static int check_token(struct ki_as_exchange *exchange)
{
    assert(exchange->server->tokens != NULL);
    static const char scheme[] = "Bearer ";
    size_t skip = sizeof(scheme) - 1;
    ki_str given = exchange->headers.authorization;
    bool is_known = false;
    if (given.len > skip && strncasecmp(given.ptr, scheme, skip) == 0)
        for (char **token = exchange->server->tokens; *token != NULL; token++)
            is_known |= is_token_equal((ki_str){given.ptr + skip, given.len - skip}, *token);
    return is_known ? 0 : ki_as_fail(&exchange->failure, 401, "Unauthorized", NULL, "Unauthorized");
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* "[::1]:8001" → "::1", "a:8001" → "a". */
static ki_str name_of(ki_str host)
{
    if (host.len > 0 && host.ptr[0] == '[') {
        const char *end = memchr(host.ptr, ']', host.len);
        return end == NULL ? host : (ki_str){host.ptr + 1, (size_t)(end - host.ptr) - 1};
    }
    const char *colon = host.len == 0 ? NULL : memchr(host.ptr, ':', host.len);
    return colon == NULL ? host : (ki_str){host.ptr, (size_t)(colon - host.ptr)};
}

static bool is_address(ki_str name)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char bytes[sizeof(struct in6_addr)];
    if (name.len >= sizeof(text))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = 0;
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

bool ki_as_host_is_ours(ki_str host, char *const *names)
{
    ki_str name = name_of(host);
    if (name.len == 0)
        return host.len == 0; /* HTTP/1.0, which browsers do not use */
    if (ki_str_is_word(name, "localhost") || is_address(name))
        return true;
    for (; names != NULL && *names != NULL; names++)
        if (ki_str_is_word(name, *names))
            return true;
    return false;
}

bool ki_as_origin_is_own(ki_str origin, ki_str host)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t skip = strlen(schemes[i]);
        if (origin.len == skip + host.len && strncasecmp(origin.ptr, schemes[i], skip) == 0)
            return host.len > 0 && ki_str_equal_any_case((ki_str){origin.ptr + skip, host.len}, host);
    }
    return false;
}

static int check_names(struct ki_as_exchange *exchange)
{
    assert(exchange->server->tokens == NULL);
    const struct ki_as_headers *headers = &exchange->headers;
    if (!ki_as_host_is_ours(headers->host, exchange->server->hosts))
        return ki_as_fail(&exchange->failure, 403, "Forbidden", NULL,
                          "forbidden: the Host \"%.*s\" is neither localhost nor an address; without tokens, "
                          "other names need --allow-host",
                          KI_STR_ARGS(headers->host));
    if (headers->origin.len > 0 && !ki_as_origin_is_own(headers->origin, headers->host))
        return ki_as_fail(&exchange->failure, 403, "Forbidden", NULL,
                          "forbidden: without tokens, requests from the origin \"%.*s\" are rejected",
                          KI_STR_ARGS(headers->origin));
    return 0;
}

/* Health checks need no token, as in Kubernetes. */
int ki_as_admit(struct ki_as_exchange *exchange)
{
    if (exchange->headers.is_host_missing)
        return ki_as_fail_bad_request(&exchange->failure, "missing required Host header");
    if (exchange->request.target == KI_AS_TARGET_HEALTH)
        return 0;
    return exchange->server->tokens != NULL ? check_token(exchange) : check_names(exchange);
}
