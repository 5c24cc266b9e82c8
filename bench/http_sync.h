/* SPDX-License-Identifier: Apache-2.0 */
/* http_sync - a store filled over HTTP, compared with curl, which discards the same bytes.
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

/* Like http_sync_role(), with a given client; NULL counts as a failure. */
bool http_sync_run(ki_client *client, const struct http_task *task, struct http_report *out_report);

/* Runs kinformer and curl in turns; the best run of each counts. Returns false if one of them fails. */
bool http_sync_bench(const struct http_pages *pages, unsigned port, const struct bench_options *options,
                     bool *out_met);

#endif
