/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer.h>
#include <stdio.h>
#include <string.h>

#include "cache/client.h"
#include "support/failing_allocator.h"
#include "support/sim_server.h"
#include "support/unit.h"
#include "util/units.h"

enum { KEYS_MAX = 128, STEP_MS = 50 };

/* Everything between a world and a destination. */
typedef struct rig {
    ki_clock clock;
    sim_world *world;
    sim_server *server;
    ki_list_watch source;
    ki_client *client;
    ki_feed *feed;
    ki_store *store; /* the destination, or what the queue knows */
    ki_delta_queue *queue;
    int errors;
    int releases;
    int processed; /* deltas, as the next three */
    int syncs;
    int unseen_deletes;
    int replaced;
    int answer;      /* of `process` */
    int frees_after; /* deltas or changes, then frees the feed from the callback; 0: never */
    int stops_after; /* likewise */
    int changes;     /* that on_change took */
    int full_after;  /* changes, then says that it is full; 0: never */
    int is_full;
    char versions[KEYS_MAX][24]; /* by on_change; "" is absent */
    uint32_t lists[KEYS_MAX];
    char complete[24];
} rig;

/* ---- driving ------------------------------------------------------------------------------------------- */

static void setup(rig *r, uint64_t seed)
{
    *r = (rig){0};
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

/* The client is made here, so that it counts with a failing allocator. Returns whether there is one. */
static int make_client(rig *r)
{
    r->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &r->clock, 7, NULL);
    return r->client != NULL;
}

static void on_error(const ki_watch_error *error, void *user)
{
    rig *r = user;
    assert_non_null(error->error);
    r->errors++;
}

static void on_release(void *user)
{
    rig *r = user;
    r->releases++;
}

static void make_feed(rig *r, ki_feed_options options)
{
    options.informer.list_watch = &r->source;
    options.on_error = on_error;
    options.on_release = on_release;
    options.user = r;
    r->feed = ki_feed_new(r->client, &KI_CORE_V1_PODS, &options, NULL);
}

static void start(rig *r)
{
    assert_non_null(r->feed);
    assert_int_equal(ki_feed_start(r->feed, NULL), 0);
}

static void teardown(rig *r)
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

static void step(rig *r)
{
    sim_server_step(r->server);
    assert_true(ki_client_dispatch(r->client, 0) >= 0);
    uint64_t now = ki_clock_now_ns(&r->clock);
    uint64_t next = ki_ns_min(sim_server_next_ns(r->server), ki_loop_next_ns(r->client->handlers));
    next = ki_ns_min(next, now + STEP_MS * KI_NS_PER_MS);
    if (next > now)
        ki_clock_set_now_ns(&r->clock, next);
}

static void run(rig *r, uint64_t seconds)
{
    uint64_t end = ki_clock_now_ns(&r->clock) + seconds * KI_NS_PER_S;
    while (ki_clock_now_ns(&r->clock) < end)
        step(r);
}

/* Changes, cuts, and histories that are forgotten, so that the client lists again. */
static void disturb(rig *r, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 30; k++) {
            sim_world_mutate(r->world);
            step(r);
        }
        sim_server_cut_all(r->server);
        for (int k = 0; k < 10; k++)
            sim_world_mutate(r->world);
        if (i % 2 == 0)
            sim_world_compact(r->world);
        run(r, 5);
    }
}

/* What a server may do to a client, and what it should not. */
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

