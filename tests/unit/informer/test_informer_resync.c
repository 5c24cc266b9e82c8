/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of an informer on one thread with a virtual clock: resyncs, counts, and running out of memory. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <string.h>

#include "client/client.h"
#include "informer/informer.h"
#include "support/failing_allocator.h"
#include "support/informer/told.h"
#include "support/unit.h"

enum { SECOND = 1000 };

/* ---- resync ------------------------------------------------------------------------------------------ */

static void resync_every_two_seconds(ki_handler *handler)
{
    handler->resync_ms = 2 * SECOND;
}

static void a_resync_reaches_only_the_handler_that_asked_for_it(void **state)
{
    (void)state;
    told t;
    heard other;
    heard_init(&other);
    told_init_with(&t, &(ki_informer_options){.resync_ms = SECOND}, resync_every_two_seconds);
    ki_handler handler = heard_handler(&other);
    assert_non_null(ki_informer_add_handler(t.rig.informer, &handler, NULL));
    virtual_rig_sync(&t.rig);
    uint64_t requests = sim_server_counts(t.rig.server)->lists + sim_server_counts(t.rig.server)->watches;
    virtual_rig_run(&t.rig, 7 * SECOND);
    assert_int_equal(t.what.resyncs, 3 * 5);
    assert_int_equal(t.what.updates, 3 * 5);
    assert_int_equal(other.updates, 0);
    assert_int_equal(sim_server_counts(t.rig.server)->lists + sim_server_counts(t.rig.server)->watches,
                     requests);
    told_fini(&t);
    heard_fini(&other);
}

static void a_handler_lowers_the_check_period_only_before_the_start(void **state)
{
    (void)state;
    told t;
    heard late;
    heard_init(&late);
    told_init_with(&t, &(ki_informer_options){.resync_ms = 60 * SECOND}, resync_every_two_seconds);
    virtual_rig_sync(&t.rig);
    virtual_rig_run(&t.rig, 2 * SECOND);
    assert_int_equal(t.what.resyncs, 5);
    ki_handler handler = heard_handler(&late);
    handler.resync_ms = 1; /* at least a second, and here at least the check period */
    assert_non_null(ki_informer_add_handler(t.rig.informer, &handler, NULL));
    virtual_rig_run(&t.rig, 10 * SECOND);
    assert_true(late.resyncs >= 4 * 5 && late.resyncs <= 5 * 5);
    told_fini(&t);
    heard_fini(&late);
}

static void there_is_no_resync_before_the_first_list_has_ended(void **state)
{
    (void)state;
    virtual_rig rig;
    heard what;
    heard_init(&what);
    const ki_informer_options slow = {.resync_ms = SECOND, .watch_list = KI_WATCH_LIST_NEVER, .page_size = 1};
    virtual_rig_init_slow(&rig, &slow, 100, 3 * SECOND);
    ki_handler handler = heard_handler(&what);
    handler.resync_ms = SECOND;
    assert_non_null(ki_informer_add_handler(rig.informer, &handler, NULL));
    assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    int tenths = 0;
    for (; tenths < 6000 && what.synced == 0; tenths++) {
        virtual_rig_run(&rig, SECOND / 10);
        assert_true(what.resyncs == 0 || what.synced == 1);
    }
    assert_in_range(tenths, 30, 5999); /* a few seconds at least */
    virtual_rig_run(&rig, 2 * SECOND);
    assert_true(what.resyncs >= 5);
    virtual_rig_fini(&rig);
    assert_int_equal(what.wrongs, 0);
    heard_fini(&what);
}

static void a_reconnect_does_not_delay_a_resync(void **state)
{
    (void)state;
    told t;
    told_init_with(&t, &(ki_informer_options){.resync_ms = SECOND}, resync_every_two_seconds);
    virtual_rig_sync(&t.rig);
    for (int i = 0; i < 20; i++) {
        sim_server_cut_all(t.rig.server);
        virtual_rig_run(&t.rig, SECOND / 2);
    }
    assert_true(t.what.resyncs >= 4 * 5);
    told_fini(&t);
}

/* The marker of a resync is queued when the reset begins. It must not be lost,
 * or no further resync would begin. */
static void resyncs_continue_after_a_reset_of_the_history(void **state)
{
    (void)state;
    told t;
    told_init_with(&t, &(ki_informer_options){.resync_ms = SECOND}, resync_every_two_seconds);
    for (int i = 0; i < 30; i++)
        sim_world_mutate(t.rig.world);
    virtual_rig_sync(&t.rig);
    ki_informer *informer = t.rig.informer;
    uint64_t now_ms = ki_clock_now_ms(&t.rig.clock);
    assert_int_equal(ki_fanout_begin_resync(&informer->fanout, now_ms + 10 * SECOND), 1);
    assert_int_equal(ki_delta_fifo_push_marker(&informer->fifo, KI_CHANGE_SYNC, 0, (ki_str){0}), 0);
    assert_int_equal(ki_delta_fifo_begin_history(&informer->fifo, 1), 0);
    sim_world_reset_history(t.rig.world, 20);
    virtual_rig_run(&t.rig, 120 * SECOND);
    sim_world_update(t.rig.world, 1);
    virtual_rig_run(&t.rig, 10 * SECOND);
    t.what.wrongs = 0; /* versions have gone back, as expected after a reset */
    int before = t.what.resyncs;
    virtual_rig_run(&t.rig, 10 * SECOND);
    assert_true(t.what.resyncs >= before + 4 * (int)sim_world_count(t.rig.world));
    virtual_rig_assert_equal(&t.rig);
    told_assert_all(&t);
    told_fini(&t);
}

