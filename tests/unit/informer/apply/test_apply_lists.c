/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps at the end of lists, new histories, resyncs, and the steps in which they are applied.
 * support/informer/apply_run.h explains the scripts. */
#include "informer/apply.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/unit.h"

static void expect_version(const char *script, const char *version)
{
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, script);
    apply_run_settle(&run);
    assert_string_equal(apply_run_version(&run), version);
    apply_run_fini(&run);
}

/* ---- the first list ----------------------------------------------------------------------------------- */

static void adds_are_initial_until_the_first_list_has_ended(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 (2 b2 )5 | +c6 (3 a1 b2 c6 d4 )9", "+a1i +b2i -a1u synced +c6 +a1 +d4",
                     "a1 b2 c6 d4");
}

static void an_empty_list_syncs(void **state)
{
    (void)state;
    apply_run_expect("(1 )5 | (2 )6", "synced", "");
    expect_version("(1 )5 | (2 )6", "6");
}

/* Events are queued with a waiting item of the same key, and so come before the end of its list. */
static void a_watch_event_for_a_waiting_item_is_delivered_before_the_sync(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )5 ~a6 -b7 | ~a8", "+a1i ~a1>6 +b2i -b7 synced ~a6>8", "a8");
}

/* ---- sweeps ------------------------------------------------------------------------------------------- */

static void the_end_of_a_list_sweeps_objects_missing_from_it(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )5 | (2 b2 )9", "+a1i +b2i synced -a1u", "b2");
}

static void nothing_is_swept_before_the_end(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )5 | (2 b2", "+a1i +b2i synced", "a1 b2");
}

static void objects_added_by_a_watch_are_swept_too(void **state)
{
    (void)state;
    apply_run_expect("(1 )5 | +a6 | (2 )9", "synced +a6 -a6u", "");
}

static void an_item_that_cannot_be_decoded_keeps_its_object(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )5 | (2 ?a ?z )9", "+a1i +b2i synced -b2u", "a1");
}

static void an_older_item_keeps_its_object(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )5 | ~a8 | (2 a3 )8", "+a1i synced ~a1>8", "a8");
}

static void objects_newer_than_the_list_are_kept(void **state)
{
    (void)state;
    /* The change to version 10 is queued with the first one, before the end of the list. */
    apply_run_expect("(1 a1 b1 )5 | ~a6 (2 )9 ~a10", "+a1i +b1i synced ~a1>6 ~a6>10 -b1u", "a10");
    apply_run_expect("(1 )5 | (2 a9 b10 | (3 )9", "synced +a9 +b10 -a9u", "b10");
}

static void objects_in_a_later_list_count_as_seen(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )5 | (2 )7 (3 a1 )9", "+a1i synced -a1u +a1", "a1");
    /* Their second changes are queued with their first ones, before the end of list 2. */
    apply_run_expect("(1 a1 b2 )5 | ~a6 ~b6 (2 )7 (3 a6 )9", "+a1i +b2i synced ~a1>6 ~b2>6 -b6u", "a6");
}

static void a_list_that_fails_sweeps_nothing_and_completes_nothing(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )5 | (2 a8 | (3 a8 b2 )9", "+a1i +b2i synced ~a1>8", "a8 b2");
    expect_version("(1 a1 b2 )5 | (2 a8", "5");
}

static void objects_only_in_a_failed_list_are_swept_by_the_next(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )5 | (2 a1 b7 | (3 a1 )9", "+a1i synced +b7 -b7u", "a1");
}

static void sweeps_ignore_versions_that_are_not_numbers(void **state)
{
    (void)state;
    apply_run_expect("(1 ax by )k | (2 by )c", "+axi +byi synced -axu", "by");
    apply_run_expect("(1 a b )5 | (2 b )6", "+ai +bi synced -au", "b");
    expect_version("(1 ax by )k | (2 by )c", "c");
}

/* The add is queued with the first change of its key, before the end of the list,
 * and its version cannot be compared. */
