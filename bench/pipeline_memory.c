/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "counted.h"
#include "generate_pods.h"
#include "informer/informer.h"
#include "pipeline.h"
#include "store_pods.h"
#include "support/store/store_flush.h"

/* Objects that wait for readers of the store are not compared,
 * because their number at a given moment is arbitrary. */
static size_t read_held(const struct pipeline *pipeline)
{
    store_flush(pipeline->informer->store);
    return counted_held();
}

/* ---- a stuck handler ---------------------------------------------------------------------------------- */

enum { UPDATES_PER_KEY = 100, SAMPLES = 3 };

struct stuck {
    struct pipeline pipeline;
    struct pipeline_counter healthy;
    sem_t may_go;
    ki_registration *registration;
    size_t keys;
    size_t backlog_max;
    size_t samples[SAMPLES];
    ki_registration_stats stats;
};

static void hang(const ki_event *event, void *user)
{
    (void)event;
    sem_t *may_go = user;
    while (sem_wait(may_go) != 0 && errno == EINTR) {
    }
    sem_post(may_go); /* only the first call waits */
}

static bool push_range(struct stuck *stuck, size_t first, size_t end)
{
    bool is_done = true;
    uint64_t random = 4711 + first;
    for (size_t i = first; i < end && is_done; i++) {
        uint64_t version = 2 + i;
        size_t key = i < stuck->keys ? i : store_pods_next(&random) % stuck->keys;
        ki_object *object = store_pods_make(key, version);
        is_done = pipeline_push(&stuck->pipeline, object, version);
        (void)ki_object_unref(object);
    }
    pipeline_end_pushes(&stuck->pipeline);
    return is_done;
}

/* All other handlers have caught up when a sample is taken. */
static bool run_stuck(struct stuck *stuck)
{
    static const int percents[SAMPLES] = {10, 50, 100};
    size_t count = stuck->keys * UPDATES_PER_KEY;
    size_t done = 0;
    for (int i = 0; i < SAMPLES; i++) {
        size_t end = count / 100 * (size_t)percents[i];
        stuck->healthy.wanted = end;
        if (!push_range(stuck, done, end)) {
            return false;
        }
        pipeline_counter_wait(&stuck->healthy);
        if (!pipeline_wait(&stuck->pipeline, 1 + end)) {
            return false;
        }
        stuck->samples[i] = read_held(&stuck->pipeline);
        done = end;
    }
    ki_registration_read_stats(stuck->registration, &stuck->stats);
    return true;
}

static void print_stuck(const struct stuck *stuck, bool *out_met)
{
    const ki_registration_stats *stats = &stuck->stats;
    printf("\na stuck handler beside a healthy one: %zu updates of %zu keys, backlog of %zu\n",
           stuck->keys * UPDATES_PER_KEY, stuck->keys, stuck->backlog_max);
    printf("KB held after 10%%, 50%%, 100%%: %zu, %zu, %zu; at most %zu\n", stuck->samples[0] / 1024,
           stuck->samples[1] / 1024, stuck->samples[2] / 1024, counted_peak() / 1024);
    printf("coalesced %" PRIu64 ", backlog %" PRIu64 " (most %" PRIu64 ")\n", stats->coalesced,
           stats->backlog, stats->backlog_high_water);
    *out_met &= bench_target("stuck handler: memory at the end, times that after 10%",
                             (double)stuck->samples[SAMPLES - 1] / (double)stuck->samples[0], "<=", 1.1);
    /* Events that arrive while the backlog is being merged to one entry per key exceed the limit. */
    *out_met &= bench_target("stuck handler: its largest backlog, times the limit",
                             (double)(stats->backlog_high_water - 1) / (double)stuck->backlog_max,
                             "<=", 1 + 1.0 / (KI_BACKLOG_STEP - 1));
}

bool pipeline_memory_bench_stuck(const struct bench_options *options, bool *out_met)
{
    struct stuck stuck = {.keys = options->pods / 10 + 1};
    stuck.backlog_max = 2 * stuck.keys;
    sem_init(&stuck.may_go, 0, 0);
    pipeline_counter_init(&stuck.healthy, 0);
    ki_handler healthy = pipeline_counting_handler(&stuck.healthy);
    healthy.overflow = KI_OVERFLOW_BLOCK; /* so that it gets each update, however busy the machine is */
    const ki_handler stuck_one = {
        .on_add = hang, .on_update = hang, .user = &stuck.may_go, .backlog_items_max = stuck.backlog_max};
    bool is_done = counted_begin() && pipeline_open(&stuck.pipeline, NULL) &&
                   ki_informer_add_handler(stuck.pipeline.informer, &healthy, NULL) != NULL;
    if (is_done) {
        stuck.registration = ki_informer_add_handler(stuck.pipeline.informer, &stuck_one, NULL);
        is_done = stuck.registration != NULL && pipeline_start(&stuck.pipeline) && run_stuck(&stuck);
    }
    sem_post(&stuck.may_go);
    if (is_done) {
        print_stuck(&stuck, out_met);
    }
    pipeline_close(&stuck.pipeline);
    pipeline_counter_fini(&stuck.healthy);
    sem_destroy(&stuck.may_go);
    return counted_end() && is_done;
}

