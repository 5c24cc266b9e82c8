/* SPDX-License-Identifier: Apache-2.0 */
/* The reported age of the store: what makes it fresh, and what does not. In virtual time; the three loops of
 * a client are run one by one, so that each can be stalled like a thread that gets no CPU time. */
#include <string.h>

#include "client/client.h"
#include "support/informer/age_rig.h"
#include "support/unit.h"

static const ki_informer_options defaults;

/* ---- what makes the store fresh ---------------------------------------------------------------------- */

static void ten_quiet_minutes_with_bookmarks_stay_below_the_limit(void **state)
{
    (void)state;
    for (int watch_list = KI_WATCH_LIST_AUTO; watch_list <= KI_WATCH_LIST_NEVER; watch_list++) {
        age_rig r;
        age_rig_init(&r, &(ki_informer_options){.watch_list = (ki_watch_list)watch_list}, MINUTE_MS);
        age_rig_sync(&r);
        age_rig_run(&r, 10 * MINUTE_MS);
        assert_true(r.oldest_ms < FAIL_OPEN_MS);
        assert_true(age_rig_age_ms(&r) <= 2 * MINUTE_MS);
        age_rig_fini(&r);
    }
}

/* The server sends a bookmark before it ends the watch, as real servers do, but only after five minutes. */
static void without_bookmarks_the_age_grows_until_something_happens(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, 24 * 60 * MINUTE_MS);
    age_rig_sync(&r);
    uint64_t before_ms = age_rig_age_ms(&r);
    age_rig_run(&r, 4 * MINUTE_MS);
    assert_int_equal(age_rig_age_ms(&r), before_ms + 4 * MINUTE_MS);
    sim_world_update(r.world, 1);
    age_rig_run(&r, 1000);
    assert_true(age_rig_age_ms(&r) <= 1000);
    age_rig_fini(&r);
}

/* Each request gets a successful response head and no body. */
static void response_heads_make_nothing_fresh(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    sim_server_set_faults(r.server, &(sim_faults){.empty_body = 1});
    sim_world_update(r.world, 1);
    sim_server_cut_all(r.server);
    age_rig_run(&r, 2 * FAIL_OPEN_MS);
    assert_true(sim_server_counts(r.server)->empty_body > 3);
    assert_true(age_rig_age_ms(&r) >= 2 * FAIL_OPEN_MS);
    sim_server_set_faults(r.server, &(sim_faults){0});
    age_rig_run(&r, 2 * MINUTE_MS);
    assert_true(age_rig_age_ms(&r) <= 2 * MINUTE_MS);
    age_rig_fini(&r);
}

/* An unfinished list has brought items, but proves nothing. */
static void items_of_a_list_without_an_end_make_nothing_fresh(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &(ki_informer_options){.watch_list = KI_WATCH_LIST_ALWAYS}, MINUTE_MS);
    age_rig_sync(&r);
    sim_server_set_faults(r.server, &(sim_faults){.watch_list_endless = 1});
    sim_world_update(r.world, 1);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    age_rig_run(&r, 2 * FAIL_OPEN_MS);
    assert_true(sim_server_counts(r.server)->watch_list_endless > 1);
    assert_true(age_rig_age_ms(&r) >= 2 * FAIL_OPEN_MS);
    age_rig_fini(&r);
}

