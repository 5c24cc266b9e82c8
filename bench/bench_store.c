/* bench_store - lookups beside a writer, against a lock; what an object costs; and how costs grow. */
#include <kinformer/store.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "cache/store.h"
#include "store_contest.h"
#include "store_pods.h"

enum { ROUNDS = 3, READERS_MAX = 2, EXTRA_BYTES_MAX = 200, OPERATIONS = 400000, FEW = 500 };

/* ---- readers beside a writer ----------------------------------------------------------------------- */

typedef struct store_contest_result contest_results[READERS_MAX + 1][STORE_CONTESTANTS];

/* The best round of each, all taking turns. */
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
    printf("\nlookups of %zu objects beside a writer asked for %d updates a second\n", count,
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
            snprintf(line, sizeof(line), "%d reader(s): the writer's rate, of what it was asked for",
                     readers);
            *out_met &= bench_target(line, r[STORE_GET].updates_a_second / STORE_CONTEST_UPDATES_A_SECOND,
                                     ">=", 0.95);
        }
    }
    store_pods_fini(&versions[0]);
    store_pods_fini(&versions[1]);
    return is_done;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static size_t allocated_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static bool fill_store(ki_store *store, const struct store_pods *pods)
{
    for (size_t i = 0; i < pods->count; i++) {
        if (ki_store_put(store, pods->objects[i]) < 0) {
            return false;
        }
    }
    ki_store_flush(store);
    return true;
}

static bool bench_memory(const struct bench_options *options, bool *out_met)
{
    struct store_pods pods;
    store_pods_init(&pods, options->pods, 1);
    size_t before = allocated_bytes();
    ki_store *store = ki_store_new(NULL, NULL);
    bool is_done = store != NULL && fill_store(store, &pods);
    double extra = (double)(allocated_bytes() - before) / (double)pods.count;
    if (is_done) {
        *out_met &= bench_target("memory: bytes an object beyond it, with the namespace index", extra,
                                 "<=", EXTRA_BYTES_MAX);
    }
    ki_store_free(store);
    store_pods_fini(&pods);
    return is_done;
}

/* ---- growth ---------------------------------------------------------------------------------------- */

/* Nanoseconds each. */
struct costs {
    double add; /* from empty to full, with every rebuild on the way */
    double memory;
    double peek;
    double get;
    double update;
    double remove_and_add;
};

struct growth {
    ki_store *store;
    struct store_pods pods;   /* what is in the store */
    struct store_pods newer;  /* another version of each */
    struct store_pods chosen; /* those that operations are about; two parts of the two above */
    struct store_pods chosen_newer;
    uint64_t random;
};

static size_t any_of(struct growth *g)
{
    return store_pods_next(&g->random) % g->chosen.count;
}

/* Finds an object through an array and reads its key, each time after the one before: what the machine
 * takes for memory that no cache holds. */
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

static bool measure(struct growth *g, bool (*step)(struct growth *g), double *out_nanoseconds)
{
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now_seconds();
        for (int i = 0; i < OPERATIONS; i++) {
            if (!step(g)) {
                return false;
            }
        }
        double each = (bench_now_seconds() - start) * 1e9 / OPERATIONS;
        *out_nanoseconds = round == 0 || each < *out_nanoseconds ? each : *out_nanoseconds;
    }
    return true;
}

static bool measure_operations(struct growth *g, struct costs *out_costs)
{
    return measure(g, step_memory, &out_costs->memory) && measure(g, step_peek, &out_costs->peek) &&
           measure(g, step_get, &out_costs->get) && measure(g, step_update, &out_costs->update) &&
           measure(g, step_remove_and_add, &out_costs->remove_and_add);
}

/* `few` are spread over the whole collection. */
static void choose(struct growth *g, ki_object **few, ki_object **few_newer)
{
    size_t stride = g->pods.count / FEW;
    for (size_t i = 0; i < FEW; i++) {
        few[i] = g->pods.objects[i * stride];
        few_newer[i] = g->newer.objects[i * stride];
    }
    g->chosen = (struct store_pods){few, FEW};
    g->chosen_newer = (struct store_pods){few_newer, FEW};
}

static bool measure_size(size_t count, struct costs *out_few, struct costs *out_all)
{
    static ki_object *few[FEW];
    static ki_object *few_newer[FEW];
    struct growth g = {.store = ki_store_new(NULL, NULL), .random = 4711};
    store_pods_init(&g.pods, count, 1);
    store_pods_init(&g.newer, count, 2);
    choose(&g, few, few_newer);
    double start = bench_now_seconds();
    bool is_done = g.store != NULL && fill_store(g.store, &g.pods);
    out_all->add = out_few->add = (bench_now_seconds() - start) * 1e9 / (double)count;
    is_done = is_done && measure_operations(&g, out_few);
    g.chosen = g.pods;
    g.chosen_newer = g.newer;
    is_done = is_done && measure_operations(&g, out_all);
    ki_store_free(g.store);
    store_pods_fini(&g.newer);
    store_pods_fini(&g.pods);
    return is_done;
}

static void print_costs(size_t count, const char *what, const struct costs *c)
{
    printf("%9zu, %-13s %9.0f %9.0f %9.0f %9.0f %9.0f %14.0f\n", count, what, c->memory, c->add, c->peek,
           c->get, c->update, c->remove_and_add);
}

static void keep_worst(struct costs *worst, const struct costs *c)
{
    worst->add = c->add > worst->add ? c->add : worst->add;
    worst->peek = c->peek > worst->peek ? c->peek : worst->peek;
    worst->get = c->get > worst->get ? c->get : worst->get;
    worst->update = c->update > worst->update ? c->update : worst->update;
    worst->remove_and_add =
        c->remove_and_add > worst->remove_and_add ? c->remove_and_add : worst->remove_and_add;
}

/* Held to the target is what the store decides: the same few objects, in a store of any size. When
 * operations go all over a large collection, the machine's memory decides; that is shown beside it. */
static bool bench_growth(bool *out_met)
{
    const size_t sizes[] = {1000, 10000, 100000, 1000000};
    struct costs first = {0};
    struct costs worst = {0};
    printf("\n%-24s %9s %9s %9s %9s %9s %14s\n", "objects, ns each", "memory", "add", "peek", "get", "update",
           "remove + add");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct costs few = {0};
        struct costs all = {0};
        if (!measure_size(sizes[i], &few, &all)) {
            return false;
        }
        print_costs(sizes[i], "a few of them", &few);
        print_costs(sizes[i], "all over", &all);
        first = i == 0 ? few : first;
        keep_worst(&worst, &few);
    }
    printf("\n");
    *out_met &=
        bench_target("growth: dearest peek, times that of 1,000 objects", worst.peek / first.peek, "<=", 2);
    *out_met &= bench_target("growth: dearest get, likewise", worst.get / first.get, "<=", 2);
    *out_met &= bench_target("growth: dearest update, likewise", worst.update / first.update, "<=", 2);
    *out_met &= bench_target("growth: dearest remove and add, likewise",
                             worst.remove_and_add / first.remove_and_add, "<=", 2);
    *out_met &=
        bench_target("growth: dearest add from empty to full, likewise", worst.add / first.add, "<=", 2);
    return true;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 12};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    bool met = true;
    bool is_done = bench_memory(&options, &met) && bench_contests(&options, &met) && bench_growth(&met);
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