static void disturb_with_faults(rig *r, int rounds)
{
    sim_server_set_faults(r->server, &faults);
    disturb(r, rounds);
    sim_server_set_faults(r->server, &(sim_faults){0});
    sim_server_cut_all(r->server);
    run(r, 120);
    sim_world_touch_all(r->world);
    run(r, 120);
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

static void assert_store_is_world(rig *r)
{
    uint32_t cursor = 0;
    sim_object expected;
    while (sim_world_next(r->world, &cursor, &expected)) {
        ki_object *object = ki_store_get(r->store, expected.ns, expected.name);
        assert_non_null(object);
        assert_true(ki_str_equal(ki_object_resource_version(object), ki_str_of(expected.version)));
        ki_object_unref(object);
    }
    assert_int_equal(ki_store_count(r->store), sim_world_count(r->world));
    assert_int_equal(ki_store_check(r->store, NULL), 0);
}

static void assert_array_is_world(rig *r)
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

static void assert_version_is_the_worlds(const rig *r)
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

static void sweep(rig *r, const ki_change *change)
{
    int order = 1;
    if (r->complete[0] != 0)
        assert_int_equal(ki_resource_version_compare(change->version, ki_str_of(r->complete), &order), 0);
    if (order < 0)
        return;
    for (int key = 0; key < KEYS_MAX; key++)
        if (r->lists[key] != change->list)
            r->versions[key][0] = 0;
    copy_version(r->complete, change->version);
}

/* A mirror of the world as whoever writes a queue of their own might keep it. */
static void mirror(rig *r, const ki_change *change)
{
    uint32_t key = SIM_NONE;
    if (change->object != NULL)
        key = sim_world_key(r->world, ki_object_namespace(change->object), ki_object_name(change->object));
    if (change->type == KI_CHANGE_LIST_END) {
        sweep(r, change);
    } else if (change->type == KI_CHANGE_RESET) {
        r->complete[0] = 0;
    } else if (key != SIM_NONE) {
        copy_version(r->versions[key], change->type == KI_CHANGE_DELETED
                                           ? KI_STR("")
                                           : ki_object_resource_version(change->object));
        if (change->type == KI_CHANGE_ITEM)
            r->lists[key] = change->list;
    }
}

static void act_from_callback(rig *r, int count)
{
    if (r->frees_after == count)
        ki_feed_free(r->feed);
    if (r->stops_after == count)
        ki_feed_stop(r->feed);
}

static int on_change(const ki_change *change, void *user)
{
    rig *r = user;
    mirror(r, change);
    r->changes++;
    act_from_callback(r, r->changes);
    if (r->full_after == 0 || r->changes < r->full_after)
        return 0;
    r->is_full = 1;
    return 1;
}

static int process(const ki_queued_deltas *deltas, void *user)
{
    rig *r = user;
    if (r->answer != 0)
        return r->answer;
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_queued_delta *delta = &deltas->items[i];
        r->processed++;
        r->syncs += delta->type == KI_QUEUED_SYNC;
        r->replaced += delta->type == KI_QUEUED_REPLACED;
        r->unseen_deletes += delta->final_state_unknown;
        if (delta->type != KI_QUEUED_DELETED && ki_store_put(r->store, delta->object) < 0)
            return KI_DELTA_QUEUE_REQUEUE;
        if (delta->type == KI_QUEUED_DELETED)
            (void)!ki_store_remove(r->store, deltas->key);
    }
    act_from_callback(r, r->processed);
    return 0;
}

static void setup_store(rig *r, uint64_t seed)
{
    setup(r, seed);
    assert_true(make_client(r));
    r->store = ki_store_new(NULL, NULL);
    make_feed(r, (ki_feed_options){.store = r->store});
    start(r);
}

static void setup_queue(rig *r, uint64_t seed, ki_feed_options options)
{
    setup(r, seed);
    assert_true(make_client(r));
    r->store = ki_store_new(NULL, NULL);
    r->queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r->store, .items_max = 20}, NULL);
    options.queue = r->queue;
    make_feed(r, options);
    start(r);
}

static void setup_callback(rig *r, uint64_t seed, ki_feed_options options)
{
    setup(r, seed);
    assert_true(make_client(r));
    options.on_change = on_change;
    make_feed(r, options);
    start(r);
}

/* ---- converging ---------------------------------------------------------------------------------------- */

static void store_follows_the_world_through_relists(void **state)
{
    (void)state;
    rig r;
    setup_store(&r, 1);
    run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    disturb(&r, 8);
    run(&r, 60);
    assert_store_is_world(&r);
    assert_version_is_the_worlds(&r);
    assert_true(r.errors > 0);
    teardown(&r);
}

static void queue_follows_the_world_through_relists(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 2, (ki_feed_options){.process = process});
    disturb(&r, 8);
    run(&r, 60);
    assert_true(ki_feed_has_synced(r.feed));
    assert_store_is_world(&r);
    assert_version_is_the_worlds(&r);
    assert_true(r.replaced > 0 && r.unseen_deletes > 0);
    teardown(&r);
}

