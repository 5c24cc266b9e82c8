/* SPDX-License-Identifier: Apache-2.0 */
/* Pushing to a delta queue and popping from it. */
#include <kinformer/delta_queue.h>

#include "support/failing_allocator.h"
#include "support/queue/queue_notes.h"
#include "support/store/objects.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- pushing and popping ------------------------------------------------------------------------------- */

static void changes_of_a_key_leave_together_at_the_position_of_the_first(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 2), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_UPDATED, "a", 3), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 4), 0);
    assert_int_equal(ki_delta_queue_len(queue), 2);
    queue_assert_pops(queue, "a:+1~3-4 b:+2 ");
    assert_int_equal(ki_delta_queue_len(queue), 0);
    assert_int_equal(ki_delta_queue_bytes(queue), 0);
    ki_delta_queue_free(queue);
}

static void of_two_deletes_the_first_is_kept_unless_its_final_state_is_unknown(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 2), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 3), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 2), 0);
    assert_int_equal(queue_push_unseen_delete(queue, "a", 4), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 5), 0);
    assert_int_equal(queue_push_unseen_delete(queue, "b", 6), 0);
    assert_int_equal(queue_push_unseen_delete(queue, "b", 7), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "b", 8), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "b", 9), 0);
    queue_assert_pops(queue, "a:+1-2 b:+5-8 ");
    ki_delta_queue_free(queue);
}

static void deletes_with_an_add_between_them_are_both_kept(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 2), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 3), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 4), 0);
    queue_assert_pops(queue, "a:+1-2+3-4 ");
    ki_delta_queue_free(queue);
}

static void a_delete_of_an_unknown_key_is_ignored(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("known", 1);
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "unknown", 2), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "known", 3), 0);
    queue_assert_pops(queue, "known:-3 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static int delete_while_processed(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    return queue_push(user, KI_CHANGE_DELETED, "a", 2);
}

static void a_delete_of_a_key_being_processed_is_queued(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, delete_while_processed, queue), 0);
    queue_assert_pops(queue, "a:-2 ");
    ki_delta_queue_free(queue);
}

static void invalid_changes_are_refused(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_SYNC, "a", 1), KI_ERR_INVALID);
    assert_int_equal(queue_push(queue, KI_CHANGE_REPLACED, "a", 1), KI_ERR_INVALID);
    assert_int_equal(queue_push(queue, (ki_change_type)0, "a", 1), KI_ERR_INVALID);
    assert_int_equal(queue_push(NULL, KI_CHANGE_ADDED, "a", 1), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_push(queue, (ki_delta){.change_type = KI_CHANGE_ADDED}), KI_ERR_INVALID);
    ki_object *none = NULL;
    assert_int_equal(ki_delta_queue_replace(queue, &none, 1), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_replace(queue, NULL, 1), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_replace(NULL, NULL, 0), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_resync(NULL), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_int_equal(ki_delta_queue_len(queue), 0);
    ki_delta_queue_free(queue);
}

static void a_null_queue_is_empty(void **state)
{
    (void)state;
    queue_notes n = {0};
    ki_delta_queue_close(NULL);
    ki_delta_queue_free(NULL);
    assert_int_equal(ki_delta_queue_len(NULL), 0);
    assert_int_equal(ki_delta_queue_bytes(NULL), 0);
    assert_int_equal(ki_delta_queue_has_room(NULL), 0);
    assert_int_equal(ki_delta_queue_has_synced(NULL), 0);
    assert_int_equal(ki_delta_queue_pop(NULL, 0, queue_note, &n), KI_ERR_INVALID);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static ki_str version_key(const ki_object *object, char *buffer, size_t buffer_bytes, void *user)
{
    (void)buffer;
    (void)buffer_bytes;
    ki_str version = ki_object_resource_version(object);
    size_t longest = *(const size_t *)user;
    return version.len > longest ? (ki_str){"", 0} : version;
}

static ki_str endless_key(const ki_object *object, char *buffer, size_t buffer_bytes, void *user)
{
    (void)object;
    (void)buffer_bytes;
    (void)user;
    return (ki_str){buffer, KI_KEY_BYTES + 1};
}

static void objects_with_equal_keys_share_an_entry(void **state)
{
    (void)state;
    size_t longest = 1;
    ki_delta_queue *queue =
        ki_delta_queue_new(&(ki_delta_queue_options){.key = version_key, .user = &longest}, NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "b", 2), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "c", 1), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "d", 10), KI_ERR_INVALID);
    queue_assert_pops(queue, "1:+1+1 2:+2 ");
    ki_delta_queue_free(queue);
}

