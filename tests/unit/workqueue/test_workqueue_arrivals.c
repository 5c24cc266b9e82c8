/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that were added and are not in the table yet: what every other call sees is the same as if they
 * were. */
#include <kinformer/metrics.h>
#include <kinformer/workqueue.h>
#include <string.h>

#include "support/controller/work_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "workqueue/queue.h"

enum { LENGTHS = 300, COPIES = 3 };

static void fill(char text[LENGTHS], int copy, size_t len)
{
    memset(text, 'a' + copy, LENGTHS);
    text[len - 1] = 'z';
}

/* Keys of all lengths: those that do not fit arrive after the buffer was emptied, long ones never arrive. */
static void add_all_lengths(ki_workqueue *queue)
{
    char text[LENGTHS];
    for (int copy = 0; copy < COPIES; copy++)
        for (size_t len = 1; len <= LENGTHS; len++) {
            fill(text, copy, len);
            assert_int_equal(ki_workqueue_add(queue, (ki_str){text, len}, KI_PRIORITY_HIGH), 0);
        }
}

static void assert_all_lengths_leave_in_order(ki_workqueue *queue)
{
    char text[LENGTHS];
    ki_work_item item;
    for (int copy = 0; copy < COPIES; copy++)
        for (size_t len = copy == 0 ? 1 : 2; len <= LENGTHS;
             len++) { /* the shortest is the same in each copy */
            fill(text, copy, len);
            assert_int_equal(ki_workqueue_get(queue, 0, &item), 0);
            assert_true(ki_str_equal(item.key, (ki_str){text, len}));
            assert_int_equal(ki_workqueue_done(queue, item.key), 0);
        }
    assert_int_equal(ki_workqueue_get(queue, 0, &item), KI_ERR_TIMEOUT);
}

static void keys_of_all_lengths_leave_in_the_order_of_the_adds(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    for (int round = 0; round < 2; round++) { /* the second round reuses memory */
        add_all_lengths(rig.queue);
        add_all_lengths(rig.queue);
        assert_int_equal(ki_workqueue_len(rig.queue), LENGTHS * COPIES - (COPIES - 1));
        assert_all_lengths_leave_in_order(rig.queue);
    }
    work_rig_fini(&rig);
}

static void an_arrival_raises_a_key_that_waits(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add_low(&rig, "low");
    work_add_low(&rig, "raised");
    work_add(&rig, "first");
    work_add(&rig, "raised");
    assert_int_equal(rig.queue->arrivals.count, 4);
    work_assert_runs(&rig, "first raised low ");
    work_rig_fini(&rig);
}

/* A key that is added again before done() is queued when that is called, behind the keys added before. */
static void an_arrival_of_a_key_in_processing_waits_for_its_end(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "again");
    work_get(&rig, "again");
    work_add(&rig, "again");
    work_add(&rig, "other");
    assert_int_equal(rig.queue->arrivals.count, 2);
    assert_int_equal(work_done(&rig, "again"), 0);
    work_assert_runs(&rig, "other again ");
    work_rig_fini(&rig);
}

static void a_delay_that_ends_later_is_behind_an_arrival(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "arrived");
    work_add_after(&rig, "delayed", 5);
    work_add(&rig, "arrived too");
    ki_clock_advance_ms(&rig.clock, 5);
    work_add(&rig, "last");
    work_assert_runs(&rig, "arrived arrived too delayed last ");
    work_rig_fini(&rig);
}

static void a_shut_down_keeps_the_arrivals(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_add(&rig, "b");
    ki_workqueue_shut_down(rig.queue);
    work_assert_runs(&rig, "a b ");
    work_get_nothing(&rig, KI_ERR_STOPPED);
    work_rig_fini(&rig);
}

/* Metrics and the descriptor show a key at once, without a call of the queue. */
static void with_metrics_or_a_descriptor_keys_do_not_wait_in_between(void **state)
{
    (void)state;
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_workqueue *measured = ki_workqueue_new(&(ki_workqueue_options){.name = "q", .metrics = metrics}, NULL);
    ki_workqueue *polled = ki_workqueue_new(NULL, NULL);
    assert_true(ki_workqueue_fd(polled, NULL) >= 0);
    assert_int_equal(ki_workqueue_add(measured, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_workqueue_add(polled, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(measured->arrivals.count, 0);
    assert_int_equal(polled->arrivals.count, 0);
    ki_workqueue_free(polled);
    ki_workqueue_free(measured);
    ki_metrics_free(metrics);
}

/* An arrival does not tell whether there is anything to do, so it would have to wake a worker each time. */
static void a_key_in_processing_that_is_added_again_wakes_no_idle_worker(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    ki_work_waiters *waiters = &rig.queue->waiters;
    work_add(&rig, "known");
    work_get(&rig, "known");
    waiters->sleepers = 1;
    work_add(&rig, "known");
    assert_false(waiters->is_waking);
    work_add(&rig, "new");
    assert_true(waiters->is_waking);
    assert_int_equal(rig.queue->arrivals.count, 0);
    work_add(&rig, "next"); /* the worker that is being woken will see it */
    assert_int_equal(rig.queue->arrivals.count, 1);
    waiters->sleepers = 0;
    waiters->is_waking = false;
    assert_int_equal(work_done(&rig, "known"), 0);
    work_assert_runs(&rig, "new next known ");
    work_rig_fini(&rig);
}

/* Whichever allocation fails, the keys that were accepted leave once, in their order. */
static void an_arrival_that_runs_out_of_memory_loses_no_key(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        work_rig rig;
        work_rig_init(&rig, NULL);
        failing_allocator_fail_at(n);
        char text[LENGTHS];
        bool is_queued[LENGTHS + 1] = {false};
        for (size_t len = 1; len <= LENGTHS; len++) {
            fill(text, 0, len);
            int rc = ki_workqueue_add(rig.queue, (ki_str){text, len}, KI_PRIORITY_HIGH);
            assert_true(rc == 0 || (rc == KI_ERR_NO_MEMORY && failing_allocator_has_failed()));
            is_queued[len] = rc == 0;
        }
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        for (size_t len = 1; len <= LENGTHS; len++) {
            ki_work_item item;
            if (!is_queued[len])
                continue;
            assert_int_equal(ki_workqueue_get(rig.queue, 0, &item), 0);
            assert_int_equal(item.key.len, len);
            assert_int_equal(ki_workqueue_done(rig.queue, item.key), 0);
        }
        work_get_nothing(&rig, KI_ERR_TIMEOUT);
        work_rig_fini(&rig);
        if (!has_failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(keys_of_all_lengths_leave_in_the_order_of_the_adds),
        WITH_MEMORY_CHECK(an_arrival_raises_a_key_that_waits),
        WITH_MEMORY_CHECK(an_arrival_of_a_key_in_processing_waits_for_its_end),
        WITH_MEMORY_CHECK(a_delay_that_ends_later_is_behind_an_arrival),
        WITH_MEMORY_CHECK(a_shut_down_keeps_the_arrivals),
        WITH_MEMORY_CHECK(with_metrics_or_a_descriptor_keys_do_not_wait_in_between),
        WITH_MEMORY_CHECK(a_key_in_processing_that_is_added_again_wakes_no_idle_worker),
        WITH_MEMORY_CHECK(an_arrival_that_runs_out_of_memory_loses_no_key),
    };
    return RUN_TESTS(tests);
}
