/* SPDX-License-Identifier: Apache-2.0 */
/* admit - who is let in: by token, or, where everyone on this machine is, by what no web page can forge.
 *
 *   From:     apiserver/serve/exchange.c, when the headers of a request are there and nothing of its body is
 *   To:       the failure of the exchange: 401 or 403
 *   Locks:    none
 *   Not here: what somebody who is let in may do, which is everything
 *
 * Without tokens a browser on this machine is let in as well, with whatever page it shows: one that has its
 * own name resolved to 127.0.0.1 reads the answers, and any page may send. The first says its name as Host,
 * the second where it is from as Origin.
 */
#ifndef KI_APISERVER_SERVE_ADMIT_H
#define KI_APISERVER_SERVE_ADMIT_H

#include "apiserver/serve/exchange.h"

/* 0, or -1 with exchange->failure. */
KI_NODISCARD int ki_as_admit(struct ki_as_exchange *exchange);

/* Whether a Host says "localhost", an address, or one of `names` (ended by NULL;
 * or NULL), with or without a port. */
bool ki_as_host_is_ours(ki_str host, char *const *names);

/* Whether an Origin is that of the server that the Host names. */
bool ki_as_origin_is_own(ki_str origin, ki_str host);

#endif
