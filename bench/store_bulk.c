/* SPDX-License-Identifier: Apache-2.0 */
/* Costs are the CPU time of the thread in the best of several rounds. */
#include "store_bulk.h"

#include <kinformer/store.h>
#include <stdio.h>

#include "bench.h"
#include "store_pods.h"

/* With clustering in a table, the factor is thirty or more. */
enum { ROUNDS = 7, SIZES = 5, PODS = 600000, STORES_OF_THE_FIRST = 100, TIMES_MAX = 2 };

static const size_t sizes[SIZES] = {1000, 100000, 150000, 300000, PODS};

struct bulk_costs {
    double index;
    double replace;
};

static int emit_one_for_all(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)user;
    return ki_index_emit_value(emit, KI_STR("all"));
}

static bool fill(ki_store *store, ki_object *const *objects, size_t count)
{
    bool is_done = store != NULL;
    for (size_t i = 0; i < count && is_done; i++) {
        is_done = ki_store_put(store, objects[i]) == 0;
    }
    return is_done;
}

/* Adds the seconds for one store. */
static bool measure_one(ki_object *const *objects, size_t size, struct bulk_costs *seconds)
{
    ki_store *store = ki_store_new(NULL, NULL);
    ki_object_list list = {0};
    bool is_done = fill(store, objects, size);
    double start = bench_own_seconds();
    is_done = is_done && ki_store_add_index(store, "all", emit_one_for_all, NULL) == 0;
    seconds->index += bench_own_seconds() - start;
    is_done = is_done && ki_store_list(store, &list) == 0;
    start = bench_own_seconds();
    is_done = is_done && ki_store_replace(store, list.objects, list.count) == 0;
    seconds->replace += bench_own_seconds() - start;
    ki_object_list_fini(&list);
    ki_store_free(store);
    return is_done;
}

static void keep_best(double *best, double seconds, size_t operations)
{
    double each = seconds * 1e9 / (double)operations;
    *best = *best == 0 || each < *best ? each : *best;
}

static bool measure_size(const struct store_pods *pods, size_t size, struct bulk_costs *best)
{
    struct bulk_costs seconds = {0};
    size_t stores = size == sizes[0] ? STORES_OF_THE_FIRST : 1;
    bool is_done = true;
    for (size_t i = 0; i < stores && is_done; i++) {
        is_done = measure_one(pods->objects + i * size, size, &seconds);
    }
    keep_best(&best->index, seconds.index, stores * size);
    keep_best(&best->replace, seconds.replace, stores * size);
    return is_done;
}

static void print_costs(const struct bulk_costs *costs, bool *out_met)
{
    struct bulk_costs worst = {0};
    printf("\n%-24s %14s %14s\n", "objects, ns each", "a late index", "replace");
    for (int i = 0; i < SIZES; i++) {
        printf("%9zu %14s %14.0f %14.0f\n", sizes[i], "", costs[i].index, costs[i].replace);
        worst.index = costs[i].index > worst.index ? costs[i].index : worst.index;
        worst.replace = costs[i].replace > worst.replace ? costs[i].replace : worst.replace;
    }
    *out_met &= bench_target("bulk: worst late index per object, times that of 1,000 objects",
                             worst.index / costs[0].index, "<=", TIMES_MAX);
    *out_met &= bench_target("bulk: worst replace per object, likewise", worst.replace / costs[0].replace,
                             "<=", TIMES_MAX);
}

bool store_bulk_bench(bool *out_met)
{
    struct store_pods pods;
    struct bulk_costs best[SIZES] = {{0}};
    bool is_done = true;
    store_pods_init(&pods, PODS, 1);
    for (int round = 0; round < ROUNDS && is_done; round++) {
        for (int i = 0; i < SIZES && is_done; i++) {
            is_done = measure_size(&pods, sizes[i], &best[i]);
        }
    }
    if (is_done) {
        print_costs(best, out_met);
    }
    store_pods_fini(&pods);
    return is_done;
}
