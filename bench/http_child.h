/* SPDX-License-Identifier: Apache-2.0 */
/* http_child - measured work in its own process, so that memory and CPU are those of the work alone.
 *
 *   From:     bench_http.c, http_*.c, apiserver_watchers.c
 *   To:       bench_http.c once more, started with --role; the program curl
 *   Not here: what the roles do.
 */
#ifndef BENCH_HTTP_CHILD_H
#define BENCH_HTTP_CHILD_H

#include <stdbool.h>
#include <stdint.h>

/* What a role gets. */
struct http_task {
    const char *role;
    unsigned port;       /* of the server */
    uint64_t numbers[2]; /* their meaning depends on the role */
};

/* What a role reports. */
struct http_report {
    double finished;    /* bench_now_seconds() when the work was done */
    double cpu_seconds; /* up to then */
    uint64_t resident_bytes;
    uint64_t resident_peak_bytes;
    uint64_t threads;
    uint64_t objects;
    uint64_t object_bytes;
    uint64_t bytes_read;
    uint64_t system_calls;
    uint64_t events;
    uint64_t coalesced;
    double seconds; /* of the measured part */
    double p50_us;
    double p99_us;
};

/* Does the work, in the process that was started for it. */
typedef bool (*http_role_cb)(const struct http_task *task, struct http_report *out_report);

struct http_role {
    const char *name;
    http_role_cb run;
};

/* Call it first in main: if the arguments name a role, runs the role and returns true with the program's exit
 * code. The array of roles ends with a NULL name. */
bool http_child_is_role(int count, char **arguments, const struct http_role *roles, int *out_code);

/* Starts a role and waits for it. Returns false if it fails. */
bool http_child_run(const struct http_task *task, struct http_report *out_report);

/* Runs the program curl with the options in the file; sets `finished` and `cpu_seconds`. */
bool http_child_run_curl(const char *options_path, struct http_report *out_report);

/* Fills in the figures of this process so far. */
void http_report_fill(struct http_report *report);
double http_cpu_seconds(void);

#endif
