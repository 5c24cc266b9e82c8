/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which changes leave a delta queue, what happens to deletes,
 * and up to which version everything was popped. */
#include "queue/delta_fifo.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/queue/fifo_push.h"
#include "support/queue/fifo_text.h"
#include "support/store/objects.h"
#include "support/unit.h"

/* ---- order --------------------------------------------------------------------------------------------- */

static void an_empty_queue_gives_nothing_and_no_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    assert_int_equal(ki_delta_fifo_init(&fifo, NULL), 0);
    fifo_assert_pops(&fifo, FIFO_ALL, "", "");
    assert_int_equal(ki_delta_fifo_items(&fifo), 0);
    assert_int_equal(fifo.bytes, 0);
    assert_true(ki_delta_fifo_has_space(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void fini_accepts_a_zeroed_queue_and_drops_waiting_changes(void **state)
{
    (void)state;
    ki_delta_fifo fifo = {.items_max = 0};
    ki_delta_fifo_fini(&fifo);
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 2);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "3");
    ki_delta_fifo_fini(&fifo);
    ki_delta_fifo_fini(&fifo);
    ki_delta_entry_free(NULL);
}

static void keys_leave_in_the_order_in_which_they_were_first_queued(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "c", 1);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 2);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "c", 3);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 4);
    assert_int_equal(ki_delta_fifo_items(&fifo), 3);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/c +1 ~3; default/a +2; default/b +4", "4");
    ki_delta_fifo_fini(&fifo);
}

static void changes_of_one_key_leave_together_oldest_first(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 2);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 3);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 4);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 5);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a =1@1 ~2 -3 +4 ~5", "5");
    ki_delta_fifo_fini(&fifo);
}

static void a_popped_key_is_queued_at_the_end_again(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 2);
    fifo_assert_pops(&fifo, 1, "default/a +1", "1");
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 3);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/b +2; default/a ~3", "3");
    ki_delta_fifo_fini(&fifo);
}

static void markers_keep_their_place_and_do_not_merge(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 7);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "9");
    fifo_push_marker(&fifo, KI_CHANGE_SYNC, 0, "");
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 10);
    fifo_push_marker(&fifo, KI_CHANGE_SYNC, 0, "");
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 11);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "15");
    assert_int_equal(ki_delta_fifo_items(&fifo), 6);
    fifo_assert_pops(&fifo, FIFO_ALL,
                     "default/a =7@1 ~10; END1 9; RESYNC; RESYNC; default/b +11; BOOKMARK 15", "15");
    ki_delta_fifo_fini(&fifo);
}

static void a_key_that_was_only_seen_waits_like_any_other(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/a"), 2), 0);
    fifo_push_item(&fifo, 2, "b", 4);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/b"), 3), 0);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 5);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a !0@2 -5; default/b =4@2 !0@3", "5");
    ki_delta_fifo_fini(&fifo);
}

static void a_seen_key_is_queued_once_per_list(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/a"), 2), 0);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/a"), 3), 0);
    fifo_push_item(&fifo, 4, "b", 7);
    assert_int_equal(ki_delta_fifo_push_seen(&fifo, KI_STR("default/b"), 4),
                     0); /* the item already says so */
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a !0@2 !0@3; default/b =7@4", "");
    ki_delta_fifo_fini(&fifo);
}

static void a_batch_has_at_most_the_requested_number_of_entries(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    for (uint64_t i = 1; i <= 5; i++)
        fifo_push_event(&fifo, KI_CHANGE_ADDED, (const char[]){(char)('a' + i), 0}, i);
    fifo_assert_pops(&fifo, 0, "", "");
    fifo_assert_pops(&fifo, 2, "default/b +1; default/c +2", "2");
    fifo_assert_pops(&fifo, 3, "default/d +3; default/e +4; default/f +5", "5");
    fifo_assert_pops(&fifo, 3, "", "5");
    ki_delta_fifo_fini(&fifo);
}

static void many_changes_of_one_key_are_all_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_list batch;
    ki_resource_version version = {0};
    fifo_init(&fifo);
    ki_list_init(&batch);
    for (uint64_t i = 1; i <= 300; i++)
        fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", i);
    assert_int_equal(ki_delta_fifo_pop(&fifo, FIFO_ALL, &batch, &version), 1);
    ki_delta_entry *entry = KI_CONTAINER_OF(ki_list_pop_front(&batch), ki_delta_entry, node);
    assert_int_equal(entry->count, 300);
    for (uint32_t i = 0; i < 300; i++)
        assert_int_equal(object_version(entry->deltas[i].object), i + 1);
    ki_delta_entry_free(entry);
    ki_delta_fifo_fini(&fifo);
}

/* ---- deletes ------------------------------------------------------------------------------------------- */

static void of_two_deletes_in_a_row_the_later_is_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 2);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 4);
    fifo_push_unseen_delete(&fifo, "b", 3);
    fifo_push_unseen_delete(&fifo, "b", 5);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a +1 -4; default/b ?5", "4");
    ki_delta_fifo_fini(&fifo);
}

static void a_repeated_delete_does_not_replace_a_newer_one(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 3);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 4);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 2);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a ~3 -4", "4");
    ki_delta_fifo_fini(&fifo);
}

static void a_delete_event_is_preferred_to_an_unseen_delete(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 4);
    fifo_push_unseen_delete(&fifo, "a", 3);
    fifo_push_unseen_delete(&fifo, "b", 3);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "b", 5);
    fifo_push_unseen_delete(&fifo, "b", 6);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a -4; default/b -5", "5");
    ki_delta_fifo_fini(&fifo);
}

