/* SPDX-License-Identifier: Apache-2.0 */
/* http_rival - client-go's informer compared with ours, on the same watch.
 *
 *   From:     bench_http.c
 *   To:       http_child.c; the Go program that KI_GO_WATCH names
 */
#ifndef BENCH_HTTP_RIVAL_H
#define BENCH_HTTP_RIVAL_H

#include "bench.h"
#include "http_material.h"
#include "http_server.h"

/* Without that program nothing is measured. Returns false if one of them fails. */
bool http_rival_bench(const struct http_burst *burst, const struct http_server *server, bool *out_met);

#endif
