/* SPDX-License-Identifier: Apache-2.0 */
/* Costs are the CPU time of the thread in the best of several rounds. All sizes take turns in each round, so
 * that other programs on the machine do not make one size look more expensive than another. */
#include "store_growth.h"

#include <kinformer/store.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "informer/apply.h"
#include "store/store.h"
#include "store_pods.h"
#include "support/store/store_flush.h"

enum { ROUNDS = 7, OPERATIONS = 100000, FEW = 500, SIZES = 4, PODS = 1000000 };

static const size_t sizes[SIZES] = {1000, 10000, 100000, PODS};

enum operation { MEMORY, PEEK, GET, UPDATE, REMOVE_AND_ADD, PUT, ADD, COSTS };

/* Nanoseconds per operation; 0 before the first round. */
typedef double costs[COSTS];

struct growth {
    ki_store *store;
    struct store_pods pods;   /* the objects in the store */
    struct store_pods newer;  /* the next version of each */
    struct store_pods chosen; /* the objects that operations use: a part of `pods`, and below of `newer` */
    struct store_pods chosen_newer;
    ki_object *few[FEW];
    ki_object *few_newer[FEW];
    uint64_t random;
};

static void keep_best(double *best, double seconds, size_t operations)
{
    double each = seconds * 1e9 / (double)operations;
    *best = *best == 0 || each < *best ? each : *best;
}

/* ---- operations on a full store ---------------------------------------------------------------------- */

static size_t any_of(struct growth *g)
{
    return store_pods_next(&g->random) % g->chosen.count;
}

/* Finds an object through an array and reads its key; each step depends on the previous one. This is the cost
 * of memory that is not in a cache. */
static bool step_memory(struct growth *g)
{
    const ki_object *object = g->chosen.objects[any_of(g)];
    ki_str key = ki_object_key_str(object);
    g->random += (unsigned char)key.ptr[key.len - 1];
    return key.len > 0;
}

static bool step_peek(struct growth *g)
{
    ki_read_lock();
    const ki_object *found = ki_store_peek_key(g->store, ki_object_key_str(g->chosen.objects[any_of(g)]));
    ki_read_unlock();
    return found != NULL;
}

static bool step_get(struct growth *g)
{
    ki_object *found = ki_store_get_key(g->store, ki_object_key_str(g->chosen.objects[any_of(g)]));
    (void)ki_object_unref(found);
    return found != NULL;
}

static bool step_update(struct growth *g)
{
    size_t i = any_of(g);
    return ki_store_put(g->store,
                        (g->random >> 50 & 1) != 0 ? g->chosen.objects[i] : g->chosen_newer.objects[i]) == 0;
}

static bool step_remove_and_add(struct growth *g)
{
    const ki_object *object = g->chosen.objects[any_of(g)];
    return ki_store_remove(g->store, ki_object_key_str(object)) == 0 && ki_store_put(g->store, object) == 0;
}

static bool measure_operations(struct growth *g, costs out_costs)
{
    static bool (*const steps[])(struct growth * g) = {step_memory, step_peek, step_get, step_update,
                                                       step_remove_and_add};
    for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++) {
        double start = bench_own_seconds();
        for (int i = 0; i < OPERATIONS; i++) {
            if (!steps[step](g)) {
                return false;
            }
        }
        keep_best(&out_costs[step], bench_own_seconds() - start, OPERATIONS);
    }
    return true;
}

static bool measure_full(struct growth *g, costs few, costs all)
{
    g->chosen = (struct store_pods){g->few, FEW};
    g->chosen_newer = (struct store_pods){g->few_newer, FEW};
    if (!measure_operations(g, few)) {
        return false;
    }
    g->chosen = g->pods;
    g->chosen_newer = g->newer;
    return measure_operations(g, all);
}

/* ---- from empty to full ----------------------------------------------------------------------------- */

