/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pipeline - changes from the queue, or from bytes, to a handler: how many per second, compared with a
 * pipeline that a programmer writes in an afternoon; the backlog of a stuck handler; the memory of a relist;
 * and the cost of a handler that is added late. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/decode/watch_decoder.h"
#include "bench.h"
#include "pipeline.h"
#include "pipeline_late.h"
#include "pipeline_memory.h"
#include "pipeline_naive.h"
#include "store_pods.h"
#include "text.h"

enum { UPDATES_PER_KEY = 100, PIECE_BYTES = 16384, FIRST_VERSION = 2 };

/* The work of all contenders: each key once in order, then random keys. */
struct updates {
    ki_object **objects;
    size_t count;
    struct text body; /* the same updates as the body of a watch */
    uint64_t bytes;   /* of the objects */
};

static void updates_init(struct updates *updates, size_t keys)
{
    uint64_t random = 4711;
    *updates = (struct updates){.count = keys * (UPDATES_PER_KEY + 1)};
    updates->objects = malloc(updates->count * sizeof(ki_object *));
    if (updates->objects == NULL) {
        abort();
    }
    for (size_t i = 0; i < updates->count; i++) {
        size_t key = i < keys ? i : store_pods_next(&random) % keys;
        ki_object *object = store_pods_make(key, FIRST_VERSION + i);
        ki_str json = ki_object_json(object);
        text_put_literal(&updates->body, "{\"type\":\"MODIFIED\",\"object\":");
        text_append(&updates->body, json.ptr, json.len);
        text_put_literal(&updates->body, "}\n");
        updates->bytes += ki_object_bytes(object);
        updates->objects[i] = object;
    }
}

static void updates_fini(struct updates *updates)
{
    for (size_t i = 0; i < updates->count; i++) {
        (void)ki_object_unref(updates->objects[i]);
    }
    free(updates->objects);
    text_fini(&updates->body);
}

/* ---- the four contenders ---------------------------------------------------------------------------- */

static bool push_objects(struct pipeline *pipeline, const struct updates *updates)
{
    bool is_done = true;
    for (size_t i = 0; i < updates->count && is_done; i++) {
        is_done = pipeline_push(pipeline, updates->objects[i], FIRST_VERSION + i);
    }
    pipeline_end_pushes(pipeline);
    return is_done;
}

/* The body is sent as a watch; the list is empty. */
static bool next_of_body(struct pipeline_source *source, ki_str *out_piece)
{
    const struct updates *updates = source->user;
    size_t at = (size_t)source->piece * PIECE_BYTES;
    size_t length = updates->body.length;
    if (!source->is_watch) {
        *out_piece = KI_STR("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}");
        return source->piece == 0;
    }
    if (at >= length) {
        return false;
    }
    *out_piece = (ki_str){updates->body.data + at, length - at < PIECE_BYTES ? length - at : PIECE_BYTES};
    return true;
}

static bool run_ours(struct updates *updates, bool is_bytes, uint64_t *out_checksum)
{
    struct pipeline pipeline = {0};
    struct pipeline_counter counter;
    pipeline_counter_init(&counter, updates->count);
    ki_handler handler = pipeline_counting_handler(&counter);
    handler.overflow = KI_OVERFLOW_BLOCK; /* so that it gets each update, however busy the machine is */
    if (is_bytes) {
        pipeline.source.next = next_of_body;
        pipeline.source.user = updates;
    }
    bool is_done = pipeline_open(&pipeline, NULL) &&
                   ki_informer_add_handler(pipeline.informer, &handler, NULL) != NULL &&
                   pipeline_start(&pipeline) && (is_bytes || push_objects(&pipeline, updates));
    if (is_done) {
        pipeline_counter_wait(&counter);
    }
    pipeline_close(&pipeline);
    *out_checksum = counter.checksum;
    pipeline_counter_fini(&counter);
    return is_done;
}

static bool run_ours_queue(void *context, uint64_t *out_checksum)
{
    return run_ours(context, false, out_checksum);
}

