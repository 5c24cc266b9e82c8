/* bench_references - how fast other parsers read the fields an informer needs, on this machine. */
#include <stdio.h>
#include <stdlib.h>

#include "reference_contender.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    CONTENDERS_MAX = 8,
    /* What parsers that build a tree are given: they are slow enough to measure well on less. */
    TREE_DOCUMENTS = 10,
    AGREEMENT_DOCUMENTS = 2,
    BASELINE = 1,
};

static bool bench(const char *title, struct reference_contender *references, size_t count,
                  const struct bench_options *options)
{
    struct bench_contender rows[CONTENDERS_MAX];
    const struct documents sample = documents_head(references[0].documents, AGREEMENT_DOCUMENTS);
    if (!reference_contenders_agree(references, count, &sample)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = reference_contender_row(&references[i]);
    }
    const struct bench_table table = {title, rows, count, BASELINE};
    return bench_run(&table, options);
}

static bool bench_list(const struct pod_collection *pods, const struct bench_options *options)
{
    struct documents pages;
    documents_init_list(&pages, pods);
    const struct documents few = documents_head(&pages, TREE_DOCUMENTS);
    struct reference_contender references[] = {
        {"memcpy", reference_memcpy, &pages, false},
        {"jansson", reference_jansson_list, &few, true},
        {"cJSON", reference_cjson_list, &few, true},
        {"simdjson On-Demand, metadata", reference_simdjson_list, &pages, true},
        {"simdjson On-Demand, splitting only", reference_simdjson_split, &pages, false},
    };
    bool is_done = bench("list in pages of 500", references, COUNT(references), options);
    documents_fini(&pages);
    return is_done;
}

static bool bench_watch(const struct pod_collection *pods, const struct bench_options *options)
{
    struct documents events;
    documents_init_watch(&events, pods);
    const struct documents few = documents_head(&events, TREE_DOCUMENTS);
    struct reference_contender references[] = {
        {"memcpy", reference_memcpy, &events, false},
        {"jansson", reference_jansson_watch, &few, true},
        {"cJSON", reference_cjson_watch, &few, true},
        {"simdjson On-Demand, metadata", reference_simdjson_watch, &events, true},
    };
    bool is_done = bench("watch stream", references, COUNT(references), options);
    documents_fini(&events);
    return is_done;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 22};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    struct pod_collection pods = {GENERATE_PODS_SEED, options.pods};
    printf("simdjson: %s\n", reference_simdjson_implementation());
    bool is_done = bench_list(&pods, &options) && bench_watch(&pods, &options);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