static uint64_t endless_ms; /* the period requested by the next handler */

static void resync_never(ki_handler *handler)
{
    handler->resync_ms = endless_ms;
}

/* If the sum overflowed, the resync would be due at once, again and again. */
static void an_infinite_period_never_ends(void **state)
{
    (void)state;
    static const uint64_t endless[] = {UINT64_MAX, INT64_MAX, UINT64_MAX / 1000000, UINT64_MAX - 1};
    for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++) {
        for (int is_handlers = 0; is_handlers < 2; is_handlers++) {
            told t;
            ki_informer_options options = {.resync_ms = is_handlers ? SECOND : endless[i]};
            endless_ms = endless[i];
            told_init_with(&t, &options, resync_never);
            virtual_rig_sync(&t.rig);
            (void)ki_client_dispatch(t.rig.client, KI_BUDGET_NONE);
            assert_int_equal(ki_client_dispatch(t.rig.client, KI_BUDGET_NONE), 0); /* nothing is due */
            assert_true(ki_client_timeout_ms(t.rig.client) > 0);
            virtual_rig_run(&t.rig, 3600 * SECOND);
            assert_int_equal(t.what.resyncs, 0);
            told_fini(&t);
        }
    }
}

/* ---- statistics -------------------------------------------------------------------------------------- */

static void a_registration_counts_what_it_delivers(void **state)
{
    (void)state;
    told t;
    ki_registration_stats stats;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_world_update(t.rig.world, 1);
    virtual_rig_run(&t.rig, 10);
    ki_registration_read_stats(t.registration, &stats);
    assert_int_equal(stats.delivered, 6);
    assert_int_equal(stats.backlog, 0);
    assert_int_equal(stats.backlog_bytes, 0);
    assert_true(stats.backlog_high_water >= 5);
    assert_int_equal(stats.coalesced, 0);
    told_fini(&t);
}

static void when_out_of_memory_no_handler_is_added_and_the_next_start_reports_it(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    ki_registration *registration = NULL;
    for (size_t n = 1; registration == NULL; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        registration = ki_informer_add_handler(t.rig.informer, &(ki_handler){.name = "another"}, NULL);
        failing_allocator_fail_at(0);
        if (registration == NULL)
            assert_int_equal(ki_informer_start(t.rig.informer, &err), KI_ERR_NO_MEMORY);
    }
    virtual_rig_sync(&t.rig);
    told_assert_all(&t);
    told_fini(&t);
}

/* The n-th allocation after a late handler was added fails: it joins a little later, with all objects. */
static int join_without_memory(size_t n)
{
    told t;
    heard late;
    heard_init(&late);
    told_init(&t);
    virtual_rig_sync(&t.rig);
    ki_handler handler = heard_handler(&late);
    assert_non_null(ki_informer_add_handler(t.rig.informer, &handler, NULL));
    failing_allocator_fail_at(n);
    sim_world_update(t.rig.world, 1);
    virtual_rig_run(&t.rig, 10);
    int has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    virtual_rig_run(&t.rig, 60 * SECOND);
    assert_int_equal(late.synced, 1);
    assert_int_equal(late.initial, 5);
    assert_int_equal(heard_differences(&late, ki_informer_store(t.rig.informer)), 0);
    told_assert_all(&t);
    told_fini(&t);
    assert_int_equal(late.wrongs, 0);
    heard_fini(&late);
    return has_failed;
}

static void when_out_of_memory_a_late_handler_joins_later(void **state)
{
    (void)state;
    size_t n = 1;
    while (join_without_memory(n))
        n++;
    assert_true(n > 6);
}

static void the_metrics_of_a_handler_are_removed_with_it(void **state)
{
    (void)state;
    told t;
    ki_metrics_text text = {0};
    told_init(&t);
    virtual_rig_sync(&t.rig);
    assert_int_equal(ki_metrics_render(ki_client_metrics(t.rig.client), &text, NULL), 0);
    assert_non_null(strstr(text.bytes, "handler=\"1\""));
    ki_metrics_text_fini(&text);
    assert_int_equal(ki_registration_remove_and_wait(t.registration), 0);
    assert_int_equal(ki_metrics_render(ki_client_metrics(t.rig.client), &text, NULL), 0);
    assert_null(strstr(text.bytes, "handler=\"1\""));
    ki_metrics_text_fini(&text);
    told_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_resync_reaches_only_the_handler_that_asked_for_it),
        WITH_MEMORY_CHECK(a_handler_lowers_the_check_period_only_before_the_start),
        WITH_MEMORY_CHECK(there_is_no_resync_before_the_first_list_has_ended),
        WITH_MEMORY_CHECK(a_reconnect_does_not_delay_a_resync),
        WITH_MEMORY_CHECK(resyncs_continue_after_a_reset_of_the_history),
        WITH_MEMORY_CHECK(an_infinite_period_never_ends),
        WITH_MEMORY_CHECK(a_registration_counts_what_it_delivers),
        WITH_MEMORY_CHECK(when_out_of_memory_no_handler_is_added_and_the_next_start_reports_it),
        WITH_MEMORY_CHECK(when_out_of_memory_a_late_handler_joins_later),
        WITH_MEMORY_CHECK(the_metrics_of_a_handler_are_removed_with_it),
    };
    return RUN_TESTS(tests);
}
