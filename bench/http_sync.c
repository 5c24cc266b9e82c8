/* SPDX-License-Identifier: Apache-2.0 */
#include "http_sync.h"

#include <inttypes.h>
#include <stdio.h>

#include "generate_pods.h"
#include "http_curl.h"
#include "http_informer.h"
#include "system_calls.h"

enum { ROUNDS_MIN = 3, SPARE_BYTES = 64 << 20 };

bool http_sync_run(ki_client *client, const struct http_task *task, struct http_report *out_report)
{
    ki_informer *informer = client == NULL ? NULL : http_informer_new(client, "");
    if (informer == NULL || !http_informer_sync(informer)) {
        return false;
    }
    http_report_fill(out_report);
    out_report->system_calls = system_calls_count();
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    out_report->objects = status.objects;
    out_report->object_bytes = status.bytes;
    out_report->bytes_read = status.bytes_read;
    return status.objects == task->numbers[0];
}

bool http_sync_role(const struct http_task *task, struct http_report *out_report)
{
    return http_sync_run(http_client_new(task->port, 0), task, out_report);
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

struct contest {
    const struct http_pages *pages;
    unsigned port;
    struct http_curl curl;
    struct http_best ours;
    struct http_best reference;
    struct http_best kept;     /* received and kept, unread */
    struct http_best read;     /* received, read by simdjson, and kept */
    struct http_report report; /* of our last round */
    uint64_t peak_bytes;       /* the highest of all rounds */
    unsigned rounds;
};

/* Makes the same requests as the informer. */
static bool open_curl(struct contest *contest)
{
    char target[160];
    if (!http_curl_open(&contest->curl)) {
        return false;
    }
    for (uint64_t i = 0; i < contest->pages->count; i++) {
        int n = snprintf(target, sizeof(target), "/api/v1/pods?limit=%d", HTTP_PAGE_PODS);
        if (i > 0) {
            (void)snprintf(target + n, sizeof(target) - (size_t)n, "&continue=%s%" PRIu64, PODS_CONTINUE,
                           i * HTTP_PAGE_PODS);
        }
        http_curl_add(&contest->curl, contest->port, target);
    }
    return true;
}

/* Runs the minimal work of a client. */
static bool run_least(struct contest *contest, const char *role, struct http_best *best)
{
    uint64_t pods = contest->pages->pods;
    const struct http_task task = {
        .role = role, .port = contest->port, .numbers = {pods, contest->report.object_bytes / pods}};
    struct http_report report = {0};
    return http_best_run(best, &task, &report);
}

static bool run_round(struct contest *contest)
{
    const struct http_task task = {.role = "sync", .port = contest->port, .numbers = {contest->pages->pods}};
    if (!http_curl_run(&contest->curl, &contest->reference) ||
        !http_best_run(&contest->ours, &task, &contest->report)) {
        return false;
    }
    if (contest->report.resident_peak_bytes > contest->peak_bytes) {
        contest->peak_bytes = contest->report.resident_peak_bytes;
    }
    contest->rounds++;
    return run_least(contest, "keep", &contest->kept) && run_least(contest, "read", &contest->read);
}

/* ---- the figures ------------------------------------------------------------------------------------ */

static void print_row(const char *name, const struct contest *contest, const struct http_best *best)
{
    double bytes = (double)contest->pages->starts[contest->pages->count];
    printf("%-34s %8.1f %9.1f %10.3f %9.1f %10.0f\n", name, bytes / 1e6, best->wall * 1e3,
           bytes / best->wall / 1e9, best->cpu * 1e3, best->cpu * 1e9 / (double)contest->pages->pods);
}

static void print_figures(const struct contest *contest, bool *out_met)
{
    const struct http_report *report = &contest->report;
    uint64_t pods = contest->pages->pods;
    double limit = (double)report->object_bytes + SPARE_BYTES;
    printf("\nsync of %" PRIu64 " pods over HTTP, in pages of %d: %u rounds, the best of each\n", pods,
           HTTP_PAGE_PODS, contest->rounds);
    printf("%-34s %8s %9s %10s %9s %10s\n", "", "MB", "wall ms", "GB/s", "CPU ms", "CPU ns/pod");
    print_row("kinformer", contest, &contest->ours);
    print_row("received, simdjson, kept", contest, &contest->read);
    print_row("received and kept, unread", contest, &contest->kept);
    print_row("curl to /dev/null", contest, &contest->reference);
    printf("objects %.1f MB, %.0f bytes each; resident %.1f MB, %.0f bytes for each; at most %.1f MB\n",
           (double)report->object_bytes / 1e6, (double)report->object_bytes / (double)pods,
           (double)report->resident_bytes / 1e6, (double)report->resident_bytes / (double)pods,
           (double)contest->peak_bytes / 1e6);
    printf("wall time, times curl's: kinformer %.2f, unread %.2f, with simdjson %.2f\n",
           contest->ours.wall / contest->reference.wall, contest->kept.wall / contest->reference.wall,
           contest->read.wall / contest->reference.wall);
    printf("CPU time, times curl's: kinformer %.2f, unread %.2f, with simdjson %.2f\n",
           contest->ours.cpu / contest->reference.cpu, contest->kept.cpu / contest->reference.cpu,
           contest->read.cpu / contest->reference.cpu);
    *out_met &= bench_target("sync over HTTP: peak resident size, times objects plus 64 MB",
                             (double)contest->peak_bytes / limit, "<=", 1.1);
    fflush(stdout);
}

bool http_sync_bench(const struct http_pages *pages, unsigned port, const struct bench_options *options,
                     bool *out_met)
{
    struct contest contest = {.pages = pages, .port = port};
    bool is_done = open_curl(&contest);
    double start = bench_now_seconds();
    while (is_done && (contest.rounds < ROUNDS_MIN || bench_now_seconds() - start < options->seconds)) {
        is_done = run_round(&contest);
    }
    if (is_done) {
        print_figures(&contest, out_met);
    }
    http_curl_close(&contest.curl);
    return is_done;
}
