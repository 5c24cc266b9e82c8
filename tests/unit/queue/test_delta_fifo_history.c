/* SPDX-License-Identifier: Apache-2.0 */
/* A new server history in the delta queue, and which lists had ended before a change. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "queue/delta_fifo.h"
#include "support/failing_allocator.h"
#include "support/queue/fifo_push.h"
#include "support/store/objects.h"
#include "support/unit.h"

static void fifo_init(ki_delta_fifo *fifo)
{
    assert_int_equal(ki_delta_fifo_init(fifo, &(ki_delta_fifo_options){.items_max = 4}), 0);
}

static int push_event(ki_delta_fifo *fifo, const char *name, uint64_t version)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRIu64, version);
    ki_delta delta = {.change_type = KI_CHANGE_UPDATED, .object = object_of(name, version, 0)};
    int rc = fifo_push_new(fifo, delta, (ki_str){text, (size_t)n});
    assert_true(rc >= 0);
    return rc;
}

static void push_item(ki_delta_fifo *fifo, uint32_t list, const char *name)
{
    ki_delta delta = {.change_type = KI_CHANGE_REPLACED, .list = list, .object = object_of(name, 1, 0)};
    assert_true(fifo_push_new(fifo, delta, (ki_str){0}) >= 0);
}

static void push_end(ki_delta_fifo *fifo, uint32_t list, const char *version)
{
    ki_str text = {version, strlen(version)};
    assert_true(ki_delta_fifo_push_marker(fifo, KI_CHANGE_LIST_END, list, text) >= 0);
}

/* Pops the first entry, which the caller must free. */
static ki_delta_entry *pop_one(ki_delta_fifo *fifo, const char *expected_version)
{
    ki_list batch;
    ki_resource_version upto = {0};
    ki_list_init(&batch);
    assert_int_equal(ki_delta_fifo_pop(fifo, 1, &batch, &upto), 1);
    ki_str version = ki_resource_version_str(&upto);
    assert_int_equal(version.len, strlen(expected_version));
    assert_memory_equal(version.ptr, expected_version, version.len);
    return KI_CONTAINER_OF(ki_list_pop_front(&batch), ki_delta_entry, node);
}

static void expect_reset(ki_delta_fifo *fifo, uint32_t list)
{
    ki_delta_entry *entry = pop_one(fifo, "");
    assert_int_equal(entry->marker, KI_CHANGE_RESET);
    assert_int_equal(entry->list, list);
    assert_false(ki_resource_version_is_set(&entry->version));
    assert_false(ki_resource_version_is_set(&entry->version_before));
    ki_delta_entry_free(entry);
}

/* ---- a new history ------------------------------------------------------------------------------------ */

static void a_new_history_forgets_waiting_changes_and_the_version(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    (void)push_event(&fifo, "a", 50);
    (void)push_event(&fifo, "b", 60);
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 7), 0);
    assert_int_equal(ki_delta_fifo_items(&fifo), 1);
    assert_int_equal(fifo.bytes, 0);
    expect_reset(&fifo, 7);
    (void)push_event(&fifo, "a", 3);
    ki_delta_entry *entry = pop_one(&fifo, "3");
    assert_int_equal(entry->count, 1);
    ki_delta_entry_free(entry);
    ki_delta_fifo_fini(&fifo);
}

static void a_new_history_makes_space_in_a_full_queue(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    (void)push_event(&fifo, "a", 1);
    (void)push_event(&fifo, "b", 2);
    (void)push_event(&fifo, "c", 3);
    assert_int_equal(push_event(&fifo, "d", 4), 1);
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 2), 0);
    assert_true(ki_delta_fifo_has_space(&fifo));
    ki_delta_fifo_fini(&fifo);
}

/* Entries popped before the new history are finished as usual.
 * Freshness does not wait for dropped entries. */
static void a_batch_popped_before_a_new_history_is_finished_as_usual(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    (void)push_event(&fifo, "a", 50);
    (void)push_event(&fifo, "b", 51);
    (void)push_event(&fifo, "c", 52);
    ki_delta_entry_free(pop_one(&fifo, "50"));
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 2), 0);
    ki_delta_fifo_set_now(&fifo, 20);
    push_end(&fifo, 2, "7");
    ki_delta_fifo_report_processed(&fifo, NULL);
    expect_reset(&fifo, 2);
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_true(ki_delta_fifo_fresh_ns(&fifo) == UINT64_MAX);
    ki_delta_entry_free(pop_one(&fifo, "7"));
    ki_delta_fifo_report_processed(&fifo, NULL);
    assert_int_equal(ki_delta_fifo_fresh_ns(&fifo), 20);
    ki_delta_fifo_fini(&fifo);
}

