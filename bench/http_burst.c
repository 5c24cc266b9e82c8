/* SPDX-License-Identifier: Apache-2.0 */
/* How many events per second a watch delivers, and the CPU time of each. */
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_curl.h"
#include "http_informer.h"
#include "http_watch.h"

enum { ROUNDS_MIN = 3 };

/* ---- the role --------------------------------------------------------------------------------------- */

struct counter {
    uint64_t events;
    uint64_t last_version;
    sem_t is_done;
};

static void count(const ki_event *event, void *user)
{
    struct counter *counter = user;
    ki_str version = ki_object_resource_version(event->object);
    counter->events++;
    if (strtoull(version.ptr, NULL, 10) == counter->last_version) {
        sem_post(&counter->is_done);
    }
}

static bool take_burst(ki_informer *informer, struct counter *counter, struct http_report *out_report)
{
    const ki_handler handler = {.on_add = count, .on_update = count, .on_delete = count, .user = counter};
    ki_error err = {0};
    ki_registration_stats stats;
    double start = bench_now_seconds();
    double cpu = http_cpu_seconds();
    ki_registration *registration = ki_informer_add_handler(informer, &handler, NULL);
    if (registration == NULL || ki_informer_start(informer, &err) < 0) {
        fprintf(stderr, "burst: %s\n", err.message);
        return false;
    }
    while (sem_wait(&counter->is_done) != 0) {
    }
    http_report_fill(out_report);
    out_report->seconds = out_report->finished - start;
    out_report->cpu_seconds -= cpu;
    ki_registration_read_stats(registration, &stats);
    out_report->events = counter->events;
    out_report->coalesced = stats.coalesced;
    return true;
}

bool http_burst_role(const struct http_task *task, struct http_report *out_report)
{
    static struct counter counter;
    counter.last_version = task->numbers[0];
    sem_init(&counter.is_done, 0, 0);
    const char *ns = task->numbers[1] == HTTP_BURST_PROTOBUF ? "protobuf" : "burst";
    ki_client *client = http_client_new(task->port, 0);
    ki_informer *informer = client == NULL ? NULL : http_informer_new(client, ns);
    return informer != NULL && take_burst(informer, &counter, out_report);
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

struct contest {
    const struct http_burst *burst;
    unsigned port;
    struct http_curl curl;
    struct http_best ours;
    struct http_best reference;
    struct http_report report; /* of our last round */
    unsigned rounds;
};

static bool run_round(struct contest *contest)
{
    const struct http_task task = {
        .role = "burst", .port = contest->port, .numbers = {contest->burst->last_version}};
    contest->rounds++;
    return http_curl_run(&contest->curl, &contest->reference) &&
           http_best_run(&contest->ours, &task, &contest->report);
}

static void print_figures(const struct contest *contest)
{
    double events = (double)contest->burst->events;
    printf("\na watch of %" PRIu64 " events of %" PRIu64 " keys, as fast as they come: %u rounds\n",
           contest->burst->events, contest->burst->keys, contest->rounds);
    printf("%-34s %9.0f events/s, %6.2f us of CPU for each\n", "kinformer, to the handler",
           events / contest->ours.wall, contest->ours.cpu * 1e6 / events);
    printf("%-34s %9.0f events/s, %6.2f us of CPU for each\n", "curl to /dev/null",
           events / contest->reference.wall, contest->reference.cpu * 1e6 / events);
    printf("wall time %.2f times curl's, CPU time %.2f times; %" PRIu64 " calls, %" PRIu64 " coalesced\n",
           contest->ours.wall / contest->reference.wall, contest->ours.cpu / contest->reference.cpu,
           contest->report.events, contest->report.coalesced);
    fflush(stdout);
}

bool http_burst_bench(const struct http_burst *burst, unsigned port, const struct bench_options *options)
{
    struct contest contest = {.burst = burst, .port = port};
    bool is_done = http_curl_open(&contest.curl);
    if (is_done) {
        http_curl_add(&contest.curl, port, "/api/v1/namespaces/burst/pods?watch=true&end=true");
    }
    double start = bench_now_seconds();
    while (is_done && (contest.rounds < ROUNDS_MIN || bench_now_seconds() - start < options->seconds)) {
        is_done = run_round(&contest);
    }
    if (is_done) {
        print_figures(&contest);
    }
    http_curl_close(&contest.curl);
    return is_done;
}
