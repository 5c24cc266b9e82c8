/* SPDX-License-Identifier: Apache-2.0 */
/* How a feed passes changes to its destination, and how it starts and stops. */
#include <kinformer.h>
#include <string.h>

#include "feed/feed.h"
#include "support/informer/feed_rig.h"
#include "support/unit.h"
#include "util/units.h"

/* ---- processing ---------------------------------------------------------------------------------------- */

static void resync_delivers_each_known_object_again(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 30, (ki_feed_options){.process = feed_rig_process, .resync_ms = 10000});
    feed_rig_run(&r, 9);
    assert_int_equal(r.syncs, 0);
    feed_rig_run(&r, 2);
    assert_int_equal(r.syncs, sim_world_count(r.world));
    sim_server_cut_all(r.server);
    feed_rig_run(&r, 10);
    assert_int_equal(r.syncs, 2 * sim_world_count(r.world));
    feed_rig_fini(&r);
}

static void resync_period_of_less_than_a_second_becomes_a_second(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 31, (ki_feed_options){.process = feed_rig_process, .resync_ms = 1});
    feed_rig_run(&r, 5);
    assert_in_range(r.syncs, 3 * sim_world_count(r.world), 5 * sim_world_count(r.world));
    feed_rig_fini(&r);
}

static void requeued_deltas_are_processed_later(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 32, (ki_feed_options){.process = feed_rig_process});
    r.answer = KI_DELTA_QUEUE_REQUEUE;
    feed_rig_run(&r, 5);
    assert_false(ki_feed_has_synced(r.feed));
    assert_true(ki_delta_queue_len(r.queue) > 0);
    r.answer = 0;
    feed_rig_run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static void deltas_whose_processing_fails_are_dropped(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 33, (ki_feed_options){.process = feed_rig_process});
    r.answer = KI_ERR_TIMEOUT;
    feed_rig_run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    assert_int_equal(ki_delta_queue_len(r.queue), 0);
    assert_int_equal(ki_store_count(r.store), 0);
    feed_rig_fini(&r);
}

static void program_that_pops_slowly_is_not_flooded(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 34, (ki_feed_options){0});
    for (int i = 0; i < 100; i++) {
        sim_world_touch_all(r.world);
        feed_rig_run(&r, 1);
    }
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_true(status.events < 500); /* out of several thousand */
    assert_true(status.queued >= 20);
    assert_false(ki_feed_has_synced(r.feed));
    for (int i = 0; i < 600; i++) {
        while (ki_delta_queue_pop(r.queue, 0, feed_rig_process, &r) == 0)
            ;
        feed_rig_run(&r, 1);
    }
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static void full_callback_is_not_called_until_there_is_space(void **state)
{
    (void)state;
    feed_rig r;
    const ki_informer_options paged = {.page_size = 5, .watch_list = KI_WATCH_LIST_NEVER};
    feed_rig_start_callback(&r, 35, (ki_feed_options){.informer = paged});
    r.full_after = 3;
    feed_rig_run(&r, 30);
    assert_true(r.is_full);
    assert_in_range(r.changes, 3, 5); /* up to the rest of a page */
    assert_false(ki_feed_has_synced(r.feed));
    for (int i = 0; i < 200; i++) {
        ki_feed_resume(r.feed);
        feed_rig_run(&r, 1);
    }
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_array_is_world(&r);
    feed_rig_fini(&r);
}

/* Reports each time that it is full and, from the second time on,
 * calls ki_feed_resume() before it returns. */
static int make_space_inside(const ki_change *change, void *user)
{
    feed_rig *r = user;
    int rc = feed_rig_on_change(change, user);
    if (r->changes > 1)
        ki_feed_resume(r->feed);
    return rc;
}

static void space_made_during_a_later_change_is_noticed(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 36);
    assert_true(feed_rig_make_client(&r));
    feed_rig_make_feed(&r, (ki_feed_options){.informer = {.page_size = 5, .watch_list = KI_WATCH_LIST_NEVER},
                                             .on_change = make_space_inside,
                                             .user = &r});
    r.full_after = 1;
    feed_rig_start(&r);
    feed_rig_run(&r, 30);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_array_is_world(&r);
    feed_rig_fini(&r);
}

