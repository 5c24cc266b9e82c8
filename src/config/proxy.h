/* SPDX-License-Identifier: Apache-2.0 */
/* proxy - the proxy that the environment sets for a server, by the rules of Go and thus kubectl.
 *
 *   From:     config/load.c, http/, config/validate.c
 *   To:       HTTPS_PROXY, HTTP_PROXY (not in a CGI program), NO_PROXY, and the same in lower case
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: connecting (http/).
 */
#ifndef KI_CONFIG_PROXY_H
#define KI_CONFIG_PROXY_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Returns 0 with the address of the proxy, for ki_secret_free(), or with NULL for none; KI_ERR_CONFIG for a
 * variable that is not an address; KI_ERR_NO_MEMORY. The message names the variable without its value, which
 * may contain a password. */
KI_NODISCARD int ki_proxy_of_environment(const char *server, char **out_proxy, ki_error *err);

/* Whether a NO_PROXY list contains the port and the host, which is a name or an address. Its entries: "*",
 * "example.com" (with its subdomains), ".example.com" (subdomains only), "10.0.0.0/8", "10.1.2.3", each with
 * an optional ":port". */
int ki_proxy_is_excluded(ki_str list, ki_str host, ki_str port);

/* The parts of a proxy's address. Parsed here because libcurl would connect without any proxy if a user
 * contained a line end. A zeroed struct means no proxy. */
typedef struct ki_proxy {
    char *address;  /* "socks5://host:1080", without user, password and path */
    char *user;     /* decoded, like the password; NULL if none. Neither contains control characters */
    char *password; /* "" if the user has none */
} ki_proxy;

/* Parses the address of an http, https or socks5 proxy. Returns 0; KI_ERR_INVALID with the problem, a
 * constant; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proxy_parse(const char *url, ki_proxy *out_proxy, const char **out_problem);
void ki_proxy_fini(ki_proxy *proxy);

/* Checks whether the address is valid. Returns the same as ki_proxy_parse(). */
KI_NODISCARD int ki_proxy_check(const char *url, const char **out_problem);

#endif