/* One by one, as a program fills its own store. */
static bool fill_by_puts(ki_store *store, ki_object *const *objects, size_t count)
{
    bool is_done = true;
    for (size_t i = 0; i < count && is_done; i++) {
        is_done = ki_store_put(store, objects[i]) == 0;
    }
    return is_done;
}

static bool add(ki_store *store, const ki_object *object, uint64_t hash) KI_REQUIRES(store->mu)
    KI_REQUIRES(store->write_mu)
{
    ki_place place = ki_store_batch_seek(store, ki_object_key_str(object), hash);
    return place.object == NULL && ki_store_batch_put_at(store, object, &place) == 0;
}

static bool add_batch(ki_store *store, ki_object *const *objects, size_t count)
{
    uint64_t hashes[KI_APPLY_STEP];
    bool is_done = true;
    for (size_t i = 0; i < count; i++) {
        hashes[i] = ki_hash(ki_store_hash_key(store), ki_object_key_str(objects[i]));
    }
    ki_store_batch_begin(store);
    for (size_t i = 0; i < count + 2 * KI_APPLY_AHEAD && is_done; i++) {
        if (i < count) {
            ki_store_batch_expect_hash(store, hashes[i]);
        }
        if (i >= KI_APPLY_AHEAD && i - KI_APPLY_AHEAD < count) {
            ki_store_batch_expect(store, hashes[i - KI_APPLY_AHEAD], objects[i - KI_APPLY_AHEAD]);
        }
        if (i >= 2 * KI_APPLY_AHEAD) {
            is_done = add(store, objects[i - 2 * KI_APPLY_AHEAD], hashes[i - 2 * KI_APPLY_AHEAD]);
        }
    }
    ki_store_batch_end(store);
    return is_done;
}

/* In batches, with the calls that an informer's queue and apply make for them. */
static bool fill_by_batches(ki_store *store, ki_object *const *objects, size_t count)
{
    bool is_done = true;
    for (size_t i = 0; i < count && is_done; i += KI_APPLY_STEP) {
        is_done = add_batch(store, objects + i, count - i < KI_APPLY_STEP ? count - i : KI_APPLY_STEP);
    }
    return is_done;
}

typedef bool (*fill_cb)(ki_store *store, ki_object *const *objects, size_t count);

/* The same million objects at any size: in a thousand stores of 1,000, or in one. All stores exist until the
 * last one is full, so that only the size of a store differs, not where the objects come from or whether the
 * memory is fresh. */
static bool measure_fill(const struct store_pods *pods, size_t size, fill_cb fill, double *best)
{
    static ki_store *stores[PODS / 1000];
    size_t count = pods->count / size;
    bool is_done = true;
    double seconds = 0;
    for (size_t i = 0; i < count; i++) {
        stores[i] = ki_store_new(NULL, NULL);
        double start = bench_own_seconds();
        is_done = is_done && stores[i] != NULL && fill(stores[i], pods->objects + i * size, size);
        store_flush(stores[i]);
        seconds += bench_own_seconds() - start;
    }
    for (size_t i = 0; i < count; i++) {
        ki_store_free(stores[i]);
    }
    keep_best(best, seconds, count * size);
    return is_done;
}

/* ---- all sizes --------------------------------------------------------------------------------------- */

struct table {
    struct store_pods pods;
    struct store_pods newer;
    struct growth growths[SIZES]; /* each has the first objects */
    costs few[SIZES];
    costs all[SIZES];
};

/* The few objects are spread over the whole collection. */
static bool growth_init(struct growth *g, const struct table *table, size_t size)
{
    *g = (struct growth){.store = ki_store_new(NULL, NULL),
                         .pods = {table->pods.objects, size},
                         .newer = {table->newer.objects, size},
                         .random = 4711};
    for (size_t i = 0; i < FEW; i++) {
        g->few[i] = g->pods.objects[i * (size / FEW)];
        g->few_newer[i] = g->newer.objects[i * (size / FEW)];
    }
    return g->store != NULL && fill_by_batches(g->store, g->pods.objects, size);
}

