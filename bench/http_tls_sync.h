/* SPDX-License-Identifier: Apache-2.0 */
/* http_tls_sync - a store filled over TLS, compared with plain HTTP and with the cipher alone.
 *
 *   From:     bench_http.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_TLS_SYNC_H
#define BENCH_HTTP_TLS_SYNC_H

#include "bench.h"
#include "http_child.h"
#include "http_material.h"

/* Lists all pods over TLS. */
bool http_tls_sync_role(const struct http_task *task, struct http_report *out_report);

/* Decrypts this many bytes in records, from memory. */
bool http_tls_decrypt_role(const struct http_task *task, struct http_report *out_report);

/* Runs all of them in turns; the best run of each counts. Returns false if one fails. */
bool http_tls_sync_bench(const struct http_material *material, unsigned plain_port,
                         const struct bench_options *options, bool *out_met);

#endif
