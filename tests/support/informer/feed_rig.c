/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/feed_rig.h"

#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "support/store/store_check.h"
#include "support/unit.h"
#include "util/units.h"

enum { STEP_MS = 50 };

/* ---- running ------------------------------------------------------------------------------------------- */

void feed_rig_init(feed_rig *r, uint64_t seed)
{
    *r = (feed_rig){0};
    ki_clock_init_virtual(&r->clock, KI_NS_PER_S, 1);
    r->world = sim_world_new(&(sim_world_options){.seed = seed});
    r->server = sim_server_new(&(sim_server_options){.world = r->world,
                                                     .clock = &r->clock,
                                                     .calls = &sim_library_calls,
                                                     .seed = seed + 1,
                                                     .latency_ns_max = KI_NS_PER_MS,
                                                     .piece_bytes_max = 300});
    r->source = sim_server_list_watch(r->server);
    for (int i = 0; i < 60; i++)
        sim_world_mutate(r->world);
}

int feed_rig_make_client(feed_rig *r)
{
    r->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &r->clock, 7, NULL);
    return r->client != NULL;
}

static void on_error(const ki_informer_error *error, void *user)
{
    feed_rig *r = user;
    assert_non_null(error->error);
    r->errors++;
}

static void on_release(void *user)
{
    feed_rig *r = user;
    r->releases++;
}

void feed_rig_make_feed(feed_rig *r, ki_feed_options options)
{
    options.informer.list_watch = &r->source;
    options.on_error = on_error;
    options.on_release = on_release;
    options.user = r;
    r->feed = ki_feed_new(r->client, &KI_CORE_V1_PODS, &options, NULL);
}

void feed_rig_start(feed_rig *r)
{
    assert_non_null(r->feed);
    assert_int_equal(ki_feed_start(r->feed, NULL), 0);
}

void feed_rig_fini(feed_rig *r)
{
    ki_feed_free(r->feed);
    ki_client_free(r->client);
    ki_delta_queue_free(r->queue);
    ki_store_free(r->store);
    assert_int_equal(sim_server_counts(r->server)->misuse, 0);
    assert_int_equal(sim_server_open_count(r->server), 0);
    sim_server_free(r->server);
    sim_world_free(r->world);
}

void feed_rig_step(feed_rig *r)
{
    sim_server_step(r->server);
    assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
    uint64_t now = ki_clock_now_ns(&r->clock);
    uint64_t next = ki_ns_min(sim_server_next_ns(r->server), ki_loop_next_ns(r->client->handlers));
    next = ki_ns_min(next, now + STEP_MS * KI_NS_PER_MS);
    if (next > now)
        ki_clock_set_now_ns(&r->clock, next);
}

void feed_rig_run(feed_rig *r, uint64_t seconds)
{
    uint64_t end = ki_clock_now_ns(&r->clock) + seconds * KI_NS_PER_S;
    while (ki_clock_now_ns(&r->clock) < end)
        feed_rig_step(r);
}

void feed_rig_disturb(feed_rig *r, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 30; k++) {
            sim_world_mutate(r->world);
            feed_rig_step(r);
        }
        sim_server_cut_all(r->server);
        for (int k = 0; k < 10; k++)
            sim_world_mutate(r->world);
        if (i % 2 == 0)
            sim_world_compact(r->world);
        feed_rig_run(r, 5);
    }
}

/* Things that a server may do to a client, and things that it should not do. */
static const sim_faults faults = {.eager = 0.3,
                                  .limit_ignored = 0.1,
                                  .metadata_last = 0.2,
                                  .expired_as_status = 0.3,
                                  .watch_list_refused = 0.3,
                                  .http_500 = 0.05,
                                  .cut_body = 0.1,
                                  .stale_list = 0.1,
                                  .watch_list_endless = 0.1,
                                  .cut_between = 0.02,
                                  .cut_in_event = 0.02,
                                  .duplicate_event = 0.1,
                                  .malformed_item = 0.05,
                                  .lag_records_max = 5};

