/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_pages - a list in pages over HTTP, from the first to the last.
 *
 *   From:     bench_apiserver.c
 *   To:       apiserver_socket.h
 */
#ifndef BENCH_APISERVER_PAGES_H
#define BENCH_APISERVER_PAGES_H

#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "bench.h"

/* The server holds options->pods pods. */
bool apiserver_pages_bench(ki_apiserver *server, const struct bench_options *options, bool *out_met);

#endif
