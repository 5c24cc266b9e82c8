/* SPDX-License-Identifier: Apache-2.0 */
/* http_curl - the program curl as the reference: it receives the same bytes and discards them.
 *
 *   From:     http_sync.c, http_burst.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_CURL_H
#define BENCH_HTTP_CURL_H

#include <stdio.h>

#include "http_child.h"

/* The URLs to fetch, one after the other over one connection. */
struct http_curl {
    char path[64]; /* of the file with curl's options */
    FILE *file;    /* while it is being written */
};

bool http_curl_open(struct http_curl *curl);
void http_curl_add(struct http_curl *curl, unsigned port, const char *target);

/* The smallest values measured; 0 before the first run. */
struct http_best {
    double wall;
    double cpu;
};

/* Measures curl; may be called repeatedly. */
bool http_curl_run(struct http_curl *curl, struct http_best *best);

/* A zeroed struct is allowed. */
void http_curl_close(struct http_curl *curl);

/* Measures a role. Both include a few milliseconds for starting the process. */
bool http_best_run(struct http_best *best, const struct http_task *task, struct http_report *out_report);

#endif
