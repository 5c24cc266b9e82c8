/* SPDX-License-Identifier: Apache-2.0 */
/* One thread adds all keys. The workers start after that ("after"), or before ("meanwhile"). The time is from
 * the first add until the last worker has ended. Rounds take turns, and the median counts, because in the
 * best round the system happened to run the threads one after the other.
 *
 * Ours is measured with one call per key, which ends the work on a key and takes the next, and with two, as
 * controllers and the others do it. Ours and client-go's are measured without metrics and with them; the
 * plain queue has none. On a busy machine the CPU time of all threads is more meaningful than the rate. */
#include "workqueue_contest.h"

#include <kinformer/metrics.h>
#include <kinformer/workqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "workqueue_keys.h"
#include "workqueue_plain.h"

enum { AFTER, MEANWHILE, MODES };
enum { ROUNDS = 5, WORKERS_MAX = 8, COUNTS = 3, SETTINGS = 2, CALLS = 2 };
enum { ROWS = CALLS * SETTINGS * COUNTS * MODES, COLUMNS = 3 };

/* The first CALLS are ours: ki_workqueue_next(); ki_workqueue_get() and ki_workqueue_done(). */
enum contestant { NEXT, GET_DONE, PLAIN, CLIENT_GO, CONTESTANTS };

static const int worker_counts[COUNTS] = {1, 2, WORKERS_MAX};
static const char *const mode_names[MODES] = {"after", "meanwhile"};
static const char *const setting_names[SETTINGS] = {"", ", metrics"};
static const char *const call_names[CALLS] = {"next", "get + done"};

/* Nanoseconds per key in each round; 0: not measured. */
struct cost {
    double wall[ROUNDS];
    double processor[ROUNDS];
};

typedef struct cost results[CONTESTANTS][SETTINGS][COUNTS][MODES];

/* ---- one round ----------------------------------------------------------------------------------------- */

struct contest {
    enum contestant contestant;
    ki_workqueue *ours;
    struct plain_queue *plain;
};

