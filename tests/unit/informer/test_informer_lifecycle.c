/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, stopping, restarting and freeing an informer, on one thread with a virtual clock. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "informer/informer.h"
#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { SECOND = 1000 };

typedef struct life {
    virtual_rig rig;
    heard what;
    ki_registration *registration;
} life;

static void life_init_with(life *l, int64_t page_size, size_t piece_bytes)
{
    heard_init(&l->what);
    virtual_rig_init_slow(&l->rig,
                          &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER, .page_size = page_size},
                          piece_bytes, piece_bytes / 2);
    ki_handler handler = heard_handler(&l->what);
    l->registration = ki_informer_add_handler(l->rig.informer, &handler, NULL);
    assert_non_null(l->registration);
}

static void life_init(life *l)
{
    life_init_with(l, 0, 0);
}

/* The first list takes a fifth of a second. */
static void life_init_slow(life *l)
{
    life_init_with(l, 1, 60);
}

static void life_fini(life *l)
{
    virtual_rig_fini(&l->rig);
    assert_int_equal(l->what.releases, 1);
    assert_int_equal(l->what.wrongs, 0);
    heard_fini(&l->what);
}

static void assert_all_is_well(life *l)
{
    virtual_rig_assert_equal(&l->rig);
    assert_int_equal(heard_differences(&l->what, ki_informer_store(l->rig.informer)), 0);
    assert_int_equal(l->what.wrongs, 0);
}

static ki_phase phase_of(life *l)
{
    ki_informer_status status;
    ki_informer_read_status(l->rig.informer, &status);
    return status.phase;
}

/* ---- starting and stopping --------------------------------------------------------------------------- */

static void a_second_start_is_harmless(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    virtual_rig_run(&l.rig, SECOND);
    assert_int_equal(sim_server_counts(l.rig.server)->lists, 1);
    assert_int_equal(sim_server_counts(l.rig.server)->watches, 1);
    assert_int_equal(l.what.adds, 5);
    life_fini(&l);
}

static void a_stop_ends_requests_and_callbacks_and_keeps_the_store(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_informer_stop(l.rig.informer);
    assert_int_equal(sim_server_open_count(l.rig.server), 0);
    assert_int_equal(phase_of(&l), KI_PHASE_STOPPED);
    int events = heard_events(&l.what);
    sim_world_update(l.rig.world, 1);
    virtual_rig_run(&l.rig, 10 * SECOND);
    assert_int_equal(heard_events(&l.what), events);
    assert_int_equal(ki_store_count(ki_informer_store(l.rig.informer)), 5);
    assert_int_equal(ki_informer_has_synced(l.rig.informer), 1);
    ki_informer_stop(l.rig.informer);
    life_fini(&l);
}

static void a_stop_before_the_start_is_harmless(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    ki_informer_stop(l.rig.informer);
    virtual_rig_sync(&l.rig);
    assert_all_is_well(&l);
    life_fini(&l);
}

static void a_restart_continues_with_a_watch_from_the_version_of_the_store(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_informer_stop(l.rig.informer);
    sim_world_create(l.rig.world, 9);
    sim_world_update(l.rig.world, 1);
    sim_world_delete(l.rig.world, 2);
    virtual_rig_sync(&l.rig);
    assert_int_equal(sim_server_counts(l.rig.server)->lists, 1);
    assert_int_equal(sim_server_counts(l.rig.server)->watches, 2);
    assert_int_equal(l.what.adds, 6);
    assert_int_equal(l.what.updates, 1);
    assert_int_equal(l.what.deletes, 1);
    assert_int_equal(l.what.unknown, 0);
    assert_int_equal(l.what.synced, 1);
    assert_all_is_well(&l);
    life_fini(&l);
}

static void a_restart_after_the_history_was_forgotten_lists_again(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_informer_stop(l.rig.informer);
    sim_world_delete(l.rig.world, 2);
    sim_world_compact(l.rig.world);
    virtual_rig_sync(&l.rig);
    virtual_rig_run(&l.rig, 10 * SECOND);
    assert_int_equal(sim_server_counts(l.rig.server)->lists, 2);
    assert_int_equal(l.what.unknown, 1);
    assert_int_equal(l.what.adds, 5);
    assert_all_is_well(&l);
    life_fini(&l);
}

static void a_stop_during_the_first_list_loses_nothing(void **state)
{
    (void)state;
    int stopped_early = 0;
    for (uint64_t ms = 0; ms < 300; ms += 4) {
        life l;
        life_init_slow(&l);
        assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
        virtual_rig_run(&l.rig, ms);
        stopped_early += l.what.adds > 0 && !ki_informer_has_synced(l.rig.informer);
        ki_informer_stop(l.rig.informer);
        assert_int_equal(sim_server_open_count(l.rig.server), 0);
        assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
        virtual_rig_run(&l.rig, 5 * SECOND);
        assert_all_is_well(&l);
        assert_int_equal(l.what.adds, 5);
        assert_int_equal(l.what.synced, 1);
        life_fini(&l);
    }
    assert_true(stopped_early > 5);
}

