/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reclaim.h"

#include <kinformer/error.h>

#include "support/failing_allocator.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/alloc.h"
#include "util/loop/rcu.h"

static ki_object *some_object(void)
{
    return store_object("ns", "name", 1, "");
}

static ki_retired *some_block(void)
{
    ki_retired *block = ki_malloc(100);
    assert_non_null(block);
    return block;
}

static void retired_memory_lives_until_the_flush(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 1 << 20);
    ki_reclaim_object(&reclaim, some_object());
    ki_reclaim_block(&reclaim, some_block(), 100);
    assert_int_equal(failing_allocator_live_count(), 2);
    ki_reclaim_flush(&reclaim);
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_int_equal(reclaim.bytes, 0);
    ki_reclaim_fini(&reclaim);
}

static void one_grace_period_serves_all(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 1 << 20);
    for (int i = 0; i < 100; i++)
        ki_reclaim_object(&reclaim, some_object());
    ki_reclaim_flush(&reclaim);
    assert_int_equal(reclaim.grace_periods, 1);
    ki_reclaim_fini(&reclaim);
}

static void a_flush_of_nothing_does_not_wait(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 1);
    ki_rcu_read_lock(); /* a grace period would never end */
    ki_reclaim_settle(&reclaim);
    ki_reclaim_flush(&reclaim);
    ki_rcu_read_unlock();
    assert_int_equal(reclaim.grace_periods, 0);
    ki_reclaim_fini(&reclaim);
}

static void settle_waits_for_half_the_limit_of_bytes(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 400);
    ki_reclaim_block(&reclaim, some_block(), 100);
    ki_reclaim_settle(&reclaim);
    assert_int_equal(reclaim.bytes, 100);
    ki_reclaim_block(&reclaim, some_block(), 100);
    ki_reclaim_settle(&reclaim);
    assert_int_equal(reclaim.bytes, 0);
    assert_int_equal(reclaim.grace_periods, 1);
    ki_reclaim_fini(&reclaim);
}

static void settle_waits_for_the_limit_of_things(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_object *object = some_object();
    ki_reclaim_init(&reclaim, SIZE_MAX);
    for (int i = 0; i < KI_RECLAIM_THINGS_MAX; i++) {
        ki_reclaim_settle(&reclaim);
        assert_int_equal(reclaim.grace_periods, 0);
        ki_reclaim_object(&reclaim, ki_object_ref(object));
    }
    ki_reclaim_settle(&reclaim);
    assert_int_equal(reclaim.grace_periods, 1);
    ki_reclaim_fini(&reclaim);
    (void)ki_object_unref(object);
}

/* ---- with a reader, which is this thread: nothing waits for it --------------------------------------- */

static void memory_that_a_reader_may_see_is_kept_and_no_thread_waits(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 1000);
    ki_rcu_read_lock();
    ki_reclaim_object(&reclaim, some_object());
    ki_reclaim_block(&reclaim, some_block(), 100);
    assert_false(ki_reclaim_poll(&reclaim));
    ki_reclaim_block(&reclaim, some_block(), 100); /* after the grace period began */
    ki_reclaim_settle(&reclaim);
    assert_false(ki_reclaim_poll(&reclaim));
    assert_int_equal(failing_allocator_live_count(), 3);
    ki_rcu_read_unlock();
    assert_true(ki_reclaim_poll(&reclaim));
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_int_equal(reclaim.grace_periods, 2);
    ki_reclaim_fini(&reclaim);
}

static void memory_retired_during_a_grace_period_gets_its_own(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 1000);
    ki_reclaim_block(&reclaim, some_block(), 100);
    ki_rcu_read_lock();
    assert_false(ki_reclaim_poll(&reclaim));
    ki_rcu_read_unlock();
    ki_rcu_read_lock(); /* another section, which may see what is retired next */
    ki_reclaim_block(&reclaim, some_block(), 100);
    assert_false(ki_reclaim_poll(&reclaim));
    assert_int_equal(failing_allocator_live_count(), 1);
    assert_int_equal(reclaim.bytes, 100);
    ki_rcu_read_unlock();
    ki_reclaim_fini(&reclaim);
}