static void callback_follows_the_world_through_relists(void **state)
{
    (void)state;
    rig r;
    setup_callback(&r, 3, (ki_feed_options){0});
    disturb(&r, 8);
    run(&r, 60);
    assert_true(ki_feed_has_synced(r.feed));
    assert_array_is_world(&r);
    assert_version_is_the_worlds(&r);
    teardown(&r);
}

static void store_follows_a_server_with_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 20; seed++) {
        rig r;
        setup_store(&r, seed);
        disturb_with_faults(&r, 10);
        assert_store_is_world(&r);
        teardown(&r);
    }
}

static void queue_follows_a_server_with_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 20; seed < 30; seed++) {
        rig r;
        setup_queue(&r, seed, (ki_feed_options){.process = process, .resync_ms = 3000});
        disturb_with_faults(&r, 10);
        assert_store_is_world(&r);
        teardown(&r);
    }
}

static void destinations_follow_a_new_history(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 4, (ki_feed_options){.process = process});
    run(&r, 10);
    sim_world_reset_history(r.world, 20);
    run(&r, 300);
    assert_store_is_world(&r);
    assert_version_is_the_worlds(&r);
    teardown(&r);
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static void item_that_cannot_be_used_keeps_its_last_good_version(void **state)
{
    (void)state;
    rig r;
    setup_store(&r, 5);
    run(&r, 5);
    size_t before = ki_store_count(r.store);
    sim_server_set_faults(r.server, &(sim_faults){.malformed_item = 1});
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    run(&r, 30);
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_true(status.lists > 1 && status.refused > 0);
    assert_int_equal(ki_store_count(r.store), before);
    assert_store_is_world(&r);
    teardown(&r);
}

static void queued_item_that_cannot_be_used_is_not_deleted(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 6, (ki_feed_options){.process = process});
    run(&r, 5);
    sim_server_set_faults(r.server, &(sim_faults){.malformed_item = 1});
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    run(&r, 30);
    assert_int_equal(r.unseen_deletes, 0);
    assert_store_is_world(&r);
    teardown(&r);
}

static void waiting_item_that_cannot_be_used_is_not_deleted(void **state)
{
    (void)state;
    rig r;
    setup(&r, 9);
    assert_true(make_client(&r));
    r.store = ki_store_new(NULL, NULL);
    r.queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r.store}, NULL);
    make_feed(&r, (ki_feed_options){.queue = r.queue});
    start(&r);
    run(&r, 5);
    for (int i = 0; i < 10; i++) /* some are known, the others wait */
        assert_int_equal(ki_delta_queue_pop(r.queue, process, &r, 0), 0);
    sim_server_set_faults(r.server, &(sim_faults){.malformed_item = 1});
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    run(&r, 30);
    while (ki_delta_queue_pop(r.queue, process, &r, 0) == 0)
        ;
    assert_int_equal(r.unseen_deletes, 0);
    assert_true(r.replaced > (int)sim_world_count(r.world));
    assert_store_is_world(&r);
    teardown(&r);
}

static void missed_delete_has_an_unknown_final_state(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 7, (ki_feed_options){.process = process});
    run(&r, 5);
    uint32_t key = 0;
    while (sim_world_object(r.world, key) == NULL)
        key++;
    assert_int_equal(r.unseen_deletes, 0);
    sim_server_cut_all(r.server);
    sim_world_delete(r.world, key);
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    run(&r, 30);
    assert_int_equal(r.unseen_deletes, 1);
    assert_store_is_world(&r);
    teardown(&r);
}

static ki_str key_with_a_prefix(const ki_object *object, char *buffer, size_t buffer_bytes, void *user)
{
    (void)user;
    if (ki_str_equal(ki_object_namespace(object), KI_STR("a")))
        return (ki_str){0};
    int n = snprintf(buffer, buffer_bytes, "pods:%s", ki_object_key(object));
    return (ki_str){buffer, (size_t)n};
}

