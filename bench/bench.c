/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONTENDERS_MAX = 16, ROUNDS_MIN = 3, ROUNDS_MAX = 25, QUICK_PODS = 5000 };

struct measurement {
    double seconds[ROUNDS_MAX];
    uint64_t checksum;
};

struct session {
    const struct bench_table *table;
    struct measurement measurements[CONTENDERS_MAX];
    size_t rounds;
};

double bench_now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_own_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool read_positive(const char *text, double *out_number)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number > 0) || number > 1e9) {
        return false;
    }
    *out_number = number;
    return true;
}

bool bench_options_read(struct bench_options *options, int count, char **arguments)
{
    bool is_read = true;
    for (int i = 1; i < count && is_read; i++) {
        double number = 0;
        bool has_number = i + 1 < count && read_positive(arguments[i + 1], &number);
        if (strcmp(arguments[i], "--quick") == 0) {
            options->pods = QUICK_PODS;
        } else if (strcmp(arguments[i], "--pods") == 0 && has_number && number >= 1) {
            options->pods = (uint64_t)number;
            i++;
        } else if (strcmp(arguments[i], "--seconds") == 0 && has_number) {
            options->seconds = number;
            i++;
        } else {
            is_read = false;
        }
    }
    if (!is_read) {
        fprintf(stderr, "usage: %s [--pods N] [--quick] [--seconds S]\n", arguments[0]);
    }
    return is_read;
}

static bool run_round(struct session *session)
{
    for (size_t i = 0; i < session->table->contender_count; i++) {
        const struct bench_contender *contender = &session->table->contenders[i];
        struct measurement *measurement = &session->measurements[i];
        /* A heap that the previous contender has fragmented must not slow down this one. */
        malloc_trim(0);
        double start = bench_now_seconds();
        bool is_done = contender->run(contender->context, &measurement->checksum);
        measurement->seconds[session->rounds] = bench_now_seconds() - start;
        if (!is_done) {
            fprintf(stderr, "%s: %s failed\n", session->table->title, contender->name);
            return false;
        }
    }
    session->rounds++;
    return true;
}

static bool run_rounds(struct session *session, double seconds)
{
    double start = bench_now_seconds();
    double longest_round = 0;
    double spent = 0;
    while (session->rounds < ROUNDS_MIN ||
           (session->rounds < ROUNDS_MAX && spent + longest_round <= seconds)) {
        double round_start = bench_now_seconds();
        if (!run_round(session)) {
            return false;
        }
        double round = bench_now_seconds() - round_start;
        longest_round = round > longest_round ? round : longest_round;
        spent = bench_now_seconds() - start;
    }
    return true;
}

static int compare_seconds(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double bytes_per_second(const struct session *session, size_t row, size_t round)
{
    return (double)session->table->contenders[row].bytes / session->measurements[row].seconds[round];
}

/* The seconds of the row are sorted: the first round is the best. */
static void print_row(const struct session *session, size_t row)
{
    const struct bench_contender *contender = &session->table->contenders[row];
    double best = bytes_per_second(session, row, 0);
    double median = bytes_per_second(session, row, session->rounds / 2);
    double baseline = bytes_per_second(session, session->table->baseline, 0);
    printf("%-34s %8.1f %9.1f %10.3f %10.3f %10.0f %8.2fx\n", contender->name, (double)contender->bytes / 1e6,
           session->measurements[row].seconds[0] * 1e3, best / 1e9, median / 1e9,
           session->measurements[row].seconds[0] * 1e9 / (double)contender->objects, best / baseline);
}

static void print_table(struct session *session)
{
    const struct bench_table *table = session->table;
    for (size_t i = 0; i < table->contender_count; i++) {
        qsort(session->measurements[i].seconds, session->rounds, sizeof(double), compare_seconds);
    }
    printf("\n%s: %zu rounds, ratio to %s\n", table->title, session->rounds,
           table->contenders[table->baseline].name);
    printf("%-34s %8s %9s %10s %10s %10s %9s\n", "", "MB", "best ms", "best GB/s", "median", "ns/object",
           "ratio");
    for (size_t i = 0; i < table->contender_count; i++) {
        print_row(session, i);
        if (table->out_best != NULL) {
            table->out_best[i] = bytes_per_second(session, i, 0);
        }
    }
    fflush(stdout);
}

/* Compares each contender with the first one of its group. */
static bool checksums_agree(const struct session *session)
{
    const struct bench_contender *contenders = session->table->contenders;
    bool agree = true;
    for (size_t i = 0; i < session->table->contender_count; i++) {
        size_t first = 0;
        while (contenders[first].checksum_group != contenders[i].checksum_group) {
            first++;
        }
        if (contenders[i].checksum_group != 0 &&
            session->measurements[i].checksum != session->measurements[first].checksum) {
            fprintf(stderr, "%s: %s and %s have different checksums\n", session->table->title,
                    contenders[first].name, contenders[i].name);
            agree = false;
        }
    }
    return agree;
}

bool bench_target(const char *what, double figure, const char *relation, double wanted)
{
    bool is_least = relation[0] == '>';
    bool is_met = is_least ? figure >= wanted : figure <= wanted;
    printf("%-6s %-64s %9.2f %s %.2f\n", is_met ? "met" : "MISSED", what, figure, relation, wanted);
    return is_met;
}

bool bench_run(const struct bench_table *table, const struct bench_options *options)
{
    if (table->contender_count == 0 || table->contender_count > CONTENDERS_MAX) {
        fprintf(stderr, "%s: needs 1 to %d contenders\n", table->title, (int)CONTENDERS_MAX);
        return false;
    }
    struct session session = {.table = table};
    if (!run_rounds(&session, options->seconds)) {
        return false;
    }
    print_table(&session);
    return checksums_agree(&session);
}
