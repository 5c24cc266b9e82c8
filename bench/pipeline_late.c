/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_late.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

#include "generate_pods.h"
#include "handler/fanout.h"
#include "informer/apply.h"
#include "pipeline.h"
#include "store_pods.h"
#include "util/clock.h"

enum { ROUNDS = 15, BATCHES_MAX = 256, LISTS_MAX = 5, PAUSE_MS_MAX = 20, SILENCE_ROUNDS = 5, TURN_MS = 5 };

/* Scales the default limits of a backlog, which suit 100,000 objects, to this many,
 * so that a small run merges as well. */
static ki_handler scaled_handler(size_t pods)
{
    return (ki_handler){.backlog_items_max = pods,
                        .backlog_bytes_max = (size_t)(64.0 * 1024 * 1024 / 100000 * (double)pods)};
}

/* ---- the pause ---------------------------------------------------------------------------------------- */

static ki_object *make_full_size(size_t number, const struct pod_collection *pods)
{
    struct text json = {0};
    pods_append_item(&json, pods, number);
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json.data, json.length}, NULL, NULL);
    text_fini(&json);
    if (object == NULL) {
        abort();
    }
    return object;
}

static bool fill(ki_store *store, const struct bench_options *options, bool is_full_size)
{
    const struct pod_collection pods = {GENERATE_PODS_SEED, options->pods};
    bool is_filled = store != NULL;
    for (size_t i = 0; i < options->pods && is_filled; i++) {
        ki_object *object = is_full_size ? make_full_size(i, &pods) : store_pods_make(i, 1);
        is_filled = ki_store_put(store, object) == 0;
        (void)ki_object_unref(object);
    }
    return is_filled;
}

static void push(ki_subscriber *subscriber, ki_list *entries)
{
    ki_listener_push_all(&subscriber->listener, entries);
}

/* Each value is that of its best round. */
struct pauses {
    double list; /* the time to list the store, for comparison */
    double join;
    double batches[BATCHES_MAX]; /* after the join, until all is merged, without calls of the handler */
    size_t batch_count;
};

static void keep_best(double *best, double seconds)
{
    *best = *best == 0 || seconds < *best ? seconds : *best;
}

/* As many updates as dispatch delivers at once. Each object occurs once. */
static bool make_batch(const ki_object_list *list, size_t first, ki_list *out_batch)
{
    ki_list_init(out_batch);
    for (size_t i = 0; i < KI_APPLY_STEP; i++) {
        const ki_object *object = list->objects[(first + i) % list->count];
        ki_backlog_entry *entry = ki_backlog_entry_new();
        if (entry == NULL) {
            ki_backlog_entries_free(out_batch);
            return false;
        }
        entry->what = (ki_notification){
            .type = KI_CHANGE_UPDATED, .object = ki_object_ref(object), .old = ki_object_ref(object)};
        ki_list_push_back(out_batch, &entry->node);
    }
    return true;
}

/* All initial adds are waiting; enough events follow to merge everything. */
static bool time_batches(ki_listener *listener, const ki_object_list *list, struct pauses *best)
{
    size_t count = list->count / (KI_BACKLOG_STEP - 1) / KI_APPLY_STEP + 1;
    best->batch_count = count < BATCHES_MAX ? count : BATCHES_MAX;
    for (size_t i = 0; i < best->batch_count; i++) {
        ki_list batch;
        if (!make_batch(list, i * KI_APPLY_STEP, &batch)) {
            return false;
        }
        double start = bench_now_seconds();
        ki_listener_push_all(listener, &batch);
        keep_best(&best->batches[i], bench_now_seconds() - start);
    }
    return true;
}

static bool time_join(ki_store *store, struct pauses *best)
{
    ki_fanout fanout;
    ki_subscriber subscriber = {0};
    ki_object_list list = {0};
    const ki_handler handler = scaled_handler(ki_store_count(store));
    ki_fanout_init(&fanout, push);
    if (ki_listener_init(&subscriber.listener, &handler, ki_clock_real(), 0) < 0) {
        return false;
    }
    double start = bench_now_seconds();
    int rc = ki_fanout_join(&fanout, &subscriber, store, true);
    keep_best(&best->join, bench_now_seconds() - start);
    bool is_done =
        rc == 0 && ki_store_list(store, &list) == 0 && time_batches(&subscriber.listener, &list, best);
    ki_object_list_fini(&list);
    ki_fanout_leave(&subscriber);
    ki_listener_fini(&subscriber.listener);
    return is_done;
}

