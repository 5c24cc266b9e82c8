/* SPDX-License-Identifier: Apache-2.0 */
/* The same watch in protobuf, for our informer and for that of client-go, in turns. */
#include "http_rival.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_child.h"

enum { ROUNDS = 3 };

/* One side in its best round. */
struct side {
    double seconds;
    double cpu_seconds;
    uint64_t events; /* calls of the handler */
};

static void keep_best(struct side *best, struct side round)
{
    if (best->seconds == 0 || round.seconds < best->seconds) {
        *best = round;
    }
}

static bool run_ours(const struct http_burst *burst, unsigned port, struct side *best)
{
    const struct http_task task = {
        .role = "burst", .port = port, .numbers = {burst->last_version, HTTP_BURST_PROTOBUF}};
    struct http_report report = {0};
    bool is_done = http_child_run(&task, &report);
    keep_best(best, (struct side){report.seconds, report.cpu_seconds, report.events});
    return is_done;
}

static bool run_client_go(const char *program, const struct http_burst *burst, unsigned port,
                          struct side *best)
{
    char command[512];
    struct side round = {0};
    snprintf(command, sizeof(command), "'%s' http://127.0.0.1:%u protobuf %" PRIu64, program, port,
             burst->last_version);
    FILE *output = popen(command, "r"); /* NOLINT(cert-env33-c): the program that bench.sh built */
    bool is_done = output != NULL && fscanf(output, "%" SCNu64 " %lf %lf", &round.events, &round.seconds,
                                            &round.cpu_seconds) == 3; /* NOLINT(cert-err34-c) */
    is_done = output != NULL && pclose(output) == 0 && is_done;
    keep_best(best, round);
    return is_done;
}

static void print_side(const char *name, const struct side *side, uint64_t events)
{
    printf("%-34s %9.0f events/s, %6.2f us of CPU for each, %" PRIu64 " calls\n", name,
           (double)events / side->seconds, side->cpu_seconds * 1e6 / (double)events, side->events);
}

bool http_rival_bench(const struct http_burst *burst, unsigned port, bool *out_met)
{
    const char *program = getenv("KI_GO_WATCH");
    struct side ours = {0};
    struct side theirs = {0};
    if (program == NULL) {
        return true;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (!run_ours(burst, port, &ours) || !run_client_go(program, burst, port, &theirs)) {
            return false;
        }
    }
    printf("\na watch of %" PRIu64
           " events in protobuf, from the start to the last call: best of %d rounds\n",
           burst->events, ROUNDS);
    print_side("kinformer, to the handler", &ours, burst->events);
    print_side("client-go, to the handler", &theirs, burst->events);
    printf("client-go's CPU time: %.2f times ours\n", theirs.cpu_seconds / ours.cpu_seconds);
    *out_met &= bench_target("watch in protobuf: events/s, times client-go's (goal: 6)",
                             theirs.seconds / ours.seconds, ">=", 6.0);
    fflush(stdout);
    return true;
}
