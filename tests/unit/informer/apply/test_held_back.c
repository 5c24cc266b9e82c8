/* SPDX-License-Identifier: Apache-2.0 */
/* Which items of a list are delivered at once, and which are held back until its end.
 * support/informer/apply_run.h explains the scripts. */
#include "informer/held_back.h"

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/unit.h"

static void a_stale_list_brings_nothing_back(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )5 | -a10 | (2? a1 )9", "+a1i synced -a10", "");
    apply_run_expect("(1 )10 | (2? b10 c11 )9", "synced +c11", "c11");
    apply_run_expect("(1 )10 | (2? b3 b8 )9", "synced", "");
}

/* Items held back must not be kept until another list, where they would count. */
static void items_of_a_stale_list_are_forgotten_at_its_end(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 )10 | (2? b3 c4 |");
    assert_int_equal(ki_held_back_count(&run.apply.held), 2);
    apply_run_play(&run, ")9 |");
    assert_int_equal(ki_held_back_count(&run.apply.held), 0);
    apply_run_fini(&run);
}

static void unknown_items_that_are_not_newer_wait_for_the_end_of_their_list(void **state)
{
    (void)state;
    apply_run_expect("(1 )10 | (2? b3 c11 |", "synced +c11", "c11");
    apply_run_expect("(1 )10 | (2? b3 c11 | )10", "synced +c11 +b3", "b3 c11");
    apply_run_expect("(1 )10 | (2? b3 | b8 | b7 | )12 | ~b13", "synced +b8 ~b8>13", "b13");
    apply_run_expect("(1 )10 | (2? b3 | b11 | )12", "synced +b11", "b11");
    apply_run_expect("(1 )10 | (2 b3 |", "synced +b3", "b3"); /* the metadata came first */
    apply_run_expect("(1 )k | (2? bx |", "synced +bx",
                     "bx");                     /* versions that are not numbers cannot be compared */
    apply_run_expect("(1? b3 |", "+b3i", "b3"); /* no version is complete yet */
}

static void a_list_without_an_end_leaves_nothing(void **state)
{
    (void)state;
    apply_run_expect("(1 )10 | (2? b3 c4 | (3? c4 )12", "synced +c4", "c4");
    apply_run_expect("(1 )10 | (2? b3 | (3? b3 )9", "synced", "");
    apply_run_expect("(1 )10 | (2? b3 | !3 (3? c2 )4", "synced +c2", "c2");
}

/* Later changes of a are queued with its first one, before the ends of the lists. */
static void each_list_has_its_own_end(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )10 | (2? b3 | ~a11 )11 (3? b3 a11", "+a1i synced ~a1>11 +b3", "a11 b3");
    apply_run_expect("(1 a1 )10 | ~a11 (2? a11 b3 )11 (3? b3 )9", "+a1i synced ~a1>11 +b3", "a11 b3");
    apply_run_expect("(1 a1 )10 | ~a11 (2? b3 )9 (3? b3 )12", "+a1i synced ~a1>11 +b3 -a11u", "b3");
}

static void items_that_a_later_list_cannot_decode_are_seen_there(void **state)
{
    (void)state;
    apply_run_expect("(1 )10 | (2? b3 )11 (3? ?b )12", "synced +b3", "b3");
    apply_run_expect("(1 )10 | (2? b3 )11 (3? ?b )12 (4? b3 )12 (5? ?b )12 (6? ?c )13", "synced +b3 -b3u",
                     "");
    apply_run_expect("(1 )10 | (2? b3 )11 (3? ?c )12", "synced +b3 -b3u", "");
    apply_run_expect("(1 b3 )10 | (2? /b11 )11 (3? ?b )12", "+b3i synced -b11", "");
}

/* An object that could not be decoded in the new history is still that of the old one. */
static void an_older_state_does_not_replace_an_object_of_another_history(void **state)
{
    (void)state;
    apply_run_expect("(1 a5 )10 | !2 (2 ?a )7 | (3? a4 )6", "+a5i synced", "a5");
    apply_run_expect("(1 a5 )10 | !2 (2 ?a )7 | (3? a4 )8", "+a5i synced ~a5>4", "a4");
    apply_run_expect("(1 a5 )10 | !2 (2 ?a )7 | (3 a4 |", "+a5i synced ~a5>4", "a4");
    apply_run_expect("(1 a5 )10 | !2 (2 ?a )7 | ~a6 -a7", "+a5i synced", "a5");
    apply_run_expect("(1 a5 )10 | !2 (2 ?a )7 | ~a8", "+a5i synced ~a5>8", "a8");
    apply_run_expect("(1 a5 )10 | !2 (2 ?a )7 | -a8", "+a5i synced -a8", "");
}