static void deletes_with_a_change_between_them_are_both_kept(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 2);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 3);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "b", 4);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 5);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a -1 +2 -5; default/b -4", "5");
    ki_delta_fifo_fini(&fifo);
}

static void a_merged_delete_still_advances_the_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_DELETED, "a", 2);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 3);
    fifo_assert_pops(&fifo, 1, "default/a -2", "2");
    ki_delta_fifo_fini(&fifo);
}

/* ---- versions ------------------------------------------------------------------------------------------ */

static void a_key_that_leaves_early_does_not_advance_the_version_too_far(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 5);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 6);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 7);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "c", 8);
    fifo_assert_pops(&fifo, 1, "default/a +5 ~7", "5");
    fifo_assert_pops(&fifo, 1, "default/b +6", "7");
    fifo_assert_pops(&fifo, 1, "default/c +8", "8");
    ki_delta_fifo_fini(&fifo);
}

static void items_of_a_list_have_no_version_but_its_end_has(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 100);
    fifo_push_item(&fifo, 1, "b", 200);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "300");
    fifo_assert_pops(&fifo, 2, "default/a =100@1; default/b =200@1", "");
    fifo_assert_pops(&fifo, 1, "END1 300", "300");
    fifo_push_item(&fifo, 2, "a", 400);
    fifo_assert_pops(&fifo, 1, "default/a =400@2", "300");
    ki_delta_fifo_fini(&fifo);
}

static void a_bookmark_advances_the_version_when_it_is_popped(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 5);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "9");
    fifo_assert_pops(&fifo, 1, "default/a +5", "5");
    fifo_assert_pops(&fifo, 1, "BOOKMARK 9", "9");
    ki_delta_fifo_fini(&fifo);
}

static void an_older_version_does_not_move_it_back(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 50);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "9");
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 10);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a +50; END1 9; default/b +10", "50");
    ki_delta_fifo_fini(&fifo);
}

static void push_text_version(ki_delta_fifo *fifo, const char *name, const char *version)
{
    ki_delta delta = {.change_type = KI_CHANGE_ADDED, .object = object_of(name, 1, 0)};
    assert_int_equal(fifo_push_new(fifo, delta, ki_str_of(version)), 0);
}

static void the_last_received_version_counts_if_versions_are_not_numbers(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    push_text_version(&fifo, "a", "zeta");
    push_text_version(&fifo, "b", "alpha");
    push_text_version(&fifo, "a", "mu");
    push_text_version(&fifo, "c", "beta");
    fifo_assert_pops(&fifo, 1, "default/a +1 +1", "zeta");
    fifo_assert_pops(&fifo, 1, "default/b +1", "mu");
    fifo_assert_pops(&fifo, 1, "default/c +1", "beta");
    push_text_version(&fifo, "a", "7");
    fifo_assert_pops(&fifo, 1, "default/a +1", "7");
    ki_delta_fifo_fini(&fifo);
}

static void a_version_that_is_too_long_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    char text[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    memset(text, '1', sizeof(text));
    ki_str version = {text, sizeof(text)};
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 5);
    ki_delta delta = {.change_type = KI_CHANGE_UPDATED, .object = object_of("a", 6, 0)};
    assert_int_equal(fifo_push_new(&fifo, delta, version), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_delta_fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, version), KI_ERR_TOO_LARGE);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a +5", "5");
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_empty_queue_gives_nothing_and_no_version),
        WITH_MEMORY_CHECK(fini_accepts_a_zeroed_queue_and_drops_waiting_changes),
        WITH_MEMORY_CHECK(keys_leave_in_the_order_in_which_they_were_first_queued),
        WITH_MEMORY_CHECK(changes_of_one_key_leave_together_oldest_first),
        WITH_MEMORY_CHECK(a_popped_key_is_queued_at_the_end_again),
        WITH_MEMORY_CHECK(markers_keep_their_place_and_do_not_merge),
        WITH_MEMORY_CHECK(a_key_that_was_only_seen_waits_like_any_other),
        WITH_MEMORY_CHECK(a_seen_key_is_queued_once_per_list),
        WITH_MEMORY_CHECK(a_batch_has_at_most_the_requested_number_of_entries),
        WITH_MEMORY_CHECK(many_changes_of_one_key_are_all_kept),
        WITH_MEMORY_CHECK(of_two_deletes_in_a_row_the_later_is_kept),
        WITH_MEMORY_CHECK(a_repeated_delete_does_not_replace_a_newer_one),
        WITH_MEMORY_CHECK(a_delete_event_is_preferred_to_an_unseen_delete),
        WITH_MEMORY_CHECK(deletes_with_a_change_between_them_are_both_kept),
        WITH_MEMORY_CHECK(a_merged_delete_still_advances_the_version),
        WITH_MEMORY_CHECK(a_key_that_leaves_early_does_not_advance_the_version_too_far),
        WITH_MEMORY_CHECK(items_of_a_list_have_no_version_but_its_end_has),
        WITH_MEMORY_CHECK(a_bookmark_advances_the_version_when_it_is_popped),
        WITH_MEMORY_CHECK(an_older_version_does_not_move_it_back),
        WITH_MEMORY_CHECK(the_last_received_version_counts_if_versions_are_not_numbers),
        WITH_MEMORY_CHECK(a_version_that_is_too_long_is_refused_and_changes_nothing),
    };
    return RUN_TESTS(tests);
}
