/* SPDX-License-Identifier: Apache-2.0 */
/* Costs are the CPU time of the thread in the best of several rounds, in which all sizes take turns. The
 * targets apply to costs that the queue determines: adding, getting and finishing the same few keys in a
 * queue of any size, and filling and emptying queues that hold a million keys altogether. */
#include "workqueue_growth.h"

#include <kinformer/workqueue.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "workqueue_keys.h"

enum { ROUNDS = 5, SIZES = 4, KEYS = 1000000, FEW = 500, STEPS = 100000, QUEUES_MAX = KEYS / 1000 };

static const size_t sizes[SIZES] = {1000, 10000, 100000, KEYS};

enum operation { TURN, ADD_AGAIN, FILL, EMPTY, OPERATIONS };

static const char *const names[OPERATIONS] = {"get, done and add of a few keys",
                                              "add of a few keys that wait", "add from empty to full",
                                              "get and done from full to empty"};

/* Nanoseconds per operation; 0 before the first round. */
typedef double costs[SIZES][OPERATIONS];

static void keep_best(double *best, double seconds, size_t operations)
{
    double each = seconds * 1e9 / (double)operations;
    *best = *best == 0 || each < *best ? each : *best;
}

static ki_str key_at(const struct workqueue_keys *keys, size_t i)
{
    return (ki_str){workqueue_key(keys, i), WORKQUEUE_KEY_LEN};
}

static bool fill(ki_workqueue *queue, const struct workqueue_keys *keys, size_t first, size_t count)
{
    bool is_done = queue != NULL;
    for (size_t i = first; i < first + count && is_done; i++) {
        is_done = ki_workqueue_add(queue, key_at(keys, i), KI_PRIORITY_LOW) == 0;
    }
    return is_done;
}

static bool empty(ki_workqueue *queue, size_t count)
{
    bool is_done = true;
    ki_work_item item;
    for (size_t i = 0; i < count && is_done; i++) {
        is_done = ki_workqueue_get(queue, 0, &item) == 0 && ki_workqueue_done(queue, item.key) == 0;
    }
    return is_done;
}

/* A million keys at any size: in a thousand queues of 1,000, or in one. */
static bool measure_all(const struct workqueue_keys *keys, size_t size, double out_costs[OPERATIONS])
{
    static ki_workqueue *queues[QUEUES_MAX];
    size_t count = KEYS / size;
    bool is_done = true;
    for (size_t i = 0; i < count; i++) {
        queues[i] = ki_workqueue_new(NULL, NULL);
    }
    double start = bench_own_seconds();
    for (size_t i = 0; i < count && is_done; i++) {
        is_done = fill(queues[i], keys, i * size, size);
    }
    double middle = bench_own_seconds();
    for (size_t i = 0; i < count && is_done; i++) {
        is_done = empty(queues[i], size);
    }
    keep_best(&out_costs[FILL], middle - start, KEYS);
    keep_best(&out_costs[EMPTY], bench_own_seconds() - middle, KEYS);
    for (size_t i = 0; i < count; i++) {
        ki_workqueue_free(queues[i]);
    }
    return is_done;
}

/* The few keys have a high priority, so that they take turns while the others wait. Each 16th get returns one
 * of the others, which is added again at their end. */
static bool measure_few(const struct workqueue_keys *keys, size_t size, double out_costs[OPERATIONS])
{
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    ki_work_item item;
    bool is_done = fill(queue, keys, 0, size);
    for (size_t i = 0; i < FEW && is_done; i++) {
        is_done = ki_workqueue_add(queue, key_at(keys, i * (size / FEW)), KI_PRIORITY_HIGH) == 0;
    }
    double start = bench_own_seconds();
    for (size_t i = 0; i < STEPS && is_done; i++) {
        is_done = ki_workqueue_add(queue, key_at(keys, i % FEW * (size / FEW)), KI_PRIORITY_LOW) == 0;
    }
    double middle = bench_own_seconds();
    for (size_t i = 0; i < STEPS && is_done; i++) {
        is_done = ki_workqueue_get(queue, 0, &item) == 0 &&
                  ki_workqueue_add(queue, item.key, item.priority) == 0 &&
                  ki_workqueue_done(queue, item.key) == 0;
    }
    keep_best(&out_costs[ADD_AGAIN], middle - start, STEPS);
    keep_best(&out_costs[TURN], bench_own_seconds() - middle, STEPS);
    ki_workqueue_free(queue);
    return is_done;
}

static void print_costs(costs all)
{
    printf("\n%-34s", "keys that wait, ns each");
    for (int size = 0; size < SIZES; size++) {
        printf(" %10zu", sizes[size]);
    }
    printf("\n");
    for (int operation = 0; operation < OPERATIONS; operation++) {
        printf("%-34s", names[operation]);
        for (int size = 0; size < SIZES; size++) {
            printf(" %10.0f", all[size][operation]);
        }
        printf("\n");
    }
    printf("\n");
}

static bool meets_target(costs all, enum operation operation)
{
    char line[100];
    double worst = 0;
    for (int size = 0; size < SIZES; size++) {
        worst = all[size][operation] > worst ? all[size][operation] : worst;
    }
    snprintf(line, sizeof(line), "growth: worst %s, times that of 1,000", names[operation]);
    return bench_target(line, worst / all[0][operation], "<=", 2);
}

bool workqueue_growth_bench(bool *out_met)
{
    static costs all;
    struct workqueue_keys keys = workqueue_keys_new(KEYS);
    bool is_done = true;
    for (int round = 0; round < ROUNDS; round++) {
        for (int size = 0; size < SIZES && is_done; size++) {
            is_done =
                measure_all(&keys, sizes[size], all[size]) && measure_few(&keys, sizes[size], all[size]);
        }
    }
    if (is_done) {
        print_costs(all);
        for (int operation = 0; operation < OPERATIONS; operation++) {
            *out_met &= meets_target(all, (enum operation)operation);
        }
    }
    workqueue_keys_free(&keys);
    return is_done;
}