static void changes_received_after_the_end_of_a_list_are_not_swept_by_it(void **state)
{
    (void)state;
    apply_run_expect("(1 ax )k | ~aw (2 )m +an:2", "+axi synced ~ax>w ~aw>nr", "an");
    apply_run_expect("(1 ax )k | ~aw (2 )m ~aw (3 )o", "+axi synced ~ax>w -awu", "");
}

/* ---- stale lists -------------------------------------------------------------------------------------- */

static void a_stale_list_sweeps_nothing_and_changes_no_version(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )10 | (2 b2 )9", "+a1i +b2i synced", "a1 b2");
    expect_version("(1 a1 b2 )10 | (2 b2 )9", "10");
}

static void objects_in_a_stale_list_are_kept(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )10 | (2 a3 b2 )9", "+a1i +b2i synced ~a1>3", "a3 b2");
}

static void a_list_is_stale_if_newer_changes_came_before_its_end(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )5 | (2 +b20 )10", "+a1i synced +b20", "a1 b20");
    expect_version("(1 a1 )5 | (2 +b20 )10", "20");
}

static void a_stale_list_does_not_affect_later_sweeps(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )10 | (2 b2 )9 | (3 a1 )12", "+a1i +b2i synced -b2u", "a1");
}

static void a_list_of_the_same_version_is_not_stale(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 b2 )10 | (2 b2 )10", "+a1i +b2i synced -a1u", "b2");
}

/* ---- another history ---------------------------------------------------------------------------------- */

static void in_a_new_history_versions_may_be_lower(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 b60 )90 | !2 (2 a3 b60 )7 | ~a8", "+a50i +b60i synced ~a50>3 ~a3>8", "a8 b60");
    expect_version("(1 a50 )90 | !2 (2 a3 )7", "7");
}

static void a_new_history_completes_nothing_before_its_list_ends(void **state)
{
    (void)state;
    expect_version("(1 a50 )90 | !2 (2 a3", "");
}

static void in_a_new_history_equal_objects_are_not_delivered(void **state)
{
    (void)state;
    apply_run_expect("(1 a50=x b60=y c70 )90 | !2 (2 a3=x b60=z c70 )7", "+a50i +b60i +c70i synced ~b60>60",
                     "a3 b60 c70");
}

/* The version and the kept text are the same. */
static void in_a_new_history_another_uid_is_another_object(void **state)
{
    (void)state;
    apply_run_expect("(1 a5:x=t )9 | !2 (2 a5:y=t )7", "+a5i synced ~a5>5r", "a5");
    apply_run_expect("(1 av:x=t )k | (2 av:y=t )m", "+avi synced ~av>vr", "av");
}

static void the_first_list_of_a_new_history_sweeps_whatever_the_version(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 b60 )90 | !2 (2 b3 )7", "+a50i +b60i synced ~b60>3 -a50u", "b3");
}

static void objects_in_a_failed_list_of_a_new_history_belong_to_it(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 b60 )90 | !2 (2 a3 b9 | (3 )7", "+a50i +b60i synced ~a50>3 ~b60>9 -a3u", "b9");
    /* After list 2 the version of b belongs to the new history, so an older version is ignored. */
    apply_run_expect("(1 b60 )90 | !2 (2 b9 | (3 b8 )10", "+b60i synced ~b60>9", "b9");
}

static void a_new_history_keeps_objects_that_cannot_be_decoded(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 b60 )90 | !2 (2 ?a )7", "+a50i +b60i synced -b60u", "a50");
}

static void a_delete_of_a_new_history_deletes_an_object_of_the_old_one(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 )90 | !2 -a3", "+a50i synced -a3", "");
}

static void a_new_history_forgets_waiting_changes_of_the_old_one(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 )90 | ~a91 +b92 !2 (2 a3 )7", "+a50i synced ~a50>3", "a3");
    expect_version("(1 a50 )90 | ~a91 +b92 !2 (2 a3 )7", "7");
}

