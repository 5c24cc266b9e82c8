/* SPDX-License-Identifier: Apache-2.0 */
/* When a delta queue has synced, is closed, is full, or is out of memory. */
#include <kinformer/delta_queue.h>

#include "support/failing_allocator.h"
#include "support/queue/queue_notes.h"
#include "support/store/objects.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- results of the callback --------------------------------------------------------------------------- */

static void requeued_deltas_go_to_the_end(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    queue_notes n = {.outcome = KI_DELTA_QUEUE_REQUEUE};
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_UPDATED, "a", 2), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 3), 0);
    size_t bytes = ki_delta_queue_bytes(queue);
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), KI_DELTA_QUEUE_REQUEUE);
    assert_int_equal(ki_delta_queue_bytes(queue), bytes);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 4), 0);
    queue_assert_pops(queue, "b:+3 a:+1~2-4 ");
    ki_delta_queue_free(queue);
}

static int update_and_requeue(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    assert_int_equal(queue_push(user, KI_CHANGE_UPDATED, "a", 2), 0);
    return KI_DELTA_QUEUE_REQUEUE;
}

static void requeued_deltas_are_replaced_by_newer_ones(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, update_and_requeue, queue), KI_DELTA_QUEUE_REQUEUE);
    queue_assert_pops(queue, "a:~2 ");
    ki_delta_queue_free(queue);
}

static void pop_returns_the_error_of_the_callback(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    queue_notes n = {.outcome = KI_ERR_RANGE};
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), KI_ERR_RANGE);
    assert_int_equal(ki_delta_queue_len(queue), 0);
    ki_delta_queue_free(queue);
}

/* ---- waiting and closing ------------------------------------------------------------------------------- */

static void popping_an_empty_queue_times_out(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    queue_notes n = {0};
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), KI_ERR_TIMEOUT);
    assert_int_equal(ki_delta_queue_pop(queue, 2, queue_note, &n), KI_ERR_TIMEOUT);
    assert_int_equal(ki_delta_queue_pop(queue, 0, NULL, NULL), KI_ERR_INVALID);
    ki_read_lock();
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    ki_delta_queue_free(queue);
}

static void a_closed_queue_is_drained(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    queue_notes n = {0};
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    ki_delta_queue_close(queue);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 2), 0);
    assert_int_equal(ki_delta_queue_pop(queue, UINT64_MAX, queue_note, &n), 0);
    assert_int_equal(ki_delta_queue_pop(queue, UINT64_MAX, queue_note, &n), 0);
    assert_int_equal(ki_delta_queue_pop(queue, UINT64_MAX, queue_note, &n), KI_ERR_STOPPED);
    assert_string_equal(n.text, "a:+1 b:+2 ");
    ki_delta_queue_free(queue);
}

/* ---- synced -------------------------------------------------------------------------------------------- */

static void the_queue_has_synced_when_the_first_replace_is_processed(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("gone", 1);
    ki_delta_queue *queue = queue_of(store);
    queue_notes n = {.queue = queue};
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_int_equal(queue_replace(queue, "a", NULL), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "later", 2), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ki_delta_queue_has_synced(queue), 0);
        assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), 0);
        assert_int_equal(n.is_initial, 1);
        assert_int_equal(n.synced_inside, 0);
    }
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), 0);
    assert_int_equal(n.is_initial, 0);
    assert_int_equal(queue_replace(queue, "b", NULL), 0);
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static void a_requeued_delta_is_not_yet_processed(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    queue_notes n = {.outcome = KI_DELTA_QUEUE_REQUEUE};
    assert_int_equal(queue_replace(queue, "a", NULL), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), KI_DELTA_QUEUE_REQUEUE);
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, update_and_requeue, queue), KI_DELTA_QUEUE_REQUEUE);
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    queue_assert_pops(queue, "a:~2 ");
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    ki_delta_queue_free(queue);
}

static void an_empty_first_replace_is_synced_at_once(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_replace(queue, NULL, NULL), 0);
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    ki_delta_queue_free(queue);
}

static void a_queue_with_a_push_before_any_replace_is_synced_at_once(void **state)
{
    (void)state;
    for (int type = KI_CHANGE_ADDED; type <= KI_CHANGE_DELETED; type++) {
        ki_delta_queue *queue = queue_of(NULL);
        assert_int_equal(queue_push(queue, (ki_change_type)type, "a", 1), 0);
        assert_int_equal(ki_delta_queue_has_synced(queue), 1);
        assert_int_equal(queue_replace(queue, "b", NULL), 0);
        assert_int_equal(ki_delta_queue_has_synced(queue), 1);
        ki_delta_queue_free(queue);
    }
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void a_full_queue_reports_it_and_accepts_more(void **state)
{
    (void)state;
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.items_max = 2}, NULL);
    queue_notes n = {0};
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_has_room(queue), 1);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 2), 1);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "c", 3), 1);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "unknown", 4), 1);
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), 0);
    assert_int_equal(ki_delta_queue_has_room(queue), 0);
    queue_assert_pops(queue, "b:+2 c:+3 ");
    ki_delta_queue_free(queue);
}

