/* SPDX-License-Identifier: Apache-2.0 */
/* bench_proto - the same pods from JSON and from protobuf, whole and projected, compared with memcpy and, if
 * Go is installed, with client-go's protobuf decoder. Times are the CPU time of this thread. Ours include the
 * allocation and release of the objects; therefore client-go's is the CPU time of a process with one running
 * thread, including garbage collection. The time of its best round without that is in the table as well.
 *
 * docs/decoding.md has the results; the limits here are the goals. */
#define _GNU_SOURCE
#include <kinformer.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "proto_encode.h"
#include "reference.h"
#include "reflector/body_decoder.h"

enum { PIECE_BYTES = 16 * 1024, ROUNDS = 9, ROWS = 8 };

enum {
    JSON_WHOLE,
    PROTO_WHOLE,
    JSON_PROJECTED,
    PROTO_PROJECTED,
    JSON_COPY,
    PROTO_COPY,
    CLIENT_GO,
    CLIENT_GO_BEST
};

static const char *const names[ROWS] = {"JSON, objects",
                                        "protobuf, objects",
                                        "JSON, projected",
                                        "protobuf, projected",
                                        "memcpy of the JSON",
                                        "memcpy of the protobuf",
                                        "client-go, with its collector",
                                        "client-go, best round alone"};

static bool read_list(const struct text *document, ki_body_form form, ki_object_plan *plan, uint64_t *objects,
                      uint64_t *bytes)
{
    ki_body_decoder decoder;
    ki_body_decoder_init(&decoder, form, plan);
    const ki_decoded *decoded = ki_body_decoder_result(&decoder);
    int step = 0;
    for (size_t at = 0; step >= 0 && at < document->length;) {
        size_t left = document->length - at;
        size_t used = 0;
        size_t n = PIECE_BYTES - at % PIECE_BYTES;
        step =
            ki_body_decoder_feed(&decoder, (ki_str){document->data + at, left < n ? left : n}, &used, NULL);
        at += used;
        if (step == KI_LIST_OBJECT) {
            ++*objects;
            *bytes += ki_object_json(decoded->object).len;
        }
    }
    const ki_proto_unknown *unknown = ki_body_decoder_unknown(&decoder);
    bool is_good = step >= 0 && (unknown == NULL || unknown->count == 0);
    ki_body_decoder_fini(&decoder);
    return is_good;
}

static bool copy(const struct text *document, uint64_t *objects, uint64_t *bytes)
{
    struct reference_result result = {0};
    *objects += DOCUMENTS_OBJECTS_EACH;
    *bytes += document->length;
    return reference_memcpy(document->data, document->length, &result);
}

static ki_object_plan *new_plan(bool is_projected)
{
    static const char *const kept[] = {"/spec/nodeName", "/status/phase", "/status/podIP", "/metadata/labels",
                                       NULL};
    return ki_object_plan_new(&KI_CORE_V1_PODS, &(ki_object_options){.keep = is_projected ? kept : NULL},
                              NULL);
}

struct row {
    ki_body_form form; /* none: memcpy */
    const struct documents *documents;
    ki_object_plan *plan;
    double best_us; /* per pod */
    uint64_t objects;
    uint64_t bytes; /* of JSON text in the objects of one round */
};

static bool run_round(struct row *row)
{
    row->objects = 0;
    row->bytes = 0;
    double start = bench_own_seconds();
    for (size_t i = 0; i < row->documents->count; i++) {
        const struct text *document = &row->documents->items[i];
        if (row->form == KI_BODY_NONE
                ? !copy(document, &row->objects, &row->bytes)
                : !read_list(document, row->form, row->plan, &row->objects, &row->bytes)) {
            return false;
        }
    }
    double each = (bench_own_seconds() - start) * 1e6 / (double)row->documents->objects;
    row->best_us = row->best_us == 0 || each < row->best_us ? each : row->best_us;
    return true;
}

/* ---- client-go ----------------------------------------------------------------------------------------- */

/* Writes one document to a file, for the program that decodes it. */
static bool write_file(const struct documents *documents, char *name)
{
    int file = mkstemp(name);
    bool is_written = file >= 0 && write(file, documents->items[0].data, documents->items[0].length) ==
                                       (ssize_t)documents->items[0].length;
    return (file < 0 || close(file) == 0) && is_written;
}

