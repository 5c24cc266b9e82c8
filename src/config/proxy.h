/* SPDX-License-Identifier: Apache-2.0 */
/* proxy - which proxy the environment names for a server, by the rules of Go's programs, so kubectl's.
 *
 *   From:     config/load.c
 *   To:       HTTPS_PROXY, HTTP_PROXY, NO_PROXY, and the same in small letters
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

/* An address that can be a proxy's: http, https or socks5. Returns 0 or KI_ERR_INVALID. */
KI_NODISCARD int ki_proxy_check(ki_str url);

#endif
