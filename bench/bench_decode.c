/* SPDX-License-Identifier: Apache-2.0 */
/* bench_decode - how fast bytes become objects, compared with other parsers on the same bytes;
 * and the cost of an object. */
#include <stdio.h>
#include <stdlib.h>

#include "json/kernel.h"
#include "ours.h"
#include "reference_contender.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    CONTENDERS_MAX = 10,
    /* Parsers that build a tree get fewer documents: they are slow enough to be measured on less. */
    TREE_DOCUMENTS = 10,
    AGREEMENT_DOCUMENTS = 2,
    BASELINE = 1,
    PIECE_BYTES = 16 * 1024,
    SMALL_PIECE_BYTES = 1024,
    ROUNDS = 5
};

static bool bench(const char *title, struct reference_contender *references, size_t count,
                  const struct bench_options *options, double *out_best)
{
    struct bench_contender rows[CONTENDERS_MAX];
    const struct documents sample = documents_head(references[0].documents, AGREEMENT_DOCUMENTS);
    if (!reference_contenders_agree(references, count, &sample)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = reference_contender_row(&references[i]);
    }
    const struct bench_table table = {title, rows, count, BASELINE, out_best};
    return bench_run(&table, options);
}

static bool bench_list(const struct documents *pages, const struct bench_options *options, bool *out_met)
{
    enum { MEMCPY, DECODE, OURS, CHECK, SPLIT, SIMDJSON, SIMDJSON_SPLIT, CJSON, JANSSON, ROWS };
    const struct documents few = documents_head(pages, TREE_DOCUMENTS);
    struct reference_contender references[ROWS] = {
        [MEMCPY] = {"memcpy", reference_memcpy, pages, false},
        [DECODE] = {"kinformer, objects", ours_decode, pages, false},
        [OURS] = {"kinformer, objects, fields read", ours_list, pages, true},
        [CHECK] = {"kinformer, check and split", ours_check, pages, false},
        [SPLIT] = {"kinformer, splitting alone", ours_split, pages, false},
        [SIMDJSON] = {"simdjson On-Demand, metadata", reference_simdjson_list, pages, true},
        [SIMDJSON_SPLIT] = {"simdjson On-Demand, splitting", reference_simdjson_split, pages, false},
        [CJSON] = {"cJSON", reference_cjson_list, &few, true},
        [JANSSON] = {"jansson", reference_jansson_list, &few, true},
    };
    double best[ROWS] = {0};
    ours_set(OURS_WHOLE, PIECE_BYTES);
    if (!bench("list in pages of 500, fed in 16 KB", references, ROWS, options, best)) {
        return false;
    }
    printf("\n");
    *out_met &=
        bench_target("list: objects, fields read, times jansson", best[OURS] / best[JANSSON], ">=", 20);
    *out_met &= bench_target("list: objects, fields read, times cJSON", best[OURS] / best[CJSON], ">=", 4);
    *out_met &= bench_target("list: objects, fields read, times simdjson On-Demand",
                             best[OURS] / best[SIMDJSON], ">=", 0.5);
    *out_met &= bench_target("list: splitting alone, times simdjson On-Demand", best[SPLIT] / best[SIMDJSON],
                             ">=", 1.5);
    return true;
}

static bool bench_watch(const struct documents *events, const struct bench_options *options)
{
    const struct documents few = documents_head(events, TREE_DOCUMENTS);
    struct reference_contender references[] = {
        {"memcpy", reference_memcpy, events, false},
        {"kinformer, objects", ours_decode_watch, events, false},
        {"kinformer, objects, fields read", ours_watch, events, true},
        {"simdjson On-Demand, metadata", reference_simdjson_watch, events, true},
        {"cJSON", reference_cjson_watch, &few, true},
        {"jansson", reference_jansson_watch, &few, true},
    };
    ours_set(OURS_WHOLE, PIECE_BYTES);
    return bench("watch stream, fed in 16 KB", references, COUNT(references), options, NULL);
}

