/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_load - puts pods into an embedded API server, compared with a parser that only parses and writes
 * them.
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

/* Puts options->pods pods into the server and prints the costs. */
bool apiserver_load_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met);

/* Pod `index` as a client writes it, NUL-terminated and without managedFields. A higher revision has a
 * different status. The text is valid until the next call. */
const char *apiserver_pod_text(uint64_t index, unsigned revision);

#endif
