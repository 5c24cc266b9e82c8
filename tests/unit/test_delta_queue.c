/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kinformer/delta_queue.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/objects.h"
#include "support/store_objects.h"
#include "support/unit.h"

/* ---- a consumer that writes down what it gets -------------------------------------------------------- */

typedef struct notes {
    char text[512]; /* "a:+1~2-3 b:=1 ": key, then each delta as a sign and the version; "!" for the unseen */
    int outcome;
    int is_initial;
    size_t bytes; /* of the last delta */
    ki_delta_queue *queue;
    int synced_inside;
} notes;

static int note(const ki_queued_deltas *deltas, void *user)
{
    static const char signs[] = " +~-=.";
    notes *n = user;
    size_t used = strlen(n->text);
    const char *slash = memchr(deltas->key.ptr, '/', deltas->key.len);
    const char *name = slash == NULL ? deltas->key.ptr : slash + 1;
    size_t name_len = deltas->key.len - (size_t)(name - deltas->key.ptr);
    used += (size_t)snprintf(n->text + used, sizeof(n->text) - used, "%.*s:", (int)name_len, name);
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_queued_delta *d = &deltas->items[i];
        used += (size_t)snprintf(n->text + used, sizeof(n->text) - used, "%c%s%" PRIu64, signs[d->type],
                                 d->final_state_unknown ? "!" : "", object_version(d->object));
    }
    snprintf(n->text + used, sizeof(n->text) - used, " ");
    n->is_initial = deltas->is_initial;
    n->bytes = deltas->items[deltas->count - 1].bytes;
    n->synced_inside = n->queue != NULL && ki_delta_queue_has_synced(n->queue);
    return n->outcome;
}

static void assert_pops(ki_delta_queue *queue, const char *expected)
{
    notes n = {0};
    while (ki_delta_queue_pop(queue, note, &n, 0) == 0)
        continue;
    assert_string_equal(n.text, expected);
}

static int push(ki_delta_queue *queue, ki_queued_type type, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    int rc = ki_delta_queue_push(queue, (ki_queued_delta){.type = type, .object = object});
    (void)ki_object_unref(object);
    return rc;
}

static int push_unseen_delete(ki_delta_queue *queue, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    int rc = ki_delta_queue_push(
        queue, (ki_queued_delta){.type = KI_QUEUED_DELETED, .final_state_unknown = 1, .object = object});
    (void)ki_object_unref(object);
    return rc;
}

/* Of up to two objects, each at version 9. */
static int replace(ki_delta_queue *queue, const char *first, const char *second)
{
    ki_object *objects[2] = {NULL, NULL};
    size_t count = 0;
    if (first != NULL)
        objects[count++] = object_of(first, 9, 0);
    if (second != NULL)
        objects[count++] = object_of(second, 9, 0);
    int rc = ki_delta_queue_replace(queue, objects, count);
    for (size_t i = 0; i < count; i++)
        (void)ki_object_unref(objects[i]);
    return rc;
}

static ki_delta_queue *queue_of(ki_store *known)
{
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = known}, NULL);
    assert_non_null(queue);
    return queue;
}

static ki_store *store_with(const char *name, uint64_t version)
{
    ki_store *store = ki_store_new(NULL, NULL);
    assert_non_null(store);
    store_put(store, object_of(name, version, 0));
    return store;
}

/* ---- pushing and popping ------------------------------------------------------------------------------- */

static void changes_of_a_key_leave_together_in_its_first_place(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 2), 0);
    assert_int_equal(push(queue, KI_QUEUED_UPDATED, "a", 3), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 4), 0);
    assert_int_equal(ki_delta_queue_len(queue), 2);
    assert_pops(queue, "a:+1~3-4 b:+2 ");
    assert_int_equal(ki_delta_queue_len(queue), 0);
    assert_int_equal(ki_delta_queue_bytes(queue), 0);
    ki_delta_queue_free(queue);
}