static void a_batch_of_the_old_history_may_still_end_after_the_new_one_began(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a50 )90 | ~a91 ^95 +b96");
    assert_int_equal(apply_run_step(&run), 1); /* b was popped and waits after the bookmark */
    apply_run_play(&run, "!2 (2 a3 )7");
    assert_string_equal(apply_run_heard(&run, 0), "+a50i synced ~a50>91 +b96 ~a91>3 -b96u");
    assert_string_equal(apply_run_version(&run), "7");
    apply_run_fini(&run);
}

/* The server is past version 90 again when it is listed, so the versions do not show that the history is
 * another one. */
static void a_new_history_is_not_forgotten_with_waiting_changes(void **state)
{
    (void)state;
    for (int steps = 0; steps < 2; steps++) {
        apply_run run;
        apply_run_init(&run);
        apply_run_play(&run, "(1 a50 b60 )90 | !2 ^3 +c4");
        for (int i = 0; i < steps; i++)
            assert_int_equal(apply_run_step(&run), 1);
        apply_run_drop(&run);
        assert_string_equal(apply_run_version(&run), "");
        apply_run_play(&run, "(2 a7 )95");
        assert_string_equal(apply_run_heard(&run, 0), "+a50i +b60i synced ~a50>7 -b60u");
        apply_run_fini(&run);
    }
}

static void a_new_history_that_was_popped_is_not_forgotten(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a50 )90 |");
    apply_run_play(&run, "!2");
    assert_int_equal(ki_delta_fifo_pop(&run.fifo, 1, &run.apply.batch, &run.apply.batch_version), 1);
    run.apply.batch_count = 1;
    apply_run_drop(&run);
    assert_string_equal(apply_run_version(&run), "");
    assert_int_equal(run.apply.first_list, 2);
    apply_run_fini(&run);
}

static void changes_after_a_stop_belong_to_the_current_history(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 )90 | !2 (2 )7 |");
    apply_run_drop(&run);
    apply_run_play(&run, "+a9 | ~a8");
    assert_string_equal(apply_run_heard(&run, 0), "synced +a9");
    apply_run_fini(&run);
}

static void histories_may_follow_each_other(void **state)
{
    (void)state;
    apply_run_expect("(1 a50 )90 | !2 (2 a3 )7 | !3 (3 a1 )2", "+a50i synced ~a50>3 ~a3>1", "a1");
}

/* ---- resync ------------------------------------------------------------------------------------------- */

static void a_resync_calls_only_handlers_that_are_due(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_join(&run, 1, NULL);
    apply_run_play(&run, "(1 a1 )5 |");
    run.handlers[1].subscriber.resync = (ki_resync_turn){.period_ms = 1000, .due_ms = 3000};
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 2999), 0);
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 3000), 1);
    apply_run_play(&run, "@ ~a6");
    assert_string_equal(apply_run_heard(&run, 1), "+a1i synced ~a1>1s ~a1>6");
    assert_string_equal(apply_run_heard(&run, 0), "+a1i synced ~a1>6");
    assert_false(run.handlers[1].subscriber.resync.is_due);
    apply_run_fini(&run);
}

static void a_resync_changes_no_version(void **state)
{
    (void)state;
    expect_version("(1 a1 )5 | @", "5");
}

/* ---- steps -------------------------------------------------------------------------------------------- */

enum { MANY = 600 };

static size_t count_of(const char *heard, const char *sign)
{
    size_t count = 0;
    for (const char *at = strstr(heard, sign); at != NULL; at = strstr(at + 1, sign))
        count++;
    return count;
}

static void play_many(apply_run *run)
{
    apply_run_init(run);
    apply_run_push_many(run, 1, MANY, "1");
    apply_run_play(run, "(1 )5 |");
    assert_int_equal(ki_store_count(run->store), MANY);
}

