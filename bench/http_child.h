/* SPDX-License-Identifier: Apache-2.0 */
/* http_child - work that is measured, in a process of its own: memory and CPU are then those of the work
 * alone.
 *
 *   From:     http_sync.c, http_watch.c, http_many.c
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
    uint64_t numbers[2]; /* the role knows what they mean */
};

/* What a role says of its work. */
struct http_report {
    double finished;    /* bench_now_seconds() when the work was done */
    double cpu_seconds; /* until then */
    uint64_t resident_bytes;
    uint64_t resident_peak_bytes;
    uint64_t threads;
    uint64_t objects;
    uint64_t object_bytes;
    uint64_t bytes_read;
    uint64_t system_calls;
    uint64_t events;
    uint64_t coalesced;
    double seconds; /* of the part that counts */
    double p50_us;
    double p99_us;
};

/* Does the work, in the process that was started for it. */
typedef bool (*http_role_cb)(const struct http_task *task, struct http_report *out_report);

struct http_role {
    const char *name;
    http_role_cb run;
};

/* In main, before anything else: runs the role that the arguments name, if they do, and returns true with the
 * program's exit code. The roles end with a NULL name. */
bool http_child_is_role(int count, char **arguments, const struct http_role *roles, int *out_code);

/* Starts a role and waits for it. Returns false when it fails. */
bool http_child_run(const struct http_task *task, struct http_report *out_report);

/* The program curl, with what is in the file as its options: `finished` and `cpu_seconds` are set. */
bool http_child_run_curl(const char *options_path, struct http_report *out_report);

/* Of this process, until now. */
void http_report_fill(struct http_report *report);
double http_cpu_seconds(void);

#endif