static void events_of_a_watch_take_precedence_over_items_held_back(void **state)
{
    (void)state;
    apply_run_expect("(1 )10 | (2? b3 )10 +b11 -b12", "synced +b11 -b12", "");
    apply_run_expect("(1 )10 | (2? b3 )10 ~b11", "synced +b11", "b11");
    apply_run_expect("(1 b3 )10 | -b11 (2? b3 )12 +b2", "+b3i synced -b11 +b3", "b3");
}

static void a_delete_within_a_list_takes_effect_at_its_end(void **state)
{
    (void)state;
    apply_run_expect("(1? a1 b2 /a3 |", "+a1i +b2i", "a1 b2");
    apply_run_expect("(1? a1 b2 /a3 | )5", "+a1i +b2i -a3 synced", "b2");
    apply_run_expect("(1? a1 /a3 | (2? a1 b1 )2", "+a1i +b1i synced",
                     "a1 b1"); /* from a server that lags behind */
    apply_run_expect("(1 a1 )9 | (2? a1 /a3 )8", "+a1i synced", "a1");
    apply_run_expect("(1 a1 )9 | (2? /a10 a1 )12", "+a1i synced -a10", "");          /* an echo */
    apply_run_expect("(1 a1 )9 | (2? /a10 a11:n )12", "+a1i synced ~a1>11r", "a11"); /* created again */
    apply_run_expect("(1 a1 )9 | (2? b3 /b10 )12", "+a1i synced -a1u", "");
    apply_run_expect("(1 a1 )9 | ~a10 -a11 (2? /a12 )10", "+a1i synced ~a1>10 -a11", "");
}

static void nothing_is_lost_when_out_of_memory(void **state)
{
    (void)state;
    for (size_t nth = 1; nth < 200; nth++) {
        apply_run run;
        apply_run_init(&run);
        apply_run_play(&run, "(1 a1 )10 | (2? b3 c4 a1 /a11 )12");
        failing_allocator_fail_at(nth);
        apply_run_settle(&run);
        failing_allocator_fail_at(0);
        assert_string_equal(apply_run_heard(&run, 0), "+a1i synced +b3 +c4 -a11");
        assert_string_equal(apply_run_store(&run), "b3 c4");
        apply_run_fini(&run);
    }
}

static void past_the_limit_the_list_is_reported_as_doubtful(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 )90 | (2?");
    apply_run_push_many(&run, 2, 10 * 1000, "3");
    apply_run_settle(&run);
    assert_int_equal(run.apply.doubted_list, 0);
    apply_run_play(&run, "z4 |");
    assert_int_equal(run.apply.doubted_list, 2);
    assert_int_equal(ki_store_count(run.store), 0);
    apply_run_play(&run, ")95 |"); /* the list ended before the doubt was reported */
    assert_int_equal(ki_store_count(run.store), 10 * 1000 + 1);
    apply_run_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_stale_list_brings_nothing_back),
        WITH_MEMORY_CHECK(items_of_a_stale_list_are_forgotten_at_its_end),
        WITH_MEMORY_CHECK(unknown_items_that_are_not_newer_wait_for_the_end_of_their_list),
        WITH_MEMORY_CHECK(a_list_without_an_end_leaves_nothing),
        WITH_MEMORY_CHECK(each_list_has_its_own_end),
        WITH_MEMORY_CHECK(items_that_a_later_list_cannot_decode_are_seen_there),
        WITH_MEMORY_CHECK(an_older_state_does_not_replace_an_object_of_another_history),
        WITH_MEMORY_CHECK(events_of_a_watch_take_precedence_over_items_held_back),
        WITH_MEMORY_CHECK(a_delete_within_a_list_takes_effect_at_its_end),
        WITH_MEMORY_CHECK(nothing_is_lost_when_out_of_memory),
        WITH_MEMORY_CHECK(past_the_limit_the_list_is_reported_as_doubtful),
    };
    return RUN_TESTS(tests);
}
