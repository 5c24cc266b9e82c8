/* SPDX-License-Identifier: Apache-2.0 */
#include "support/client/address_check.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/load.h"
#include "config/proxy.h"
#include "config/url.h"
#include "http/proxy_route.h"
#include "http/server_address.h"
#include "util/alloc.h"

address_taken address_check_taken;

static bool shows_secret(const ki_error *err)
{
    return strstr(err->message, ADDRESS_SECRET) != NULL;
}

/* Elsewhere it may be the name of a host or a path, which are shown. */
static bool is_password_in(const char *text)
{
    for (const char *at = text; (at = strstr(at, ADDRESS_SECRET)) != NULL; at++)
        if ((at > text && at[-1] == ':') || strchr(at, '@') != NULL)
            return true;
    return false;
}

static bool is_refusal(int rc, const ki_error *err)
{
    return rc == KI_ERR_CONFIG && err->code == rc && err->message[0] != 0;
}

/* ---- what libcurl reads from an address ---------------------------------------------------------------- */

typedef struct parts {
    char *scheme, *user, *host, *path, *query;
} parts;

static void parts_fini(parts *p)
{
    char *const all[] = {p->scheme, p->user, p->host, p->path, p->query};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        curl_free(all[i]);
    *p = (parts){0};
}

static bool split(const char *text, parts *p)
{
    CURLU *url = curl_url();
    *p = (parts){0};
    bool is_good =
        url != NULL && curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    if (is_good) {
        (void)curl_url_get(url, CURLUPART_SCHEME, &p->scheme, 0);
        (void)curl_url_get(url, CURLUPART_USER, &p->user, 0);
        (void)curl_url_get(url, CURLUPART_HOST, &p->host, 0);
        (void)curl_url_get(url, CURLUPART_PATH, &p->path, 0);
        (void)curl_url_get(url, CURLUPART_QUERY, &p->query, 0);
    }
    curl_url_cleanup(url);
    return is_good && p->scheme != NULL && p->host != NULL && p->host[0] != 0;
}

/* ---- proxies ------------------------------------------------------------------------------------------- */

