/* SPDX-License-Identifier: Apache-2.0 */
/* How old the store says it is, in virtual time. The three loops of a client run one by one, so that each can
 * be held as a thread is that gets no time. */
#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "informer/informer.h"
#include "support/heard.h"
#include "support/sim_server.h"
#include "support/sleeper.h"
#include "support/unit.h"
#include "util/units.h"

/* As programs write it that do without the cache rather than with an old one. */
enum { FAIL_OPEN_MS = 180000, MINUTE_MS = 60000 };

/* What comes between two looks at whether there is room: about one event. */
enum { PIECE_BYTES = 256 };

typedef struct rig {
    ki_clock clock;
    sim_world *world; /* with five objects */
    sim_server *server;
    ki_list_watch source;
    ki_client *client;
    ki_informer *informer;
    heard what;
    bool dispatch_is_held;
    bool handlers_are_held;
    uint64_t oldest_ms; /* the largest age that was seen while running */
} rig;

static uint64_t age_of(const rig *r)
{
    ki_informer_status status;
    ki_informer_read_status(r->informer, &status);
    uint64_t age_ms = ki_informer_age_ms(r->informer);
    assert_true(status.success_age_ms == age_ms);
    return age_ms;
}

static void run_loops(rig *r)
{
    (void)ki_loop_step(r->client->io, 0);
    if (!r->dispatch_is_held)
        (void)ki_loop_step(r->client->dispatch, 0);
    if (!r->handlers_are_held)
        (void)ki_loop_step(r->client->handlers, 0);
}

static uint64_t next_ns(const rig *r)
{
    uint64_t next = ki_ns_min(sim_server_next_ns(r->server), ki_loop_next_ns(r->client->io));
    if (!r->dispatch_is_held)
        next = ki_ns_min(next, ki_loop_next_ns(r->client->dispatch));
    if (!r->handlers_are_held)
        next = ki_ns_min(next, ki_loop_next_ns(r->client->handlers));
    return next;
}

/* Everything that happens in this many milliseconds. */
static void run(rig *r, uint64_t ms)
{
    uint64_t until_ns = ki_clock_now_ns(&r->clock) + ms * KI_NS_PER_MS;
    for (;;) {
        uint64_t age_ms = age_of(r);
        if (age_ms != UINT64_MAX && age_ms > r->oldest_ms)
            r->oldest_ms = age_ms;
        sim_server_step(r->server);
        run_loops(r);
        uint64_t next = next_ns(r);
        if (next <= ki_clock_now_ns(&r->clock))
            continue;
        if (next > until_ns)
            break;
        ki_clock_set_now_ns(&r->clock, next);
    }
    ki_clock_set_now_ns(&r->clock, until_ns);
}

static void rig_init_world(rig *r, const ki_informer_options *options, uint64_t bookmark_ms,
                           const sim_world_options *world)
{
    ki_informer_options mine = *options;
    *r = (rig){0};
    ki_clock_init_virtual(&r->clock, KI_NS_PER_S, 1);
    r->world = sim_world_new(world);
    for (uint32_t key = 0; key < 5; key++)
        sim_world_create(r->world, key);
    r->server = sim_server_new(&(sim_server_options){.world = r->world,
                                                     .clock = &r->clock,
                                                     .calls = &sim_library_calls,
                                                     .seed = 2,
                                                     .piece_bytes_max = PIECE_BYTES,
                                                     .bookmark_ns = bookmark_ms * KI_NS_PER_MS});
    r->source = sim_server_list_watch(r->server);
    mine.list_watch = &r->source;
    r->client =
        ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_HANDLERS_ON_LOOP}, &r->clock, 3, NULL);
    assert_non_null(r->client);
    r->informer = ki_informer_new(r->client, &KI_CORE_V1_PODS, &mine, NULL);
    assert_non_null(r->informer);
    heard_init(&r->what);
}

static void rig_init(rig *r, const ki_informer_options *options, uint64_t bookmark_ms)
{
    rig_init_world(r, options, bookmark_ms, &(sim_world_options){.seed = 1});
}

static void sync(rig *r)
{
    assert_int_equal(ki_informer_start(r->informer, NULL), 0);
    run(r, 100);
    assert_int_equal(ki_informer_has_synced(r->informer), 1);
    r->oldest_ms = 0;
}

static void rig_fini(rig *r)
{
    ki_informer_free(r->informer);
    ki_client_free(r->client);
    assert_int_equal(sim_server_counts(r->server)->misuse, 0);
    assert_int_equal(r->what.wrongs, 0);
    sim_server_free(r->server);
    sim_world_free(r->world);
    heard_fini(&r->what);
}

