/* SPDX-License-Identifier: Apache-2.0 */
/* bench - a small timing harness: contenders take turns, and a table shows how fast each of them is.
 *
 *   From:     a benchmark's main, which fills a table of contenders.
 *   Not here: what is measured.
 *
 * Rounds are interleaved (A B C A B C ...), so that a disturbance of the machine affects all of them.
 * The best round is the least disturbed one; the median shows how far to trust it. Contenders may process
 * different amounts, so that a slow one does not delay the rest: all figures are per byte
 * or per object.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the whole work once. Returns false on failure, which ends the benchmark.
 * *out_checksum depends on the data that was read. */
typedef bool (*bench_run_cb)(void *context, uint64_t *out_checksum);

struct bench_contender {
    const char *name;
    bench_run_cb run;
    void *context;
    int checksum_group; /* contenders of one group must agree on the checksum; 0: not compared */
    uint64_t bytes;     /* processed by one run */
    uint64_t objects;   /* processed by one run */
};

struct bench_table {
    const char *title;
    const struct bench_contender *contenders;
    size_t contender_count;
    size_t baseline;  /* the row that the ratios refer to */
    double *out_best; /* bytes per second of each row in its best round; NULL: not wanted */
};

struct bench_options {
    uint64_t pods;
    double seconds; /* for one table; at least three rounds are run, however long they take */
};

/* Reads --pods N, --quick and --seconds S over the defaults;
 * on failure prints the usage and returns false. */
bool bench_options_read(struct bench_options *options, int count, char **arguments);

/* Runs the rounds and prints the table. Returns false if a contender failed or checksums differ. */
bool bench_run(const struct bench_table *table, const struct bench_options *options);

/* Prints one line that compares a figure with its target, and returns whether the target is met. */
bool bench_target(const char *what, double figure, const char *relation, double wanted);

double bench_now_seconds(void);

/* The CPU time of this thread, which other programs on the machine do not affect. */
double bench_own_seconds(void);

#endif