static bool has_control(const char *text)
{
    for (; text != NULL && *text != 0; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Compares with the result of libcurl's decoder, which takes a length of 0 to mean strlen(). */
static bool is_decoded(const char *text, size_t len, const char *expected)
{
    int got_len = 0;
    char *got = len == 0 ? NULL : curl_easy_unescape(NULL, text, (int)len, &got_len);
    bool is_same =
        (size_t)got_len == strlen(expected) && (len == 0 || (got != NULL && strcmp(got, expected) == 0));
    curl_free(got);
    return is_same;
}

static bool is_user(const ki_proxy *proxy, const char *userpwd)
{
    const char *colon = strchr(userpwd, ':');
    return colon != NULL && is_decoded(userpwd, (size_t)(colon - userpwd), proxy->user) &&
           is_decoded(colon + 1, strlen(colon + 1), proxy->password);
}

static bool is_part(CURLU *url, CURLUPart part, const char *expected)
{
    char *got = NULL;
    (void)curl_url_get(url, part, &got, CURLU_URLDECODE);
    bool is_same = strcmp(got == NULL ? "" : got, expected == NULL ? "" : expected) == 0;
    curl_free(got);
    return is_same;
}

/* An address that libcurl refuses as a whole cannot be compared. */
static bool is_user_of(const char *text, const ki_proxy *proxy)
{
    CURLU *url = curl_url();
    bool is_same =
        url == NULL || curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
        (is_part(url, CURLUPART_USER, proxy->user) && is_part(url, CURLUPART_PASSWORD, proxy->password));
    curl_url_cleanup(url);
    return is_same;
}

static const char *check_taken_proxy(const ki_proxy *proxy, const ki_proxy_route *route)
{
    parts p;
    const char *wrong = NULL;
    if (!split(route->url, &p))
        wrong = "proxy: libcurl refuses an accepted address";
    else if (p.user != NULL || p.query != NULL || strcmp(p.path, "/") != 0)
        wrong = "proxy: more than an address remains";
    else if (strcmp(p.scheme, "http") != 0 && strcmp(p.scheme, "https") != 0 &&
             strcmp(p.scheme, "socks5h") != 0)
        wrong = "proxy: a different scheme";
    else if (has_control(proxy->user) || has_control(proxy->password))
        wrong = "proxy: a control character";
    else if ((proxy->user != NULL) != (route->userpwd != NULL))
        wrong = "proxy: a user is lost";
    else if (proxy->user != NULL && !is_user(proxy, route->userpwd))
        wrong = "proxy: a different user or password";
    else if (strstr(route->name, ADDRESS_SECRET) != NULL && proxy->password != NULL &&
             strcmp(proxy->password, ADDRESS_SECRET) == 0)
        wrong = "proxy: its name shows the password";
    parts_fini(&p);
    return wrong;
}

static const char *check_proxy(const char *text)
{
    ki_proxy proxy = {0};
    ki_proxy_route route = {0};
    ki_error err = {0};
    const char *problem = NULL, *wrong = NULL;
    ki_config config = {.proxy_url = (char *)(uintptr_t)text};
    int rc = ki_proxy_parse(text, &proxy, &problem);
    int route_rc = ki_proxy_route_init(&route, &config, &err);
    address_check_taken.proxy = rc == 0;
    if ((rc == 0) != (route_rc == 0))
        wrong = "proxy: accepted when loaded, refused for the route";
    else if (rc == 0 && !is_user_of(text, &proxy))
        wrong = "proxy: not the user or password that was given";
    else if (rc == 0)
        wrong = check_taken_proxy(&proxy, &route);
    else if (rc != KI_ERR_INVALID || problem == NULL || !is_refusal(route_rc, &err) || shows_secret(&err))
        wrong = "proxy: refused with a wrong error";
    ki_proxy_fini(&proxy);
    ki_proxy_route_fini(&route);
    return wrong;
}

/* ---- servers ------------------------------------------------------------------------------------------- */

static const char *check_taken_server(const ki_config *config, const ki_server_address *server)
{
    parts p, given;
    const char *wrong = NULL;
    bool is_given = split(config->server, &given);
    if (!split(server->base, &p) || !is_given)
        wrong = "server: libcurl refuses an accepted address";
    else if (p.user != NULL || p.query != NULL)
        wrong = "server: it has a user or a query";
    else if (server->is_tls != (strcmp(p.scheme, "https") == 0) ||
             server->is_tls != ki_config_uses_tls(config))
        wrong = "server: TLS differs";
    else if (config->tls_server_name == NULL && strcasecmp(p.host, given.host) != 0)
        wrong = "server: a different host";
    parts_fini(&p);
    parts_fini(&given);
    return wrong;
}

static const char *check_server(const char *text)
{
    ki_config config = {.server = ki_str_copy(ki_str_of(text))};
    ki_server_address server = {0};
    ki_error err = {0};
    const char *wrong = NULL;
    int rc = ki_config_validate(&config, &(ki_config_origin){0}, &err);
    address_check_taken.server = rc == 0;
    if (rc < 0)
        wrong = is_refusal(rc, &err) && !(shows_secret(&err) && is_password_in(text))
                    ? NULL
                    : "server: refused in a wrong way";
    else if (ki_server_address_init(&server, &config, &err) < 0)
        wrong = "server: accepted when loaded, refused afterwards";
    else
        wrong = check_taken_server(&config, &server);
    ki_server_address_fini(&server);
    ki_config_fini(&config);
    return wrong;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static const char *check_taken_name(const char *name, const ki_server_address *server)
{
    parts p;
    const char *wrong = NULL;
    struct in_addr address;
    bool is_v6 = strchr(name, ':') != NULL;
    if (!split(server->base, &p))
        wrong = "name: libcurl refuses an accepted name";
    else if (strcmp(p.path, "/") != 0 || p.user != NULL || p.query != NULL)
        wrong = "name: it is more than a host";
    else if (is_v6 ? p.host[0] != '['
                   : inet_pton(AF_INET, p.host, &address) != 1 && strcasecmp(p.host, name) != 0)
        wrong = "name: a different name"; /* libcurl reformats IPv4 addresses, also "10.0.0X1f" */
    parts_fini(&p);
    return wrong;
}

static const char *check_name(const char *text)
{
    ki_config config = {.server = ki_str_copy(KI_STR("https://k")),
                        .tls_server_name = ki_str_copy(ki_str_of(text))};
    ki_server_address server = {0};
    ki_error err = {0};
    const char *wrong = NULL;
    int rc = text[0] == 0 ? KI_ERR_CONFIG : ki_config_validate(&config, &(ki_config_origin){0}, &err);
    address_check_taken.name = rc == 0;
    if (rc == 0 && ki_server_address_init(&server, &config, &err) < 0)
        wrong = "name: accepted when loaded, refused afterwards";
    else if (rc == 0)
        wrong = check_taken_name(text, &server);
    else if (text[0] != 0 && (!is_refusal(rc, &err) || shows_secret(&err)))
        wrong = "name: refused with a wrong error";
    ki_server_address_fini(&server);
    ki_config_fini(&config);
    return wrong;
}

const char *address_check(const char *text)
{
    const char *wrong = check_proxy(text);
    if (wrong == NULL)
        wrong = check_server(text);
    return wrong != NULL ? wrong : check_name(text);
}