static void a_key_that_is_too_long_is_refused(void **state)
{
    (void)state;
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.key = endless_key}, NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), KI_ERR_TOO_LARGE);
    assert_int_equal(queue_replace(queue, "a", NULL), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_delta_queue_len(queue), 0);
    ki_delta_queue_free(queue);
}

/* ---- queue_replace and resync ------------------------------------------------------------------------ */

static void a_replace_queues_each_object_and_deletes_the_rest(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("stored", 1);
    store_put(store, object_of("stays", 2, 0));
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "queued", 3), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_UPDATED, "queued", 4), 0);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "stays", 5), 0);
    assert_int_equal(queue_replace(queue, "new", "stays"), 0);
    queue_assert_pops(queue, "queued:+3~4-!4 stays:-5=9 new:=9 stored:-!1 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static void a_replace_deletes_nothing_twice(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("a", 1);
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(queue_push(queue, KI_CHANGE_DELETED, "a", 2), 0);
    assert_int_equal(queue_replace(queue, "b", NULL), 0);
    assert_int_equal(queue_replace(queue, NULL, NULL), 0);
    assert_int_equal(queue_replace(queue, NULL, NULL), 0);
    queue_assert_pops(queue, "a:-2 b:=9-!9 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static int replace_by_nothing(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    return queue_replace(user, NULL, NULL);
}

static void a_replace_deletes_a_key_being_processed(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(queue_push(queue, KI_CHANGE_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, replace_by_nothing, queue), 0);
    queue_assert_pops(queue, "a:-!1 ");
    ki_delta_queue_free(queue);
}

static void a_resync_queues_known_objects_that_are_not_queued(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("a", 1);
    store_put(store, object_of("b", 2, 0));
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(queue_push(queue, KI_CHANGE_UPDATED, "b", 3), 0);
    assert_int_equal(ki_delta_queue_resync(queue), 0);
    assert_int_equal(ki_delta_queue_resync(queue), 0);
    queue_assert_pops(queue, "b:~3 a:.1 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static int resync_inside(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    return ki_delta_queue_resync(user);
}

static void a_resync_does_not_queue_an_old_object_of_a_key_being_processed(void **state)
{
    (void)state;
    ki_store *store = queue_store_with("a", 1);
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(queue_push(queue, KI_CHANGE_UPDATED, "a", 2), 0);
    assert_int_equal(ki_delta_queue_pop(queue, 0, resync_inside, queue), 0);
    queue_assert_pops(queue, "");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static void a_resync_without_known_objects_does_nothing(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(ki_delta_queue_resync(queue), 0);
    queue_assert_pops(queue, "");
    ki_delta_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(changes_of_a_key_leave_together_at_the_position_of_the_first),
        WITH_MEMORY_CHECK(of_two_deletes_the_first_is_kept_unless_its_final_state_is_unknown),
        WITH_MEMORY_CHECK(deletes_with_an_add_between_them_are_both_kept),
        WITH_MEMORY_CHECK(a_delete_of_an_unknown_key_is_ignored),
        WITH_MEMORY_CHECK(a_delete_of_a_key_being_processed_is_queued),
        WITH_MEMORY_CHECK(invalid_changes_are_refused),
        WITH_MEMORY_CHECK(a_null_queue_is_empty),
        WITH_MEMORY_CHECK(objects_with_equal_keys_share_an_entry),
        WITH_MEMORY_CHECK(a_key_that_is_too_long_is_refused),
        WITH_MEMORY_CHECK(a_replace_queues_each_object_and_deletes_the_rest),
        WITH_MEMORY_CHECK(a_replace_deletes_nothing_twice),
        WITH_MEMORY_CHECK(a_replace_deletes_a_key_being_processed),
        WITH_MEMORY_CHECK(a_resync_queues_known_objects_that_are_not_queued),
        WITH_MEMORY_CHECK(a_resync_does_not_queue_an_old_object_of_a_key_being_processed),
        WITH_MEMORY_CHECK(a_resync_without_known_objects_does_nothing),
    };
    return RUN_TESTS(tests);
}
