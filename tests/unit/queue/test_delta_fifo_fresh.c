/* SPDX-License-Identifier: Apache-2.0 */
/* The time up to which the consumer of a delta queue has processed everything. */
#include "queue/delta_fifo.h"

#include "support/queue/fifo_text.h"
#include "support/unit.h"

/* A queue whose first list ended at time 10 and was processed. */
static void begin(ki_delta_fifo *fifo)
{
    fifo_init(fifo);
    ki_delta_fifo_set_now(fifo, 10);
    fifo_push_marker(fifo, KI_CHANGE_LIST_END, 1, "3");
    fifo_assert_pops(fifo, FIFO_ALL, "END1 3", "3");
    ki_delta_fifo_report_processed(fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(fifo), 10);
}

static void nothing_is_fresh_before_the_first_list_is_processed(void **state)
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
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX);
    fifo_assert_pops(&fifo, 1, "END1 3", "3");
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX);
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 7); /* the time of the waiting event */
    ki_delta_fifo_fini(&fifo);
}

static void the_oldest_waiting_change_counts(void **state)
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
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20); /* popped, but not yet processed */
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 30);
    fifo_assert_pops(&fifo, 1, "default/b +5", "6");
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 40); /* the time of the last change received */
    ki_delta_fifo_fini(&fifo);
}

static void a_consumer_reports_its_progress_within_a_batch(void **state)
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
    ki_delta_fifo_report_processed(&fifo, next);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 30);
    ki_delta_entry_free(next);
    ki_delta_fifo_fini(&fifo);
}

static void changes_that_prove_nothing_make_nothing_fresh(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    begin(&fifo);
    ki_delta_fifo_set_now(&fifo, 20);
    fifo_push_item(&fifo, 2, "a", 4);                    /* from a list under way */
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "2"); /* from a list older than the data in the queue */
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "2"); /* an old bookmark */
    fifo_push_marker(&fifo, KI_CHANGE_SYNC, 0, "");      /* not from the server */
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 3), 0);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 10);
    fifo_assert_pops(&fifo, FIFO_ALL, "RESET3; RESYNC", "");
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 10);
    ki_delta_fifo_fini(&fifo);
}

static void forgotten_changes_do_not_count_as_fresh(void **state)
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
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20);
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_fresh_before_the_first_list_is_processed),
        cmocka_unit_test(the_oldest_waiting_change_counts),
        cmocka_unit_test(a_consumer_reports_its_progress_within_a_batch),
        cmocka_unit_test(changes_that_prove_nothing_make_nothing_fresh),
        cmocka_unit_test(forgotten_changes_do_not_count_as_fresh),
    };
    return RUN_TESTS(tests);
}