static const ki_informer_options defaults;

/* ---- what counts ------------------------------------------------------------------------------------- */

static void ten_quiet_minutes_with_bookmarks_are_no_reason_to_fail_open(void **state)
{
    (void)state;
    for (int watch_list = KI_WATCH_LIST_AUTO; watch_list <= KI_WATCH_LIST_NEVER; watch_list++) {
        rig r;
        rig_init(&r, &(ki_informer_options){.watch_list = (ki_watch_list)watch_list}, MINUTE_MS);
        sync(&r);
        run(&r, 10 * MINUTE_MS);
        assert_true(r.oldest_ms < FAIL_OPEN_MS);
        assert_true(age_of(&r) <= 2 * MINUTE_MS);
        rig_fini(&r);
    }
}

/* The server sends one before it ends the watch, as real ones do, and that is after five minutes. */
static void without_bookmarks_the_age_grows_until_something_happens(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, 24 * 60 * MINUTE_MS);
    sync(&r);
    uint64_t before_ms = age_of(&r);
    run(&r, 4 * MINUTE_MS);
    assert_int_equal(age_of(&r), before_ms + 4 * MINUTE_MS);
    sim_world_update(r.world, 1);
    run(&r, 1000);
    assert_true(age_of(&r) <= 1000);
    rig_fini(&r);
}

/* Each request is answered with a head that says all is well, and with nothing else. */
static void the_heads_of_answers_make_nothing_fresh(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    sim_server_set_faults(r.server, &(sim_faults){.empty_body = 1});
    sim_world_update(r.world, 1);
    sim_server_cut_all(r.server);
    run(&r, 2 * FAIL_OPEN_MS);
    assert_true(sim_server_counts(r.server)->empty_body > 3);
    assert_true(age_of(&r) >= 2 * FAIL_OPEN_MS);
    sim_server_set_faults(r.server, &(sim_faults){0});
    run(&r, 2 * MINUTE_MS);
    assert_true(age_of(&r) <= 2 * MINUTE_MS);
    rig_fini(&r);
}

/* A list that is under way has brought something, and proves nothing. */
static void items_of_a_list_without_an_end_make_nothing_fresh(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &(ki_informer_options){.watch_list = KI_WATCH_LIST_ALWAYS}, MINUTE_MS);
    sync(&r);
    sim_server_set_faults(r.server, &(sim_faults){.watch_list_endless = 1});
    sim_world_update(r.world, 1);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    run(&r, 2 * FAIL_OPEN_MS);
    assert_true(sim_server_counts(r.server)->watch_list_endless > 1);
    assert_true(age_of(&r) >= 2 * FAIL_OPEN_MS);
    rig_fini(&r);
}

/* A busy server is not listed instead; so the store is as old as that has lasted, and the status says why. */
static void a_server_that_puts_off_each_watch_makes_the_store_old(void **state)
{
    (void)state;
    rig r;
    ki_informer_status status;
    static const char words[] = "the store is not updated until the server accepts a watch: ";
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    uint64_t lists = sim_server_counts(r.server)->lists;
    sim_server_set_faults(r.server, &(sim_faults){.http_429 = 1});
    sim_world_update(r.world, 1);
    sim_server_cut_all(r.server);
    run(&r, 2 * FAIL_OPEN_MS);
    assert_true(sim_server_counts(r.server)->http_429 > 3);
    assert_int_equal(sim_server_counts(r.server)->lists, lists);
    assert_true(age_of(&r) >= 2 * FAIL_OPEN_MS);
    ki_informer_read_status(r.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(status.reason, KI_REASON_TOO_MANY_REQUESTS);
    assert_int_equal(status.http_status, 429);
    assert_int_equal(strncmp(status.message, words, strlen(words)), 0);
    sim_server_set_faults(r.server, &(sim_faults){0});
    run(&r, 2 * MINUTE_MS);
    assert_true(age_of(&r) <= MINUTE_MS);
    rig_fini(&r);
}

/* ---- what waits -------------------------------------------------------------------------------------- */

/* `dispatch` gets no time. */
static void what_is_received_and_not_applied_is_not_fresh(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    run(&r, 5 * MINUTE_MS);
    r.dispatch_is_held = true;
    sim_world_update(r.world, 1);
    run(&r, 10);
    uint64_t since_ms = age_of(&r);
    assert_true(since_ms <= 10); /* it runs from when the oldest change that waits was received */
    for (uint32_t minute = 1; minute <= 4; minute++) {
        sim_world_update(r.world, minute % 5);
        run(&r, MINUTE_MS);
        assert_int_equal(age_of(&r), since_ms + minute * MINUTE_MS);
    }
    assert_true(age_of(&r) > FAIL_OPEN_MS);
    r.dispatch_is_held = false;
    run(&r, 1);
    assert_true(age_of(&r) <= MINUTE_MS);
    rig_fini(&r);
}

/* A bookmark that waits is a change that waits. */
static void a_quiet_server_does_not_hide_that_nothing_is_applied(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    r.dispatch_is_held = true;
    run(&r, 2 * MINUTE_MS + FAIL_OPEN_MS);
    assert_true(age_of(&r) > FAIL_OPEN_MS);
    rig_fini(&r);
}

static void a_handler_that_blocks_makes_the_store_old(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, MINUTE_MS);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 2;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    sync(&r);
    run(&r, MINUTE_MS);
    r.handlers_are_held = true;
    for (uint32_t i = 0; i < 20; i++) {
        sim_world_update(r.world, i % 5);
        run(&r, 1000);
    }
    uint64_t since_ms = age_of(&r);
    assert_in_range(since_ms, 10 * 1000, 20 * 1000); /* the first few were applied */
    run(&r, FAIL_OPEN_MS);
    assert_int_equal(age_of(&r), since_ms + FAIL_OPEN_MS);
    r.handlers_are_held = false;
    run(&r, MINUTE_MS);
    assert_true(age_of(&r) <= MINUTE_MS);
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.informer)), 0);
    rig_fini(&r);
}