static void there_is_space_up_to_the_limit_and_again_without_the_reader(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 300);
    ki_rcu_read_lock();
    for (int i = 0; i < 3; i++) {
        assert_true(ki_reclaim_has_space(&reclaim));
        ki_reclaim_block(&reclaim, some_block(), 100);
        ki_reclaim_settle(&reclaim);
    }
    assert_false(ki_reclaim_has_space(&reclaim));
    assert_int_equal(failing_allocator_live_count(), 3);
    ki_rcu_read_unlock();
    assert_true(ki_reclaim_has_space(&reclaim));
    assert_int_equal(failing_allocator_live_count(), 0);
    ki_reclaim_fini(&reclaim);
}

static void a_reserve_that_runs_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, SIZE_MAX);
    ki_rcu_read_lock();
    for (int i = 0; i < KI_RECLAIM_FEW; i++)
        ki_reclaim_object(&reclaim, some_object());
    failing_allocator_fail_at(1);
    assert_int_equal(ki_reclaim_reserve(&reclaim), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_int_equal(reclaim.object_count, KI_RECLAIM_FEW);
    ki_rcu_read_unlock();
    ki_reclaim_fini(&reclaim);
}

static void free_counted(void *block)
{
    ki_free(block);
}

static void a_structure_is_freed_by_its_own_function(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, 1000);
    ki_rcu_read_lock();
    ki_reclaim_whole(&reclaim, some_block(), 2000, free_counted);
    ki_reclaim_settle(&reclaim);
    assert_false(ki_reclaim_has_space(&reclaim));
    ki_rcu_read_unlock();
    assert_true(ki_reclaim_has_space(&reclaim));
    assert_int_equal(failing_allocator_live_count(), 0);
    ki_reclaim_fini(&reclaim);
}

static void when_out_of_memory_a_grace_period_makes_space(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_object *object = some_object();
    ki_reclaim_init(&reclaim, SIZE_MAX);
    failing_allocator_fail_at(1);
    for (int i = 0; i < KI_RECLAIM_FEW + 1; i++)
        ki_reclaim_object(&reclaim, ki_object_ref(object));
    assert_true(failing_allocator_has_failed());
    assert_int_equal(reclaim.grace_periods, 1);
    assert_int_equal(reclaim.object_count, 1);
    ki_reclaim_fini(&reclaim);
    (void)ki_object_unref(object);
}

static void a_long_array_is_freed(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_object *object = some_object();
    ki_reclaim_init(&reclaim, SIZE_MAX);
    for (int i = 0; i < 3 * KI_RECLAIM_THINGS_MAX; i++)
        ki_reclaim_object(&reclaim, ki_object_ref(object));
    ki_reclaim_flush(&reclaim);
    assert_int_equal(reclaim.object_capacity, KI_RECLAIM_FEW);
    ki_reclaim_fini(&reclaim);
    (void)ki_object_unref(object);
}

static void memory_that_no_reader_sees_is_freed_at_once(void **state)
{
    (void)state;
    ki_reclaim reclaim;
    ki_reclaim_init_private(&reclaim);
    ki_rcu_read_lock();
    ki_reclaim_object(&reclaim, some_object());
    ki_reclaim_block(&reclaim, some_block(), 100);
    assert_int_equal(failing_allocator_live_count(), 0);
    ki_reclaim_fini(&reclaim);
    ki_rcu_read_unlock();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(retired_memory_lives_until_the_flush),
        WITH_MEMORY_CHECK(one_grace_period_serves_all),
        WITH_MEMORY_CHECK(a_flush_of_nothing_does_not_wait),
        WITH_MEMORY_CHECK(settle_waits_for_half_the_limit_of_bytes),
        WITH_MEMORY_CHECK(settle_waits_for_the_limit_of_things),
        WITH_MEMORY_CHECK(memory_that_a_reader_may_see_is_kept_and_no_thread_waits),
        WITH_MEMORY_CHECK(memory_retired_during_a_grace_period_gets_its_own),
        WITH_MEMORY_CHECK(there_is_space_up_to_the_limit_and_again_without_the_reader),
        WITH_MEMORY_CHECK(a_reserve_that_runs_out_of_memory_changes_nothing),
        WITH_MEMORY_CHECK(a_structure_is_freed_by_its_own_function),
        WITH_MEMORY_CHECK(when_out_of_memory_a_grace_period_makes_space),
        WITH_MEMORY_CHECK(a_long_array_is_freed),
        WITH_MEMORY_CHECK(memory_that_no_reader_sees_is_freed_at_once),
    };
    return RUN_TESTS(tests);
}
