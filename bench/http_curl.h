/* SPDX-License-Identifier: Apache-2.0 */
/* http_curl - the program curl as the reference: the same bytes, thrown away.
 *
 *   From:     http_sync.c, http_burst.c
 *   To:       http_child.c
 */
#ifndef BENCH_HTTP_CURL_H
#define BENCH_HTTP_CURL_H

#include <stdio.h>

#include "http_child.h"

/* What to fetch, one after the other over one connection. */
struct http_curl {
    char path[64]; /* of the file with curl's options */
    FILE *file;    /* while it is being written */
};

bool http_curl_open(struct http_curl *curl);
void http_curl_add(struct http_curl *curl, unsigned port, const char *target);

/* Any number of times: `finished` and `cpu_seconds` are set. */
bool http_curl_run(struct http_curl *curl, struct http_report *out_report);

/* Takes a zeroed struct. */
void http_curl_close(struct http_curl *curl);

/* The least of what was measured; 0: nothing yet. */
struct http_best {
    double wall;
    double cpu;
};
void http_best_keep(struct http_best *best, double start, const struct http_report *report);

#endif
