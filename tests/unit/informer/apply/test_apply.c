/* SPDX-License-Identifier: Apache-2.0 */
/* How watch events and list items change the store and reach handlers. Ends of lists, resets and resyncs are
 * in test_apply_lists.c. support/informer/apply_run.h explains the scripts. */
#include "informer/apply.h"

#include <stdio.h>

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/queue/fifo_push.h"
#include "support/unit.h"

/* ---- add, update, delete ------------------------------------------------------------------------------ */

static void the_store_decides_between_add_and_update_not_the_event(void **state)
{
    (void)state;
    apply_run_expect("(1 )5 | ~a6 +a7 ~a8", "synced +a6 ~a6>7 ~a7>8", "a8");
}

static void an_item_of_a_list_updates_the_stored_object(void **state)
{
    (void)state;
    apply_run_expect("(1 a1 )5 | (2 a6 )9", "+a1i synced ~a1>6", "a6");
}

static void an_older_or_equal_version_changes_nothing(void **state)
{
    (void)state;
    apply_run_expect("(1 a3 )5 | ~a2 ~a3 +a3 (2 a1 a3 )9", "+a3i synced", "a3");
}

static void an_older_delete_changes_nothing_and_an_equal_one_deletes(void **state)
{
    (void)state;
    apply_run_expect("(1 a3 b3 )5 | -a2 -b3", "+a3i +b3i synced -b3", "a3");
}

static void a_delete_carries_the_object_of_the_event(void **state)
{
    (void)state;
    apply_run_expect("(1 a3 )5 | -a7 -b8", "+a3i synced -a7", "");
}

static void a_missed_delete_has_the_last_known_object(void **state)
{
    (void)state;
    apply_run_expect("(1 a3 )5 | -a7?", "+a3i synced -a3u", "");
}

static void another_uid_is_a_replacement(void **state)
{
    (void)state;
    apply_run_expect("(1 a1:x )5 | ~a6:x ~a7:y", "+a1i synced ~a1>6 ~a6>7r", "a7");
}

/* The backlog merges the state before the delete with the one after it,
 * so the delete must carry the object that the handler knew. */
static void a_delete_carries_the_object_that_the_handler_knew(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 )5 |");
    apply_run_join(&run, 1, &(ki_handler){.backlog_items_max = 1});
    apply_run_deliver(&run, 1);
    apply_run_play(&run, "+z6 -a7 +a8");
    assert_string_equal(apply_run_heard(&run, 1), "+a1i synced +z6 ~a1>8c");
    apply_run_fini(&run);
}

/* Past its byte limit the backlog drops the object that the handler knew, and only has the flag. */
static void a_delete_of_another_uid_is_flagged_for_the_backlog(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1:x )5 |");
    apply_run_join(&run, 1, &(ki_handler){.backlog_bytes_max = 1});
    apply_run_deliver(&run, 1);
    apply_run_play(&run, "+z6 -a7:y +a8:y");
    assert_string_equal(apply_run_heard(&run, 1), "+a1i synced +z6 ~a>8rc");
    apply_run_fini(&run);
}

/* ---- updates that change no kept field ---------------------------------------------------------------- */

static void an_update_without_kept_fields_is_stored_and_not_delivered(void **state)
{
    (void)state;
    apply_run_expect("(1 a1=x )5 | ~a6=x ~a7=y", "+a1i synced ~a6>7", "a7");
    apply_run_expect("(1 a1=x )5 | ~a6=x", "+a1i synced", "a6");
}

static void an_update_without_kept_fields_is_delivered_by_option(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    run.apply.options.deliver_unchanged = true;
    apply_run_play(&run, "(1 a1=x )5 | ~a6=x ~a6=x");
    assert_string_equal(apply_run_heard(&run, 0), "+a1i synced ~a1>6");
    apply_run_fini(&run);
}