static void of_two_deletes_the_earlier_stays_unless_unseen(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 2), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 3), 0);
    assert_int_equal(push_unseen_delete(queue, "a", 4), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 5), 0);
    assert_int_equal(push_unseen_delete(queue, "b", 6), 0);
    assert_int_equal(push_unseen_delete(queue, "b", 7), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "b", 8), 0);
    assert_pops(queue, "a:+1-2 b:+5-8 ");
    ki_delta_queue_free(queue);
}

static void deletes_with_an_add_between_them_both_stay(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 2), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 3), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 4), 0);
    assert_pops(queue, "a:+1-2+3-4 ");
    ki_delta_queue_free(queue);
}

static void a_delete_of_what_nobody_knows_is_left_out(void **state)
{
    (void)state;
    ki_store *store = store_with("known", 1);
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "unknown", 2), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "known", 3), 0);
    assert_pops(queue, "known:-3 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static int delete_while_processed(const ki_queued_deltas *deltas, void *user)
{
    (void)deltas;
    return push(user, KI_QUEUED_DELETED, "a", 2);
}

static void a_delete_of_what_is_being_processed_is_queued(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, delete_while_processed, queue, 0), 0);
    assert_pops(queue, "a:-2 ");
    ki_delta_queue_free(queue);
}

static void what_is_no_change_is_refused(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_SYNC, "a", 1), KI_ERR_INVALID);
    assert_int_equal(push(queue, KI_QUEUED_REPLACED, "a", 1), KI_ERR_INVALID);
    assert_int_equal(push(queue, (ki_queued_type)0, "a", 1), KI_ERR_INVALID);
    assert_int_equal(push(NULL, KI_QUEUED_ADDED, "a", 1), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_push(queue, (ki_queued_delta){.type = KI_QUEUED_ADDED}), KI_ERR_INVALID);
    ki_object *none = NULL;
    assert_int_equal(ki_delta_queue_replace(queue, &none, 1), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_replace(queue, NULL, 1), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_replace(NULL, NULL, 0), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_resync(NULL), KI_ERR_INVALID);
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_int_equal(ki_delta_queue_len(queue), 0);
    ki_delta_queue_free(queue);
}

static void a_missing_queue_is_empty(void **state)
{
    (void)state;
    notes n = {0};
    ki_delta_queue_close(NULL);
    ki_delta_queue_free(NULL);
    assert_int_equal(ki_delta_queue_len(NULL), 0);
    assert_int_equal(ki_delta_queue_bytes(NULL), 0);
    assert_int_equal(ki_delta_queue_has_room(NULL), 0);
    assert_int_equal(ki_delta_queue_has_synced(NULL), 0);
    assert_int_equal(ki_delta_queue_pop(NULL, note, &n, 0), KI_ERR_INVALID);
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

static void a_key_function_says_what_belongs_together(void **state)
{
    (void)state;
    size_t longest = 1;
    ki_delta_queue *queue =
        ki_delta_queue_new(&(ki_delta_queue_options){.key = version_key, .user = &longest}, NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 2), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "c", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "d", 10), KI_ERR_INVALID);
    assert_pops(queue, "1:+1+1 2:+2 ");
    ki_delta_queue_free(queue);
}

static void a_key_that_no_store_takes_is_refused(void **state)
{
    (void)state;
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.key = endless_key}, NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), KI_ERR_TOO_LARGE);
    assert_int_equal(replace(queue, "a", NULL), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_delta_queue_len(queue), 0);
    ki_delta_queue_free(queue);
}

/* ---- replace and resync -------------------------------------------------------------------------------- */

static void a_replace_queues_each_object_and_deletes_the_rest(void **state)
{
    (void)state;
    ki_store *store = store_with("stored", 1);
    store_put(store, object_of("stays", 2, 0));
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "queued", 3), 0);
    assert_int_equal(push(queue, KI_QUEUED_UPDATED, "queued", 4), 0);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "stays", 5), 0);
    assert_int_equal(replace(queue, "new", "stays"), 0);
    assert_pops(queue, "queued:+3~4-!4 stays:-5=9 new:=9 stored:-!1 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static void a_replace_deletes_nothing_twice(void **state)
{
    (void)state;
    ki_store *store = store_with("a", 1);
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 2), 0);
    assert_int_equal(replace(queue, "b", NULL), 0);
    assert_int_equal(replace(queue, NULL, NULL), 0);
    assert_int_equal(replace(queue, NULL, NULL), 0);
    assert_pops(queue, "a:-2 b:=9-!9 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static int replace_by_nothing(const ki_queued_deltas *deltas, void *user)
{
    (void)deltas;
    return replace(user, NULL, NULL);
}

static void a_replace_deletes_what_is_being_processed(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, replace_by_nothing, queue, 0), 0);
    assert_pops(queue, "a:-!1 ");
    ki_delta_queue_free(queue);
}

