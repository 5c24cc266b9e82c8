/* SPDX-License-Identifier: Apache-2.0 */
/* proxy - which proxy the environment names for a server, by the rules of Go's programs, so kubectl's.
 *
 *   From:     config/load.c
 *   To:       HTTPS_PROXY, HTTP_PROXY (not in a CGI program), NO_PROXY, and the same in small letters
 *   Locks:    none; the environment must not change meanwhile.
 *   Not here: connecting (http/).
 */
#ifndef KI_CONFIG_PROXY_H
#define KI_CONFIG_PROXY_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Returns 0 with the address of the proxy, for ki_secret_free(), or NULL for none; KI_ERR_CONFIG for a
 * variable that is no address, named without its value, which may have a password; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proxy_of_environment(const char *server, char **out_proxy, ki_error *err);

/* Whether a list as NO_PROXY's has the host, which may be an address, and port: "*", "example.com" (with
 * what is below it), ".example.com" (only that), "10.0.0.0/8", "10.1.2.3", each with an optional ":port".
 * */
int ki_proxy_is_excluded(ki_str list, ki_str host, ki_str port);

/* The address of a proxy, taken apart: what libcurl would make of a user with a line end in it is no proxy at
 * all. A zeroed one is none. */
typedef struct ki_proxy {
    char *address;  /* "socks5://host:1080", without user, password and path */
    char *user;     /* decoded, as the next; NULL: there is none. Neither has control characters */
    char *password; /* "" beside a user that has none */
} ki_proxy;

/* Of http, https or socks5. Returns 0; KI_ERR_INVALID with what is wrong with it,
 * a constant; KI_ERR_NO_MEMORY.
 */
KI_NODISCARD int ki_proxy_parse(const char *url, ki_proxy *out_proxy, const char **out_problem);
void ki_proxy_fini(ki_proxy *proxy);

/* Whether it can be one. Returns as ki_proxy_parse(). */
KI_NODISCARD int ki_proxy_check(const char *url, const char **out_problem);

#endif
