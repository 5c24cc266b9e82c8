/* SPDX-License-Identifier: Apache-2.0 */
/* Resets of a delta queue. */
#include "queue/delta_fifo.h"

#include "support/failing_allocator.h"
#include "support/queue/fifo_text.h"
#include "support/unit.h"

static ki_resource_version version_of(const char *text)
{
    ki_resource_version version = {0};
    assert_int_equal(ki_resource_version_set(&version, ki_str_of(text)), 0);
    return version;
}

static void a_reset_forgets_waiting_changes_and_continues_from_a_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 5);
    fifo_push_marker(&fifo, KI_CHANGE_BOOKMARK, 0, "9");
    ki_resource_version from = version_of("3");
    ki_delta_fifo_reset(&fifo, &from);
    assert_int_equal(ki_delta_fifo_items(&fifo), 0);
    assert_int_equal(fifo.bytes, 0);
    fifo_assert_pops(&fifo, FIFO_ALL, "", "3");
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 4);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "b", 5);
    fifo_assert_pops(&fifo, 1, "default/a +4", "4");
    from = version_of("");
    ki_delta_fifo_reset(&fifo, &from);
    fifo_assert_pops(&fifo, FIFO_ALL, "", "");
    ki_delta_fifo_fini(&fifo);
}

/* The consumer abandons a batch and never reports it as processed. */
static void a_batch_abandoned_in_a_reset_does_not_delay_freshness(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version none = {0};
    fifo_init(&fifo);
    ki_delta_fifo_set_now(&fifo, 10);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "3");
    fifo_assert_pops(&fifo, FIFO_ALL, "END1 3", "3");
    ki_delta_fifo_reset(&fifo, &none);
    ki_delta_fifo_set_now(&fifo, 20);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 2, "4");
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX); /* the new list is not processed yet */
    ki_delta_fifo_set_now(&fifo, 30);
    fifo_push_event(&fifo, KI_CHANGE_ADDED, "a", 5);
    fifo_assert_pops(&fifo, 1, "END2 4", "4");
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 30);
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_reset_forgets_waiting_changes_and_continues_from_a_version),
        WITH_MEMORY_CHECK(a_batch_abandoned_in_a_reset_does_not_delay_freshness),
    };
    return RUN_TESTS(tests);
}
