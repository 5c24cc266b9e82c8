/* SPDX-License-Identifier: Apache-2.0 */
/* The reported age of the store while changes wait: for the dispatch loop, for a handler or for a reader. */
#include "client/client.h"
#include "informer/informer.h"
#include "support/informer/age_rig.h"
#include "support/sleeper.h"
#include "support/unit.h"

static const ki_informer_options defaults;

/* ---- waiting changes --------------------------------------------------------------------------------- */

/* The dispatch loop does not run. */
static void changes_received_but_not_applied_are_not_fresh(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    age_rig_run(&r, 5 * MINUTE_MS);
    r.dispatch_is_held = true;
    sim_world_update(r.world, 1);
    age_rig_run(&r, 10);
    uint64_t since_ms = age_rig_age_ms(&r);
    assert_true(since_ms <= 10); /* counted from the receipt of the oldest waiting change */
    for (uint32_t minute = 1; minute <= 4; minute++) {
        sim_world_update(r.world, minute % 5);
        age_rig_run(&r, MINUTE_MS);
        assert_int_equal(age_rig_age_ms(&r), since_ms + minute * MINUTE_MS);
    }
    assert_true(age_rig_age_ms(&r) > FAIL_OPEN_MS);
    r.dispatch_is_held = false;
    age_rig_run(&r, 1);
    assert_true(age_rig_age_ms(&r) <= MINUTE_MS);
    age_rig_fini(&r);
}

/* A waiting bookmark counts as a waiting change. */
static void a_quiet_server_does_not_hide_a_stalled_dispatch(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    r.dispatch_is_held = true;
    age_rig_run(&r, 2 * MINUTE_MS + FAIL_OPEN_MS);
    assert_true(age_rig_age_ms(&r) > FAIL_OPEN_MS);
    age_rig_fini(&r);
}

static void a_blocking_handler_makes_the_store_old(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, MINUTE_MS);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 2;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    age_rig_sync(&r);
    age_rig_run(&r, MINUTE_MS);
    r.handlers_are_held = true;
    for (uint32_t i = 0; i < 20; i++) {
        sim_world_update(r.world, i % 5);
        age_rig_run(&r, 1000);
    }
    uint64_t since_ms = age_rig_age_ms(&r);
    assert_in_range(since_ms, 10 * 1000, 20 * 1000); /* the first few changes were applied */
    age_rig_run(&r, FAIL_OPEN_MS);
    assert_int_equal(age_rig_age_ms(&r), since_ms + FAIL_OPEN_MS);
    r.handlers_are_held = false;
    age_rig_run(&r, MINUTE_MS);
    assert_true(age_rig_age_ms(&r) <= MINUTE_MS);
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.informer)), 0);
    age_rig_fini(&r);
}

/* There is a change every second, and a few handler calls every twenty seconds. The queue fills, the
 * connection is no longer read, and more and more data waits at the server. The age is never less than the
 * time for which changes have been missing. */
static void a_slow_handler_makes_the_store_old(void **state)
{
    (void)state;
    age_rig r;
    age_rig_changes all = {0};
    age_rig_init(&r, &(ki_informer_options){.queue_items_max = 8}, MINUTE_MS);
    for (uint32_t key = 5; key < 60; key++)
        sim_world_create(r.world, key);
    assert_int_equal(sim_world_key_count(r.world), 60);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 2;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    age_rig_sync(&r);
    r.handlers_are_held = true;
    for (uint32_t second = 0; second < 600; second++) {
        age_rig_change(&r, &all, second * 7 % 60);
        if (second % 20 == 0)
            (void)ki_loop_step(r.client->handlers, 0);
        age_rig_run(&r, 1000);
        assert_true(age_rig_age_ms(&r) >= age_rig_missed_ms(&r, &all));
    }
    assert_true(age_rig_missed_ms(&r, &all) > FAIL_OPEN_MS);
    r.handlers_are_held = false;
    age_rig_run(&r, 2 * MINUTE_MS);
    assert_true(age_rig_age_ms(&r) <= MINUTE_MS);
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.informer)), 0);
    age_rig_fini(&r);
}

/* Of many waiting changes, the first batch is applied before the handler blocks. The connection is read all
 * the time, so only the queue knows how old the others are. */
