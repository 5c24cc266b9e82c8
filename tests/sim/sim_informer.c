/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated runs of informers, one for each seed.
 *
 *   sim_informer [--seeds FROM-TO | --seed N] [--verbose]
 *
 * A seed that fails is printed with the reason; --seed N --verbose prints all details. Without a range,
 * KI_SIM_SEEDS is the number of seeds, from 1 on. Some seeds are run twice, with the same result. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "support/failing_allocator.h"

enum { SEEDS_DEFAULT = 1000, EVERY_SO_MANY_TWICE = 20, FAILURES_TOLD_MAX = 50 };

typedef struct task {
    uint64_t from;
    uint64_t to;
    bool is_verbose;
} task;

static int usage(void)
{
    fprintf(stderr, "usage: sim_informer [--seeds FROM-TO | --seed N] [--verbose]\n");
    return 2;
}

static int read_range(const char *text, uint64_t *out_from, uint64_t *out_to)
{
    char *end = NULL;
    uint64_t from = strtoull(text, &end, 10);
    uint64_t to = from;
    if (end == text)
        return -1;
    if (*end == '-') {
        const char *rest = end + 1;
        to = strtoull(rest, &end, 10);
        if (end == rest)
            return -1;
    }
    if (*end != 0 || to < from)
        return -1;
    *out_from = from;
    *out_to = to;
    return 0;
}

static int read_arguments(int argc, char **argv, task *out)
{
    const char *count = getenv("KI_SIM_SEEDS");
    *out = (task){.from = 1, .to = count != NULL ? strtoull(count, NULL, 10) : SEEDS_DEFAULT};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0)
            out->is_verbose = true;
        else if ((strcmp(argv[i], "--seeds") == 0 || strcmp(argv[i], "--seed") == 0) && i + 1 < argc &&
                 read_range(argv[i + 1], &out->from, &out->to) == 0)
            i++;
        else
            return -1;
    }
    return 0;
}

static bool run_seed(sim_run *run, const task *what, uint64_t seed)
{
    run->is_verbose = what->is_verbose;
    uint64_t hash = sim_run_whole(run, seed);
    if (run->failure[0] == 0 && seed % EVERY_SO_MANY_TWICE == 0 && !what->is_verbose &&
        sim_run_whole(run, seed) != hash && run->failure[0] == 0)
        sim_run_fail(run, "the second run of the same seed was different");
    if (run->failure[0] == 0)
        return true;
    printf("seed %" PRIu64 ": %s\n", seed, run->failure);
    (void)fflush(stdout);
    return false;
}

int main(int argc, char **argv)
{
    task what;
    if (read_arguments(argc, argv, &what) < 0)
        return usage();
    sim_run *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return 2;
    uint64_t failed = 0;
    uint64_t done = 0;
    uint64_t events = 0;
    for (uint64_t seed = what.from; seed <= what.to && failed < FAILURES_TOLD_MAX; seed++) {
        failing_allocator_install();
        failed += !run_seed(run, &what, seed);
        failing_allocator_remove();
        events += run->events;
        done++;
    }
    free(run);
    printf("%" PRIu64 " seeds passed, %" PRIu64 " failed; %" PRIu64 " events\n", done - failed, failed,
           events);
    return failed > 0;
}
