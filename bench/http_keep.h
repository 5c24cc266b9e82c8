/* SPDX-License-Identifier: Apache-2.0 */
/* http_keep - what a sync costs before a byte of it is looked at: the same bytes are received, and as many as
 * an object has are copied into memory of their own.
 *
 *   From:     http_sync.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_KEEP_H
#define BENCH_HTTP_KEEP_H

#include "http_child.h"

/* numbers: pods, and bytes to keep of each. */
bool http_keep_role(const struct http_task *task, struct http_report *out_report);

#endif
