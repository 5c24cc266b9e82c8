/* SPDX-License-Identifier: Apache-2.0 */
/* admit - authenticates requests by token; without tokens, rejects requests made by web pages.
 *
 *   From:     apiserver/serve/exchange.c, after the headers of a request and before its body
 *   To:       the failure of the exchange: 401 or 403
 *   Locks:    none
 *   Not here: authorization; an admitted client may do everything
 *
 * Without tokens, every program on this machine is admitted, also a browser that shows a web page. A page
 * whose host name resolves to 127.0.0.1 could read responses (DNS rebinding), and every page can send
 * requests. The Host header reveals the first case, the Origin header the second.
 */
#ifndef KI_APISERVER_SERVE_ADMIT_H
#define KI_APISERVER_SERVE_ADMIT_H

#include "apiserver/serve/exchange.h"

/* Returns 0, or -1 with exchange->failure. */
KI_NODISCARD int ki_as_admit(struct ki_as_exchange *exchange);

/* Whether a Host header is "localhost", an address, or one of `names` (ends with NULL;
 * may be NULL), with or without a port. */
bool ki_as_host_is_ours(ki_str host, char *const *names);

/* Whether an Origin header names the same server as the Host header. */
bool ki_as_origin_is_own(ki_str origin, ki_str host);

#endif
