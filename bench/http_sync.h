/* SPDX-License-Identifier: Apache-2.0 */
/* http_sync - a store filled over HTTP, against curl that throws the same bytes away.
 *
 *   From:     bench_http.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_SYNC_H
#define BENCH_HTTP_SYNC_H

#include <kinformer.h>

#include "bench.h"
#include "http_child.h"
#include "http_material.h"

/* Lists all pods. */
bool http_sync_role(const struct http_task *task, struct http_report *out_report);

/* The same with a client that was made for it. NULL fails. */
bool http_sync_run(ki_client *client, const struct http_task *task, struct http_report *out_report);

/* Runs of kinformer and of curl; the best of each count. Returns false when one fails. */
bool http_sync_bench(const struct http_pages *pages, unsigned port, const struct bench_options *options,
                     bool *out_met);

#endif
