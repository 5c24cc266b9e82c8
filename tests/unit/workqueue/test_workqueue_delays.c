/* SPDX-License-Identifier: Apache-2.0 */
/* Delayed keys, in virtual time. */
#include <kinformer/workqueue.h>

#include "support/controller/work_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void a_delayed_key_waits_exactly_until_its_time(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "a", 50);
    assert_int_equal(ki_workqueue_len(rig.queue), 0);
    ki_clock_advance_ns(&rig.clock, 50 * 1000 * 1000 - 1);
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    ki_clock_advance_ns(&rig.clock, 1);
    assert_int_equal(ki_workqueue_len(rig.queue), 1);
    work_assert_runs(&rig, "a ");
    ki_clock_advance_ms(&rig.clock, 1000);
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    work_rig_fini(&rig);
}

static void a_delay_of_zero_is_an_add(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "a", 0);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

static void delayed_keys_are_queued_in_the_order_of_their_times(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "c", 30);
    work_add_after(&rig, "a", 10);
    work_add_after(&rig, "b", 20);
    work_add(&rig, "x");
    ki_clock_advance_ms(&rig.clock, 30);
    work_assert_runs(&rig, "x a b c ");
    work_rig_fini(&rig);
}

static void a_delay_is_only_ever_moved_earlier(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "a", 50);
    work_add_after(&rig, "a", 100);
    work_add_after(&rig, "b", 100);
    work_add_after(&rig, "b", 50);
    ki_clock_advance_ms(&rig.clock, 50);
    work_assert_runs(&rig, "a b ");
    ki_clock_advance_ms(&rig.clock, 1000);
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    work_rig_fini(&rig);
}

static void an_add_does_not_end_the_delay(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "a", 50);
    work_add(&rig, "a");
    work_assert_runs(&rig, "a ");
    ki_clock_advance_ms(&rig.clock, 50);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

static void a_queued_key_whose_delay_ends_is_queued_once(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "a", 50);
    work_add(&rig, "a");
    ki_clock_advance_ms(&rig.clock, 50);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

static void a_processed_key_whose_delay_ends_waits_for_done(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_get(&rig, "a");
    work_add_after(&rig, "a", 50);
    ki_clock_advance_ms(&rig.clock, 50);
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    assert_int_equal(work_done(&rig, "a"), 0);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

static void a_delay_keeps_its_priority_or_gets_a_higher_one(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR("a"), KI_PRIORITY_LOW, 10), 0);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR("b"), KI_PRIORITY_LOW, 20), 0);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR("b"), KI_PRIORITY_HIGH, 90), 0);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR("b"), KI_PRIORITY_LOW, 90), 0);
    ki_clock_advance_ms(&rig.clock, 20);
    work_assert_runs(&rig, "b a ");
    work_rig_fini(&rig);
}

static void a_delay_may_be_absurdly_long(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "a", UINT64_MAX);
    ki_clock_advance_ms(&rig.clock, (uint64_t)365 * 24 * 3600 * 1000);
    work_get_nothing(&rig, KI_ERR_TIMEOUT);
    work_rig_fini(&rig);
}

/* ---- rate limits --------------------------------------------------------------------------------------- */

static void a_rate_limited_key_waits_twice_as_long_each_time_until_it_is_forgotten(void **state)
{
    (void)state;
    work_rig rig;
    const ki_workqueue_options options = {.limiter = ki_limiter_new_exponential(10, 1000, NULL)};
    static const uint64_t delays_ms[] = {10, 20, 40, 10};
    work_rig_init(&rig, &options);
    for (size_t i = 0; i < 4; i++) {
        if (i == 3)
            ki_workqueue_forget(rig.queue, KI_STR("a"));
        assert_int_equal(ki_workqueue_num_requeues(rig.queue, KI_STR("a")), i % 3);
        assert_int_equal(ki_workqueue_add_rate_limited(rig.queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
        ki_clock_advance_ms(&rig.clock, delays_ms[i] - 1);
        work_get_nothing(&rig, KI_ERR_TIMEOUT);
        ki_clock_advance_ms(&rig.clock, 1);
        work_assert_runs(&rig, "a ");
    }
    work_rig_fini(&rig);
}

static void forgetting_a_key_ends_neither_its_delay_nor_the_work_on_it(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_get(&rig, "a");
    assert_int_equal(ki_workqueue_add_rate_limited(rig.queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    ki_workqueue_forget(rig.queue, KI_STR("a"));
    assert_int_equal(work_done(&rig, "a"), 0);
    ki_clock_advance_ms(&rig.clock, 5);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_delayed_key_waits_exactly_until_its_time),
        WITH_MEMORY_CHECK(a_delay_of_zero_is_an_add),
        WITH_MEMORY_CHECK(delayed_keys_are_queued_in_the_order_of_their_times),
        WITH_MEMORY_CHECK(a_delay_is_only_ever_moved_earlier),
        WITH_MEMORY_CHECK(an_add_does_not_end_the_delay),
        WITH_MEMORY_CHECK(a_queued_key_whose_delay_ends_is_queued_once),
        WITH_MEMORY_CHECK(a_processed_key_whose_delay_ends_waits_for_done),
        WITH_MEMORY_CHECK(a_delay_keeps_its_priority_or_gets_a_higher_one),
        WITH_MEMORY_CHECK(a_delay_may_be_absurdly_long),
        WITH_MEMORY_CHECK(a_rate_limited_key_waits_twice_as_long_each_time_until_it_is_forgotten),
        WITH_MEMORY_CHECK(forgetting_a_key_ends_neither_its_delay_nor_the_work_on_it),
    };
    return RUN_TESTS(tests);
}
