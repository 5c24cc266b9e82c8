/* SPDX-License-Identifier: Apache-2.0 */
/* Up to which moment the consumer of a delta queue has everything. */
#include "queue/delta_fifo.h"

#include "support/fifo_text.h"
#include "support/unit.h"

/* A queue whose first list has ended at the moment 10, and is finished. */
static void begin(ki_delta_fifo *fifo)
{
    fifo_init(fifo);
    ki_delta_fifo_set_now(fifo, 10);
    fifo_push_marker(fifo, KI_CHANGE_LIST_END, 1, "3");
    fifo_assert_pops(fifo, FIFO_ALL, "END1 3", "3");
    ki_delta_fifo_reach(fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(fifo), 10);
}

static void nothing_is_fresh_before_the_first_list_is_finished(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    ki_delta_fifo_set_now(&fifo, 5);
    fifo_push_item(&fifo, 1, "a", 1);
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "3");
    ki_delta_fifo_set_now(&fifo, 7);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 4);
    fifo_assert_pops(&fifo, 1, "default/a =1@1", "");
    ki_delta_fifo_reach(&fifo, NULL);
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX);
    fifo_assert_pops(&fifo, 1, "END1 3", "3");
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX);
    ki_delta_fifo_reach(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 7); /* since the event that waits */
    ki_delta_fifo_fini(&fifo);
}

static void the_oldest_change_that_waits_counts(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    begin(&fifo);
    ki_delta_fifo_set_now(&fifo, 20);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 4);
    ki_delta_fifo_set_now(&fifo, 30);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 5);
    ki_delta_fifo_set_now(&fifo, 40);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 6);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20);
    fifo_assert_pops(&fifo, 1, "default/a +4 ~6", "4");
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20); /* popped, and not finished */
    ki_delta_fifo_reach(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 30);
    fifo_assert_pops(&fifo, 1, "default/b +5", "6");
    ki_delta_fifo_reach(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 40); /* the last that was received */
    ki_delta_fifo_fini(&fifo);
}

static void who_takes_longer_says_how_far_it_is(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_list batch;
    ki_resource_version version = {0};
    begin(&fifo);
    ki_list_init(&batch);
    ki_delta_fifo_set_now(&fifo, 20);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "4");
    ki_delta_fifo_set_now(&fifo, 30);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "4");
    assert_int_equal(ki_delta_fifo_pop(&fifo, FIFO_ALL, &batch, &version), 2);
    ki_delta_entry_free(KI_CONTAINER_OF(ki_list_pop_front(&batch), ki_delta_entry, node));
    ki_delta_entry *next = KI_CONTAINER_OF(ki_list_pop_front(&batch), ki_delta_entry, node);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20);
    ki_delta_fifo_reach(&fifo, next);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 30);
    ki_delta_entry_free(next);
    ki_delta_fifo_fini(&fifo);
}

static void what_proves_nothing_makes_nothing_fresh(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    begin(&fifo);
    ki_delta_fifo_set_now(&fifo, 20);
    fifo_push_item(&fifo, 2, "a", 4);                    /* of a list under way */
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "2"); /* of a list that is older than what there is */
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "2"); /* likewise */
    fifo_push_marker(&fifo, KI_CHANGE_SYNC, 0, "");      /* of no server */
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 3), 0);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 10);
    fifo_assert_pops(&fifo, FIFO_ALL, "RESET3; RESYNC", "");
    ki_delta_fifo_reach(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 10);
    ki_delta_fifo_fini(&fifo);
}

static void what_is_forgotten_made_nothing_fresh(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version version = {0};
    begin(&fifo);
    ki_delta_fifo_set_now(&fifo, 20);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 4);
    ki_delta_fifo_set_now(&fifo, 30);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 5);
    assert_int_equal(ki_resource_version_set(&version, ki_str_of("3")), 0);
    ki_delta_fifo_reset(&fifo, &version);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20);
    ki_delta_fifo_reach(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20);
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_fresh_before_the_first_list_is_finished),
        cmocka_unit_test(the_oldest_change_that_waits_counts),
        cmocka_unit_test(who_takes_longer_says_how_far_it_is),
        cmocka_unit_test(what_proves_nothing_makes_nothing_fresh),
        cmocka_unit_test(what_is_forgotten_made_nothing_fresh),
    };
    return RUN_TESTS(tests);
}
