/* SPDX-License-Identifier: Apache-2.0 */
/* The store when the server has another history, or sends something twice.
 * Each sequence was found by the simulation. */
#include "informer/apply.h"
#include "support/failing_allocator.h"
#include "support/queue/fifo_push.h"
#include "support/store/objects.h"
#include "support/unit.h"

typedef struct fixture {
    ki_store *store;
    ki_delta_fifo fifo;
    ki_fanout fanout;
    ki_apply apply;
} fixture;

static void queue_events(ki_subscriber *subscriber, ki_list *entries)
{
    ki_listener_push_all(&subscriber->listener, entries);
}

static void fixture_init(fixture *f)
{
    f->store = ki_store_new(NULL, NULL);
    assert_non_null(f->store);
    assert_int_equal(
        ki_delta_fifo_init(&f->fifo, &(ki_delta_fifo_options){.hash_key = ki_store_hash_key(f->store)}), 0);
    ki_fanout_init(&f->fanout, queue_events);
    ki_apply_init(&f->apply, &(ki_apply_options){.store = f->store, .fifo = &f->fifo, .fanout = &f->fanout});
}

static void fixture_fini(fixture *f)
{
    ki_apply_fini(&f->apply);
    ki_delta_fifo_fini(&f->fifo);
    ki_store_free(f->store);
}

static void push(fixture *f, ki_change_type type, uint32_t list, uint64_t version)
{
    ki_object *object = object_of("a", version, 0);
    ki_str received = list == 0 ? ki_object_resource_version(object) : KI_STR("");
    ki_delta delta = {.change_type = type, .list = list, .object = object};
    assert_int_equal(fifo_push_new(&f->fifo, delta, received), 0);
}

static void push_end(fixture *f, uint32_t list, const char *version)
{
    assert_int_equal(ki_delta_fifo_push_marker(&f->fifo, KI_CHANGE_LIST_END, list, ki_str_of(version)), 0);
}

static void apply_all(fixture *f)
{
    int rc = 1;
    while (rc == 1)
        rc = ki_apply_step(&f->apply);
    assert_int_equal(rc, 0);
}

/* Returns 0 if there is no object. */
static uint64_t stored_version(fixture *f)
{
    ki_object *object = ki_store_get(f->store, KI_STR("default"), KI_STR("a"));
    uint64_t version = object == NULL ? 0 : object_version(object);
    (void)ki_object_unref(object);
    return version;
}

/* One object at version 90 in a list of version 100, then a watch up to 120. */
static void follow_first_history(fixture *f)
{
    push(f, KI_CHANGE_REPLACED, 1, 90);
    push_end(f, 1, "100");
    push(f, KI_CHANGE_UPDATED, 0, 120);
    apply_all(f);
    assert_int_equal(stored_version(f), 120);
}

static void item_that_cannot_be_decoded_does_not_renew_an_object_of_another_history(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    follow_first_history(&f);
    assert_int_equal(ki_delta_fifo_begin_history(&f.fifo, 2), 0);
    assert_int_equal(ki_delta_fifo_push_seen(&f.fifo, KI_STR("default/a"), 2), 0);
    push_end(&f, 2, "80");
    apply_all(&f);
    assert_int_equal(stored_version(&f), 120); /* the last good version */
    push(&f, KI_CHANGE_UPDATED, 0, 85);
    apply_all(&f);
    assert_int_equal(stored_version(&f), 85);
    fixture_fini(&f);
}

static void event_of_a_new_history_is_not_swept_by_the_list_it_overtakes(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    follow_first_history(&f);
    assert_int_equal(ki_delta_fifo_begin_history(&f.fifo, 2), 0);
    push(&f, KI_CHANGE_REPLACED, 2, 70);
    push_end(&f, 2, "80");
    push(&f, KI_CHANGE_DELETED, 0, 82);
    push(&f, KI_CHANGE_ADDED, 0, 83);
    apply_all(&f);
    assert_int_equal(stored_version(&f), 83);
    fixture_fini(&f);
}

static void echo_after_a_delete_does_not_bring_the_object_back(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    follow_first_history(&f);
    push(&f, KI_CHANGE_UPDATED, 0, 121);
    push(&f, KI_CHANGE_DELETED, 0, 122);
    push(&f, KI_CHANGE_UPDATED, 0, 121);
    apply_all(&f);
    assert_int_equal(stored_version(&f), 0);
    fixture_fini(&f);
}

static void stop_does_not_forget_the_new_history(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    follow_first_history(&f);
    assert_int_equal(ki_delta_fifo_begin_history(&f.fifo, 2), 0);
    push(&f, KI_CHANGE_REPLACED, 2, 70);
    (void)ki_apply_drop(&f.apply);
    assert_false(ki_resource_version_is_set(&f.apply.version));
    assert_int_equal(stored_version(&f), 120);
    push(&f, KI_CHANGE_REPLACED, 3, 70);
    push_end(&f, 3, "80");
    apply_all(&f);
    assert_int_equal(stored_version(&f), 70);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(item_that_cannot_be_decoded_does_not_renew_an_object_of_another_history),
        WITH_MEMORY_CHECK(event_of_a_new_history_is_not_swept_by_the_list_it_overtakes),
        WITH_MEMORY_CHECK(echo_after_a_delete_does_not_bring_the_object_back),
        WITH_MEMORY_CHECK(stop_does_not_forget_the_new_history),
    };
    return RUN_TESTS(tests);
}