/* What was changed, and when. */
typedef struct changes {
    struct {
        uint32_t key;
        uint64_t version;
        uint64_t at_ns;
    } items[600];
    size_t count;
    size_t met; /* this many of the first are in the store */
} changes;

static void change(rig *r, changes *all, uint32_t key)
{
    assert_true(all->count < sizeof(all->items) / sizeof(all->items[0]));
    sim_world_update(r->world, key);
    all->items[all->count].key = key;
    all->items[all->count].version = sim_world_version(r->world);
    all->items[all->count++].at_ns = ki_clock_now_ns(&r->clock);
}

static uint64_t stored_version(const rig *r, uint32_t key)
{
    sim_object there;
    sim_world_describe(r->world, sim_world_object(r->world, key), &there);
    ki_object *mine =
        ki_store_get(ki_informer_store(r->informer), ki_str_of(there.ns), ki_str_of(there.name));
    uint64_t version = strtoull(ki_object_resource_version(mine).ptr, NULL, 10);
    (void)ki_object_unref(mine);
    return version;
}

/* For how long the store has missed the oldest change that it misses: by its objects, and by nothing that
 * the informer says of itself. */
static uint64_t missed_ms(const rig *r, changes *all)
{
    while (all->met < all->count &&
           stored_version(r, all->items[all->met].key) >= all->items[all->met].version)
        all->met++;
    return all->met == all->count ? 0
                                  : (ki_clock_now_ns(&r->clock) - all->items[all->met].at_ns) / KI_NS_PER_MS;
}

/* A change each second, and a handler that is called for a few each twenty: the queue fills, the connection
 * is not read, and more and more waits at the server. The age never says less than what is missed. */
static void a_handler_that_is_slow_makes_the_store_old(void **state)
{
    (void)state;
    rig r;
    changes all = {0};
    rig_init(&r, &(ki_informer_options){.queue_items_max = 8}, MINUTE_MS);
    for (uint32_t key = 5; key < 60; key++)
        sim_world_create(r.world, key);
    assert_int_equal(sim_world_key_count(r.world), 60);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 2;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    sync(&r);
    r.handlers_are_held = true;
    for (uint32_t second = 0; second < 600; second++) {
        change(&r, &all, second * 7 % 60);
        if (second % 20 == 0)
            (void)ki_loop_step(r.client->handlers, 0);
        run(&r, 1000);
        assert_true(age_of(&r) >= missed_ms(&r, &all));
    }
    assert_true(missed_ms(&r, &all) > FAIL_OPEN_MS);
    r.handlers_are_held = false;
    run(&r, 2 * MINUTE_MS);
    assert_true(age_of(&r) <= MINUTE_MS);
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.informer)), 0);
    rig_fini(&r);
}

/* Of many changes that have waited, the first batch is applied before the handler blocks. The connection is
 * read all the time, so only the queue knows how old the others are. */
