/* SPDX-License-Identifier: Apache-2.0 */
/* One thread adds all keys. The workers begin when that is done ("behind"), or before it ("meanwhile"). The
 * time is that from the first add until the last worker has ended. Rounds take turns, and the median counts:
 * the best one is that in which the system happens to let the threads run one after the other. */
#include "workqueue_contest.h"

#include <kinformer/workqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "workqueue_keys.h"
#include "workqueue_plain.h"

enum { ROUNDS = 7, WORKERS_MAX = 8, COUNTS = 3, MODES = 2 };

enum contestant { OURS, PLAIN, CLIENT_GO, CONTESTANTS };

static const int worker_counts[COUNTS] = {1, 2, WORKERS_MAX};
static const char *const mode_names[MODES] = {"behind", "meanwhile"};

/* Nanoseconds a key in each round; 0: not measured. */
typedef double rounds[ROUNDS];
typedef rounds results[CONTESTANTS][COUNTS][MODES];

/* ---- one round ----------------------------------------------------------------------------------------- */

struct contest {
    enum contestant contestant;
    ki_workqueue *ours;
    struct plain_queue *plain;
};

static void *work(void *user)
{
    struct contest *c = user;
    ki_work_item item;
    const char *key;
    if (c->contestant == OURS) {
        while (ki_workqueue_get(c->ours, UINT64_MAX, &item) == 0) {
            (void)ki_workqueue_done(c->ours, item.key);
        }
    } else {
        while ((key = plain_queue_get(c->plain)) != NULL) {
            plain_queue_done(c->plain, key);
        }
    }
    return NULL;
}

static bool add_all(struct contest *c, const struct workqueue_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        const char *key = workqueue_key(keys, i);
        if (c->contestant == PLAIN) {
            plain_queue_add(c->plain, key);
        } else if (ki_workqueue_add(c->ours, (ki_str){key, WORKQUEUE_KEY_LEN}, KI_PRIORITY_HIGH) < 0) {
            return false;
        }
    }
    return true;
}

static void shut_down(struct contest *c)
{
    if (c->contestant == OURS) {
        ki_workqueue_shut_down(c->ours);
    } else {
        plain_queue_shut_down(c->plain);
    }
}

static bool run(struct contest *c, const struct workqueue_keys *keys, int workers, int mode)
{
    pthread_t threads[WORKERS_MAX];
    bool is_done = mode == 1 || add_all(c, keys);
    for (int i = 0; i < workers; i++) {
        if (pthread_create(&threads[i], NULL, work, c) != 0) {
            abort();
        }
    }
    is_done = is_done && (mode == 0 || add_all(c, keys));
    shut_down(c);
    for (int i = 0; i < workers; i++) {
        pthread_join(threads[i], NULL);
    }
    return is_done;
}

static bool measure(enum contestant contestant, const struct workqueue_keys *keys, int count, results all,
                    int round)
{
    for (int mode = 0; mode < MODES; mode++) {
        struct contest c = {contestant, ki_workqueue_new(NULL, NULL), plain_queue_new()};
        double start = bench_now_seconds();
        bool is_done = c.ours != NULL && run(&c, keys, worker_counts[count], mode);
        double seconds = bench_now_seconds() - start;
        ki_workqueue_free(c.ours);
        plain_queue_free(c.plain);
        if (!is_done) {
            return false;
        }
        all[contestant][count][mode][round] = seconds * 1e9 / (double)keys->count;
    }
    return true;
}

/* The program prints what we measure above, by itself. */
static bool measure_go(const struct workqueue_keys *keys, int count, results all, int round)
{
    const char *program = getenv("KI_GO_WORKQUEUE");
    char command[512];
    bool is_done = true;
    if (program == NULL) {
        return true;
    }
    snprintf(command, sizeof(command), "'%s' bench %zu %d", program, keys->count, worker_counts[count]);
    FILE *output = popen(command, "r"); /* NOLINT(cert-env33-c): the program that bench.sh has built */
    for (int mode = 0; mode < MODES; mode++) {
        double each_ns = 0;
        is_done =
            is_done && output != NULL && fscanf(output, "%lf", &each_ns) == 1; /* NOLINT(cert-err34-c) */
        all[CLIENT_GO][count][mode][round] = each_ns;
    }
    return output != NULL && pclose(output) == 0 && is_done;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(rounds measured)
{
    qsort(measured, ROUNDS, sizeof(double), compare);
    return measured[ROUNDS / 2];
}

static void print_results(results all, size_t keys)
{
    static const char *const names[CONTESTANTS] = {"ki_workqueue", "mutex, condition, hash set",
                                                   "client-go's typed work queue"};
    printf("\n%zu distinct keys: thousands of add + get + done a second\n%-30s", keys, "");
    for (int i = 0; i < COUNTS * MODES; i++) {
        printf("  %d, %-9s", worker_counts[i / MODES], mode_names[i % MODES]);
    }
    printf("   (workers, begun behind the adds or meanwhile)\n");
    for (int c = 0; c < CONTESTANTS; c++) {
        printf("%-30s", names[c]);
        for (int i = 0; i < COUNTS * MODES; i++) {
            double each_ns = median(all[c][i / MODES][i % MODES]);
            printf(" %13.0f", each_ns == 0 ? 0 : 1e6 / each_ns);
        }
        printf("\n");
    }
    printf("\n");
}

static bool meets_targets(results all)
{
    bool met = true;
    for (int i = 0; i < COUNTS * MODES; i++) {
        int count = i / MODES;
        int mode = i % MODES;
        char line[80];
        snprintf(line, sizeof(line), "%d worker(s), %s: times the plain queue", worker_counts[count],
                 mode_names[mode]);
        double ours = median(all[OURS][count][mode]);
        double client_go = median(all[CLIENT_GO][count][mode]);
        met &= bench_target(line, median(all[PLAIN][count][mode]) / ours, ">=", 1);
        if (client_go != 0) {
            snprintf(line, sizeof(line), "%d worker(s), %s: times client-go's", worker_counts[count],
                     mode_names[mode]);
            met &= bench_target(line, client_go / ours, ">=", 3);
        }
    }
    return met;
}

bool workqueue_contest_bench(size_t keys, bool *out_met)
{
    static results all;
    struct workqueue_keys made = workqueue_keys_new(keys);
    bool is_done = true;
    for (int round = 0; round < ROUNDS && is_done; round++) {
        for (int i = 0; i < COUNTS && is_done; i++) {
            is_done = measure(OURS, &made, i, all, round) && measure(PLAIN, &made, i, all, round) &&
                      measure_go(&made, i, all, round);
        }
    }
    if (is_done) {
        print_results(all, keys);
        *out_met &= meets_targets(all);
    }
    workqueue_keys_free(&made);
    return is_done;
}