static void store_with_keys_of_its_own_leaves_out_what_has_none(void **state)
{
    (void)state;
    rig r;
    setup(&r, 8);
    assert_true(make_client(&r));
    r.store = ki_store_new(&(ki_store_options){.key = key_with_a_prefix}, NULL);
    make_feed(&r, (ki_feed_options){.store = r.store});
    start(&r);
    disturb(&r, 6);
    run(&r, 60);
    size_t expected = 0;
    sim_object object;
    for (uint32_t cursor = 0; sim_world_next(r.world, &cursor, &object);)
        expected += strcmp(object.ns, "a") != 0;
    assert_int_equal(ki_store_count(r.store), expected);
    teardown(&r);
}

/* ---- processing ---------------------------------------------------------------------------------------- */

static void resync_delivers_each_known_object_again(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 30, (ki_feed_options){.process = process, .resync_ms = 10000});
    run(&r, 9);
    assert_int_equal(r.syncs, 0);
    run(&r, 2);
    assert_int_equal(r.syncs, sim_world_count(r.world));
    sim_server_cut_all(r.server);
    run(&r, 10);
    assert_int_equal(r.syncs, 2 * sim_world_count(r.world));
    teardown(&r);
}

static void resync_of_less_than_a_second_is_one_of_a_second(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 31, (ki_feed_options){.process = process, .resync_ms = 1});
    run(&r, 5);
    assert_in_range(r.syncs, 3 * sim_world_count(r.world), 5 * sim_world_count(r.world));
    teardown(&r);
}

static void what_is_put_back_is_processed_later(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 32, (ki_feed_options){.process = process});
    r.answer = KI_DELTA_QUEUE_REQUEUE;
    run(&r, 5);
    assert_false(ki_feed_has_synced(r.feed));
    assert_true(ki_delta_queue_len(r.queue) > 0);
    r.answer = 0;
    run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    assert_store_is_world(&r);
    teardown(&r);
}

static void what_fails_is_dropped(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 33, (ki_feed_options){.process = process});
    r.answer = KI_ERR_TIMEOUT;
    run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    assert_int_equal(ki_delta_queue_len(r.queue), 0);
    assert_int_equal(ki_store_count(r.store), 0);
    teardown(&r);
}

static void program_that_pops_for_itself_is_not_drowned(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 34, (ki_feed_options){0});
    for (int i = 0; i < 100; i++) {
        sim_world_touch_all(r.world);
        run(&r, 1);
    }
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_true(status.events < 500); /* of several thousand */
    assert_true(status.queued >= 20);
    assert_false(ki_feed_has_synced(r.feed));
    for (int i = 0; i < 600; i++) {
        while (ki_delta_queue_pop(r.queue, process, &r, 0) == 0)
            ;
        run(&r, 1);
    }
    assert_true(ki_feed_has_synced(r.feed));
    assert_store_is_world(&r);
    teardown(&r);
}

static void full_callback_is_left_alone_until_there_is_room(void **state)
{
    (void)state;
    rig r;
    const ki_informer_options paged = {.page_size = 5, .watch_list = KI_WATCH_LIST_NEVER};
    setup_callback(&r, 35, (ki_feed_options){.informer = paged});
    r.full_after = 3;
    run(&r, 30);
    assert_true(r.is_full);
    assert_in_range(r.changes, 3, 5); /* the rest of a page */
    assert_false(ki_feed_has_synced(r.feed));
    for (int i = 0; i < 200; i++) {
        ki_feed_room(r.feed);
        run(&r, 1);
    }
    assert_true(ki_feed_has_synced(r.feed));
    assert_array_is_world(&r);
    teardown(&r);
}

/* ---- starting and stopping ----------------------------------------------------------------------------- */

static void stopped_feed_goes_on_where_it_was(void **state)
{
    (void)state;
    rig r;
    setup_store(&r, 40);
    run(&r, 5);
    ki_feed_stop(r.feed);
    ki_feed_stop(r.feed);
    assert_int_equal(sim_server_open_count(r.server), 0);
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_int_equal(status.phase, KI_PHASE_STOPPED);
    for (int i = 0; i < 50; i++)
        sim_world_mutate(r.world);
    run(&r, 5);
    start(&r);
    start(&r);
    run(&r, 5);
    assert_store_is_world(&r);
    ki_feed_read_status(r.feed, &status);
    assert_int_equal(status.lists, 1);
    assert_int_equal(status.objects, sim_world_count(r.world));
    teardown(&r);
}