/* ---- a relist ----------------------------------------------------------------------------------------- */

enum { QUEUE_BYTES_PER_POD = 160 };

/* Writes lists one item at a time; each list has a newer version and the same items. */
struct lists {
    struct pod_collection pods;
    struct text piece;
};

static uint64_t list_version(const struct lists *lists, unsigned number)
{
    return pods_list_resource_version(&lists->pods) + number;
}

static bool next_of_list(struct pipeline_source *source, ki_str *out_piece)
{
    struct lists *lists = source->user;
    struct text *piece = &lists->piece;
    uint64_t at = source->piece;
    piece->length = 0;
    if (source->is_watch || at > lists->pods.pod_count + 1) {
        return false;
    }
    if (at == 0) {
        text_put_literal(piece,
                         "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"");
        text_put_number(piece, list_version(lists, source->lists));
        text_put_literal(piece, "\"},\"items\":[");
    } else if (at > lists->pods.pod_count) {
        text_put_literal(piece, "]}");
    } else {
        text_put(piece, at == 1 ? "" : ",");
        pods_append_item(piece, &lists->pods, at - 1);
    }
    *out_piece = (ki_str){piece->data, piece->length};
    return true;
}

struct relist {
    struct pipeline pipeline;
    struct lists lists;
    struct pipeline_counter counter;
    size_t steady;
    size_t peak;
    double first_seconds;
    double seconds;
    uint64_t calls;
};

static bool run_relist(struct relist *relist)
{
    double start = bench_now_seconds();
    if (!pipeline_start(&relist->pipeline)) {
        return false;
    }
    pipeline_counter_wait(&relist->counter);
    relist->first_seconds = bench_now_seconds() - start;
    relist->steady = read_held(&relist->pipeline);
    counted_restart_peak();
    start = bench_now_seconds();
    pipeline_expire(&relist->pipeline);
    if (!pipeline_wait(&relist->pipeline, list_version(&relist->lists, 2))) {
        return false;
    }
    relist->seconds = bench_now_seconds() - start;
    relist->peak = counted_peak();
    relist->calls = atomic_load(&relist->counter.events) - relist->lists.pods.pod_count;
    return true;
}

static void print_relist(const struct relist *relist, bool *out_met)
{
    printf("\na relist of %" PRIu64 " unchanged pods\n", relist->lists.pods.pod_count);
    printf("steady %.1f MB, peak of the relist %.1f MB; the first list took %.2f s, the relist %.2f s\n",
           (double)relist->steady / 1e6, (double)relist->peak / 1e6, relist->first_seconds, relist->seconds);
    *out_met &= bench_target("relist: memory at its peak, times that before",
                             (double)relist->peak / (double)relist->steady, "<=", 1.15);
    *out_met &= bench_target("relist: calls of the handler", (double)relist->calls, "<=", 0);
}

/* The queue's limit is a fixed number of bytes, so for fewer pods than usual a smaller limit is set. */
bool pipeline_memory_bench_relist(const struct bench_options *options, bool *out_met)
{
    struct relist relist = {.lists.pods = {GENERATE_PODS_SEED, options->pods}};
    relist.pipeline.source.next = next_of_list;
    relist.pipeline.source.user = &relist.lists;
    pipeline_counter_init(&relist.counter, options->pods);
    const ki_handler handler = pipeline_counting_handler(&relist.counter);
    const ki_informer_options limits = {.queue_bytes_max =
                                            options->pods < 100000 ? options->pods * QUEUE_BYTES_PER_POD : 0};
    bool is_done = counted_begin() && pipeline_open(&relist.pipeline, &limits) &&
                   ki_informer_add_handler(relist.pipeline.informer, &handler, NULL) != NULL &&
                   run_relist(&relist);
    if (is_done) {
        print_relist(&relist, out_met);
    }
    pipeline_close(&relist.pipeline);
    pipeline_counter_fini(&relist.counter);
    text_fini(&relist.lists.piece);
    return counted_end() && is_done;
}