static void a_queue_can_also_be_full_of_bytes(void **state)
{
    (void)state;
    ki_object *object = object_of("a", 1, 0);
    size_t bytes = ki_object_bytes(object);
    (void)ki_object_unref(object);
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.bytes_max = 2 * bytes}, NULL);
    queue_notes n = {0};
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_UPDATED, "a", 2), 1);
    assert_int_equal(ki_delta_queue_bytes(queue), 2 * bytes);
    assert_int_equal(ki_delta_queue_pop(queue, 0, queue_note, &n), 0);
    assert_int_equal(n.bytes, bytes);
    assert_int_equal(ki_delta_queue_bytes(queue), 0);
    assert_int_equal(ki_delta_queue_has_room(queue), 1);
    ki_delta_queue_free(queue);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void creating_a_queue_succeeds_or_leaves_nothing(void **state)
{
    (void)state;
    ki_error err = {0};
    failing_allocator_fail_at(1);
    assert_null(ki_delta_queue_new(NULL, &err));
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    ki_delta_queue_free(queue_of(NULL));
}

static void when_out_of_memory_a_push_changes_nothing(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    ki_object *object = object_of("a", 1, 0);
    int rc = KI_ERR_NO_MEMORY;
    size_t n = 1;
    for (; rc == KI_ERR_NO_MEMORY; n++) {
        failing_allocator_fail_at(n);
        rc = ki_delta_queue_push(queue, (ki_delta){.change_type = KI_CHANGE_ADDED, .object = object});
        failing_allocator_fail_at(0);
        assert_int_equal(ki_delta_queue_len(queue), rc == 0);
        assert_int_equal(ki_delta_queue_has_synced(queue), rc == 0);
    }
    assert_true(n > 2);
    assert_int_equal(rc, 0);
    (void)ki_object_unref(object);
    queue_assert_pops(queue, "a:+1 ");
    ki_delta_queue_free(queue);
}

/* Each allocation of the replace fails in turn; the queue must stay unchanged. */
static void when_out_of_memory_a_replace_changes_nothing(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("stored", 1);
    ki_object *objects[3] = {object_of("a", 5, 0), object_of("new", 6, 0), object_of("a", 7, 0)};
    size_t n = 1;
    int rc = KI_ERR_NO_MEMORY;
    for (; rc == KI_ERR_NO_MEMORY; n++) {
        ki_delta_queue *queue = queue_of(store);
        assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 2), 0);
        assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 3), 0);
        size_t bytes = ki_delta_queue_bytes(queue);
        failing_allocator_fail_at(n);
        rc = ki_delta_queue_replace(queue, objects, 3);
        failing_allocator_fail_at(0);
        if (rc < 0)
            assert_int_equal(ki_delta_queue_bytes(queue), bytes);
        queue_assert_pops(queue, rc < 0 ? "a:+2 b:+3 " : "a:+2=5=7 b:+3-!3 new:=6 stored:-!1 ");
        ki_delta_queue_free(queue);
    }
    assert_true(n > 4);
    for (size_t i = 0; i < 3; i++)
        (void)ki_object_unref(objects[i]);
    ki_store_free(store);
}

static void when_out_of_memory_a_resync_changes_nothing(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("a", 1);
    store_put(store, object_of("b", 2, 0));
    ki_delta_queue *queue = queue_of(store);
    int rc = KI_ERR_NO_MEMORY;
    for (size_t n = 1; rc == KI_ERR_NO_MEMORY; n++) {
        assert_int_equal(ki_delta_queue_len(queue), 0);
        failing_allocator_fail_at(n);
        rc = ki_delta_queue_resync(queue);
        failing_allocator_fail_at(0);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(ki_delta_queue_len(queue), 2);
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(requeued_deltas_go_to_the_end),
        WITH_MEMORY_CHECK(requeued_deltas_are_replaced_by_newer_ones),
        WITH_MEMORY_CHECK(pop_returns_the_error_of_the_callback),
        WITH_MEMORY_CHECK(popping_an_empty_queue_times_out),
        WITH_MEMORY_CHECK(a_closed_queue_is_drained),
        WITH_MEMORY_CHECK(the_queue_has_synced_when_the_first_replace_is_processed),
        WITH_MEMORY_CHECK(a_requeued_delta_is_not_yet_processed),
        WITH_MEMORY_CHECK(an_empty_first_replace_is_synced_at_once),
        WITH_MEMORY_CHECK(a_queue_with_a_push_before_any_replace_is_synced_at_once),
        WITH_MEMORY_CHECK(a_full_queue_reports_it_and_accepts_more),
        WITH_MEMORY_CHECK(a_queue_can_also_be_full_of_bytes),
        WITH_MEMORY_CHECK(creating_a_queue_succeeds_or_leaves_nothing),
        WITH_MEMORY_CHECK(when_out_of_memory_a_push_changes_nothing),
        WITH_MEMORY_CHECK(when_out_of_memory_a_replace_changes_nothing),
        WITH_MEMORY_CHECK(when_out_of_memory_a_resync_changes_nothing),
    };
    return RUN_TESTS(tests);
}