static void stops_and_starts_among_changes_and_cuts_lose_nothing(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
        for (int k = 0; k < i % 7; k++)
            sim_world_mutate(l.rig.world);
        virtual_rig_run(&l.rig, (uint64_t)(i * 37 % 400));
        if (i % 5 == 0)
            sim_server_cut_all(l.rig.server);
        if (i % 13 == 0)
            sim_world_compact(l.rig.world);
        sim_world_mutate(l.rig.world);
        sim_server_step(l.rig.server);
        if (i % 3 != 0)
            ki_informer_stop(l.rig.informer);
    }
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    virtual_rig_run(&l.rig, 60 * SECOND);
    assert_all_is_well(&l);
    assert_int_equal(l.what.synced, 1);
    life_fini(&l);
}

static void a_start_cancels_a_pending_stop(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_life_request_stop(&l.rig.informer->life);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    sim_world_update(l.rig.world, 1);
    virtual_rig_run(&l.rig, 10);
    assert_int_equal(l.what.updates, 1);
    assert_all_is_well(&l);
    life_fini(&l);
}

static void stop_at_the_third_update(heard *what, const ki_event *event)
{
    if (event->change_type == KI_CHANGE_UPDATED && what->updates == 2)
        ki_informer_stop(what->user);
}

static void events_that_waited_for_a_handler_are_delivered_after_the_restart(void **state)
{
    (void)state;
    life l;
    ki_registration_stats stats;
    life_init(&l);
    l.what.in_event = stop_at_the_third_update;
    l.what.user = l.rig.informer;
    virtual_rig_sync(&l.rig);
    for (int i = 0; i < 20; i++)
        sim_world_update(l.rig.world, 1);
    virtual_rig_run(&l.rig, SECOND);
    ki_registration_read_stats(l.registration, &stats);
    assert_int_equal(l.what.updates, 3);
    assert_int_equal(stats.backlog, 17);
    virtual_rig_sync(&l.rig);
    assert_int_equal(l.what.updates, 20);
    assert_int_equal(sim_server_counts(l.rig.server)->lists, 1);
    assert_all_is_well(&l);
    life_fini(&l);
}

static void nothing_is_called_after_the_release_even_if_a_run_was_cut_short(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    l.what.in_event = stop_at_the_third_update;
    l.what.user = l.rig.informer;
    virtual_rig_sync(&l.rig);
    for (int i = 0; i < 20; i++)
        sim_world_update(l.rig.world, 1);
    virtual_rig_run(&l.rig, SECOND);
    int batch_ends = l.what.batch_ends;
    ki_registration_remove(l.registration);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    virtual_rig_run(&l.rig, SECOND);
    assert_int_equal(l.what.releases, 1);
    assert_int_equal(l.what.batch_ends, batch_ends);
    life_fini(&l);
}

static void a_handler_added_while_stopped_gets_everything_after_the_start(void **state)
{
    (void)state;
    life l;
    heard late;
    heard_init(&late);
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_informer_stop(l.rig.informer);
    ki_handler handler = heard_handler(&late);
    assert_non_null(ki_informer_add_handler(l.rig.informer, &handler, NULL));
    virtual_rig_run(&l.rig, SECOND);
    assert_int_equal(heard_events(&late), 0);
    virtual_rig_sync(&l.rig);
    assert_int_equal(late.adds, 5);
    assert_int_equal(late.initial, 5);
    assert_int_equal(late.synced, 1);
    life_fini(&l);
    assert_int_equal(late.releases, 1);
    heard_fini(&late);
}

static void waiting_for_a_stopped_informer_fails(void **state)
{
    (void)state;
    life l;
    ki_error err = {0};
    life_init(&l);
    uint64_t before_ns = ki_clock_now_ns(&l.rig.clock);
    assert_int_equal(ki_informer_wait_for_sync(l.rig.informer, 1000, &err), KI_ERR_STOPPED);
    assert_non_null(strstr(err.message, "never started"));
    assert_int_equal(ki_informer_wait_for_version(l.rig.informer, KI_STR("1"), 1000, &err), KI_ERR_STOPPED);
    assert_int_equal(ki_clock_now_ns(&l.rig.clock), before_ns);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    ki_informer_stop(l.rig.informer);
    assert_int_equal(ki_informer_wait_for_sync(l.rig.informer, 1000, &err), KI_ERR_STOPPED);
    virtual_rig_sync(&l.rig);
    ki_informer_stop(l.rig.informer);
    assert_int_equal(ki_informer_wait_for_sync(l.rig.informer, 1000, &err), 0);
    assert_int_equal(ki_informer_wait_for_version(l.rig.informer, ki_str_of("999"), 1000, &err),
                     KI_ERR_STOPPED);
    life_fini(&l);
}

/* ---- freeing ----------------------------------------------------------------------------------------- */