static void another_uid_is_delivered_even_if_no_kept_field_differs(void **state)
{
    (void)state;
    apply_run_expect("(1 a1:x=t )5 | ~a6:y=t", "+a1i synced ~a1>6r", "a6");
}

/* ---- echoes ------------------------------------------------------------------------------------------- */

static void an_event_of_an_absent_key_counts_only_above_the_complete_version(void **state)
{
    (void)state;
    apply_run_expect("(1 )10 | +a9 ~b10 +c11", "synced +c11", "c11");
}

static void an_echo_does_not_bring_a_deleted_object_back(void **state)
{
    (void)state;
    apply_run_expect("(1 a3 )5 | ~a6 -a7 | +a3 ~a6 +a7", "+a3i synced ~a3>6 -a7", "");
}

/* An event is compared with the versions received before it, not with those received after it. */
static void an_echo_is_judged_by_what_was_received_before_it(void **state)
{
    (void)state;
    apply_run_expect("(1 )5 | +a8 +b7 +c9", "synced +a8 +c9", "a8 c9");
}

static void an_item_of_a_list_exists_whatever_its_version(void **state)
{
    (void)state;
    apply_run_expect("(1 )10 | (2 a3 )12", "synced +a3", "a3");
}

/* ---- versions that are not numbers --------------------------------------------------------------------- */

static void versions_that_are_not_numbers_apply_when_they_differ(void **state)
{
    (void)state;
    apply_run_expect("(1 ax )k | ~aw ~aw -av", "+axi synced ~ax>w -av", "");
}

static void the_same_version_that_is_not_a_number_applies_when_the_text_differs(void **state)
{
    (void)state;
    apply_run_expect("(1 ax:u=1 )k | ~ax:u=1 ~ax:u=2", "+axi synced ~ax>x", "ax");
}

static void a_missing_version_applies_when_the_text_differs(void **state)
{
    (void)state;
    apply_run_expect("(1 a=1 )5 | (2 a=1 )6 (3 a=2 )7", "+ai synced ~a>", "a");
}

static void an_event_of_an_absent_key_that_cannot_be_compared_applies(void **state)
{
    (void)state;
    apply_run_expect("(1 )k | +ax +bk", "synced +ax +bk", "ax bk");
}

static void the_last_received_version_is_complete_if_versions_are_not_numbers(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 ax )k |");
    assert_string_equal(apply_run_version(&run), "k");
    apply_run_play(&run, "~ac |");
    assert_string_equal(apply_run_version(&run), "c");
    apply_run_fini(&run);
}

/* ---- the complete version ----------------------------------------------------------------------------- */

static void the_version_advances_with_events_bookmarks_and_ends(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 |");
    assert_string_equal(apply_run_version(&run), "");
    apply_run_play(&run, ")5 |");
    assert_string_equal(apply_run_version(&run), "5");
    apply_run_play(&run, "+b7");
    assert_string_equal(apply_run_version(&run), "5");
    apply_run_play(&run, "|");
    assert_string_equal(apply_run_version(&run), "7");
    apply_run_play(&run, "^20 |");
    assert_string_equal(apply_run_version(&run), "20");
    apply_run_play(&run, "(2 a1 b7 )20 | ^12 |");
    assert_string_equal(apply_run_version(&run), "20");
    apply_run_fini(&run);
}

/* An object whose name is its version. */
static void push_numbered(apply_run *run, unsigned number)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%u", number);
    ki_delta delta = {.change_type = KI_CHANGE_ADDED, .object = apply_object(text, text, text, NULL)};
    assert_int_equal(fifo_push_new(&run->fifo, delta, (ki_str){text, (size_t)n}), 0);
}

/* The second change of the first object is popped with its first one,
 * before older changes of other objects. */