static bool measure_go(const struct documents *documents, struct row *cpu, struct row *best)
{
    const char *program = getenv("KI_GO_TABLES");
    char name[] = "/tmp/kinformer-bench-XXXXXX";
    char command[512];
    if (program == NULL) {
        return true;
    }
    bool is_done = write_file(documents, name);
    snprintf(command, sizeof(command), "'%s' bench '%s'", program, name);
    FILE *output =
        is_done ? popen(command, "r") : NULL; /* NOLINT(cert-env33-c): the program that bench.sh built */
    is_done = output != NULL &&
              fscanf(output, "%lf %lf", &cpu->best_us, &best->best_us) == 2; /* NOLINT(cert-err34-c) */
    is_done = output != NULL && pclose(output) == 0 && is_done;
    unlink(name);
    return is_done;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static bool judge(const struct row *rows)
{
    bool met = bench_target("protobuf, whole: CPU, times JSON's",
                            rows[PROTO_WHOLE].best_us / rows[JSON_WHOLE].best_us, "<=", 1);
    met &= bench_target("protobuf, projected: CPU, times JSON's",
                        rows[PROTO_PROJECTED].best_us / rows[JSON_PROJECTED].best_us, "<=", 0.25);
    if (rows[CLIENT_GO].best_us > 0) {
        met &= bench_target("client-go's decoder: CPU, times ours",
                            rows[CLIENT_GO].best_us / rows[PROTO_WHOLE].best_us, ">=", 5);
    }
    return met;
}

static bool run(const struct documents *json, const struct documents *proto, bool *out_met)
{
    struct row rows[ROWS] = {
        [JSON_WHOLE] = {.form = KI_BODY_JSON_LIST, .documents = json, .plan = new_plan(false)},
        [PROTO_WHOLE] = {.form = KI_BODY_PROTO_LIST, .documents = proto, .plan = new_plan(false)},
        [JSON_PROJECTED] = {.form = KI_BODY_JSON_LIST, .documents = json, .plan = new_plan(true)},
        [PROTO_PROJECTED] = {.form = KI_BODY_PROTO_LIST, .documents = proto, .plan = new_plan(true)},
        [JSON_COPY] = {.documents = json},
        [PROTO_COPY] = {.documents = proto},
        [CLIENT_GO] = {.documents = proto},
        [CLIENT_GO_BEST] = {.documents = proto},
    };
    bool is_done = measure_go(proto, &rows[CLIENT_GO], &rows[CLIENT_GO_BEST]);
    for (int round = 0; is_done && round < ROUNDS; round++) {
        for (size_t i = 0; is_done && i < CLIENT_GO; i++) {
            is_done = run_round(&rows[i]);
        }
    }
    is_done = is_done && rows[JSON_WHOLE].bytes == rows[PROTO_WHOLE].bytes &&
              rows[JSON_PROJECTED].bytes == rows[PROTO_PROJECTED].bytes;
    printf("%-30s %10s %16s %16s\n", "", "us per pod", "bytes per pod", "of which kept");
    for (size_t i = 0; is_done && i < ROWS; i++) {
        if (rows[i].best_us > 0) {
            printf("%-30s %10.2f %16.0f %16.0f\n", names[i], rows[i].best_us,
                   (double)rows[i].documents->bytes / (double)rows[i].documents->objects,
                   (double)rows[i].bytes / (double)rows[i].documents->objects);
        }
        ki_object_plan_free(rows[i].plan);
    }
    *out_met = is_done && judge(rows);
    return is_done;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 20000, .seconds = 18};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    options.pods -= options.pods % DOCUMENTS_OBJECTS_EACH;
    struct pod_collection pods = {GENERATE_PODS_SEED, options.pods < 500 ? 500 : options.pods};
    struct documents json, proto;
    bool met = false;
    documents_init_list(&json, &pods);
    proto_encode_lists(&proto, &json);
    bool is_done = run(&json, &proto, &met);
    if (!is_done) {
        fprintf(stderr, "bench: a list was not decoded correctly\n");
    }
    documents_fini(&json);
    documents_fini(&proto);
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