static bool measure_memory(const struct documents *pages, enum ours_plan plan, double wanted,
                           const char *what, bool *out_met)
{
    struct ours_memory memory = {0};
    const struct documents few = documents_head(pages, TREE_DOCUMENTS);
    ours_set(plan, PIECE_BYTES);
    for (size_t i = 0; i < few.count; i++) {
        if (!ours_measure_memory(few.items[i].data, few.items[i].length, &memory)) {
            return false;
        }
    }
    double objects = (double)memory.objects;
    char line[80];
    snprintf(line, sizeof(line), "%s: allocations per object", what);
    *out_met &= bench_target(line, (double)memory.allocations / objects, "<=", 1);
    snprintf(line, sizeof(line), "%s: KB per object, with malloc's overhead", what);
    *out_met &= bench_target(line, (double)memory.bytes / objects / 1024, "<=", wanted);
    return true;
}

/* Nanoseconds per object in the best of a few rounds; each round decodes `documents` `times` times. */
static bool time_list(const struct documents *documents, size_t times, double *out_nanoseconds)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct reference_result result = {0};
        double start = bench_now_seconds();
        for (size_t i = 0; i < times * documents->count; i++) {
            const struct text *page = &documents->items[i % documents->count];
            if (!ours_list(page->data, page->length, &result)) {
                return false;
            }
        }
        double each = (bench_now_seconds() - start) * 1e9 / (double)result.objects;
        best = round == 0 || each < best ? each : best;
    }
    *out_nanoseconds = best;
    return true;
}

static bool bench_pieces(const struct documents *pages, bool *out_met)
{
    const struct documents few = documents_head(pages, TREE_DOCUMENTS);
    double small = 0;
    double whole = 0;
    ours_set(OURS_WHOLE, SMALL_PIECE_BYTES);
    if (!time_list(&few, 1, &small)) {
        return false;
    }
    ours_set(OURS_WHOLE, SIZE_MAX / 2);
    if (!time_list(&few, 1, &whole)) {
        return false;
    }
    *out_met &=
        bench_target("pieces: cost in 1 KB pieces, times the cost in one piece", small / whole, "<=", 2);
    return true;
}

/* From 1,000 to 1,000,000 objects in one list document. A decoder whose cost depends on what it has already
 * read would show here. */
static bool bench_growth(bool *out_met)
{
    const uint64_t sizes[] = {1000, 10000, 100000, 1000000};
    double first = 0;
    double worst = 0;
    ours_set(OURS_WHOLE, PIECE_BYTES);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        double seconds = 0;
        if (!ours_long_list(sizes[i], &seconds)) {
            return false;
        }
        double each = seconds * 1e9 / (double)sizes[i];
        printf("%34s %7llu objects in one list: %8.0f ns each\n", "", (unsigned long long)sizes[i], each);
        first = i == 0 ? each : first;
        worst = each > worst ? each : worst;
    }
    *out_met &=
        bench_target("growth: cost at the worst size, times that at 1,000 objects", worst / first, "<=", 2);
    return true;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 18};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    struct pod_collection pods = {GENERATE_PODS_SEED, options.pods};
    struct documents pages;
    struct documents events;
    bool met = true;
    printf("kinformer: %s, simdjson: %s\n", ki_json_kernel_best()->name, reference_simdjson_implementation());
    documents_init_list(&pages, &pods);
    bool is_done = bench_list(&pages, &options, &met) &&
                   measure_memory(&pages, OURS_WHOLE, 4.8, "memory, whole", &met) &&
                   measure_memory(&pages, OURS_PROJECTED, 0.4, "memory, projected", &met) &&
                   bench_pieces(&pages, &met) && bench_growth(&met);
    documents_fini(&pages);
    documents_init_watch(&events, &pods);
    is_done = is_done && bench_watch(&events, &options);
    documents_fini(&events);
    ours_fini();
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
