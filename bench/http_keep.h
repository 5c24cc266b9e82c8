/* SPDX-License-Identifier: Apache-2.0 */
/* http_keep - what a sync costs at the least: the same bytes are received, and as many as an object has are
 * copied into memory of their own; before a byte is looked at, or after the fastest parser we know has read
 * each object's metadata.
 *
 *   From:     http_sync.c
 *   To:       http_child.c, reference_simdjson.cpp
 */
#ifndef BENCH_HTTP_KEEP_H
#define BENCH_HTTP_KEEP_H

#include "http_child.h"

/* numbers of both: pods, and bytes to keep of each. */
bool http_keep_role(const struct http_task *task, struct http_report *out_report);
bool http_keep_read_role(const struct http_task *task, struct http_report *out_report);

#endif