static bool measure_round(struct table *table)
{
    bool is_done = true;
    for (int i = 0; i < SIZES && is_done; i++) {
        is_done = measure_full(&table->growths[i], table->few[i], table->all[i]) &&
                  measure_fill(&table->pods, sizes[i], fill_by_puts, &table->few[i][PUT]) &&
                  measure_fill(&table->pods, sizes[i], fill_by_batches, &table->few[i][ADD]);
    }
    return is_done;
}

/* 1: the cost of the operation has grown by the same factor as that of memory that is not in a cache. */
static double beside_memory(const struct table *table, int size, enum operation operation)
{
    double memory = table->all[size][MEMORY] / table->all[0][MEMORY];
    return table->all[size][operation] / table->all[0][operation] / memory;
}

static void print_costs(const struct table *table)
{
    printf("\n%-24s %9s %9s %9s %9s %14s %9s %9s\n", "objects, ns each", "memory", "peek", "get", "update",
           "remove + add", "puts", "batches");
    for (int i = 0; i < SIZES; i++) {
        const double *few = table->few[i];
        const double *all = table->all[i];
        printf("%9zu, %-13s %9.0f %9.0f %9.0f %9.0f %14.0f %9.0f %9.0f\n", sizes[i], "a few of them",
               few[MEMORY], few[PEEK], few[GET], few[UPDATE], few[REMOVE_AND_ADD], few[PUT], few[ADD]);
        printf("%9zu, %-13s %9.0f %9.0f %9.0f %9.0f %14.0f\n", sizes[i], "all over", all[MEMORY], all[PEEK],
               all[GET], all[UPDATE], all[REMOVE_AND_ADD]);
    }
    printf("all over: the growth of the cost since 1,000 objects, as a share of that of memory access\n");
    for (int i = 1; i < SIZES; i++) {
        printf("%9zu  %-13s %9s %9.2f %9.2f %9.2f %14.2f\n", sizes[i], "", "1", beside_memory(table, i, PEEK),
               beside_memory(table, i, GET), beside_memory(table, i, UPDATE),
               beside_memory(table, i, REMOVE_AND_ADD));
    }
    printf("\n");
}

/* The target applies to costs that the store determines: those of the same few objects in a store of any
 * size, and of filling a store. For operations all over a large collection, memory access determines the
 * cost; it is shown for comparison. */
static bool meets_target(const struct table *table, enum operation operation, const char *what)
{
    double worst = 0;
    for (int i = 0; i < SIZES; i++) {
        double cost = table->few[i][operation];
        worst = cost > worst ? cost : worst;
    }
    return bench_target(what, worst / table->few[0][operation], "<=", 2);
}

bool store_growth_bench(bool *out_met)
{
    static struct table table;
    bool is_done = true;
    store_pods_init(&table.pods, PODS, 1);
    store_pods_init(&table.newer, PODS, 2);
    for (int i = 0; i < SIZES; i++) {
        is_done = growth_init(&table.growths[i], &table, sizes[i]) && is_done;
    }
    for (int round = 0; round < ROUNDS && is_done; round++) {
        is_done = measure_round(&table);
    }
    if (is_done) {
        print_costs(&table);
        *out_met &= meets_target(&table, PEEK, "growth: worst peek, times that of 1,000 objects");
        *out_met &= meets_target(&table, GET, "growth: worst get, likewise");
        *out_met &= meets_target(&table, UPDATE, "growth: worst update, likewise");
        *out_met &= meets_target(&table, REMOVE_AND_ADD, "growth: worst remove and add, likewise");
        *out_met &= meets_target(&table, PUT, "growth: worst add from empty to full, one by one, likewise");
        *out_met &= meets_target(&table, ADD, "growth: worst add from empty to full, in batches, likewise");
    }
    for (int i = 0; i < SIZES; i++) {
        ki_store_free(table.growths[i].store);
    }
    store_pods_fini(&table.newer);
    store_pods_fini(&table.pods);
    return is_done;
}