static void a_resync_queues_known_objects_that_do_not_wait(void **state)
{
    (void)state;
    ki_store *store = store_with("a", 1);
    store_put(store, object_of("b", 2, 0));
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(push(queue, KI_QUEUED_UPDATED, "b", 3), 0);
    assert_int_equal(ki_delta_queue_resync(queue), 0);
    assert_int_equal(ki_delta_queue_resync(queue), 0);
    assert_pops(queue, "b:~3 a:.1 ");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static int resync_inside(const ki_queued_deltas *deltas, void *user)
{
    (void)deltas;
    return ki_delta_queue_resync(user);
}

static void a_resync_brings_back_no_older_object_of_what_is_being_processed(void **state)
{
    (void)state;
    ki_store *store = store_with("a", 1);
    ki_delta_queue *queue = queue_of(store);
    assert_int_equal(push(queue, KI_QUEUED_UPDATED, "a", 2), 0);
    assert_int_equal(ki_delta_queue_pop(queue, resync_inside, queue, 0), 0);
    assert_pops(queue, "");
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static void a_resync_without_known_objects_does_nothing(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(ki_delta_queue_resync(queue), 0);
    assert_pops(queue, "");
    ki_delta_queue_free(queue);
}

/* ---- what a callback says ------------------------------------------------------------------------------ */

static void requeued_deltas_go_to_the_end(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    notes n = {.outcome = KI_DELTA_QUEUE_REQUEUE};
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_UPDATED, "a", 2), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 3), 0);
    size_t bytes = ki_delta_queue_bytes(queue);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), KI_DELTA_QUEUE_REQUEUE);
    assert_int_equal(ki_delta_queue_bytes(queue), bytes);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "a", 4), 0);
    assert_pops(queue, "b:+3 a:+1~2-4 ");
    ki_delta_queue_free(queue);
}

static int update_and_requeue(const ki_queued_deltas *deltas, void *user)
{
    (void)deltas;
    assert_int_equal(push(user, KI_QUEUED_UPDATED, "a", 2), 0);
    return KI_DELTA_QUEUE_REQUEUE;
}

static void requeued_deltas_give_way_to_newer_ones(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, update_and_requeue, queue, 0), KI_DELTA_QUEUE_REQUEUE);
    assert_pops(queue, "a:~2 ");
    ki_delta_queue_free(queue);
}

static void an_error_of_the_callback_is_what_pop_returns(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    notes n = {.outcome = KI_ERR_RANGE};
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), KI_ERR_RANGE);
    assert_int_equal(ki_delta_queue_len(queue), 0);
    ki_delta_queue_free(queue);
}

/* ---- waiting and closing ------------------------------------------------------------------------------- */

static void an_empty_queue_lets_the_time_run_out(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    notes n = {0};
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), KI_ERR_TIMEOUT);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 2), KI_ERR_TIMEOUT);
    assert_int_equal(ki_delta_queue_pop(queue, NULL, NULL, 0), KI_ERR_INVALID);
    ki_read_lock();
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    ki_delta_queue_free(queue);
}

static void a_closed_queue_is_drained(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    notes n = {0};
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    ki_delta_queue_close(queue);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 2), 0);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, UINT64_MAX), 0);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, UINT64_MAX), 0);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, UINT64_MAX), KI_ERR_STOPPED);
    assert_string_equal(n.text, "a:+1 b:+2 ");
    ki_delta_queue_free(queue);
}

/* ---- synced -------------------------------------------------------------------------------------------- */

