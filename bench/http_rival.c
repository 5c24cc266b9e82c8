/* SPDX-License-Identifier: Apache-2.0 */
/* The same watch in protobuf, for our informer and for that of client-go, in turns: first with one CPU for
 * the client and another for the server, then with all CPUs for both. The first comparison is the repeatable
 * one: with few CPUs, the server and the threads of both clients otherwise wait for each other. */
#define _GNU_SOURCE
#include "http_rival.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_child.h"

enum { ROUNDS = 5 };

/* One side in its best round. */
struct side {
    double seconds;
    double cpu_seconds;
    uint64_t events; /* calls of the handler */
};

struct contest {
    const struct http_burst *burst;
    const struct http_server *server;
    const char *program; /* with client-go */
    struct side ours;
    struct side theirs;
};

/* ---- CPUs ------------------------------------------------------------------------------------------- */

/* Divides the first two CPUs that this process may use. Returns false if there is one only. */
static bool choose_cpus(const cpu_set_t *all, cpu_set_t *out_server, cpu_set_t *out_client)
{
    cpu_set_t *next[] = {out_server, out_client};
    size_t found = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
        if (CPU_ISSET(cpu, all)) {
            CPU_ZERO(next[found]);
            CPU_SET(cpu, next[found]);
            found++;
        }
    }
    return found == 2;
}

/* Threads and processes inherit the CPUs of the thread that starts them. */
static bool use_cpus(const struct http_server *server, const cpu_set_t *servers, const cpu_set_t *clients)
{
    return sched_setaffinity(server->pid, sizeof(*servers), servers) == 0 &&
           sched_setaffinity(0, sizeof(*clients), clients) == 0;
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

static void keep_best(struct side *best, struct side round)
{
    if (best->seconds == 0 || round.seconds < best->seconds) {
        *best = round;
    }
}

static bool run_ours(struct contest *contest)
{
    const struct http_task task = {.role = "burst",
                                   .port = contest->server->port,
                                   .numbers = {contest->burst->last_version, HTTP_BURST_PROTOBUF}};
    struct http_report report = {0};
    bool is_done = http_child_run(&task, &report);
    keep_best(&contest->ours, (struct side){report.seconds, report.cpu_seconds, report.events});
    return is_done;
}

static bool run_client_go(struct contest *contest)
{
    char command[512];
    struct side round = {0};
    snprintf(command, sizeof(command), "'%s' http://127.0.0.1:%u protobuf %" PRIu64, contest->program,
             contest->server->port, contest->burst->last_version);
    FILE *output = popen(command, "r"); /* NOLINT(cert-env33-c): the program that bench.sh built */
    bool is_done = output != NULL && fscanf(output, "%" SCNu64 " %lf %lf", &round.events, &round.seconds,
                                            &round.cpu_seconds) == 3; /* NOLINT(cert-err34-c) */
    is_done = output != NULL && pclose(output) == 0 && is_done;
    keep_best(&contest->theirs, round);
    return is_done;
}

static bool run_rounds(struct contest *contest)
{
    contest->ours = contest->theirs = (struct side){0};
    for (int round = 0; round < ROUNDS; round++) {
        if (!run_ours(contest) || !run_client_go(contest)) {
            return false;
        }
    }
    return true;
}

/* ---- the table -------------------------------------------------------------------------------------- */

static void print_side(const char *name, const struct side *side, uint64_t events)
{
    printf("%-34s %9.0f events/s, %6.2f us of CPU for each, %" PRIu64 " calls\n", name,
           (double)events / side->seconds, side->cpu_seconds * 1e6 / (double)events, side->events);
}

static void print_sides(const struct contest *contest, const char *cpus)
{
    uint64_t events = contest->burst->events;
    printf("\na watch of %" PRIu64
           " events in protobuf, from the start to the last call: best of %d rounds, %s\n",
           events, ROUNDS, cpus);
    print_side("kinformer, to the handler", &contest->ours, events);
    print_side("client-go, to the handler", &contest->theirs, events);
    printf("client-go takes %.2f times our time, and %.2f times our CPU time\n",
           contest->theirs.seconds / contest->ours.seconds,
           contest->theirs.cpu_seconds / contest->ours.cpu_seconds);
    fflush(stdout);
}

static bool run_with_one_cpu_each(struct contest *contest, const cpu_set_t *all, bool *out_met)
{
    cpu_set_t servers, clients;
    if (!choose_cpus(all, &servers, &clients)) {
        printf("\nthe watch in protobuf is not measured with a CPU for each side: there is only one\n");
        return true;
    }
    bool is_done = use_cpus(contest->server, &servers, &clients) && run_rounds(contest);
    is_done = use_cpus(contest->server, all, all) && is_done;
    if (is_done) {
        print_sides(contest, "one CPU for the client, one for the server");
        *out_met &= bench_target("watch in protobuf, one CPU: events/s, times client-go's",
                                 contest->theirs.seconds / contest->ours.seconds, ">=", 6.0);
    }
    return is_done;
}

bool http_rival_bench(const struct http_burst *burst, const struct http_server *server, bool *out_met)
{
    struct contest contest = {.burst = burst, .server = server, .program = getenv("KI_GO_WATCH")};
    cpu_set_t all;
    if (contest.program == NULL) {
        return true;
    }
    if (sched_getaffinity(0, sizeof(all), &all) < 0 || !run_with_one_cpu_each(&contest, &all, out_met) ||
        !run_rounds(&contest)) {
        return false;
    }
    print_sides(&contest, "all CPUs for both");
    return true;
}