static void the_version_is_the_last_one_received_before_the_head_of_the_queue(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 )1000 |");
    for (unsigned i = 0; i <= KI_APPLY_STEP; i++)
        push_numbered(&run, 1001 + i);
    ki_delta second = {.change_type = KI_CHANGE_UPDATED,
                       .object = apply_object("1001", "2000", "1001", NULL)};
    assert_int_equal(fifo_push_new(&run.fifo, second, KI_STR("2000")), 0);
    assert_int_equal(apply_run_step(&run), 1);
    assert_string_equal(apply_run_version(&run), "1256");
    assert_int_equal(apply_run_step(&run), 1);
    assert_string_equal(apply_run_version(&run), "2000");
    assert_int_equal(apply_run_step(&run), 0);
    apply_run_fini(&run);
}

static void the_end_of_a_list_completes_its_version_before_later_changes(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 )5 +b6");
    assert_int_equal(apply_run_step(&run), 1);
    assert_string_equal(apply_run_version(&run), "");
    assert_int_equal(apply_run_step(&run), 1);
    assert_string_equal(apply_run_version(&run), "5");
    assert_int_equal(apply_run_step(&run), 1);
    assert_string_equal(apply_run_version(&run), "6");
    apply_run_fini(&run);
}

static void the_store_has_synced_when_the_end_of_the_first_list_is_applied(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 )5");
    assert_int_equal(apply_run_step(&run), 1);
    assert_false(run.apply.is_synced);
    apply_run_play(&run, "|");
    assert_true(run.apply.is_synced);
    apply_run_fini(&run);
}

/* ---- joining and leaving ------------------------------------------------------------------------------ */

static void a_late_handler_gets_the_stored_objects_and_all_later_changes(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 )5 | ~a6 |");
    apply_run_join(&run, 1, NULL);
    apply_run_play(&run, "~a7 +b8");
    assert_string_equal(apply_run_heard(&run, 1), "+a6i synced ~a6>7 +b8");
    assert_string_equal(apply_run_heard(&run, 0), "+a1i synced ~a1>6 ~a6>7 +b8");
    apply_run_fini(&run);
}

static void a_handler_added_before_the_first_list_ends_is_synced_with_all(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 |");
    apply_run_join(&run, 1, NULL);
    apply_run_play(&run, "b2 )5 | (2 a1 b2 )9");
    assert_string_equal(apply_run_heard(&run, 1), "+a1i +b2i synced");
    assert_string_equal(apply_run_heard(&run, 0), "+a1i +b2i synced");
    apply_run_fini(&run);
}

/* ---- stopping ----------------------------------------------------------------------------------------- */

static void a_drop_in_the_middle_of_a_batch_loses_nothing_that_is_sent_again(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 b1 )5 | ~a6 -b7 ^8 +c9");
    assert_int_equal(apply_run_step(&run), 1); /* up to the bookmark */
    assert_string_equal(apply_run_store(&run), "a6");
    apply_run_drop(&run);
    assert_int_equal(apply_run_step(&run), 0);
    assert_string_equal(apply_run_version(&run), "5");
    apply_run_play(&run, "~a6 -b7 ^8 +c9");
    assert_string_equal(apply_run_heard(&run, 0), "+a1i +b1i synced ~a1>6 -b7 +c9");
    assert_string_equal(apply_run_version(&run), "9");
    apply_run_fini(&run);
}

static void fini_drops_a_popped_batch_and_accepts_a_zeroed_apply(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 a1 )5 | +b6 ^7 +c8");
    assert_int_equal(apply_run_step(&run), 1);
    assert_false(ki_list_is_empty(&run.apply.batch));
    apply_run_fini(&run);
    ki_apply zeroed = {0};
    ki_apply_fini(&zeroed);
}

/* ---- keys that the store refuses ---------------------------------------------------------------------- */

static ki_object *object_with_a_long_key(void)
{
    char json[2 * KI_KEY_BYTES];
    int n = snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"%0*d\",\"resourceVersion\":\"6\"}}",
                     KI_KEY_BYTES + 1, 0);
    ki_object *object = ki_object_new(NULL, (ki_str){json, (size_t)n}, NULL, NULL);
    assert_non_null(object);
    return object;
}