static void *work(void *user)
{
    struct contest *c = user;
    ki_work_item item = {0};
    const char *key;
    if (c->contestant == NEXT) {
        while (ki_workqueue_next(c->ours, UINT64_MAX, &item) == 0) {
        }
    } else if (c->contestant == GET_DONE) {
        while (ki_workqueue_get(c->ours, UINT64_MAX, &item) == 0 &&
               ki_workqueue_done(c->ours, item.key) == 0) {
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
    if (c->contestant == PLAIN) {
        plain_queue_shut_down(c->plain);
    } else {
        ki_workqueue_shut_down(c->ours);
    }
}

static bool run(struct contest *c, const struct workqueue_keys *keys, int workers, int mode)
{
    pthread_t threads[WORKERS_MAX];
    bool is_done = mode == MEANWHILE || add_all(c, keys);
    for (int i = 0; i < workers; i++) {
        if (pthread_create(&threads[i], NULL, work, c) != 0) {
            abort();
        }
    }
    is_done = is_done && (mode == AFTER || add_all(c, keys));
    shut_down(c);
    for (int i = 0; i < workers; i++) {
        pthread_join(threads[i], NULL);
    }
    return is_done;
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* One round, twice: the first one only warms up the memory, as it would be in a program that has run for
 * long. Otherwise, page faults would be a large part of the time, and much of its noise. */
static bool measure_mode(enum contestant contestant, const struct workqueue_keys *keys, int workers,
                         const ki_workqueue_options *options, int mode, double *out_wall,
                         double *out_processor)
{
    bool is_done = true;
    for (int i = 0; i < 2 && is_done; i++) {
        struct contest c = {contestant, ki_workqueue_new(options, NULL), plain_queue_new()};
        double start = bench_now_seconds(), processor_start = processor_seconds();
        is_done = c.ours != NULL && run(&c, keys, workers, mode);
        *out_processor = (processor_seconds() - processor_start) * 1e9 / (double)keys->count;
        *out_wall = (bench_now_seconds() - start) * 1e9 / (double)keys->count;
        ki_workqueue_free(c.ours);
        plain_queue_free(c.plain);
    }
    return is_done;
}

static bool measure(enum contestant contestant, const struct workqueue_keys *keys, int workers,
                    ki_metrics *metrics, struct cost costs[MODES], int round)
{
    const ki_workqueue_options options = {.name = "bench", .metrics = metrics};
    bool is_done = true;
    for (int mode = 0; mode < MODES && is_done; mode++) {
        is_done = measure_mode(contestant, keys, workers, &options, mode, &costs[mode].wall[round],
                               &costs[mode].processor[round]);
    }
    return is_done;
}

/* The Go program measures the same, and prints the figures. */
static bool measure_go(const struct workqueue_keys *keys, int workers, int setting, struct cost costs[MODES],
                       int round)
{
    const char *program = getenv("KI_GO_WORKQUEUE");
    char command[512];
    bool is_done = true;
    if (program == NULL) {
        return true;
    }
    snprintf(command, sizeof(command), "'%s' %s %zu %d", program, setting == 0 ? "bench" : "bench-metrics",
             keys->count, workers);
    FILE *output = popen(command, "r"); /* NOLINT(cert-env33-c): the program that bench.sh has built */
    for (int mode = 0; mode < MODES; mode++) {
        is_done = is_done && output != NULL &&
                  fscanf(output, "%lf %lf", &costs[mode].wall[round], /* NOLINT(cert-err34-c) */
                         &costs[mode].processor[round]) == 2;
    }
    return output != NULL && pclose(output) == 0 && is_done;
}

static bool measure_all(const struct workqueue_keys *keys, ki_metrics *metrics, results all, int round)
{
    bool is_done = true;
    for (int i = 0; i < COUNTS * SETTINGS && is_done; i++) {
        int count = i / SETTINGS, setting = i % SETTINGS;
        int workers = worker_counts[count];
        ki_metrics *used = setting == 0 ? NULL : metrics;
        is_done = measure(NEXT, keys, workers, used, all[NEXT][setting][count], round) &&
                  measure(GET_DONE, keys, workers, used, all[GET_DONE][setting][count], round) &&
                  (setting > 0 || measure(PLAIN, keys, workers, NULL, all[PLAIN][0][count], round)) &&
                  measure_go(keys, workers, setting, all[CLIENT_GO][setting][count], round);
    }
    return is_done;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(double measured[ROUNDS])
{
    qsort(measured, ROUNDS, sizeof(double), compare);
    return measured[ROUNDS / 2];
}

struct row {
    enum contestant call;
    int setting;
    int count;
    int mode;
};

static struct row row_at(int i)
{
    return (struct row){(enum contestant)(i / (SETTINGS * COUNTS * MODES)), i / (COUNTS * MODES) % SETTINGS,
                        i / MODES % COUNTS, i % MODES};
}

static void print_row(results all, struct row row)
{
    const enum contestant columns[COLUMNS] = {row.call, PLAIN, CLIENT_GO};
    printf("%-12s%d worker(s), %-9s%-11s", call_names[row.call], worker_counts[row.count],
           mode_names[row.mode], setting_names[row.setting]);
    for (int c = 0; c < COLUMNS; c++) {
        double each_ns = median(all[columns[c]][row.setting][row.count][row.mode].wall);
        printf(" %12.0f", each_ns == 0 ? 0 : 1e6 / each_ns);
    }
    for (int c = 0; c < COLUMNS; c++) {
        printf(" %12.0f", median(all[columns[c]][row.setting][row.count][row.mode].processor));
    }
    printf("\n");
}

static void print_results(results all, size_t keys)
{
    printf(
        "\n%zu distinct keys: thousands of add + get + done per second; then ns of CPU time per key.\n"
        "Rows \"next\": ki_workqueue_next() instead of get + done. The others always get + done, and were\n"
        "measured once: their figures are repeated.\n"
        "%-12s%-33s %12s %12s %12s %12s %12s %12s\n",
        keys, "ours calls", "workers, started after the adds", "ki_workqueue", "plain", "client-go",
        "ki_workqueue", "plain", "client-go");
    for (int i = 0; i < ROWS; i++) {
        print_row(all, row_at(i));
    }
    printf("\n");
}

static bool meets_target(results all, struct row row, enum contestant other, double wanted)
{
    char line[100];
    double ours = median(all[row.call][row.setting][row.count][row.mode].wall);
    double others = median(all[other][row.setting][row.count][row.mode].wall);
    if (others == 0) {
        return true;
    }
    snprintf(line, sizeof(line), "%s, %d worker(s), %s%s: times %s", call_names[row.call],
             worker_counts[row.count], mode_names[row.mode], setting_names[row.setting],
             other == PLAIN ? "the plain queue" : "client-go's");
    return bench_target(line, others / ours, ">=", wanted);
}

/* The plain queue was not measured with metrics. */
static bool meets_targets(results all)
{
    bool met = true;
    for (int i = 0; i < ROWS; i++) {
        met &= meets_target(all, row_at(i), PLAIN, 1);
        met &= meets_target(all, row_at(i), CLIENT_GO, 3);
    }
    return met;
}

bool workqueue_contest_bench(size_t keys, bool *out_met)
{
    static results all;
    struct workqueue_keys made = workqueue_keys_new(keys);
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    bool is_done = metrics != NULL;
    for (int round = 0; round < ROUNDS && is_done; round++) {
        is_done = measure_all(&made, metrics, all, round);
    }
    if (is_done) {
        print_results(all, keys);
        *out_met &= meets_targets(all);
    }
    ki_metrics_free(metrics);
    workqueue_keys_free(&made);
    return is_done;
}