static void it_has_synced_when_the_last_of_the_first_replace_is_processed(void **state)
{
    (void)state;
    ki_store *store = store_with("gone", 1);
    ki_delta_queue *queue = queue_of(store);
    notes n = {.queue = queue};
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_int_equal(replace(queue, "a", NULL), 0);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "later", 2), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ki_delta_queue_has_synced(queue), 0);
        assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), 0);
        assert_int_equal(n.is_initial, 1);
        assert_int_equal(n.synced_inside, 0);
    }
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), 0);
    assert_int_equal(n.is_initial, 0);
    assert_int_equal(replace(queue, "b", NULL), 0);
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    ki_delta_queue_free(queue);
    ki_store_free(store);
}

static void a_requeued_delta_is_not_processed_yet(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    notes n = {.outcome = KI_DELTA_QUEUE_REQUEUE};
    assert_int_equal(replace(queue, "a", NULL), 0);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), KI_DELTA_QUEUE_REQUEUE);
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_int_equal(ki_delta_queue_pop(queue, update_and_requeue, queue, 0), KI_DELTA_QUEUE_REQUEUE);
    assert_int_equal(ki_delta_queue_has_synced(queue), 0);
    assert_pops(queue, "a:~2 ");
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    ki_delta_queue_free(queue);
}

static void an_empty_first_replace_has_synced_at_once(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    assert_int_equal(replace(queue, NULL, NULL), 0);
    assert_int_equal(ki_delta_queue_has_synced(queue), 1);
    ki_delta_queue_free(queue);
}

static void a_push_before_any_replace_has_synced_at_once(void **state)
{
    (void)state;
    for (int type = KI_QUEUED_ADDED; type <= KI_QUEUED_DELETED; type++) {
        ki_delta_queue *queue = queue_of(NULL);
        assert_int_equal(push(queue, (ki_queued_type)type, "a", 1), 0);
        assert_int_equal(ki_delta_queue_has_synced(queue), 1);
        assert_int_equal(replace(queue, "b", NULL), 0);
        assert_int_equal(ki_delta_queue_has_synced(queue), 1);
        ki_delta_queue_free(queue);
    }
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void a_full_queue_says_so_and_takes_more(void **state)
{
    (void)state;
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.items_max = 2}, NULL);
    notes n = {0};
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(ki_delta_queue_has_room(queue), 1);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 2), 1);
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "c", 3), 1);
    assert_int_equal(push(queue, KI_QUEUED_DELETED, "unknown", 4), 1);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), 0);
    assert_int_equal(ki_delta_queue_has_room(queue), 0);
    assert_pops(queue, "b:+2 c:+3 ");
    ki_delta_queue_free(queue);
}

static void bytes_make_it_full_as_well(void **state)
{
    (void)state;
    ki_object *object = object_of("a", 1, 0);
    size_t bytes = ki_object_bytes(object);
    (void)ki_object_unref(object);
    ki_delta_queue *queue = ki_delta_queue_new(&(ki_delta_queue_options){.bytes_max = 2 * bytes}, NULL);
    notes n = {0};
    assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 1), 0);
    assert_int_equal(push(queue, KI_QUEUED_UPDATED, "a", 2), 1);
    assert_int_equal(ki_delta_queue_bytes(queue), 2 * bytes);
    assert_int_equal(ki_delta_queue_pop(queue, note, &n, 0), 0);
    assert_int_equal(n.bytes, bytes);
    assert_int_equal(ki_delta_queue_bytes(queue), 0);
    assert_int_equal(ki_delta_queue_has_room(queue), 1);
    ki_delta_queue_free(queue);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void a_queue_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    ki_error err = {0};
    failing_allocator_fail_at(1);
    assert_null(ki_delta_queue_new(NULL, &err));
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    ki_delta_queue_free(queue_of(NULL));
}

