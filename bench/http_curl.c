/* SPDX-License-Identifier: Apache-2.0 */
#include "http_curl.h"

#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

bool http_curl_open(struct http_curl *curl)
{
    *curl = (struct http_curl){.path = "/tmp/bench_http.XXXXXX"};
    int fd = mkstemp(curl->path);
    curl->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (curl->file == NULL) {
        perror("options of curl");
        return false;
    }
    fprintf(curl->file, "silent\nfail\nnoproxy = \"*\"\n");
    return true;
}

void http_curl_add(struct http_curl *curl, unsigned port, const char *target)
{
    fprintf(curl->file, "url = \"http://127.0.0.1:%u%s\"\noutput = \"/dev/null\"\n", port, target);
}

static void keep(struct http_best *best, double start, const struct http_report *report)
{
    double wall = report->finished - start;
    double cpu = report->cpu_seconds;
    best->wall = best->wall == 0 || wall < best->wall ? wall : best->wall;
    best->cpu = best->cpu == 0 || cpu < best->cpu ? cpu : best->cpu;
}

bool http_curl_run(struct http_curl *curl, struct http_best *best)
{
    struct http_report report = {0};
    if (curl->file != NULL && fclose(curl->file) != 0) {
        return false;
    }
    curl->file = NULL;
    double start = bench_now_seconds();
    if (!http_child_run_curl(curl->path, &report)) {
        return false;
    }
    keep(best, start, &report);
    return true;
}

void http_curl_close(struct http_curl *curl)
{
    if (curl->file != NULL) {
        fclose(curl->file);
    }
    if (curl->path[0] != 0) {
        unlink(curl->path);
    }
}

bool http_best_run(struct http_best *best, const struct http_task *task, struct http_report *out_report)
{
    double start = bench_now_seconds();
    if (!http_child_run(task, out_report)) {
        return false;
    }
    keep(best, start, out_report);
    return true;
}