/* An overloaded server is not listed instead, so the age of the store grows, and the status says why. */
static void a_server_that_defers_each_watch_makes_the_store_old(void **state)
{
    (void)state;
    age_rig r;
    ki_informer_status status;
    static const char words[] = "the store is not updated until the server accepts a watch: ";
    age_rig_init(&r, &defaults, MINUTE_MS);
    age_rig_sync(&r);
    uint64_t lists = sim_server_counts(r.server)->lists;
    sim_server_set_faults(r.server, &(sim_faults){.http_429 = 1});
    sim_world_update(r.world, 1);
    sim_server_cut_all(r.server);
    age_rig_run(&r, 2 * FAIL_OPEN_MS);
    assert_true(sim_server_counts(r.server)->http_429 > 3);
    assert_int_equal(sim_server_counts(r.server)->lists, lists);
    assert_true(age_rig_age_ms(&r) >= 2 * FAIL_OPEN_MS);
    ki_informer_read_status(r.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(status.reason, KI_REASON_TOO_MANY_REQUESTS);
    assert_int_equal(status.http_status, 429);
    assert_int_equal(strncmp(status.message, words, strlen(words)), 0);
    sim_server_set_faults(r.server, &(sim_faults){0});
    age_rig_run(&r, 2 * MINUTE_MS);
    assert_true(age_rig_age_ms(&r) <= MINUTE_MS);
    age_rig_fini(&r);
}

/* ---- broken servers ---------------------------------------------------------------------------------- */

/* No broken response is a reason to trust the store. */
static void no_response_of_a_broken_server_makes_the_store_fresh(void **state)
{
    (void)state;
    for (sim_manner manner = 0; manner < SIM_MANNER_COUNT; manner++)
        for (int watch_list = KI_WATCH_LIST_AUTO; watch_list <= KI_WATCH_LIST_NEVER; watch_list++) {
            age_rig r;
            age_rig_init(&r, &(ki_informer_options){.watch_list = (ki_watch_list)watch_list, .page_size = 2},
                         10 * 1000);
            age_rig_sync(&r);
            sim_server_break(r.server, (sim_breakage){SIM_LISTS | SIM_WATCHES | SIM_STREAMS, manner});
            age_rig_run(&r, 2 * FAIL_OPEN_MS);
            if (age_rig_age_ms(&r) < 2 * FAIL_OPEN_MS)
                fail_msg("breakage %d: the age is only %d ms", (int)manner, (int)age_rig_age_ms(&r));
            age_rig_fini(&r);
        }
}

/* While lists replace watches, the store is as old as its last list, and the age must not be less. */
static void while_watches_are_broken_the_age_covers_missing_changes(void **state)
{
    (void)state;
    for (sim_manner manner = 0; manner < SIM_MANNER_COUNT; manner++) {
        age_rig r;
        age_rig_changes all = {0};
        uint64_t longest_ms = 0;
        age_rig_init(&r, &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER}, 10 * 1000);
        age_rig_sync(&r);
        sim_server_break(r.server, (sim_breakage){SIM_WATCHES, manner});
        for (uint32_t i = 0; i < 240; i++) {
            age_rig_change(&r, &all, i % 5);
            age_rig_run(&r, 10 * 1000);
            uint64_t missed = age_rig_missed_ms(&r, &all);
            longest_ms = missed > longest_ms ? missed : longest_ms;
            assert_true(age_rig_age_ms(&r) >= missed);
        }
        assert_true(longest_ms >= 20 * 1000); /* otherwise nothing was broken */
        assert_true(sim_server_counts(r.server)->lists > 1);
        age_rig_fini(&r);
    }
}

/* Until the list is applied, the store lacks the changes since the connection was lost,
 * even if they were received. */
static void a_list_counts_once_it_is_in_the_store(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER}, MINUTE_MS);
    age_rig_sync(&r);
    sim_server_set_faults(r.server, &(sim_faults){.refuse = 1});
    sim_world_update(r.world, 1);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    age_rig_run(&r, 5 * MINUTE_MS);
    sim_server_set_faults(r.server, &(sim_faults){0});
    r.dispatch_is_held = true;
    age_rig_run(&r, 2 * MINUTE_MS);
    sim_world_update(r.world, 2); /* a change after the list, which proves nothing about earlier ones */
    age_rig_run(&r, 1000);
    assert_true(age_rig_age_ms(&r) >= 7 * MINUTE_MS);
    r.dispatch_is_held = false;
    age_rig_run(&r, 1);
    assert_true(age_rig_age_ms(&r) <= MINUTE_MS);
    age_rig_fini(&r);
}

static void the_age_is_known_once_the_first_list_is_applied(void **state)
{
    (void)state;
    age_rig r;
    age_rig_init(&r, &defaults, MINUTE_MS);
    ki_handler handler = heard_handler(&r.what);
    handler.overflow = KI_OVERFLOW_BLOCK;
    handler.backlog_items_max = 1;
    assert_non_null(ki_informer_add_handler(r.informer, &handler, NULL));
    assert_int_equal(ki_informer_start(r.informer, NULL), 0);
    r.dispatch_is_held = true;
    (void)ki_loop_step(r.client->dispatch, 0); /* begins the run */
    age_rig_run(&r, 100);
    assert_true(age_rig_age_ms(&r) == UINT64_MAX);
    sim_world_update(r.world, 1);
    age_rig_run(&r, 5000);
    assert_true(age_rig_age_ms(&r) == UINT64_MAX);
    for (int i = 0; i < 100 && !ki_informer_has_synced(r.informer); i++) {
        (void)ki_loop_step(r.client->dispatch, 1);
        (void)ki_loop_step(r.client->handlers, 1);
        assert_true((age_rig_age_ms(&r) != UINT64_MAX) == (ki_informer_has_synced(r.informer) != 0));
    }
    assert_in_range(age_rig_age_ms(&r), 5000, 5100);
    age_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_quiet_minutes_with_bookmarks_stay_below_the_limit),
        cmocka_unit_test(without_bookmarks_the_age_grows_until_something_happens),
        cmocka_unit_test(response_heads_make_nothing_fresh),
        cmocka_unit_test(items_of_a_list_without_an_end_make_nothing_fresh),
        cmocka_unit_test(a_server_that_defers_each_watch_makes_the_store_old),
        cmocka_unit_test(no_response_of_a_broken_server_makes_the_store_fresh),
        cmocka_unit_test(while_watches_are_broken_the_age_covers_missing_changes),
        cmocka_unit_test(a_list_counts_once_it_is_in_the_store),
        cmocka_unit_test(the_age_is_known_once_the_first_list_is_applied),
    };
    return RUN_TESTS(tests);
}
