/* SPDX-License-Identifier: Apache-2.0 */
/* When a delta queue has synced, ends, and starts over. */
#include "queue/delta_fifo.h"

#include "support/failing_allocator.h"
#include "support/fifo_text.h"
#include "support/unit.h"
#include "util/clock.h"
#include "util/thread.h"

/* ---- the first list ------------------------------------------------------------------------------------ */

static void a_queue_has_synced_when_the_last_entry_of_the_first_list_is_finished(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 1);
    fifo_push_item(&fifo, 1, "b", 2);
    fifo_push_item(&fifo, 1, "a", 1);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "3");
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "c", 4);
    fifo_assert_pops(&fifo, 2, "default/a =1@1 =1@1; default/b =2@1", "");
    ki_delta_fifo_finish(&fifo, 2);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    fifo_assert_pops(&fifo, FIFO_ALL, "END1 3; default/c +4", "4");
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    fifo_push_item(&fifo, 2, "a", 1);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "9");
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void an_empty_list_syncs_as_well(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_delta_fifo_finish(&fifo, 0);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "3");
    ki_delta_fifo_finish(&fifo, 0);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    fifo_assert_pops(&fifo, FIFO_ALL, "END1 3", "3");
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

static void a_list_that_broke_off_does_not_sync_but_the_next_one_does(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 1);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a =1@1", "");
    ki_delta_fifo_finish(&fifo, 1);
    fifo_push_item(&fifo, 2, "a", 1);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a =1@2", "");
    ki_delta_fifo_finish(&fifo, 1);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "3");
    fifo_assert_pops(&fifo, FIFO_ALL, "END2 3", "3");
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* ---- closing, waiting, starting over ------------------------------------------------------------------- */

static void a_closed_queue_is_drained_before_it_ends(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 1);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 2);
    ki_delta_fifo_close(&fifo);
    assert_int_equal(ki_delta_fifo_wait(&fifo, 0), 1);
    fifo_assert_pops(&fifo, 1, "default/a +1", "1");
    assert_int_equal(ki_delta_fifo_wait(&fifo, UINT64_MAX), 1);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/b +2", "2");
    assert_int_equal(ki_delta_fifo_wait(&fifo, UINT64_MAX), KI_ERR_NOT_FOUND);
    ki_delta_fifo_fini(&fifo);
}

static void a_wait_ends_when_the_time_is_over(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    assert_int_equal(ki_delta_fifo_wait(&fifo, 0), 0);
    uint64_t began_ns = ki_clock_now_ns(ki_clock_real());
    assert_int_equal(ki_delta_fifo_wait(&fifo, 20), 0);
    assert_true(ki_clock_now_ns(ki_clock_real()) - began_ns >= 19 * 1000 * 1000);
    ki_delta_fifo_fini(&fifo);
}

static void push_resync(void *user)
{
    if (ki_delta_fifo_push_marker(user, KI_CHANGE_SYNC, 0, (ki_str){0}) < 0)
        ki_delta_fifo_close(user);
}

static void close_fifo(void *user)
{
    ki_delta_fifo_close(user);
}

static int wait_while(ki_delta_fifo *fifo, ki_thread_cb run)
{
    ki_thread thread;
    ki_thread_options options = {.name = "io", .run = run, .user = fifo};
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    int rc = ki_delta_fifo_wait(fifo, UINT64_MAX);
    ki_thread_join(&thread);
    return rc;
}

static void a_push_and_a_close_wake_who_waits(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(wait_while(&fifo, push_resync), 1);
        fifo_assert_pops(&fifo, FIFO_ALL, "RESYNC", "");
    }
    assert_int_equal(wait_while(&fifo, close_fifo), KI_ERR_NOT_FOUND);
    ki_delta_fifo_fini(&fifo);
}

static ki_resource_version version_of(const char *text)
{
    ki_resource_version version = {0};
    assert_int_equal(ki_resource_version_set(&version, ki_str_of(text)), 0);
    return version;
}

static void a_reset_forgets_what_waits_and_goes_on_from_a_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 5);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "9");
    ki_delta_fifo_close(&fifo);
    ki_resource_version from = version_of("3");
    ki_delta_fifo_reset(&fifo, &from);
    assert_int_equal(ki_delta_fifo_items(&fifo), 0);
    assert_int_equal(ki_delta_fifo_bytes(&fifo), 0);
    assert_int_equal(ki_delta_fifo_wait(&fifo, 0), 0);
    fifo_assert_pops(&fifo, FIFO_ALL, "", "3");
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 4);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 5);
    fifo_assert_pops(&fifo, 1, "default/a +4", "4");
    from = version_of("");
    ki_delta_fifo_reset(&fifo, &from);
    fifo_assert_pops(&fifo, FIFO_ALL, "", "");
    ki_delta_fifo_fini(&fifo);
}

static void after_a_reset_only_another_whole_list_syncs(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version none = {0};
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 1);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "3");
    fifo_assert_pops(&fifo, 1, "default/a =1@1", "");
    ki_delta_fifo_reset(&fifo, &none);
    ki_delta_fifo_finish(&fifo, 1);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "3");
    ki_delta_fifo_finish(&fifo, 0);
    assert_false(ki_delta_fifo_has_synced(&fifo));
    fifo_assert_pops(&fifo, 1, "END2 3", "3");
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_reset(&fifo, &none);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* The consumer gives up in the middle of a batch and never finishes it. */
static void a_batch_that_is_given_up_with_a_reset_does_not_count(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version none = {0};
    fifo_init(&fifo);
    fifo_push_item(&fifo, 1, "a", 1);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "3");
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a =1@1; END1 3", "3");
    ki_delta_fifo_reset(&fifo, &none);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "4");
    fifo_assert_pops(&fifo, FIFO_ALL, "END2 4", "4");
    assert_false(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_finish(&fifo, 1);
    assert_true(ki_delta_fifo_has_synced(&fifo));
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_queue_has_synced_when_the_last_entry_of_the_first_list_is_finished),
        WITH_MEMORY_CHECK(an_empty_list_syncs_as_well),
        WITH_MEMORY_CHECK(a_list_that_broke_off_does_not_sync_but_the_next_one_does),
        WITH_MEMORY_CHECK(a_closed_queue_is_drained_before_it_ends),
        WITH_MEMORY_CHECK(a_wait_ends_when_the_time_is_over),
        WITH_MEMORY_CHECK(a_push_and_a_close_wake_who_waits),
        WITH_MEMORY_CHECK(a_reset_forgets_what_waits_and_goes_on_from_a_version),
        WITH_MEMORY_CHECK(after_a_reset_only_another_whole_list_syncs),
        WITH_MEMORY_CHECK(a_batch_that_is_given_up_with_a_reset_does_not_count),
    };
    return RUN_TESTS(tests);
}
