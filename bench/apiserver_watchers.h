/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_watchers - events to one watcher and to a thousand of them.
 *
 *   From:     bench_apiserver.c
 *   To:       a separate process that holds the watchers' sockets and drains them
 *   Not here: informers (bench_http.c): the readers here only count
 */
#ifndef BENCH_APISERVER_WATCHERS_H
#define BENCH_APISERVER_WATCHERS_H

#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "bench.h"

/* Call it before the server starts: each watch is a connection, and each process has one end of it. */
void apiserver_raise_limit(void);

bool apiserver_watchers_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met);

#endif