static void what_is_left_in_the_queue_makes_the_store_old(void **state)
{
    (void)state;
    enum { KEYS = 600 };
    rig r;
    changes all = {0};
    assert_true(KEYS > 2 * KI_APPLY_STEP);
    rig_init_world(&r, &defaults, MINUTE_MS,
                   &(sim_world_options){.seed = 1, .namespaces = 3, .names = KEYS / 3});
    for (uint32_t key = 5; key < KEYS; key++)
        sim_world_create(r.world, key);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 2;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    sync(&r);
    r.dispatch_is_held = r.handlers_are_held = true;
    for (uint32_t key = 0; key < KEYS; key++) {
        change(&r, &all, key);
        run(&r, 1000);
    }
    assert_true(missed_ms(&r, &all) > FAIL_OPEN_MS);
    r.dispatch_is_held = false;
    run(&r, 1000);
    uint64_t missed = missed_ms(&r, &all);
    assert_in_range(all.met, 1, KEYS - 1);
    assert_in_range(age_of(&r), missed, missed + 1000);
    assert_true(age_of(&r) > FAIL_OPEN_MS);
    r.handlers_are_held = false;
    run(&r, MINUTE_MS);
    assert_true(age_of(&r) <= MINUTE_MS);
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.informer)), 0);
    rig_fini(&r);
}

/* ---- a server that is broken for long ---------------------------------------------------------------- */

/* Nothing that it may say instead of an answer is a reason to believe the store. */
static void whatever_a_broken_server_says_makes_nothing_fresh(void **state)
{
    (void)state;
    for (sim_manner manner = 0; manner < SIM_MANNER_COUNT; manner++)
        for (int watch_list = KI_WATCH_LIST_AUTO; watch_list <= KI_WATCH_LIST_NEVER; watch_list++) {
            rig r;
            rig_init(&r, &(ki_informer_options){.watch_list = (ki_watch_list)watch_list, .page_size = 2},
                     10 * 1000);
            sync(&r);
            sim_server_break(r.server, (sim_breakage){SIM_LISTS | SIM_WATCHES | SIM_STREAMS, manner});
            run(&r, 2 * FAIL_OPEN_MS);
            if (age_of(&r) < 2 * FAIL_OPEN_MS)
                fail_msg("manner %d: %d ms", (int)manner, (int)age_of(&r));
            rig_fini(&r);
        }
}

/* While lists replace the watches: the store is as old as its last list, and does not say less. */
static void while_watches_are_broken_the_age_is_not_less_than_what_is_missed(void **state)
{
    (void)state;
    for (sim_manner manner = 0; manner < SIM_MANNER_COUNT; manner++) {
        rig r;
        changes all = {0};
        uint64_t longest_ms = 0;
        rig_init(&r, &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER}, 10 * 1000);
        sync(&r);
        sim_server_break(r.server, (sim_breakage){SIM_WATCHES, manner});
        for (uint32_t i = 0; i < 240; i++) {
            change(&r, &all, i % 5);
            run(&r, 10 * 1000);
            uint64_t missed = missed_ms(&r, &all);
            longest_ms = missed > longest_ms ? missed : longest_ms;
            assert_true(age_of(&r) >= missed);
        }
        assert_true(longest_ms >= 20 * 1000); /* else nothing was broken */
        assert_true(sim_server_counts(r.server)->lists > 1);
        rig_fini(&r);
    }
}

/* The store misses what happened since the connection was lost, also when that has been received. */
static void a_list_counts_when_it_is_in_the_store(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER}, MINUTE_MS);
    sync(&r);
    sim_server_set_faults(r.server, &(sim_faults){.refuse = 1});
    sim_world_update(r.world, 1);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    run(&r, 5 * MINUTE_MS);
    sim_server_set_faults(r.server, &(sim_faults){0});
    r.dispatch_is_held = true;
    run(&r, 2 * MINUTE_MS);
    sim_world_update(r.world, 2); /* behind the list, and proves nothing before that */
    run(&r, 1000);
    assert_true(age_of(&r) >= 7 * MINUTE_MS);
    r.dispatch_is_held = false;
    run(&r, 1);
    assert_true(age_of(&r) <= MINUTE_MS);
    rig_fini(&r);
}

static void the_age_is_known_as_soon_as_the_first_list_is(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, MINUTE_MS);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 1;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    assert_int_equal(ki_informer_start(r.informer, NULL), 0);
    r.dispatch_is_held = true;
    (void)ki_loop_step(r.client->dispatch, 0); /* which begins it */
    run(&r, 100);
    assert_true(age_of(&r) == UINT64_MAX);
    sim_world_update(r.world, 1);
    run(&r, 5000);
    assert_true(age_of(&r) == UINT64_MAX);
    for (int i = 0; i < 100 && !ki_informer_has_synced(r.informer); i++) {
        (void)ki_loop_step(r.client->dispatch, 1);
        (void)ki_loop_step(r.client->handlers, 1);
        assert_true((age_of(&r) != UINT64_MAX) == (ki_informer_has_synced(r.informer) != 0));
    }
    assert_in_range(age_of(&r), 5000, 5100);
    rig_fini(&r);
}

