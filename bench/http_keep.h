/* SPDX-License-Identifier: Apache-2.0 */
/* http_keep - the minimal cost of a sync: the same bytes are received, and for each object as many bytes as
 * ours has are copied to an allocation; either unread, or after simdjson has read each object's metadata.
 *
 *   From:     bench_http.c
 *   To:       http_child.c, reference_simdjson.cpp
 */
#ifndef BENCH_HTTP_KEEP_H
#define BENCH_HTTP_KEEP_H

#include "http_child.h"

/* `numbers` of both: the number of pods, and the bytes to keep of each. */
bool http_keep_role(const struct http_task *task, struct http_report *out_report);
bool http_keep_read_role(const struct http_task *task, struct http_report *out_report);

#endif