static void changes_left_in_the_queue_make_the_store_old(void **state)
{
    (void)state;
    enum { KEYS = 600 };
    age_rig r;
    age_rig_changes all = {0};
    assert_true(KEYS > 2 * KI_APPLY_STEP);
    age_rig_init_world(&r, &defaults, MINUTE_MS,
                       &(sim_world_options){.seed = 1, .namespaces = 3, .names = KEYS / 3});
    for (uint32_t key = 5; key < KEYS; key++)
        sim_world_create(r.world, key);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 2;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    age_rig_sync(&r);
    r.dispatch_is_held = r.handlers_are_held = true;
    for (uint32_t key = 0; key < KEYS; key++) {
        age_rig_change(&r, &all, key);
        age_rig_run(&r, 1000);
    }
    assert_true(age_rig_missed_ms(&r, &all) > FAIL_OPEN_MS);
    r.dispatch_is_held = false;
    age_rig_run(&r, 1000);
    uint64_t missed = age_rig_missed_ms(&r, &all);
    assert_in_range(all.met, 1, KEYS - 1);
    assert_in_range(age_rig_age_ms(&r), missed, missed + 1000);
    assert_true(age_rig_age_ms(&r) > FAIL_OPEN_MS);
    r.handlers_are_held = false;
    age_rig_run(&r, MINUTE_MS);
    assert_true(age_rig_age_ms(&r) <= MINUTE_MS);
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.informer)), 0);
    age_rig_fini(&r);
}

/* ---- a reader that stays in a read section ------------------------------------------------------------ */

/* The store has retired as much memory as it may for this reader, so nothing is applied. The results are
 * checked after the reader has left: a failed assertion before that would wait for it. */
static void a_reader_that_stays_makes_the_store_old(void **state)
{
    (void)state;
    age_rig r;
    sleeper s;
    age_rig_changes all = {0};
    unsigned lies = 0;
    ki_informer_status status;
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    age_rig_run(&r, MINUTE_MS);
    r.informer->store->reclaim.bytes_max = 2000;
    sleeper_begin(&s, NULL);
    for (uint32_t second = 0; second < 300; second++) {
        age_rig_change(&r, &all, second % 5);
        age_rig_run(&r, 1000);
        lies += age_rig_age_ms(&r) < age_rig_missed_ms(&r, &all);
    }
    ki_informer_read_status(r.informer, &status);
    sleeper_end(&s);
    assert_int_equal(lies, 0);
    assert_true(status.success_age_ms > FAIL_OPEN_MS);
    assert_true(status.queued > 0);
    assert_int_equal(status.phase, KI_PHASE_WATCHING); /* only the age shows it */
    age_rig_run(&r, 1000);
    assert_true(age_rig_age_ms(&r) <= 2000);
    assert_int_equal(age_rig_missed_ms(&r, &all), 0);
    age_rig_fini(&r);
}

/* Bookmarks, and as many changes as there is space for, are applied in spite of the reader. */
static void a_reader_that_stays_in_quiet_times_keeps_the_age_below_the_limit(void **state)
{
    (void)state;
    age_rig r;
    sleeper s;
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    sleeper_begin(&s, NULL);
    sim_world_update(r.world, 1);
    age_rig_run(&r, 10 * MINUTE_MS);
    sleeper_end(&s);
    assert_true(r.oldest_ms < FAIL_OPEN_MS);
    age_rig_fini(&r);
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

static void changes_dropped_by_a_stop_do_not_count_as_fresh(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    age_rig_run(&r, MINUTE_MS);
    r.dispatch_is_held = true;
    for (uint32_t minute = 1; minute <= 2; minute++) {
        sim_world_update(r.world, minute);
        age_rig_run(&r, MINUTE_MS);
    }
    uint64_t since_ms = age_rig_age_ms(&r);
    assert_in_range(since_ms, 2 * MINUTE_MS - 1, 3 * MINUTE_MS);
    ki_informer_stop(r.informer);
    r.dispatch_is_held = false;
    age_rig_run(&r, MINUTE_MS);
    assert_int_equal(age_rig_age_ms(&r), since_ms + MINUTE_MS);
    assert_int_equal(ki_informer_start(r.informer, NULL), 0);
    age_rig_run(&r, 100);
    assert_true(age_rig_age_ms(&r) <= 100); /* the dropped changes were received again */
    age_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_received_but_not_applied_are_not_fresh),
        cmocka_unit_test(a_quiet_server_does_not_hide_a_stalled_dispatch),
        cmocka_unit_test(a_blocking_handler_makes_the_store_old),
        cmocka_unit_test(a_slow_handler_makes_the_store_old),
        cmocka_unit_test(changes_left_in_the_queue_make_the_store_old),
        cmocka_unit_test(a_reader_that_stays_makes_the_store_old),
        cmocka_unit_test(a_reader_that_stays_in_quiet_times_keeps_the_age_below_the_limit),
        cmocka_unit_test(changes_dropped_by_a_stop_do_not_count_as_fresh),
    };
    return RUN_TESTS(tests);
}