/* ---- a reader that stays ------------------------------------------------------------------------------ */

/* The store has let go of as much as it may for that reader's sake: nothing is applied. What is seen
 * meanwhile is judged when the reader has left, since everything would wait for it. */
static void a_reader_that_stays_makes_the_store_old(void **state)
{
    (void)state;
    rig r;
    sleeper s;
    changes all = {0};
    unsigned lies = 0;
    ki_informer_status status;
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    run(&r, MINUTE_MS);
    r.informer->store->reclaim.bytes_max = 2000;
    sleeper_begin(&s, NULL);
    for (uint32_t second = 0; second < 300; second++) {
        change(&r, &all, second % 5);
        run(&r, 1000);
        lies += age_of(&r) < missed_ms(&r, &all);
    }
    ki_informer_read_status(r.informer, &status);
    sleeper_end(&s);
    assert_int_equal(lies, 0);
    assert_true(status.success_age_ms > FAIL_OPEN_MS);
    assert_true(status.queued > 0);
    assert_int_equal(status.phase, KI_PHASE_WATCHING); /* the age alone tells */
    run(&r, 1000);
    assert_true(age_of(&r) <= 2000);
    assert_int_equal(missed_ms(&r, &all), 0);
    rig_fini(&r);
}

/* Bookmarks, and as many changes as there is room for, are applied beside it. */
static void a_reader_that_stays_in_quiet_times_is_no_reason_to_fail_open(void **state)
{
    (void)state;
    rig r;
    sleeper s;
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    sleeper_begin(&s, NULL);
    sim_world_update(r.world, 1);
    run(&r, 10 * MINUTE_MS);
    sleeper_end(&s);
    assert_true(r.oldest_ms < FAIL_OPEN_MS);
    rig_fini(&r);
}

/* ---- stops ------------------------------------------------------------------------------------------- */

static void what_a_stop_has_dropped_made_nothing_fresh(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, &defaults, MINUTE_MS);
    sync(&r);
    run(&r, MINUTE_MS);
    r.dispatch_is_held = true;
    for (uint32_t minute = 1; minute <= 2; minute++) {
        sim_world_update(r.world, minute);
        run(&r, MINUTE_MS);
    }
    uint64_t since_ms = age_of(&r);
    assert_in_range(since_ms, 2 * MINUTE_MS - 1, 3 * MINUTE_MS);
    ki_informer_stop(r.informer);
    r.dispatch_is_held = false;
    run(&r, MINUTE_MS);
    assert_int_equal(age_of(&r), since_ms + MINUTE_MS);
    assert_int_equal(ki_informer_start(r.informer, NULL), 0);
    run(&r, 100);
    assert_true(age_of(&r) <= 100); /* what was dropped has come again */
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_quiet_minutes_with_bookmarks_are_no_reason_to_fail_open),
        cmocka_unit_test(without_bookmarks_the_age_grows_until_something_happens),
        cmocka_unit_test(the_heads_of_answers_make_nothing_fresh),
        cmocka_unit_test(items_of_a_list_without_an_end_make_nothing_fresh),
        cmocka_unit_test(a_server_that_puts_off_each_watch_makes_the_store_old),
        cmocka_unit_test(what_is_received_and_not_applied_is_not_fresh),
        cmocka_unit_test(a_quiet_server_does_not_hide_that_nothing_is_applied),
        cmocka_unit_test(a_handler_that_blocks_makes_the_store_old),
        cmocka_unit_test(a_handler_that_is_slow_makes_the_store_old),
        cmocka_unit_test(what_is_left_in_the_queue_makes_the_store_old),
        cmocka_unit_test(whatever_a_broken_server_says_makes_nothing_fresh),
        cmocka_unit_test(while_watches_are_broken_the_age_is_not_less_than_what_is_missed),
        cmocka_unit_test(a_list_counts_when_it_is_in_the_store),
        cmocka_unit_test(the_age_is_known_as_soon_as_the_first_list_is),
        cmocka_unit_test(a_reader_that_stays_makes_the_store_old),
        cmocka_unit_test(a_reader_that_stays_in_quiet_times_is_no_reason_to_fail_open),
        cmocka_unit_test(what_a_stop_has_dropped_made_nothing_fresh),
    };
    return RUN_TESTS(tests);
}