static void without_memory_a_push_changes_nothing(void **state)
{
    (void)state;
    ki_delta_queue *queue = queue_of(NULL);
    ki_object *object = object_of("a", 1, 0);
    int rc = KI_ERR_NO_MEMORY;
    size_t n = 1;
    for (; rc == KI_ERR_NO_MEMORY; n++) {
        failing_allocator_fail_at(n);
        rc = ki_delta_queue_push(queue, (ki_queued_delta){.type = KI_QUEUED_ADDED, .object = object});
        failing_allocator_fail_at(0);
        assert_int_equal(ki_delta_queue_len(queue), rc == 0);
        assert_int_equal(ki_delta_queue_has_synced(queue), rc == 0);
    }
    assert_true(n > 2);
    assert_int_equal(rc, 0);
    (void)ki_object_unref(object);
    assert_pops(queue, "a:+1 ");
    ki_delta_queue_free(queue);
}

/* As a replace that fails at each allocation in turn; the queue must be as before. */
static void without_memory_a_replace_changes_nothing(void **state)
{
    (void)state;
    ki_store *store = store_with("stored", 1);
    ki_object *objects[3] = {object_of("a", 5, 0), object_of("new", 6, 0), object_of("a", 7, 0)};
    size_t n = 1;
    int rc = KI_ERR_NO_MEMORY;
    for (; rc == KI_ERR_NO_MEMORY; n++) {
        ki_delta_queue *queue = queue_of(store);
        assert_int_equal(push(queue, KI_QUEUED_ADDED, "a", 2), 0);
        assert_int_equal(push(queue, KI_QUEUED_ADDED, "b", 3), 0);
        size_t bytes = ki_delta_queue_bytes(queue);
        failing_allocator_fail_at(n);
        rc = ki_delta_queue_replace(queue, objects, 3);
        failing_allocator_fail_at(0);
        if (rc < 0)
            assert_int_equal(ki_delta_queue_bytes(queue), bytes);
        assert_pops(queue, rc < 0 ? "a:+2 b:+3 " : "a:+2=5=7 b:+3-!3 new:=6 stored:-!1 ");
        ki_delta_queue_free(queue);
    }
    assert_true(n > 4);
    for (size_t i = 0; i < 3; i++)
        (void)ki_object_unref(objects[i]);
    ki_store_free(store);
}

static void without_memory_a_resync_changes_nothing(void **state)
{
    (void)state;
    ki_store *store = store_with("a", 1);
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

#define TEST(function)                                                                                       \
    cmocka_unit_test_setup_teardown(function, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(changes_of_a_key_leave_together_in_its_first_place),
        TEST(of_two_deletes_the_earlier_stays_unless_unseen),
        TEST(deletes_with_an_add_between_them_both_stay),
        TEST(a_delete_of_what_nobody_knows_is_left_out),
        TEST(a_delete_of_what_is_being_processed_is_queued),
        TEST(what_is_no_change_is_refused),
        TEST(a_missing_queue_is_empty),
        TEST(a_key_function_says_what_belongs_together),
        TEST(a_key_that_no_store_takes_is_refused),
        TEST(a_replace_queues_each_object_and_deletes_the_rest),
        TEST(a_replace_deletes_nothing_twice),
        TEST(a_replace_deletes_what_is_being_processed),
        TEST(a_resync_queues_known_objects_that_do_not_wait),
        TEST(a_resync_brings_back_no_older_object_of_what_is_being_processed),
        TEST(a_resync_without_known_objects_does_nothing),
        TEST(requeued_deltas_go_to_the_end),
        TEST(requeued_deltas_give_way_to_newer_ones),
        TEST(an_error_of_the_callback_is_what_pop_returns),
        TEST(an_empty_queue_lets_the_time_run_out),
        TEST(a_closed_queue_is_drained),
        TEST(it_has_synced_when_the_last_of_the_first_replace_is_processed),
        TEST(a_requeued_delta_is_not_processed_yet),
        TEST(an_empty_first_replace_has_synced_at_once),
        TEST(a_push_before_any_replace_has_synced_at_once),
        TEST(a_full_queue_says_so_and_takes_more),
        TEST(bytes_make_it_full_as_well),
        TEST(a_queue_is_made_whole_or_not_at_all),
        TEST(without_memory_a_push_changes_nothing),
        TEST(without_memory_a_replace_changes_nothing),
        TEST(without_memory_a_resync_changes_nothing),
    };
    return RUN_TESTS(tests);
}