static void stopped_feed_processes_nothing(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 41, (ki_feed_options){.process = process, .resync_ms = 1000});
    r.stops_after = 10;
    run(&r, 20);
    assert_int_equal(r.processed, 10);
    start(&r);
    run(&r, 20);
    assert_true(ki_feed_has_synced(r.feed));
    assert_store_is_world(&r);
    teardown(&r);
}

static void stop_and_start_from_a_callback_loses_nothing(void **state)
{
    (void)state;
    rig r;
    setup_callback(&r, 42, (ki_feed_options){0});
    for (int i = 0; i < 40; i++) {
        r.stops_after = r.changes + 1 + i % 7;
        for (int k = 0; k < 20; k++) {
            sim_world_mutate(r.world);
            step(&r);
            start(&r);
        }
    }
    run(&r, 60);
    assert_array_is_world(&r);
    teardown(&r);
}

static void feed_that_was_never_started_can_be_freed(void **state)
{
    (void)state;
    rig r;
    setup(&r, 43);
    assert_true(make_client(&r));
    make_feed(&r, (ki_feed_options){.on_change = on_change});
    ki_feed_free(r.feed);
    assert_int_equal(r.releases, 1);
    assert_int_equal(r.changes, 0);
    r.feed = NULL;
    teardown(&r);
}

static void free_from_on_change_is_carried_out_afterwards(void **state)
{
    (void)state;
    rig r;
    setup_callback(&r, 44, (ki_feed_options){0});
    r.frees_after = 5;
    run(&r, 5);
    assert_int_equal(r.changes, 5);
    assert_int_equal(r.releases, 1);
    r.feed = NULL;
    teardown(&r);
}

static void free_from_process_is_carried_out_afterwards(void **state)
{
    (void)state;
    rig r;
    setup_queue(&r, 45, (ki_feed_options){.process = process});
    r.frees_after = 5;
    run(&r, 5);
    assert_int_equal(r.processed, 5);
    assert_int_equal(r.releases, 1);
    r.feed = NULL;
    teardown(&r);
}

static void back_off_ends_when_it_is_asked_to(void **state)
{
    (void)state;
    rig r;
    setup(&r, 46);
    assert_true(make_client(&r));
    r.store = ki_store_new(NULL, NULL);
    sim_server_set_faults(r.server, &(sim_faults){.refuse = 1});
    make_feed(&r, (ki_feed_options){.store = r.store, .informer = {.backoff_ms = 20000}});
    start(&r);
    run(&r, 2);
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(status.reason, KI_REASON_CONNECTION_REFUSED);
    sim_server_set_faults(r.server, &(sim_faults){0});
    ki_feed_retry_now(r.feed);
    run(&r, 2);
    assert_true(ki_feed_has_synced(r.feed));
    teardown(&r);
}