static void a_sweep_is_done_in_steps(void **state)
{
    (void)state;
    apply_run run;
    play_many(&run);
    apply_run_play(&run, "(2 a6 )9");
    assert_int_equal(apply_run_step(&run), 1);
    assert_int_equal(ki_store_count(run.store), MANY + 1);
    assert_int_equal(apply_run_step(&run), 1);
    assert_int_equal(ki_store_count(run.store), MANY + 1 - KI_APPLY_STEP);
    assert_string_equal(apply_run_version(&run), "5");
    assert_int_equal(apply_run_step(&run), 1);
    assert_int_equal(ki_store_count(run.store), MANY + 1 - 2 * KI_APPLY_STEP);
    assert_int_equal(apply_run_step(&run), 1);
    assert_string_equal(apply_run_store(&run), "a6");
    assert_string_equal(apply_run_version(&run), "9");
    assert_int_equal(apply_run_step(&run), 0);
    assert_int_equal(count_of(apply_run_heard(&run, 0), "1u"), MANY);
    apply_run_fini(&run);
}

static void a_handler_added_during_a_sweep_gets_a_consistent_state(void **state)
{
    (void)state;
    apply_run run;
    play_many(&run);
    apply_run_play(&run, "(2 a6 )9");
    assert_int_equal(apply_run_step(&run), 1);
    assert_int_equal(apply_run_step(&run), 1);
    apply_run_join(&run, 1, NULL);
    const char *heard = apply_run_heard(&run, 1);
    assert_int_equal(count_of(heard, "+n"), MANY - KI_APPLY_STEP);
    assert_int_equal(count_of(heard, "-n"), MANY - KI_APPLY_STEP);
    assert_int_equal(count_of(heard, "+a6i"), 1);
    assert_int_equal(count_of(heard, "synced"), 1);
    assert_true(strstr(heard, "synced") < strstr(heard, "-n"));
    apply_run_fini(&run);
}

static void a_resync_is_done_in_steps(void **state)
{
    (void)state;
    apply_run run;
    play_many(&run);
    (void)apply_run_heard(&run, 0);
    run.handlers[0].subscriber.resync = (ki_resync_turn){.period_ms = 1000};
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 0), 1);
    apply_run_play(&run, "@ ~a6");
    assert_int_equal(apply_run_step(&run), 1);
    assert_int_equal(ki_listener_read_stats(&run.handlers[0].subscriber.listener).items, KI_APPLY_STEP);
    apply_run_join(&run, 1, NULL); /* added during the resync, so not called for it */
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 5000), 0);
    const char *heard = apply_run_heard(&run, 0);
    assert_int_equal(count_of(heard, ">1s"), MANY);
    assert_int_equal(count_of(heard, "+a6"), 1);
    assert_int_equal(count_of(apply_run_heard(&run, 1), ">1s"), 0);
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 5000), 1);
    apply_run_fini(&run);
}

static void a_drop_in_the_middle_of_a_sweep_loses_nothing(void **state)
{
    (void)state;
    apply_run run;
    play_many(&run);
    apply_run_play(&run, "(2 a6 )9");
    assert_int_equal(apply_run_step(&run), 1);
    assert_int_equal(apply_run_step(&run), 1);
    apply_run_drop(&run);
    assert_string_equal(apply_run_version(&run), "5");
    assert_int_equal(apply_run_step(&run), 0);
    apply_run_play(&run, "(3 a6 )9");
    assert_int_equal(count_of(apply_run_heard(&run, 0), "1u"), MANY);
    assert_string_equal(apply_run_store(&run), "a6");
    assert_string_equal(apply_run_version(&run), "9");
    apply_run_fini(&run);
}

