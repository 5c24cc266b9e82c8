/* SPDX-License-Identifier: Apache-2.0 */
/* http_many - many informers of one client that have nothing to do.
 *
 *   From:     bench_http.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_MANY_H
#define BENCH_HTTP_MANY_H

#include "bench.h"
#include "http_child.h"

/* This many informers, each of its own namespace; idle for this many milliseconds. */
bool http_many_role(const struct http_task *task, struct http_report *out_report);

/* Returns false when it fails. */
bool http_many_bench(unsigned port, const struct bench_options *options);

#endif