static void a_key_that_the_store_refuses_does_not_stop_the_rest(void **state)
{
    (void)state;
    apply_run run;
    apply_run_init(&run);
    apply_run_play(&run, "(1 )5 |");
    ki_delta delta = {.change_type = KI_CHANGE_ADDED, .object = object_with_a_long_key()};
    assert_int_equal(fifo_push_new(&run.fifo, delta, KI_STR("6")), 0);
    apply_run_play(&run, "+b7");
    assert_string_equal(apply_run_heard(&run, 0), "synced +b7");
    assert_string_equal(apply_run_version(&run), "7");
    apply_run_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_store_decides_between_add_and_update_not_the_event),
        WITH_MEMORY_CHECK(an_item_of_a_list_updates_the_stored_object),
        WITH_MEMORY_CHECK(an_older_or_equal_version_changes_nothing),
        WITH_MEMORY_CHECK(an_older_delete_changes_nothing_and_an_equal_one_deletes),
        WITH_MEMORY_CHECK(a_delete_carries_the_object_of_the_event),
        WITH_MEMORY_CHECK(a_missed_delete_has_the_last_known_object),
        WITH_MEMORY_CHECK(another_uid_is_a_replacement),
        WITH_MEMORY_CHECK(a_delete_carries_the_object_that_the_handler_knew),
        WITH_MEMORY_CHECK(a_delete_of_another_uid_is_flagged_for_the_backlog),
        WITH_MEMORY_CHECK(an_update_without_kept_fields_is_stored_and_not_delivered),
        WITH_MEMORY_CHECK(an_update_without_kept_fields_is_delivered_by_option),
        WITH_MEMORY_CHECK(another_uid_is_delivered_even_if_no_kept_field_differs),
        WITH_MEMORY_CHECK(an_event_of_an_absent_key_counts_only_above_the_complete_version),
        WITH_MEMORY_CHECK(an_echo_does_not_bring_a_deleted_object_back),
        WITH_MEMORY_CHECK(an_echo_is_judged_by_what_was_received_before_it),
        WITH_MEMORY_CHECK(an_item_of_a_list_exists_whatever_its_version),
        WITH_MEMORY_CHECK(versions_that_are_not_numbers_apply_when_they_differ),
        WITH_MEMORY_CHECK(the_same_version_that_is_not_a_number_applies_when_the_text_differs),
        WITH_MEMORY_CHECK(a_missing_version_applies_when_the_text_differs),
        WITH_MEMORY_CHECK(an_event_of_an_absent_key_that_cannot_be_compared_applies),
        WITH_MEMORY_CHECK(the_last_received_version_is_complete_if_versions_are_not_numbers),
        WITH_MEMORY_CHECK(the_version_advances_with_events_bookmarks_and_ends),
        WITH_MEMORY_CHECK(the_version_is_the_last_one_received_before_the_head_of_the_queue),
        WITH_MEMORY_CHECK(the_end_of_a_list_completes_its_version_before_later_changes),
        WITH_MEMORY_CHECK(the_store_has_synced_when_the_end_of_the_first_list_is_applied),
        WITH_MEMORY_CHECK(a_late_handler_gets_the_stored_objects_and_all_later_changes),
        WITH_MEMORY_CHECK(a_handler_added_before_the_first_list_ends_is_synced_with_all),
        WITH_MEMORY_CHECK(a_drop_in_the_middle_of_a_batch_loses_nothing_that_is_sent_again),
        WITH_MEMORY_CHECK(fini_drops_a_popped_batch_and_accepts_a_zeroed_apply),
        WITH_MEMORY_CHECK(a_key_that_the_store_refuses_does_not_stop_the_rest),
    };
    return RUN_TESTS(tests);
}