static bool time_list(ki_store *store, struct pauses *best)
{
    ki_object_list list = {0};
    double start = bench_now_seconds();
    int rc = ki_store_list(store, &list);
    keep_best(&best->list, bench_now_seconds() - start);
    ki_object_list_fini(&list);
    return rc == 0;
}

static bool time_all(ki_store *store, struct pauses *best)
{
    bool is_done = true;
    for (int round = 0; round < ROUNDS && is_done; round++) {
        is_done = time_list(store, best) && time_join(store, best);
    }
    return is_done;
}

/* The most waiting events that one batch merges. */
static double merged_by_batch(double pods)
{
    double most = KI_APPLY_STEP * KI_BACKLOG_STEP;
    return pods < most ? pods : most;
}

/* Converts to milliseconds for a store of 100,000 objects. The time of a join grows with the store, that of a
 * batch only up to what it merges. */
static void scale_pauses(struct pauses *best, double pods)
{
    double batch_scale = 1e3 * merged_by_batch(100000) / merged_by_batch(pods);
    best->list *= 1e3 * 100000 / pods;
    best->join *= 1e3 * 100000 / pods;
    for (size_t i = 0; i < best->batch_count; i++) {
        best->batches[i] *= batch_scale;
    }
}

/* Prints one line of times, and compares them with their limits. */
static void print_pauses(const struct pauses *best, const char *size, bool *out_met)
{
    char line[96];
    double all = 0;
    double longest = 0;
    for (size_t i = 0; i < best->batch_count; i++) {
        all += best->batches[i];
        longest = best->batches[i] > longest ? best->batches[i] : longest;
    }
    printf("%s, ms for 100,000: a list of the store %.1f, the join %.1f, the longest of the %zu batches "
           "after it "
           "%.1f, all of them %.1f\n",
           size, best->list, best->join, best->batch_count, longest, all);
    (void)snprintf(line, sizeof(line), "late handler, %s: the join, times a list of the store", size);
    *out_met &= bench_target(line, best->join / best->list, "<=", LISTS_MAX);
    (void)snprintf(line, sizeof(line), "late handler, %s: the join and the first batch, ms", size);
    *out_met &= bench_target(line, best->join + best->batches[0], "<=", PAUSE_MS_MAX);
    (void)snprintf(line, sizeof(line), "late handler, %s: the longest pause, ms", size);
    longest = best->join > longest ? best->join : longest;
    *out_met &= bench_target(line, longest, "<=", PAUSE_MS_MAX);
}

static bool bench_size(const struct bench_options *options, bool is_full_size, bool *out_met)
{
    ki_store *store = ki_store_new(NULL, NULL);
    struct pauses best = {0};
    bool is_done = fill(store, options, is_full_size) && time_all(store, &best);
    if (is_done) {
        scale_pauses(&best, (double)options->pods);
        print_pauses(&best, is_full_size ? "full-size" : "small", out_met);
    }
    ki_store_free(store);
    return is_done;
}

bool pipeline_late_bench_join(const struct bench_options *options, bool *out_met)
{
    printf("\na late handler in a store of %llu\n", (unsigned long long)options->pods);
    return bench_size(options, false, out_met) && bench_size(options, true, out_met);
}

/* ---- other handlers ----------------------------------------------------------------------------------- */

/* A handler that also records the longest time without a call. */
struct witness {
    struct pipeline_counter counter;
    double heard;
    double silence;
};

static void watch_events(const ki_event *event, void *user)
{
    struct witness *witness = user;
    double now = bench_now_seconds();
    double silence = witness->heard == 0 ? 0 : now - witness->heard;
    witness->silence = silence > witness->silence ? silence : witness->silence;
    witness->heard = now;
    pipeline_count(event, &witness->counter);
}