void feed_rig_disturb_with_faults(feed_rig *r, int rounds)
{
    sim_server_set_faults(r->server, &faults);
    feed_rig_disturb(r, rounds);
    sim_server_set_faults(r->server, &(sim_faults){0});
    sim_server_cut_all(r->server);
    feed_rig_run(r, 120);
    sim_world_touch_all(r->world);
    feed_rig_run(r, 120);
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

void feed_rig_assert_store_is_world(feed_rig *r)
{
    uint32_t cursor = 0;
    sim_object expected;
    while (sim_world_next(r->world, &cursor, &expected)) {
        ki_object *object = ki_store_get(r->store, ki_str_of(expected.ns), ki_str_of(expected.name));
        assert_non_null(object);
        assert_true(ki_str_equal(ki_object_resource_version(object), ki_str_of(expected.version)));
        ki_object_unref(object);
    }
    assert_int_equal(ki_store_count(r->store), sim_world_count(r->world));
    assert_int_equal(store_check(r->store, NULL), 0);
}

void feed_rig_assert_array_is_world(feed_rig *r)
{
    size_t count = 0;
    for (uint32_t key = 0; key < sim_world_key_count(r->world); key++) {
        const sim_record *record = sim_world_object(r->world, key);
        sim_object expected = {0};
        if (record != NULL)
            sim_world_describe(r->world, record, &expected);
        assert_string_equal(r->versions[key], expected.version);
        count += r->versions[key][0] != 0;
    }
    assert_int_equal(count, sim_world_count(r->world));
}

void feed_rig_assert_version_is_the_worlds(const feed_rig *r)
{
    char version[24];
    char expected[24];
    snprintf(expected, sizeof(expected), "%llu", (unsigned long long)sim_world_version(r->world));
    assert_int_equal(ki_feed_last_resource_version(r->feed, version, sizeof(version)), strlen(expected));
    assert_string_equal(version, expected);
}

/* ---- destinations -------------------------------------------------------------------------------------- */

static void copy_version(char *to, ki_str version)
{
    snprintf(to, 24, "%.*s", KI_STR_ARGS(version));
}

static void sweep(feed_rig *r, const ki_change *change)
{
    int order = 1;
    if (r->complete[0] != 0)
        assert_int_equal(ki_resource_version_compare(change->version, ki_str_of(r->complete), &order), 0);
    if (order < 0)
        return;
    for (int key = 0; key < FEED_RIG_KEYS_MAX; key++)
        if (r->lists[key] != change->list)
            r->versions[key][0] = 0;
    copy_version(r->complete, change->version);
}

/* A mirror of the world, as a program with its own queue might keep one. */
static void mirror(feed_rig *r, const ki_change *change)
{
    uint32_t key = SIM_NONE;
    if (change->object != NULL)
        key = sim_world_key(r->world, ki_object_namespace(change->object), ki_object_name(change->object));
    if (change->change_type == KI_CHANGE_LIST_END) {
        sweep(r, change);
    } else if (change->change_type == KI_CHANGE_RESET) {
        r->complete[0] = 0;
    } else if (key != SIM_NONE) {
        copy_version(r->versions[key], change->change_type == KI_CHANGE_DELETED
                                           ? KI_STR("")
                                           : ki_object_resource_version(change->object));
        if (change->change_type == KI_CHANGE_REPLACED)
            r->lists[key] = change->list;
    }
}

static void act_from_callback(feed_rig *r, int count)
{
    if (r->frees_after == count)
        ki_feed_free(r->feed);
    if (r->stops_after == count)
        ki_feed_stop(r->feed);
}

int feed_rig_on_change(const ki_change *change, void *user)
{
    feed_rig *r = user;
    mirror(r, change);
    r->changes++;
    act_from_callback(r, r->changes);
    if (r->full_after == 0 || r->changes < r->full_after)
        return 0;
    r->is_full = 1;
    return 1;
}

int feed_rig_process(const ki_deltas *deltas, void *user)
{
    feed_rig *r = user;
    if (r->answer != 0)
        return r->answer;
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = &deltas->items[i];
        r->processed++;
        r->syncs += delta->change_type == KI_CHANGE_SYNC;
        r->replaced += delta->change_type == KI_CHANGE_REPLACED;
        r->unseen_deletes += delta->final_state_unknown;
        if (delta->change_type != KI_CHANGE_DELETED && ki_store_put(r->store, delta->object) < 0)
            return KI_DELTA_QUEUE_REQUEUE;
        if (delta->change_type == KI_CHANGE_DELETED)
            (void)ki_store_remove(r->store, deltas->key);
    }
    act_from_callback(r, r->processed);
    return 0;
}

void feed_rig_start_store(feed_rig *r, uint64_t seed)
{
    feed_rig_init(r, seed);
    assert_true(feed_rig_make_client(r));
    r->store = ki_store_new(NULL, NULL);
    feed_rig_make_feed(r, (ki_feed_options){.store = r->store});
    feed_rig_start(r);
}

void feed_rig_start_queue(feed_rig *r, uint64_t seed, ki_feed_options options)
{
    feed_rig_init(r, seed);
    assert_true(feed_rig_make_client(r));
    r->store = ki_store_new(NULL, NULL);
    r->queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r->store, .items_max = 20}, NULL);
    options.queue = r->queue;
    feed_rig_make_feed(r, options);
    feed_rig_start(r);
}

void feed_rig_start_callback(feed_rig *r, uint64_t seed, ki_feed_options options)
{
    feed_rig_init(r, seed);
    assert_true(feed_rig_make_client(r));
    options.on_change = feed_rig_on_change;
    feed_rig_make_feed(r, options);
    feed_rig_start(r);
}
