/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_load - pods put into an embedded API server, beside a parser that does nothing but parse and
 * write them.
 *
 *   From:     bench_apiserver.c
 *   To:       ki_apiserver_put(); jansson; the same by POST
 *   Not here: sockets (apiserver_socket.h)
 */
#ifndef BENCH_APISERVER_LOAD_H
#define BENCH_APISERVER_LOAD_H

#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "bench.h"

/* Puts options->pods pods into the server and prints what that takes. */
bool apiserver_load_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met);

/* Pod `index` as a client writes it, NUL-terminated: no managedFields. A greater revision is another
 * status of it. The text is valid until the next call. */
const char *apiserver_pod_text(uint64_t index, unsigned revision);

#endif