struct silence {
    double seconds; /* the longest of a round; the smallest of all rounds */
    double rate;    /* events per second, in the best round */
};

struct others {
    size_t count;
    uint64_t version;
    struct silence best[2]; /* without and with a late handler */
};

/* Updates one object after the other and waits until the witness has received all updates. */
static bool run_updates(struct pipeline *pipeline, struct witness *witness, uint64_t *version, size_t count)
{
    bool is_done = true;
    witness->counter.wanted = atomic_load(&witness->counter.events) + count;
    witness->heard = 0;
    witness->silence = 0;
    for (size_t i = 0; i < count && is_done; i++) {
        ki_object *object = store_pods_make(i, ++*version);
        is_done = pipeline_push(pipeline, object, *version);
        (void)ki_object_unref(object);
    }
    pipeline_end_pushes(pipeline);
    if (is_done) {
        pipeline_counter_wait(&witness->counter);
    }
    return is_done;
}

/* Makes the same updates, with or without a handler that is added at their start and removed after them.
 * Keeps the shorter silence. */
static bool run_round(struct pipeline *pipeline, struct witness *witness, struct others *others, bool is_late)
{
    struct pipeline_counter late;
    ki_registration *registration = NULL;
    pipeline_counter_init(&late, 0);
    double start = bench_now_seconds();
    if (is_late) {
        ki_handler handler = pipeline_counting_handler(&late);
        registration = ki_informer_add_handler(pipeline->informer, &handler, NULL);
    }
    bool is_done =
        (!is_late || registration != NULL) && run_updates(pipeline, witness, &others->version, others->count);
    double rate = (double)others->count / (bench_now_seconds() - start);
    struct silence *best = &others->best[is_late];
    best->rate = rate > best->rate ? rate : best->rate;
    if (best->seconds == 0 || witness->silence < best->seconds) {
        best->seconds = witness->silence;
    }
    if (registration != NULL) {
        is_done = ki_registration_remove_and_wait(registration) == 0 && is_done;
    }
    pipeline_counter_fini(&late);
    return is_done;
}

/* The first updates are adds. Rounds with and without a late handler take turns. */
static bool run_others(struct pipeline *pipeline, struct witness *witness, struct others *others)
{
    bool is_done =
        pipeline_start(pipeline) && run_updates(pipeline, witness, &others->version, others->count);
    for (int i = 0; i < SILENCE_ROUNDS && is_done; i++) {
        is_done = run_round(pipeline, witness, others, false) && run_round(pipeline, witness, others, true);
    }
    pipeline_close(pipeline);
    return is_done;
}

/* Threads that wait for a CPU are silent as well. So the best round with a late handler is compared with the
 * best one without, and the limit for a small collection is at least a time slice of the scheduler. */
static void print_others(const struct others *others, bool *out_met)
{
    static const char *const names[] = {"updates", "updates, late handler"};
    double limit = PAUSE_MS_MAX * (double)others->count / 100000;
    for (int i = 0; i < 2; i++) {
        printf("%-34s %12.0f events/s, longest silence %6.1f ms\n", names[i], others->best[i].rate,
               others->best[i].seconds * 1e3);
    }
    *out_met &= bench_target("late handler: added to the longest silence of another handler, ms",
                             (others->best[1].seconds - others->best[0].seconds) * 1e3,
                             "<=", limit < TURN_MS ? TURN_MS : limit);
}

bool pipeline_late_bench_others(const struct bench_options *options, bool *out_met)
{
    struct pipeline pipeline = {0};
    struct witness witness = {0};
    struct others others = {.count = options->pods, .version = 1};
    pipeline_counter_init(&witness.counter, 0);
    const ki_handler handler = {.on_add = watch_events, .on_update = watch_events, .user = &witness};
    bool is_done = pipeline_open(&pipeline, NULL) &&
                   ki_informer_add_handler(pipeline.informer, &handler, NULL) != NULL &&
                   run_others(&pipeline, &witness, &others);
    if (is_done) {
        print_others(&others, out_met);
    }
    pipeline_counter_fini(&witness.counter);
    return is_done;
}