/* ---- age ----------------------------------------------------------------------------------------------- */

static uint64_t age_of(const feed_rig *r)
{
    ki_informer_status status;
    ki_feed_read_status(r->feed, &status);
    return status.success_age_ms;
}

static void queued_changes_are_not_fresh(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 37, (ki_feed_options){0});
    feed_rig_run(&r, 5);
    assert_true(age_of(&r) == UINT64_MAX); /* the first list is still queued */
    while (ki_delta_queue_pop(r.queue, 0, feed_rig_process, &r) == 0)
        ;
    assert_in_range(age_of(&r), 4000, 6000); /* since the list began */
    feed_rig_run(&r, 2);                     /* no data is left in a socket */
    sim_world_touch_all(r.world);
    feed_rig_run(&r, 100);
    assert_in_range(age_of(&r), 99000, 101000); /* bookmarks do not count while changes wait */
    for (int i = 0; i < 64; i++) {              /* until a bookmark follows the waiting changes */
        while (ki_delta_queue_pop(r.queue, 0, feed_rig_process, &r) == 0)
            ;
        feed_rig_run(&r, 1);
    }
    assert_true(age_of(&r) <= 61000);
    feed_rig_fini(&r);
}

/* ---- starting and stopping ----------------------------------------------------------------------------- */

static void stopped_feed_continues_where_it_stopped(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_store(&r, 40);
    feed_rig_run(&r, 5);
    ki_feed_stop(r.feed);
    ki_feed_stop(r.feed);
    assert_int_equal(sim_server_open_count(r.server), 0);
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_int_equal(status.phase, KI_PHASE_STOPPED);
    for (int i = 0; i < 50; i++)
        sim_world_mutate(r.world);
    feed_rig_run(&r, 5);
    feed_rig_start(&r);
    feed_rig_start(&r);
    feed_rig_run(&r, 5);
    feed_rig_assert_store_is_world(&r);
    ki_feed_read_status(r.feed, &status);
    assert_int_equal(status.lists, 1);
    assert_int_equal(status.objects, sim_world_count(r.world));
    feed_rig_fini(&r);
}

static void stopped_feed_processes_nothing(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 41, (ki_feed_options){.process = feed_rig_process, .resync_ms = 1000});
    r.stops_after = 10;
    feed_rig_run(&r, 20);
    assert_int_equal(r.processed, 10);
    feed_rig_start(&r);
    feed_rig_run(&r, 20);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static void stop_and_start_from_a_callback_loses_nothing(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_callback(&r, 42, (ki_feed_options){0});
    for (int i = 0; i < 40; i++) {
        r.stops_after = r.changes + 1 + i % 7;
        for (int k = 0; k < 20; k++) {
            sim_world_mutate(r.world);
            feed_rig_step(&r);
            feed_rig_start(&r);
        }
    }
    feed_rig_run(&r, 60);
    feed_rig_assert_array_is_world(&r);
    feed_rig_fini(&r);
}

static void a_wait_for_a_feed_that_was_never_started_ends_at_once(void **state)
{
    (void)state;
    feed_rig r;
    ki_error err = {0};
    feed_rig_init(&r, 43);
    assert_true(feed_rig_make_client(&r));
    feed_rig_make_feed(&r, (ki_feed_options){.on_change = feed_rig_on_change});
    assert_int_equal(ki_feed_wait_for_sync(r.feed, UINT64_MAX, &err), KI_ERR_STOPPED);
    assert_non_null(strstr(err.message, "never started"));
    feed_rig_fini(&r);
}

static void feed_that_was_never_started_can_be_freed(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 43);
    assert_true(feed_rig_make_client(&r));
    feed_rig_make_feed(&r, (ki_feed_options){.on_change = feed_rig_on_change});
    ki_feed_free(r.feed);
    assert_int_equal(r.releases, 1);
    assert_int_equal(r.changes, 0);
    r.feed = NULL;
    feed_rig_fini(&r);
}

static void free_from_on_change_takes_effect_afterwards(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_callback(&r, 44, (ki_feed_options){0});
    r.frees_after = 5;
    feed_rig_run(&r, 5);
    assert_int_equal(r.changes, 5);
    assert_int_equal(r.releases, 1);
    r.feed = NULL;
    feed_rig_fini(&r);
}

