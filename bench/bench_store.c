/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store - lookups beside a writer, compared with a lock; the memory of an object;
 * and how costs grow. */
#include <kinformer/store.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "counted.h"
#include "store/store.h"
#include "store_bulk.h"
#include "store_contest.h"
#include "store_copy.h"
#include "store_growth.h"
#include "store_pods.h"
#include "support/store/store_flush.h"

enum { ROUNDS = 3, READERS_MAX = 2, EXTRA_BYTES_MAX = 200 };

/* ---- readers beside a writer ----------------------------------------------------------------------- */

typedef struct store_contest_result contest_results[READERS_MAX + 1][STORE_CONTESTANTS];

/* Keeps the best round of each contestant; they take turns. */
static bool run_contests(const struct store_pods *versions, double seconds, contest_results results)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int readers = 1; readers <= READERS_MAX; readers++) {
            for (int i = 0; i < STORE_CONTESTANTS; i++) {
                const struct store_contest contest = {versions, (enum store_contestant)i, readers, seconds};
                struct store_contest_result result = {0};
                if (!store_contest_run(&contest, &result)) {
                    fprintf(stderr, "%s failed\n", store_contestant_name(contest.contestant));
                    return false;
                }
                if (result.lookups_a_second > results[readers][i].lookups_a_second) {
                    results[readers][i] = result;
                }
            }
        }
    }
    return true;
}

static void print_contests(contest_results results, size_t count)
{
    printf("\nlookups of %zu objects beside a writer that tries %d updates per second\n", count,
           STORE_CONTEST_UPDATES_A_SECOND);
    printf("%-34s %8s %16s %12s %14s\n", "", "readers", "lookups/s each", "ns each", "updates/s");
    for (int readers = 1; readers <= READERS_MAX; readers++) {
        for (int i = 0; i < STORE_CONTESTANTS; i++) {
            const struct store_contest_result *r = &results[readers][i];
            printf("%-34s %8d %16.0f %12.0f %14.0f\n", store_contestant_name((enum store_contestant)i),
                   readers, r->lookups_a_second, 1e9 / r->lookups_a_second, r->updates_a_second);
        }
    }
    printf("\n");
}

static bool bench_contests(const struct bench_options *options, bool *out_met)
{
    struct store_pods versions[2];
    contest_results results = {{{0}}};
    double seconds = options->seconds / (ROUNDS * READERS_MAX * STORE_CONTESTANTS);
    store_pods_init(&versions[0], options->pods, 1);
    store_pods_init(&versions[1], options->pods, 2);
    bool is_done = run_contests(versions, seconds, results);
    if (is_done) {
        print_contests(results, options->pods);
        for (int readers = 1; readers <= READERS_MAX; readers++) {
            const struct store_contest_result *r = results[readers];
            char line[80];
            snprintf(line, sizeof(line), "%d reader(s): get, times pthread_rwlock", readers);
            *out_met &=
                bench_target(line, r[STORE_GET].lookups_a_second / r[RWLOCK_GET].lookups_a_second, ">=", 1);
            snprintf(line, sizeof(line), "%d reader(s): peek, times pthread_rwlock", readers);
            *out_met &=
                bench_target(line, r[STORE_PEEK].lookups_a_second / r[RWLOCK_PEEK].lookups_a_second, ">=", 1);
            snprintf(line, sizeof(line), "%d reader(s): the writer's rate, as a share of the one it tries",
                     readers);
            double rate = r[STORE_GET].updates_a_second < r[STORE_PEEK].updates_a_second
                              ? r[STORE_GET].updates_a_second
                              : r[STORE_PEEK].updates_a_second;
            *out_met &= bench_target(line, rate / STORE_CONTEST_UPDATES_A_SECOND, ">=", 0.95);
        }
    }
    store_pods_fini(&versions[0]);
    store_pods_fini(&versions[1]);
    return is_done;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static bool fill_store(ki_store *store, const struct store_pods *pods)
{
    for (size_t i = 0; i < pods->count; i++) {
        if (ki_store_put(store, pods->objects[i]) < 0) {
            return false;
        }
    }
    store_flush(store);
    return true;
}

static bool bench_memory(const struct bench_options *options, bool *out_met)
{
    struct store_pods pods;
    if (!counted_begin()) {
        return false;
    }
    store_pods_init(&pods, options->pods, 1);
    size_t before = counted_held();
    ki_store *store = ki_store_new(NULL, NULL);
    bool is_done = store != NULL && fill_store(store, &pods);
    double extra = (double)(counted_held() - before) / (double)pods.count;
    if (is_done) {
        *out_met &= bench_target("memory: bytes per object beyond itself, with the namespace index", extra,
                                 "<=", EXTRA_BYTES_MAX);
    }
    ki_store_free(store);
    store_pods_fini(&pods);
    return counted_end() && is_done;
}

/* ---- main ------------------------------------------------------------------------------------------ */

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 12};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    bool met = true;
    bool is_done = bench_memory(&options, &met) && bench_contests(&options, &met) && store_copy_bench(&met) &&
                   store_bulk_bench(&met) && store_growth_bench(&met);
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
