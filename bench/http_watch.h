/* SPDX-License-Identifier: Apache-2.0 */
/* http_watch - events over HTTP: as fast as possible, and one at a time.
 *
 *   From:     bench_http.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_WATCH_H
#define BENCH_HTTP_WATCH_H

#include "bench.h"
#include "http_child.h"
#include "http_material.h"

/* Receives the whole burst. */
bool http_burst_role(const struct http_task *task, struct http_report *out_report);

/* Both receive this many ticks: in an informer's handler, and in a thread that only reads. */
bool http_ticks_role(const struct http_task *task, struct http_report *out_report);
bool http_ticks_plain_role(const struct http_task *task, struct http_report *out_report);

/* Both return false if a run fails. */
bool http_burst_bench(const struct http_burst *burst, unsigned port, const struct bench_options *options);
bool http_ticks_bench(unsigned port, const struct bench_options *options);

#endif
