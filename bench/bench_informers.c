/* SPDX-License-Identifier: Apache-2.0 */
/* bench_informers - the cost of one informer among many: creating and starting it, finding those that are not
 * ready, rendering the metrics, freeing it. No server responds, so the whole cost is that of the informers.
 *
 * Costs are the CPU time of the thread in the best of several rounds, in which all sizes take turns.
 * Everything runs on this thread (KI_MODE_EVENT_LOOP), so no cost is missed. */
#include <kinformer/factory.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "support/reflector/silent_source.h"

enum { ROUNDS = 3, SIZES = 4, SIZE_MAX_INFORMERS = 10000, REPEATS_MAX = 300 };

/* The cost per informer with 10,000 of them, times that with one.
 * It grows because they no longer fit in the CPU's caches. */
enum { GROWTH_MAX = 4 };

static const size_t sizes[SIZES] = {1, 100, 1000, SIZE_MAX_INFORMERS};

enum operation { MAKE, FIND, START, PENDING, METRICS, FREE, OPERATIONS };

static const char *const operation_names[OPERATIONS] = {"make",    "find again",    "start",
                                                        "pending", "metrics' text", "stop and free"};

/* Microseconds per informer; 0 before the first round. */
typedef double costs[OPERATIONS];

/* ---- a source that never answers -------------------------------------------------------------------- */

static int silence(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch, ki_error *err,
                   void *user)
{
    (void)resource;
    (void)ns;
    (void)user;
    (void)err;
    *out_list_watch = silent_source;
    return 0;
}

/* ---- one factory ------------------------------------------------------------------------------------ */

struct group {
    size_t size;
    ki_client *client;
    ki_factory *factory;
};

static bool step_make(struct group *group)
{
    for (size_t i = 0; i < group->size; i++) {
        char ns[32];
        snprintf(ns, sizeof(ns), "namespace-%zu", i);
        if (ki_factory_informer(group->factory, &KI_CORE_V1_PODS, &(ki_informer_options){.ns = ns}) == NULL) {
            return false;
        }
    }
    return true;
}

static bool step_start(struct group *group)
{
    return ki_factory_start(group->factory, NULL) == 0 &&
           ki_client_dispatch(group->client, KI_BUDGET_NONE) >= 0;
}

static bool step_pending(struct group *group)
{
    static ki_factory_pending pending[SIZE_MAX_INFORMERS];
    return ki_factory_read_pending(group->factory, pending, SIZE_MAX_INFORMERS) == group->size;
}

static bool step_metrics(struct group *group)
{
    ki_metrics_text text = {0};
    bool is_done = ki_metrics_render(ki_client_metrics(group->client), &text, NULL) == 0 &&
                   ki_metrics_refused(ki_client_metrics(group->client)) == 0;
    ki_metrics_text_fini(&text);
    return is_done;
}

static bool step_free(struct group *group)
{
    ki_factory_free(group->factory);
    group->factory = NULL;
    return true;
}

/* Adds the time of each step to `seconds`. */
static bool run_group(size_t size, double seconds[OPERATIONS])
{
    static bool (*const steps[OPERATIONS])(struct group * group) = {step_make,    step_make,    step_start,
                                                                    step_pending, step_metrics, step_free};
    struct group group = {.size = size};
    bool is_done = true;
    group.client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .source = silence}, NULL);
    group.factory = ki_factory_new(group.client, NULL);
    for (int i = 0; i < OPERATIONS && is_done; i++) {
        double start = bench_own_seconds();
        is_done = steps[i](&group);
        seconds[i] += bench_own_seconds() - start;
        if (!is_done) {
            fprintf(stderr, "%zu informers: %s failed\n", size, operation_names[i]);
        }
    }
    ki_factory_free(group.factory);
    ki_client_free(group.client);
    return is_done;
}

/* ---- all sizes -------------------------------------------------------------------------------------- */

/* Small groups are measured repeatedly: a single informer takes less time than the clock can resolve. */
static bool measure(size_t size, costs best)
{
    double seconds[OPERATIONS] = {0};
    size_t repeats = SIZE_MAX_INFORMERS / size < REPEATS_MAX ? SIZE_MAX_INFORMERS / size : REPEATS_MAX;
    for (size_t i = 0; i < repeats; i++) {
        if (!run_group(size, seconds)) {
            return false;
        }
    }
    for (int i = 0; i < OPERATIONS; i++) {
        double each = seconds[i] * 1e6 / (double)(repeats * size);
        best[i] = best[i] == 0 || each < best[i] ? each : best[i];
    }
    return true;
}

static void print_costs(costs table[SIZES])
{
    printf("\n%-22s", "informers, us each");
    for (int i = 0; i < OPERATIONS; i++) {
        printf(" %14s", operation_names[i]);
    }
    for (int size = 0; size < SIZES; size++) {
        printf("\n%22zu", sizes[size]);
        for (int i = 0; i < OPERATIONS; i++) {
            printf(" %14.2f", table[size][i]);
        }
    }
    printf("\n\n");
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 0, .seconds = 0};
    costs table[SIZES] = {{0}};
    bool met = true;
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SIZES; i++) {
            if (!measure(sizes[i], table[i])) {
                return EXIT_FAILURE;
            }
        }
    }
    print_costs(table);
    for (int i = 0; i < OPERATIONS; i++) {
        for (int size = 1; size < SIZES; size++) {
            char line[80];
            snprintf(line, sizeof(line), "%s: cost of one of %zu, times that of one alone",
                     operation_names[i], sizes[size]);
            met &= bench_target(line, table[size][i] / table[0][i], "<=", GROWTH_MAX);
        }
    }
    return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