static void a_drop_in_the_middle_of_a_resync_allows_the_next_one(void **state)
{
    (void)state;
    apply_run run;
    play_many(&run);
    (void)apply_run_heard(&run, 0);
    run.handlers[0].subscriber.resync = (ki_resync_turn){.period_ms = 1000};
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 0), 1);
    apply_run_play(&run, "@");
    assert_int_equal(apply_run_step(&run), 1);
    apply_run_drop(&run);
    assert_int_equal(count_of(apply_run_heard(&run, 0), ">1s"), KI_APPLY_STEP);
    assert_int_equal(ki_fanout_begin_resync(&run.fanout, 1000), 1);
    apply_run_play(&run, "@");
    assert_int_equal(count_of(apply_run_heard(&run, 0), ">1s"), MANY);
    apply_run_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(adds_are_initial_until_the_first_list_has_ended),
        WITH_MEMORY_CHECK(an_empty_list_syncs),
        WITH_MEMORY_CHECK(a_watch_event_for_a_waiting_item_is_delivered_before_the_sync),
        WITH_MEMORY_CHECK(the_end_of_a_list_sweeps_objects_missing_from_it),
        WITH_MEMORY_CHECK(nothing_is_swept_before_the_end),
        WITH_MEMORY_CHECK(objects_added_by_a_watch_are_swept_too),
        WITH_MEMORY_CHECK(an_item_that_cannot_be_decoded_keeps_its_object),
        WITH_MEMORY_CHECK(an_older_item_keeps_its_object),
        WITH_MEMORY_CHECK(objects_newer_than_the_list_are_kept),
        WITH_MEMORY_CHECK(objects_in_a_later_list_count_as_seen),
        WITH_MEMORY_CHECK(a_list_that_fails_sweeps_nothing_and_completes_nothing),
        WITH_MEMORY_CHECK(objects_only_in_a_failed_list_are_swept_by_the_next),
        WITH_MEMORY_CHECK(sweeps_ignore_versions_that_are_not_numbers),
        WITH_MEMORY_CHECK(changes_received_after_the_end_of_a_list_are_not_swept_by_it),
        WITH_MEMORY_CHECK(a_stale_list_sweeps_nothing_and_changes_no_version),
        WITH_MEMORY_CHECK(objects_in_a_stale_list_are_kept),
        WITH_MEMORY_CHECK(a_list_is_stale_if_newer_changes_came_before_its_end),
        WITH_MEMORY_CHECK(a_stale_list_does_not_affect_later_sweeps),
        WITH_MEMORY_CHECK(a_list_of_the_same_version_is_not_stale),
        WITH_MEMORY_CHECK(in_a_new_history_versions_may_be_lower),
        WITH_MEMORY_CHECK(a_new_history_completes_nothing_before_its_list_ends),
        WITH_MEMORY_CHECK(in_a_new_history_equal_objects_are_not_delivered),
        WITH_MEMORY_CHECK(in_a_new_history_another_uid_is_another_object),
        WITH_MEMORY_CHECK(the_first_list_of_a_new_history_sweeps_whatever_the_version),
        WITH_MEMORY_CHECK(objects_in_a_failed_list_of_a_new_history_belong_to_it),
        WITH_MEMORY_CHECK(a_new_history_keeps_objects_that_cannot_be_decoded),
        WITH_MEMORY_CHECK(a_delete_of_a_new_history_deletes_an_object_of_the_old_one),
        WITH_MEMORY_CHECK(a_new_history_forgets_waiting_changes_of_the_old_one),
        WITH_MEMORY_CHECK(a_batch_of_the_old_history_may_still_end_after_the_new_one_began),
        WITH_MEMORY_CHECK(a_new_history_is_not_forgotten_with_waiting_changes),
        WITH_MEMORY_CHECK(a_new_history_that_was_popped_is_not_forgotten),
        WITH_MEMORY_CHECK(changes_after_a_stop_belong_to_the_current_history),
        WITH_MEMORY_CHECK(histories_may_follow_each_other),
        WITH_MEMORY_CHECK(a_resync_calls_only_handlers_that_are_due),
        WITH_MEMORY_CHECK(a_resync_changes_no_version),
        WITH_MEMORY_CHECK(a_sweep_is_done_in_steps),
        WITH_MEMORY_CHECK(a_handler_added_during_a_sweep_gets_a_consistent_state),
        WITH_MEMORY_CHECK(a_resync_is_done_in_steps),
        WITH_MEMORY_CHECK(a_drop_in_the_middle_of_a_sweep_loses_nothing),
        WITH_MEMORY_CHECK(a_drop_in_the_middle_of_a_resync_allows_the_next_one),
    };
    return RUN_TESTS(tests);
}
