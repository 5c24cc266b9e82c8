/* SPDX-License-Identifier: Apache-2.0 */
/* http_many - many idle informers of one client.
 *
 *   From:     bench_http.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_MANY_H
#define BENCH_HTTP_MANY_H

#include "bench.h"
#include "http_child.h"

/* Runs this many informers, each of a different namespace; then they are idle for this many milliseconds. */
bool http_many_role(const struct http_task *task, struct http_report *out_report);

/* Returns false on failure. */
bool http_many_bench(unsigned port, const struct bench_options *options);

#endif