/* A resync does not belong to a history, so it is kept and delivered after the marker. */
static void a_waiting_resync_follows_the_marker_of_a_new_history(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    (void)push_event(&fifo, "a", 50);
    assert_true(ki_delta_fifo_push_marker(&fifo, KI_CHANGE_SYNC, 0, (ki_str){0}) >= 0);
    (void)push_event(&fifo, "b", 60);
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 7), 0);
    push_end(&fifo, 7, "3");
    assert_int_equal(ki_delta_fifo_items(&fifo), 3);
    expect_reset(&fifo, 7);
    ki_delta_entry *entry = pop_one(&fifo, "");
    assert_int_equal(entry->marker, KI_CHANGE_SYNC);
    ki_delta_entry_free(entry);
    ki_delta_entry_free(pop_one(&fifo, "3"));
    ki_delta_fifo_fini(&fifo);
}

static void when_out_of_memory_no_new_history_begins(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    (void)push_event(&fifo, "a", 50);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 2), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_int_equal(ki_delta_fifo_items(&fifo), 1);
    ki_delta_entry_free(pop_one(&fifo, "50"));
    ki_delta_fifo_fini(&fifo);
}

/* ---- which lists had ended ---------------------------------------------------------------------------- */

static uint32_t after_list_of_next(ki_delta_fifo *fifo)
{
    (void)push_event(fifo, "x", 99);
    ki_delta_entry *entry = pop_one(fifo, "99");
    uint32_t list = entry->deltas[entry->count - 1].after_list;
    ki_delta_entry_free(entry);
    return list;
}

static void a_change_knows_the_newest_list_that_had_ended_before_it(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    fifo_init(&fifo);
    (void)push_event(&fifo, "a", 1);
    push_item(&fifo, 1, "a");
    push_end(&fifo, 1, "5");
    (void)push_event(&fifo, "a", 6);
    push_item(&fifo, 2, "a");
    push_end(&fifo, 2, "7");
    (void)push_event(&fifo, "a", 8);
    ki_delta_entry *entry = pop_one(&fifo, "1");
    assert_int_equal(entry->count, 5);
    const uint32_t expected[] = {0, 0, 1, 1, 2};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(entry->deltas[i].after_list, expected[i]);
    ki_delta_entry_free(entry);
    ki_delta_fifo_fini(&fifo);
}

static void ended_lists_are_forgotten_with_waiting_changes(void **state)
{
    (void)state;
    ki_delta_fifo fifo;
    ki_resource_version none = {0};
    fifo_init(&fifo);
    push_end(&fifo, 3, "5");
    ki_delta_fifo_reset(&fifo, &none);
    assert_int_equal(after_list_of_next(&fifo), 0);
    push_end(&fifo, 4, "5");
    ki_delta_entry_free(pop_one(&fifo, "99"));
    assert_int_equal(after_list_of_next(&fifo), 4);
    assert_int_equal(ki_delta_fifo_begin_history(&fifo, 5), 0);
    expect_reset(&fifo, 5);
    assert_int_equal(after_list_of_next(&fifo), 0);
    ki_delta_fifo_fini(&fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_new_history_forgets_waiting_changes_and_the_version),
        WITH_MEMORY_CHECK(a_new_history_makes_space_in_a_full_queue),
        WITH_MEMORY_CHECK(a_batch_popped_before_a_new_history_is_finished_as_usual),
        WITH_MEMORY_CHECK(a_waiting_resync_follows_the_marker_of_a_new_history),
        WITH_MEMORY_CHECK(when_out_of_memory_no_new_history_begins),
        WITH_MEMORY_CHECK(a_change_knows_the_newest_list_that_had_ended_before_it),
        WITH_MEMORY_CHECK(ended_lists_are_forgotten_with_waiting_changes),
    };
    return RUN_TESTS(tests);
}
