/* SPDX-License-Identifier: Apache-2.0 */
#include "http_many.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "http_informer.h"

enum { INFORMERS = 1000, IDLE_MS = 5000, SHORT_IDLE_MS = 2000, POLL_MS = 20 };

static void ignore(const ki_event *event, void *user)
{
    (void)event;
    (void)user;
}

static void wait_ms(uint64_t ms)
{
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};
    (void)nanosleep(&time, NULL);
}

/* Each watch is a connection. */
static bool raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return false;
    }
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static ki_informer *start_one(ki_client *client, uint64_t number)
{
    char ns[32];
    ki_error err = {0};
    const ki_handler handler = {.on_add = ignore, .on_update = ignore, .on_delete = ignore};
    (void)snprintf(ns, sizeof(ns), "n%" PRIu64, number);
    ki_informer *informer = http_informer_new(client, ns);
    if (informer == NULL || ki_informer_add_handler(informer, &handler, NULL) == NULL ||
        ki_informer_start(informer, &err) < 0) {
        fprintf(stderr, "informer %" PRIu64 ": %s\n", number, err.message);
        return NULL;
    }
    return informer;
}

static bool wait_for_watch(ki_informer *informer)
{
    ki_informer_status status = {0};
    ki_error err = {0};
    if (ki_informer_wait_for_sync(informer, HTTP_TIMEOUT_MS, &err) < 0) {
        fprintf(stderr, "sync: %s\n", err.message);
        return false;
    }
    for (ki_informer_read_status(informer, &status); status.phase != KI_PHASE_WATCHING;
         ki_informer_read_status(informer, &status)) {
        wait_ms(POLL_MS);
    }
    return true;
}

/* Starts all of them, then waits for each. */
static bool start_all(ki_client *client, uint64_t first, uint64_t end)
{
    ki_informer **informers = calloc(end - first + 1, sizeof(ki_informer *));
    bool is_done = informers != NULL;
    for (uint64_t i = first; i < end && is_done; i++) {
        informers[i - first] = start_one(client, i);
        is_done = informers[i - first] != NULL;
    }
    for (uint64_t i = first; i < end && is_done; i++) {
        is_done = wait_for_watch(informers[i - first]);
    }
    free(informers);
    return is_done;
}

/* The first informer brings the library and its threads into memory,
 * so the rest of the growth belongs to the others. */
bool http_many_role(const struct http_task *task, struct http_report *out_report)
{
    struct http_report one = {0};
    uint64_t count = task->numbers[0];
    ki_client *client = raise_limit() ? http_client_new(task->port, 1) : NULL;
    if (client == NULL || !start_all(client, 0, 1)) {
        return false;
    }
    http_report_fill(&one);
    if (!start_all(client, 1, count + 1)) {
        return false;
    }
    http_report_fill(out_report);
    double start = bench_now_seconds();
    out_report->seconds = start - one.finished;
    out_report->resident_bytes -= one.resident_bytes;
    wait_ms(POLL_MS * 5); /* lets pending work finish */
    double cpu = http_cpu_seconds();
    wait_ms(task->numbers[1]);
    out_report->cpu_seconds = http_cpu_seconds() - cpu;
    out_report->objects = count;
    return true;
}

bool http_many_bench(unsigned port, const struct bench_options *options)
{
    uint64_t idle_ms = options->pods < 100000 ? SHORT_IDLE_MS : IDLE_MS;
    const struct http_task task = {.role = "many", .port = port, .numbers = {INFORMERS, idle_ms}};
    struct http_report report = {0};
    if (!http_child_run(&task, &report)) {
        return false;
    }
    printf("\n%d informers of one client, each with a watch and a handler\n", INFORMERS);
    printf("all watch after %.2f s; %" PRIu64 " threads, %.1f KB resident for each informer\n",
           report.seconds, report.threads, (double)report.resident_bytes / 1e3 / INFORMERS);
    printf("CPU while idle: %.3f %% of one CPU, in %.0f s\n", report.cpu_seconds / (double)idle_ms * 1e5,
           (double)idle_ms / 1e3);
    fflush(stdout);
    return true;
}
