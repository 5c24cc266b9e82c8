/* SPDX-License-Identifier: Apache-2.0 */
/* Adding, getting and finishing keys: which keys are queued, in which order, and how often. */
#include <kinformer/workqueue.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/work_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* ---- one key in all its states ------------------------------------------------------------------------- */

static void a_key_that_is_added_twice_is_handed_out_once(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_add(&rig, "b");
    work_add(&rig, "a");
    assert_int_equal(ki_workqueue_len(rig.queue), 2);
    work_assert_runs(&rig, "a b ");
    work_rig_fini(&rig);
}

static void a_key_added_while_it_is_processed_is_queued_again_after_done(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_get(&rig, "a");
    work_add(&rig, "a");
    work_add(&rig, "a");
    work_add(&rig, "b");
    assert_int_equal(ki_workqueue_len(rig.queue), 1);
    work_get(&rig, "b");
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    assert_int_equal(work_done(&rig, "a"), 0);
    assert_int_equal(work_done(&rig, "b"), 0);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

static void the_next_key_ends_the_work_on_the_previous_one(void **state)
{
    (void)state;
    work_rig rig;
    ki_work_item item = {0};
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_add(&rig, "b");
    assert_int_equal(ki_workqueue_next(rig.queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, KI_STR("a")));
    work_add(&rig, "a"); /* queued again after b */
    assert_int_equal(ki_workqueue_next(rig.queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, KI_STR("b")));
    assert_int_equal(ki_workqueue_next(rig.queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, KI_STR("a")));
    assert_int_equal(work_done(&rig, "b"), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_workqueue_next(rig.queue, 0, &item), KI_ERR_TIMEOUT);
    assert_int_equal(item.key.len, 0);
    assert_int_equal(work_done(&rig, "a"), KI_ERR_NOT_FOUND);
    ki_workqueue_shut_down(rig.queue);
    assert_int_equal(ki_workqueue_next(rig.queue, 0, &item), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_next(rig.queue, 0, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_next(NULL, 0, &item), KI_ERR_INVALID);
    work_rig_fini(&rig);
}

static void a_key_that_is_queued_again_waits_behind_the_others(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_get(&rig, "a");
    work_add(&rig, "a");
    work_add(&rig, "b");
    assert_int_equal(work_done(&rig, "a"), 0);
    work_assert_runs(&rig, "b a ");
    work_rig_fini(&rig);
}

static void done_without_a_get_is_an_error_and_changes_nothing(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    assert_int_equal(work_done(&rig, "a"), KI_ERR_NOT_FOUND);
    work_add(&rig, "a");
    assert_int_equal(work_done(&rig, "a"), KI_ERR_NOT_FOUND);
    work_assert_runs(&rig, "a ");
    assert_int_equal(work_done(&rig, "a"), KI_ERR_NOT_FOUND);
    work_add_after(&rig, "a", 5);
    assert_int_equal(work_done(&rig, "a"), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_workqueue_len(rig.queue), 0);
    work_rig_fini(&rig);
}

static void the_queue_keeps_its_own_copy_of_a_key_until_done(void **state)
{
    (void)state;
    work_rig rig;
    char text[] = "a";
    work_rig_init(&rig, NULL);
    assert_int_equal(ki_workqueue_add(rig.queue, ki_str_of(text), KI_PRIORITY_HIGH), 0);
    text[0] = 'x';
    ki_work_item item = work_get(&rig, "a");
    work_add(&rig, "a");
    assert_true(ki_str_equal(item.key, KI_STR("a")));
    assert_int_equal(ki_workqueue_done(rig.queue, item.key), 0);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

static void a_key_may_contain_any_bytes(void **state)
{
    (void)state;
    work_rig rig;
    ki_work_item item;
    char *longest = malloc(KI_WORK_KEY_BYTES_MAX + 1);
    memset(longest, 0, KI_WORK_KEY_BYTES_MAX + 1);
    work_rig_init(&rig, NULL);
    ki_str too_long = {longest, KI_WORK_KEY_BYTES_MAX + 1};
    ki_str key = {longest, KI_WORK_KEY_BYTES_MAX};
    assert_int_equal(ki_workqueue_add(rig.queue, too_long, KI_PRIORITY_HIGH), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_workqueue_done(rig.queue, too_long), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_workqueue_add(rig.queue, key, KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_workqueue_get(rig.queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, key));
    work_rig_fini(&rig);
    free(longest);
}

/* Memory of removed keys is reused, also for longer ones. */
static void keys_of_all_lengths_can_be_added_and_removed(void **state)
{
    (void)state;
    work_rig rig;
    char text[600];
    work_rig_init(&rig, NULL);
    for (size_t round = 0; round < 3; round++)
        for (size_t len = 1; len <= sizeof(text); len++) {
            ki_work_item item;
            memset(text, (int)('a' + (len + round) % 26), len);
            assert_int_equal(ki_workqueue_add(rig.queue, (ki_str){text, len}, KI_PRIORITY_HIGH), 0);
            assert_int_equal(ki_workqueue_get(rig.queue, 0, &item), 0);
            assert_true(ki_str_equal(item.key, (ki_str){text, len}));
            if (len % 3 != 0)
                assert_int_equal(
                    ki_workqueue_done(rig.queue, (len + round) % 2 == 0 ? item.key : (ki_str){text, len}), 0);
        }
    work_rig_fini(&rig);
}

/* ---- invalid arguments --------------------------------------------------------------------------------- */

static void invalid_keys_are_refused(void **state)
{
    (void)state;
    work_rig rig;
    ki_work_item item;
    work_rig_init(&rig, NULL);
    assert_int_equal(ki_workqueue_add(rig.queue, KI_STR(""), KI_PRIORITY_HIGH), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_add(rig.queue, KI_STR("a"), (ki_priority)2), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_add(NULL, KI_STR("a"), KI_PRIORITY_HIGH), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR(""), KI_PRIORITY_HIGH, 1), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_add_rate_limited(rig.queue, KI_STR(""), KI_PRIORITY_HIGH), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_num_requeues(rig.queue, KI_STR("")), 0);
    assert_int_equal(ki_workqueue_get(rig.queue, 0, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_get(NULL, 0, &item), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_done(rig.queue, KI_STR("")), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_done(NULL, KI_STR("a")), KI_ERR_INVALID);
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    work_rig_fini(&rig);
}

static void a_null_queue_is_empty_and_can_be_freed(void **state)
{
    (void)state;
    ki_workqueue_stats stats = {.depth = 1};
    ki_workqueue_read_stats(NULL, &stats);
    ki_workqueue_read_stats(NULL, NULL);
    assert_int_equal(stats.depth, 0);
    assert_int_equal(ki_workqueue_len(NULL), 0);
    assert_int_equal(ki_workqueue_shutting_down(NULL), 0);
    assert_int_equal(ki_workqueue_drain(NULL, 0), KI_ERR_INVALID);
    assert_int_equal(ki_workqueue_num_requeues(NULL, KI_STR("a")), 0);
    assert_true(ki_workqueue_fd(NULL, NULL) < 0);
    ki_workqueue_shut_down(NULL);
    ki_workqueue_forget(NULL, KI_STR("a"));
    ki_workqueue_free(NULL);
}

/* ---- priorities ---------------------------------------------------------------------------------------- */

static void high_keys_leave_before_low_ones(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_low(&rig, "a");
    work_add_low(&rig, "b");
    work_add(&rig, "c");
    work_add(&rig, "d");
    work_assert_runs(&rig, "c d a b ");
    work_rig_fini(&rig);
}

static void a_low_key_added_at_high_moves_up_once_and_never_down(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_low(&rig, "a");
    work_add_low(&rig, "b");
    work_add(&rig, "c");
    work_add(&rig, "b");
    work_add_low(&rig, "b");
    work_add_low(&rig, "c");
    assert_int_equal(ki_workqueue_len(rig.queue), 3);
    work_assert_runs(&rig, "c b a ");
    work_rig_fini(&rig);
}

static void a_key_added_during_processing_keeps_its_highest_priority(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_low(&rig, "a");
    assert_int_equal(work_get(&rig, "a").priority, KI_PRIORITY_LOW);
    work_add_low(&rig, "a");
    work_add(&rig, "a");
    work_add_low(&rig, "a");
    work_add_low(&rig, "b");
    assert_int_equal(work_done(&rig, "a"), 0);
    assert_int_equal(work_get(&rig, "a").priority, KI_PRIORITY_HIGH);
    work_add_low(&rig, "a");
    assert_int_equal(work_done(&rig, "a"), 0);
    work_assert_runs(&rig, "b a ");
    work_rig_fini(&rig);
}

/* A constant supply of high keys: one is added for each that is done. */
static void low_keys_do_not_starve(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    for (int i = 0; i < 3; i++)
        work_add_low(&rig, i == 0 ? "low-0" : i == 1 ? "low-1" : "low-2");
    work_add(&rig, "x");
    work_add(&rig, "y");
    for (int i = 1; i <= 3 * KI_WORKQUEUE_LOW_EVERY; i++) {
        ki_work_item item;
        assert_int_equal(ki_workqueue_get(rig.queue, 0, &item), 0);
        assert_int_equal(item.priority, i % KI_WORKQUEUE_LOW_EVERY == 0 ? KI_PRIORITY_LOW : KI_PRIORITY_HIGH);
        if (item.priority == KI_PRIORITY_HIGH)
            assert_int_equal(ki_workqueue_add(rig.queue, item.key, KI_PRIORITY_HIGH), 0);
        assert_int_equal(ki_workqueue_done(rig.queue, item.key), 0);
    }
    work_rig_fini(&rig);
}

static void high_keys_that_overtook_no_low_key_do_not_count(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    for (int i = 0; i < 3 * KI_WORKQUEUE_LOW_EVERY - 1; i++) {
        work_add(&rig, "x");
        work_assert_runs(&rig, "x ");
    }
    work_add_low(&rig, "low");
    work_add(&rig, "x");
    work_add(&rig, "y");
    work_assert_runs(&rig, "x y low ");
    work_rig_fini(&rig);
}

/* ---- statistics ---------------------------------------------------------------------------------------- */

static void the_statistics_distinguish_waiting_dirty_and_processed_keys(void **state)
{
    (void)state;
    work_rig rig;
    ki_workqueue_stats stats;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_add(&rig, "b");
    work_add_low(&rig, "c");
    work_get(&rig, "a");
    work_add(&rig, "a");
    work_add_after(&rig, "a", 10);
    work_add_after(&rig, "d", 10);
    ki_workqueue_read_stats(rig.queue, &stats);
    assert_int_equal(stats.waiting, 2);
    assert_int_equal(stats.low, 1);
    assert_int_equal(stats.depth, 3);
    assert_int_equal(stats.processing, 1);
    assert_int_equal(stats.delayed, 2);
    assert_int_equal(stats.dropped, 0);
    work_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_key_that_is_added_twice_is_handed_out_once),
        WITH_MEMORY_CHECK(a_key_added_while_it_is_processed_is_queued_again_after_done),
        WITH_MEMORY_CHECK(the_next_key_ends_the_work_on_the_previous_one),
        WITH_MEMORY_CHECK(a_key_that_is_queued_again_waits_behind_the_others),
        WITH_MEMORY_CHECK(done_without_a_get_is_an_error_and_changes_nothing),
        WITH_MEMORY_CHECK(the_queue_keeps_its_own_copy_of_a_key_until_done),
        WITH_MEMORY_CHECK(a_key_may_contain_any_bytes),
        WITH_MEMORY_CHECK(keys_of_all_lengths_can_be_added_and_removed),
        WITH_MEMORY_CHECK(invalid_keys_are_refused),
        WITH_MEMORY_CHECK(a_null_queue_is_empty_and_can_be_freed),
        WITH_MEMORY_CHECK(high_keys_leave_before_low_ones),
        WITH_MEMORY_CHECK(a_low_key_added_at_high_moves_up_once_and_never_down),
        WITH_MEMORY_CHECK(a_key_added_during_processing_keeps_its_highest_priority),
        WITH_MEMORY_CHECK(low_keys_do_not_starve),
        WITH_MEMORY_CHECK(high_keys_that_overtook_no_low_key_do_not_count),
        WITH_MEMORY_CHECK(the_statistics_distinguish_waiting_dirty_and_processed_keys),
    };
    return RUN_TESTS(tests);
}