static bool run_ours_bytes(void *context, uint64_t *out_checksum)
{
    return run_ours(context, true, out_checksum);
}

static bool run_naive_queue(void *context, uint64_t *out_checksum)
{
    const struct updates *updates = context;
    struct pipeline_counter counter;
    pipeline_counter_init(&counter, 0);
    struct pipeline_naive *naive = pipeline_naive_new(pipeline_count, &counter);
    for (size_t i = 0; i < updates->count; i++) {
        pipeline_naive_push(naive, updates->objects[i]);
    }
    pipeline_naive_free(naive);
    *out_checksum = counter.checksum;
    pipeline_counter_fini(&counter);
    return true;
}

static bool decode_to_naive(struct pipeline_naive *naive, const struct text *body)
{
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, &(ki_object_options){0}, NULL);
    ki_watch_decoder decoder;
    ki_watch_decoder_init(&decoder, plan);
    int step = 0;
    size_t used = 0;
    for (size_t at = 0; at < body->length && step >= 0; at += used) {
        size_t end = (at / PIECE_BYTES + 1) * PIECE_BYTES;
        end = end < body->length ? end : body->length;
        step = ki_watch_decoder_feed(&decoder, body->data + at, end - at, &used, NULL);
        if (step == KI_CHANGE_UPDATED) {
            ki_object *object = ki_decoded_take_object(&decoder.decoded);
            pipeline_naive_push(naive, object);
            (void)ki_object_unref(object);
        }
    }
    ki_watch_decoder_fini(&decoder);
    ki_object_plan_free(plan);
    return step >= 0;
}

static bool run_naive_bytes(void *context, uint64_t *out_checksum)
{
    const struct updates *updates = context;
    struct pipeline_counter counter;
    pipeline_counter_init(&counter, 0);
    struct pipeline_naive *naive = pipeline_naive_new(pipeline_count, &counter);
    bool is_done = decode_to_naive(naive, &updates->body);
    pipeline_naive_free(naive);
    *out_checksum = counter.checksum;
    pipeline_counter_fini(&counter);
    return is_done;
}

/* ---- main ------------------------------------------------------------------------------------------- */

/* There is no target: the naive pipeline leaves out most of what ours does; see pipeline_naive.h. */
static bool run_table(struct updates *updates, const struct bench_options *options, bool is_bytes)
{
    uint64_t bytes = is_bytes ? updates->body.length : updates->bytes;
    const struct bench_contender contenders[] = {
        {"kinformer", is_bytes ? run_ours_bytes : run_ours_queue, updates, 1, bytes, updates->count},
        {"naive pipeline", is_bytes ? run_naive_bytes : run_naive_queue, updates, 1, bytes, updates->count},
    };
    double best[2] = {0};
    const struct bench_table table = {is_bytes ? "from bytes to the handler, with our decoder in both"
                                               : "from the queue to the handler",
                                      contenders, 2, 1, best};
    if (!bench_run(&table, options)) {
        return false;
    }
    double each = (double)bytes / (double)updates->count;
    printf("deltas per second: kinformer %.0f, naive %.0f\n", best[0] / each, best[1] / each);
    return true;
}

static bool bench_throughput(const struct bench_options *options)
{
    struct updates updates;
    updates_init(&updates, options->pods / 10 + 1);
    bool is_done = run_table(&updates, options, false) && run_table(&updates, options, true);
    updates_fini(&updates);
    return is_done;
}

int main(int count, char **arguments)
{
    struct bench_options options = {.pods = 100000, .seconds = 12};
    if (!bench_options_read(&options, count, arguments)) {
        return 2;
    }
    bool met = true;
    bool is_done = pipeline_memory_bench_stuck(&options, &met) &&
                   pipeline_memory_bench_relist(&options, &met) && bench_throughput(&options) &&
                   pipeline_late_bench_join(&options, &met) && pipeline_late_bench_others(&options, &met);
    return is_done && met ? EXIT_SUCCESS : EXIT_FAILURE;
}