static void a_free_at_any_time_leaves_nothing_behind(void **state)
{
    (void)state;
    for (uint64_t ms = 0; ms < 300; ms += 4) {
        life l;
        life_init_slow(&l);
        assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
        virtual_rig_run(&l.rig, ms);
        ki_informer_free(l.rig.informer);
        l.rig.informer = NULL;
        assert_int_equal(sim_server_open_count(l.rig.server), 0);
        assert_int_equal(l.what.releases, 1);
        life_fini(&l);
    }
}

static void a_free_drops_events_that_wait_for_handlers(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_informer_stop(l.rig.informer);
    heard late;
    heard_init(&late);
    ki_handler handler = heard_handler(&late);
    assert_non_null(ki_informer_add_handler(l.rig.informer, &handler, NULL));
    virtual_rig_run(&l.rig, 1);
    life_fini(&l);
    assert_int_equal(heard_events(&late), 0);
    assert_int_equal(late.releases, 1);
    heard_fini(&late);
}

static void an_object_with_a_reference_outlives_the_informer(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    virtual_rig_sync(&l.rig);
    ki_object *object = ki_store_get(ki_informer_store(l.rig.informer), KI_STR("a"), KI_STR("n1"));
    life_fini(&l);
    assert_string_equal(ki_object_key(object), "a/n1");
    (void)ki_object_unref(object);
}

/* ---- out of memory ----------------------------------------------------------------------------------- */

/* The n-th allocation after the start fails: this costs time, but nothing is lost. */
static int run_without_memory(size_t n)
{
    life l;
    life_init(&l);
    failing_allocator_fail_at(n);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    virtual_rig_run(&l.rig, 100);
    sim_world_update(l.rig.world, 1);
    sim_world_create(l.rig.world, 9);
    sim_world_delete(l.rig.world, 2);
    virtual_rig_run(&l.rig, 100);
    ki_informer_stop(l.rig.informer);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    sim_world_update(l.rig.world, 1);
    virtual_rig_run(&l.rig, 100);
    int has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    virtual_rig_run(&l.rig, 120 * SECOND);
    assert_all_is_well(&l);
    assert_int_equal(l.what.synced, 1);
    life_fini(&l);
    return has_failed;
}

static void a_single_failed_allocation_only_costs_time(void **state)
{
    (void)state;
    size_t n = 1;
    while (run_without_memory(n))
        n++;
    assert_true(n > 20);
}

/* Called in the order of the registrations, after the informer is gone. */
static void note_release(void *user)
{
    char *order = user;
    order[strlen(order)] = (char)('a' + strlen(order));
}

static void releases_are_called_once_when_the_informer_is_freed(void **state)
{
    (void)state;
    char first[8] = "", second[8] = "b";
    life l;
    life_init(&l);
    assert_int_equal(ki_informer_add_release(l.rig.informer, note_release, first), 0);
    virtual_rig_sync(&l.rig);
    assert_int_equal(ki_informer_add_release(l.rig.informer, note_release, second), 0);
    assert_int_equal(ki_informer_add_release(l.rig.informer, NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_add_release(NULL, note_release, first), KI_ERR_INVALID);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_informer_add_release(l.rig.informer, note_release, first), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    ki_informer_stop(l.rig.informer);
    virtual_rig_sync(&l.rig);
    assert_string_equal(first, "");
    life_fini(&l);
    assert_string_equal(first, "a");
    assert_string_equal(second, "bb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(releases_are_called_once_when_the_informer_is_freed),
        WITH_MEMORY_CHECK(a_second_start_is_harmless),
        WITH_MEMORY_CHECK(a_stop_ends_requests_and_callbacks_and_keeps_the_store),
        WITH_MEMORY_CHECK(a_stop_before_the_start_is_harmless),
        WITH_MEMORY_CHECK(a_restart_continues_with_a_watch_from_the_version_of_the_store),
        WITH_MEMORY_CHECK(a_restart_after_the_history_was_forgotten_lists_again),
        WITH_MEMORY_CHECK(a_stop_during_the_first_list_loses_nothing),
        WITH_MEMORY_CHECK(stops_and_starts_among_changes_and_cuts_lose_nothing),
        WITH_MEMORY_CHECK(a_start_cancels_a_pending_stop),
        WITH_MEMORY_CHECK(events_that_waited_for_a_handler_are_delivered_after_the_restart),
        WITH_MEMORY_CHECK(nothing_is_called_after_the_release_even_if_a_run_was_cut_short),
        WITH_MEMORY_CHECK(a_handler_added_while_stopped_gets_everything_after_the_start),
        WITH_MEMORY_CHECK(waiting_for_a_stopped_informer_fails),
        WITH_MEMORY_CHECK(a_free_at_any_time_leaves_nothing_behind),
        WITH_MEMORY_CHECK(a_free_drops_events_that_wait_for_handlers),
        WITH_MEMORY_CHECK(an_object_with_a_reference_outlives_the_informer),
        WITH_MEMORY_CHECK(a_single_failed_allocation_only_costs_time),
    };
    return RUN_TESTS(tests);
}