static void wait_for_sync_says_why_it_ends(void **state)
{
    (void)state;
    rig r;
    ki_error err = {0};
    setup_store(&r, 47);
    assert_int_equal(ki_feed_wait_for_sync(r.feed, 1000, &err), KI_ERR_TIMEOUT); /* nobody moves the clock */
    assert_non_null(strstr(err.message, "pods: not ready in time"));
    run(&r, 5);
    assert_int_equal(ki_feed_wait_for_sync(r.feed, 1000, &err), 0);
    ki_read_lock();
    assert_int_equal(ki_feed_wait_for_sync(r.feed, 1000, &err), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    assert_int_equal(ki_feed_wait_for_sync(NULL, 1000, &err), KI_ERR_INVALID);
    teardown(&r);
}

/* ---- options and memory -------------------------------------------------------------------------------- */

static void exactly_one_destination_is_wanted(void **state)
{
    (void)state;
    rig r;
    setup(&r, 50);
    assert_true(make_client(&r));
    ki_store *store = ki_store_new(NULL, NULL);
    ki_delta_queue *queue = ki_delta_queue_new(NULL, NULL);
    ki_informer_options ours = {.list_watch = &r.source};
    ki_informer *informer = ki_informer_new(r.client, &KI_CORE_V1_PODS, &ours, NULL);
    const ki_feed_options wrong[] = {
        {.informer = ours},
        {.informer = ours, .on_change = on_change, .store = store},
        {.informer = ours, .store = store, .queue = queue},
        {.informer = ours, .store = store, .process = process},
        {.informer = ours, .on_change = on_change, .resync_ms = 5000},
        {.informer = ours, .store = ki_informer_store(informer)},
        {.on_change = on_change}, /* nobody answers */
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        assert_null(ki_feed_new(r.client, &KI_CORE_V1_PODS, &wrong[i], &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
    }
    ki_informer_free(informer);
    ki_delta_queue_free(queue);
    ki_store_free(store);
    teardown(&r);
}

static void null_feed_does_nothing(void **state)
{
    (void)state;
    char version[8] = "x";
    ki_feed_free(NULL);
    ki_feed_stop(NULL);
    ki_feed_room(NULL);
    ki_feed_retry_now(NULL);
    ki_feed_read_status(NULL, NULL);
    assert_int_equal(ki_feed_start(NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_feed_has_synced(NULL), 0);
    assert_int_equal(ki_feed_last_resource_version(NULL, version, sizeof(version)), 0);
    assert_string_equal(version, "");
    assert_null(ki_feed_new(NULL, &KI_CORE_V1_PODS, NULL, NULL));
}

/* One run in which the n-th allocation fails. Returns whether there were as many. */
static bool run_without_memory(size_t n, int with_queue)
{
    rig r;
    failing_allocator_install();
    setup(&r, 60);
    failing_allocator_fail_at(n);
    r.store = ki_store_new(NULL, NULL);
    if (with_queue)
        r.queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r.store}, NULL);
    if (r.store != NULL && (r.queue != NULL || !with_queue) && make_client(&r))
        make_feed(&r, with_queue ? (ki_feed_options){.queue = r.queue, .process = process, .resync_ms = 2000}
                                 : (ki_feed_options){.store = r.store});
    if (r.feed != NULL) {
        start(&r);
        run(&r, 3);
        disturb(&r, 1);
        run(&r, 60);
    }
    bool has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    if (r.feed != NULL)
        assert_store_is_world(&r);
    teardown(&r);
    assert_int_equal(failing_allocator_live_count(), 0);
    failing_allocator_remove();
    return has_failed;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int with_queue = 0; with_queue < 2; with_queue++) {
        size_t n = 1;
        while (run_without_memory(n, with_queue))
            n++;
        assert_true(n > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_follows_the_world_through_relists),
        cmocka_unit_test(queue_follows_the_world_through_relists),
        cmocka_unit_test(callback_follows_the_world_through_relists),
        cmocka_unit_test(store_follows_a_server_with_faults),
        cmocka_unit_test(queue_follows_a_server_with_faults),
        cmocka_unit_test(destinations_follow_a_new_history),
        cmocka_unit_test(item_that_cannot_be_used_keeps_its_last_good_version),
        cmocka_unit_test(queued_item_that_cannot_be_used_is_not_deleted),
        cmocka_unit_test(waiting_item_that_cannot_be_used_is_not_deleted),
        cmocka_unit_test(missed_delete_has_an_unknown_final_state),
        cmocka_unit_test(store_with_keys_of_its_own_leaves_out_what_has_none),
        cmocka_unit_test(resync_delivers_each_known_object_again),
        cmocka_unit_test(resync_of_less_than_a_second_is_one_of_a_second),
        cmocka_unit_test(what_is_put_back_is_processed_later),
        cmocka_unit_test(what_fails_is_dropped),
        cmocka_unit_test(program_that_pops_for_itself_is_not_drowned),
        cmocka_unit_test(full_callback_is_left_alone_until_there_is_room),
        cmocka_unit_test(stopped_feed_goes_on_where_it_was),
        cmocka_unit_test(stopped_feed_processes_nothing),
        cmocka_unit_test(stop_and_start_from_a_callback_loses_nothing),
        cmocka_unit_test(feed_that_was_never_started_can_be_freed),
        cmocka_unit_test(free_from_on_change_is_carried_out_afterwards),
        cmocka_unit_test(free_from_process_is_carried_out_afterwards),
        cmocka_unit_test(back_off_ends_when_it_is_asked_to),
        cmocka_unit_test(wait_for_sync_says_why_it_ends),
        cmocka_unit_test(exactly_one_destination_is_wanted),
        cmocka_unit_test(null_feed_does_nothing),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
