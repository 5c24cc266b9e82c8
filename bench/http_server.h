/* SPDX-License-Identifier: Apache-2.0 */
/* http_server - an API server that only sends prepared bytes, in its own process.
 *
 *   From:     bench_http.c   (starts and ends it)
 *   To:       clients that connect to its port of the loopback interface
 *   Not here: the bytes of lists and bursts (http_material.h).
 *
 *   /api/v1/pods                     lists the pages; its watch is silent
 *   /api/v1/namespaces/burst/pods    an empty list; its watch sends the burst, and then ends if asked with
 *                                    end=true
 *   /api/v1/namespaces/protobuf/pods   the same in protobuf
 *   /api/v1/namespaces/ticks/pods    an empty list; its watch sends an event every few milliseconds, each
 *                                    with the time at which it was sent
 *   any other path                   an empty list and a silent watch
 *
 * It has one thread for each connection; its cost is not measured.
 */
#ifndef BENCH_HTTP_SERVER_H
#define BENCH_HTTP_SERVER_H

#include <sys/types.h>

#include "http_material.h"

enum { HTTP_TICK_MS = 5 };

/* In each tick, a member of the object: the nanoseconds of CLOCK_MONOTONIC as 20 digits. */
#define HTTP_TICK_MEMBER "written"
#define HTTP_TICK_DIGITS 20

struct http_server {
    pid_t pid;
    unsigned port;
};

/* Starts the process, which has a copy of the material. Returns false on failure. */
bool http_server_start(struct http_server *server, const struct http_material *material);
bool http_server_start_tls(struct http_server *server, const struct http_material *material);
void http_server_stop(struct http_server *server);

uint64_t http_now_ns(void);

#endif
