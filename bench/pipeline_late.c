/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_late.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache/fanout.h"
#include "generate_pods.h"
#include "pipeline.h"
#include "store_pods.h"
#include "util/clock.h"

enum { ROUNDS = 15, LISTS_MAX = 5 };

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

static void wake_nobody(ki_subscriber *subscriber)
{
    (void)subscriber;
}

static void push(ki_listener *listener, ki_backlog_entry *entry)
{
    ki_list one;
    ki_list_init(&one);
    ki_list_push_back(&one, &entry->node);
    ki_listener_push_all(listener, &one);
}

/* Merging is put off until an event comes behind the initial adds while they still wait: then dispatch pays for
 * it. */
static bool time_first_event(ki_listener *listener, ki_store *store, double *out_seconds)
{
    ki_object_list list = {0};
    ki_backlog_entry *entry = ki_backlog_entry_new();
    if (entry == NULL || ki_store_list(store, &list) < 0) {
        ki_backlog_entry_free(entry);
        return false;
    }
    entry->what = (ki_notification){.type = KI_EVENT_UPDATE,
                                    .object = ki_object_ref(list.objects[0]),
                                    .old = ki_object_ref(list.objects[0])};
    ki_object_list_fini(&list);
    double start = bench_now_seconds();
    push(listener, entry);
    *out_seconds = bench_now_seconds() - start;
    return true;
}

static bool time_join(ki_store *store, double *out_seconds, double *out_first_event)
{
    ki_fanout fanout;
    ki_subscriber subscriber = {0};
    const ki_handler handler = {0};
    ki_fanout_init(&fanout, wake_nobody);
    if (ki_listener_init(&subscriber.listener, &handler, ki_clock_real(), 0) < 0) {
        return false;
    }
    double start = bench_now_seconds();
    int rc = ki_fanout_join(&fanout, &subscriber, store, true);
    *out_seconds = bench_now_seconds() - start;
    bool is_done = rc == 0 && time_first_event(&subscriber.listener, store, out_first_event);
    ki_fanout_leave(&subscriber);
    ki_listener_fini(&subscriber.listener);
    return is_done;
}

static bool time_list(ki_store *store, double *out_seconds)
{
    ki_object_list list = {0};
    double start = bench_now_seconds();
    int rc = ki_store_list(store, &list);
    *out_seconds = bench_now_seconds() - start;
    ki_object_list_fini(&list);
    return rc == 0;
}

struct pauses {
    double join;
    double first_event; /* behind the initial adds, none of which has been delivered */
    double both;
    double list;
};

static void keep_best(double *best, double seconds)
{
    *best = *best == 0 || seconds < *best ? seconds : *best;
}

/* The best of some rounds that take turns. */
static bool time_all(ki_store *store, struct pauses *out_best)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pauses p = {0};
        if (!time_list(store, &p.list) || !time_join(store, &p.join, &p.first_event)) {
            return false;
        }
        keep_best(&out_best->join, p.join);
        keep_best(&out_best->first_event, p.first_event);
        keep_best(&out_best->both, p.join + p.first_event);
        keep_best(&out_best->list, p.list);
    }
    return true;
}

static bool bench_size(const struct bench_options *options, bool is_full_size, bool *out_met)
{
    ki_store *store = ki_store_new(NULL, NULL);
    struct pauses best = {0};
    bool is_done = fill(store, options, is_full_size) && time_all(store, &best);
    if (is_done) {
        const char *size = is_full_size ? "full-size" : "small";
        double scale = 1e3 * 100000 / (double)options->pods;
        char line[96];
        printf("%s, ms per 100,000: join %.1f, first event behind it %.1f, both %.1f; a list takes %.1f\n",
               size, best.join * scale, best.first_event * scale, best.both * scale, best.list * scale);
        (void)snprintf(line, sizeof(line), "late handler, %s: the join, times a list of the store", size);
        *out_met &= bench_target(line, best.join / best.list, "<=", LISTS_MAX);
        (void)snprintf(line, sizeof(line), "late handler, %s: the first event, likewise", size);
        *out_met &= bench_target(line, best.first_event / best.list, "<=", LISTS_MAX);
    }
    ki_store_free(store);
    return is_done;
}

bool pipeline_late_bench_join(const struct bench_options *options, bool *out_met)
{
    printf("\na late handler in a store of %llu\n", (unsigned long long)options->pods);
    return bench_size(options, false, out_met) && bench_size(options, true, out_met);
}

/* ---- the others --------------------------------------------------------------------------------------- */

/* A handler that also notes how long it heard nothing at the most. */
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

/* Updates one object after the other and waits until the witness has heard of all. */
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
    if (is_done) {
        pipeline_counter_wait(&witness->counter);
    }
    return is_done;
}

/* Three times the same updates: the first are adds; a late handler comes with the last. */
static bool run_others(struct pipeline *pipeline, struct witness *witness, size_t count)
{
    static const char *const names[] = {"adds", "updates", "updates, late handler"};
    struct pipeline_counter late;
    uint64_t version = 1;
    bool is_done = pipeline_start(pipeline);
    pipeline_counter_init(&late, 0);
    for (int i = 0; i < 3 && is_done; i++) {
        double start = bench_now_seconds();
        if (i == 2) {
            ki_handler handler = pipeline_counting_handler(&late);
            is_done = ki_informer_add_handler(pipeline->informer, &handler) != NULL;
        }
        is_done = is_done && run_updates(pipeline, witness, &version, count);
        printf("%-34s %12.0f events/s, longest silence %6.1f ms\n", names[i],
               (double)count / (bench_now_seconds() - start), witness->silence * 1e3);
    }
    pipeline_close(pipeline);
    pipeline_counter_fini(&late);
    return is_done;
}

bool pipeline_late_bench_others(const struct bench_options *options)
{
    struct pipeline pipeline = {0};
    struct witness witness = {0};
    pipeline_counter_init(&witness.counter, 0);
    const ki_handler handler = {.on_add = watch_events, .on_update = watch_events, .user = &witness};
    bool is_done = pipeline_open(&pipeline, NULL) &&
                   ki_informer_add_handler(pipeline.informer, &handler) != NULL &&
                   run_others(&pipeline, &witness, options->pods);
    pipeline_counter_fini(&witness.counter);
    return is_done;
}
