/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server_address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#include "config/url.h"
#include "util/alloc.h"
#include "util/error.h"

/* A new string; NULL when out of memory. */
static char *join(const char *const *parts, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(parts[i]);
    char *text = ki_malloc(size);
    if (text == NULL)
        return NULL;
    char *at = text;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(parts[i]);
        memcpy(at, parts[i], n);
        at += n;
    }
    *at = 0;
    return text;
}

#define JOIN(...)                                                                                            \
    join((const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

/* The parts of the URL according to libcurl; NULL if a part is missing. */
typedef struct parts {
    char *scheme;
    char *user;
    char *host;
    char *port;
    char *path;
    char *query;
} parts;

static void parts_fini(parts *p)
{
    char *const all[] = {p->scheme, p->user, p->host, p->port, p->path, p->query};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        curl_free(all[i]);
}

static CURLUcode get(CURLU *url, CURLUPart part, unsigned flags, char **out_text)
{
    CURLUcode code = curl_url_get(url, part, out_text, flags);
    return code == CURLUE_NO_USER || code == CURLUE_NO_QUERY ? CURLUE_OK : code;
}

static CURLUcode split(const char *text, parts *out)
{
    CURLU *url = curl_url();
    if (url == NULL)
        return CURLUE_OUT_OF_MEMORY;
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code == CURLUE_OK)
        code = get(url, CURLUPART_SCHEME, 0, &out->scheme);
    if (code == CURLUE_OK)
        code = get(url, CURLUPART_USER, 0, &out->user);
    if (code == CURLUE_OK)
        code = get(url, CURLUPART_HOST, 0, &out->host);
    if (code == CURLUE_OK)
        code = get(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, &out->port);
    if (code == CURLUE_OK)
        code = get(url, CURLUPART_PATH, 0, &out->path);
    if (code == CURLUE_OK)
        code = get(url, CURLUPART_QUERY, 0, &out->query);
    curl_url_cleanup(url);
    return code;
}

static char *with_scheme(const ki_config *config)
{
    const char *given = config->server != NULL ? config->server : "";
    if (strstr(given, "://") != NULL)
        return JOIN(given);
    return JOIN(ki_config_uses_tls(config) ? "https://" : "http://", given);
}

static int refuse(const ki_config *config, ki_error *err, const char *why)
{
    return ki_fail(err, KI_ERR_CONFIG, "the server's address \"%s\" %s",
                   config->server == NULL || strchr(config->server, '@') != NULL ? "…" : config->server, why);
}

static bool has_name(const ki_config *config)
{
    return config->tls_server_name != NULL && config->tls_server_name[0] != 0;
}

static int check(const parts *p, const ki_config *config, ki_error *err)
{
    if (strcmp(p->scheme, "http") != 0 && strcmp(p->scheme, "https") != 0)
        return refuse(config, err, "must have the scheme http or https");
    if (p->user != NULL)
        return refuse(config, err, "contains a user; set it with the other credentials");
    if (p->query != NULL)
        return refuse(config, err, "contains a query");
    if (has_name(config) && !ki_url_is_host(config->tls_server_name))
        return ki_fail(err, KI_ERR_CONFIG, "tls-server-name: is neither a host name nor an address");
    return 0;
}

/* The URL gets the name in the certificate, so that TLS asks for it and compares it. libcurl is told where
 * to connect instead, and the Host header keeps the server's real name. */
static int rename_for_tls(ki_server_address *server, const parts *p)
{
    char *target = JOIN("::", p->host, ":", p->port);
    server->host_header = JOIN("Host: ", p->host, ":", p->port);
    if (target != NULL)
        server->connect_to = curl_slist_append(NULL, target);
    ki_free(target);
    return server->connect_to == NULL || server->host_header == NULL ? KI_ERR_NO_MEMORY : 0;
}

/* IPv6 addresses are in brackets. */
static bool is_address(const char *host)
{
    struct in_addr address;
    return host[0] == '[' || inet_pton(AF_INET, host, &address) == 1;
}

static int fill(ki_server_address *server, parts *p, const ki_config *config)
{
    const char *name = config->tls_server_name;
    size_t n = strlen(p->path);
    while (n > 0 && p->path[n - 1] == '/')
        p->path[--n] = 0;
    server->is_tls = strcmp(p->scheme, "https") == 0;
    server->is_name = !is_address(p->host);
    bool is_renamed = server->is_tls && has_name(config) && strcmp(name, p->host) != 0;
    bool is_bare_v6 = is_renamed && name[0] != '[' && strchr(name, ':') != NULL;
    server->base = JOIN(p->scheme, "://", is_bare_v6 ? "[" : "", is_renamed ? name : p->host,
                        is_bare_v6 ? "]" : "", ":", p->port, p->path);
    if (server->base == NULL)
        return KI_ERR_NO_MEMORY;
    return is_renamed ? rename_for_tls(server, p) : 0;
}

int ki_server_address_init(ki_server_address *server, const ki_config *config, ki_error *err)
{
    parts p = {0};
    ki_server_address made = {0};
    char *text = with_scheme(config);
    if (text == NULL)
        return ki_fail_no_memory(err);
    CURLUcode code = split(text, &p);
    int rc = 0;
    if (code == CURLUE_OUT_OF_MEMORY)
        rc = ki_fail_no_memory(err);
    else if (code != CURLUE_OK)
        rc = refuse(config, err, "is not a URL");
    else
        rc = check(&p, config, err);
    if (rc == 0 && fill(&made, &p, config) < 0)
        rc = ki_fail_no_memory(err);
    if (rc == 0)
        *server = made;
    else
        ki_server_address_fini(&made);
    parts_fini(&p);
    ki_free(text);
    return rc;
}

void ki_server_address_fini(ki_server_address *server)
{
    assert(server != NULL);
    ki_free(server->base);
    ki_free(server->host_header);
    curl_slist_free_all(server->connect_to);
    *server = (ki_server_address){0};
}