static void free_from_process_takes_effect_afterwards(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 45, (ki_feed_options){.process = feed_rig_process});
    r.frees_after = 5;
    feed_rig_run(&r, 5);
    assert_int_equal(r.processed, 5);
    assert_int_equal(r.releases, 1);
    r.feed = NULL;
    feed_rig_fini(&r);
}

static void retry_now_ends_the_backoff(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 46);
    assert_true(feed_rig_make_client(&r));
    r.store = ki_store_new(NULL, NULL);
    sim_server_set_faults(r.server, &(sim_faults){.refuse = 1});
    feed_rig_make_feed(&r, (ki_feed_options){.store = r.store, .informer = {.backoff_ms = 20000}});
    feed_rig_start(&r);
    feed_rig_run(&r, 2);
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(status.reason, KI_REASON_CONNECTION_REFUSED);
    sim_server_set_faults(r.server, &(sim_faults){0});
    ki_feed_retry_now(r.feed);
    feed_rig_run(&r, 2);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_fini(&r);
}

static void wait_for_sync_reports_why_it_ends(void **state)
{
    (void)state;
    feed_rig r;
    ki_error err = {0};
    feed_rig_start_store(&r, 47);
    assert_int_equal(ki_feed_wait_for_sync(r.feed, 1000, &err), KI_ERR_TIMEOUT); /* the clock does not move */
    assert_non_null(strstr(err.message, "pods: not ready in time"));
    feed_rig_run(&r, 5);
    assert_int_equal(ki_feed_wait_for_sync(r.feed, 1000, &err), 0);
    ki_read_lock();
    assert_int_equal(ki_feed_wait_for_sync(r.feed, 1000, &err), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    assert_int_equal(ki_feed_wait_for_sync(NULL, 1000, NULL), KI_ERR_INVALID);
    feed_rig_fini(&r);
}

static int take_a_millisecond(const ki_deltas *deltas, void *user)
{
    feed_rig *r = user;
    ki_clock_advance_ns(&r->clock, KI_NS_PER_MS);
    return feed_rig_process(deltas, user);
}

static void a_budget_ends_a_dispatch_between_two_keys(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 42, (ki_feed_options){.process = take_a_millisecond});
    feed_rig_run(&r, 10);
    assert_true(ki_delta_queue_resync(r.queue) >= 0);
    size_t waiting = ki_delta_queue_len(r.queue);
    assert_true(waiting > 8);
    ki_life_wake_dispatch(&r.feed->life);
    assert_int_equal(ki_client_dispatch(r.client, 2), 1);
    assert_int_equal(ki_delta_queue_len(r.queue), waiting - 2);
    assert_int_equal(ki_client_dispatch(r.client, KI_BUDGET_NONE), 0);
    assert_int_equal(ki_delta_queue_len(r.queue), 0);
    feed_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queued_changes_are_not_fresh),
        cmocka_unit_test(resync_delivers_each_known_object_again),
        cmocka_unit_test(a_budget_ends_a_dispatch_between_two_keys),
        cmocka_unit_test(resync_period_of_less_than_a_second_becomes_a_second),
        cmocka_unit_test(requeued_deltas_are_processed_later),
        cmocka_unit_test(deltas_whose_processing_fails_are_dropped),
        cmocka_unit_test(program_that_pops_slowly_is_not_flooded),
        cmocka_unit_test(full_callback_is_not_called_until_there_is_space),
        cmocka_unit_test(space_made_during_a_later_change_is_noticed),
        cmocka_unit_test(stopped_feed_continues_where_it_stopped),
        cmocka_unit_test(stopped_feed_processes_nothing),
        cmocka_unit_test(stop_and_start_from_a_callback_loses_nothing),
        cmocka_unit_test(a_wait_for_a_feed_that_was_never_started_ends_at_once),
        cmocka_unit_test(feed_that_was_never_started_can_be_freed),
        cmocka_unit_test(free_from_on_change_takes_effect_afterwards),
        cmocka_unit_test(free_from_process_takes_effect_afterwards),
        cmocka_unit_test(retry_now_ends_the_backoff),
        cmocka_unit_test(wait_for_sync_reports_why_it_ends),
    };
    return RUN_TESTS(tests);
}
