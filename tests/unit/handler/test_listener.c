/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/listener.h"

#include "support/failing_allocator.h"
#include "support/queue/deliver.h"
#include "support/queue/listened.h"
#include "support/store/objects.h"
#include "support/unit.h"

/* ---- in order ------------------------------------------------------------------------------------------ */

static void listener_delivers_in_order_and_ends_the_batch(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, NULL);
    listened_push_add(&l, "a", 1, KI_EVENT_INITIAL);
    listened_push(&l.listener, (ki_notification){0});
    listened_push_update(&l, "a", 1, 2);
    listened_push_delete(&l, "a", 3, KI_EVENT_FINAL_STATE_UNKNOWN);
    assert_false(ki_listener_has_synced(&l.listener));
    listened_deliver_all(&l.listener);
    assert_true(ki_listener_has_synced(&l.listener));
    ki_listener_stats stats = ki_listener_read_stats(&l.listener);
    assert_int_equal(stats.delivered, 3);
    assert_int_equal(stats.items_high_water, 4);
    listened_expect(&l, "+1i synced ~1>2 -3u ; ");
}

static void listener_begins_with_existing_objects_and_the_marker(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, NULL);
    listened_begin(&l.listener, (ki_object *[]){listened_object("a", 1, 1), listened_object("b", 2, 2)}, 2);
    listened_push_update(&l, "a", 1, 3);
    ki_listener_stats stats = ki_listener_read_stats(&l.listener);
    assert_int_equal(stats.items, 4);
    assert_int_equal(stats.items_high_water, 4);
    assert_true(stats.bytes > 0);
    listened_expect(&l, "+1i +2i synced ~1>3 ; ");
}

static void listener_begins_with_nothing(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, NULL);
    listened_begin(&l.listener, NULL, 0);
    listened_expect(&l, "synced ; ");
}

static void listener_without_callbacks_accepts_everything(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, &(ki_handler){0});
    listened_push_add(&l, "a", 1, 0);
    listened_push_update(&l, "a", 1, 2);
    listened_push_delete(&l, "a", 2, 0);
    listened_push(&l.listener, (ki_notification){0});
    assert_int_equal(deliver_some(&l.listener, 10), 4);
    assert_true(ki_listener_has_synced(&l.listener));
    listened_fini(&l);
}

static void closed_listener_delivers_nothing(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, NULL);
    listened_push_add(&l, "a", 1, 0);
    ki_listener_close(&l.listener);
    ki_listener_drop_rest(&l.listener);
    listened_push_add(&l, "b", 1, 0);
    assert_int_equal(deliver_some(&l.listener, 10), 0);
    listened_expect(&l, "");
}

static void closed_listener_begins_with_nothing(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, NULL);
    ki_listener_close(&l.listener);
    ki_listener_drop_rest(&l.listener);
    listened_begin(&l.listener, (ki_object *[]){listened_object("a", 1, 1)}, 1);
    listened_expect(&l, "");
}

static void listener_can_be_closed_between_initial_objects(void **state)
{
    (void)state;
    listened l;
    listened_init_tight(&l);
    listened_begin(&l.listener, (ki_object *[]){listened_object("a", 1, 1), listened_object("b", 2, 2)}, 2);
    assert_int_equal(deliver_some(&l.listener, 1), 1);
    ki_listener_close(&l.listener);
    ki_listener_drop_rest(&l.listener);
    listened_expect(&l, "+1i ");
}

typedef struct lock_watch {
    ki_mutex *mu;
    size_t releases;
    size_t while_held;
} lock_watch;

static void look_at_lock(void *user)
{
    lock_watch *watch = user;
    watch->releases++;
    if (pthread_mutex_trylock(&watch->mu->raw) == 0)
        (void)pthread_mutex_unlock(&watch->mu->raw);
    else
        watch->while_held++;
}

/* The dispatch thread needs the lock, and a hundred thousand objects may be waiting. */
static void waiting_events_are_freed_without_the_lock(void **state)
{
    (void)state;
    listened l;
    listened_init_tight(&l);
    listened_begin(&l.listener, (ki_object *[]){listened_object("a", 1, 1), listened_object("b", 2, 2)}, 2);
    listened_push_update(&l, "c", 1, 2);
    lock_watch watch = {.mu = &l.listener.mu};
    failing_allocator_watch_releases(look_at_lock, &watch);
    ki_listener_close(&l.listener);
    ki_listener_drop_rest(&l.listener);
    failing_allocator_watch_releases(NULL, NULL);
    assert_true(watch.releases >= 4);
    assert_int_equal(watch.while_held, 0);
    listened_expect(&l, "");
}

/* ---- past the limit ------------------------------------------------------------------------------------ */

static void unbounded_backlog_keeps_every_event(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.backlog_items_max = 1;
    handler.overflow = KI_OVERFLOW_UNBOUNDED;
    listened_init(&l, &handler);
    for (uint64_t version = 1; version < 6; version++)
        listened_push_update(&l, "a", version, version + 1);
    assert_false(ki_listener_blocks(&l.listener));
    listened_expect(&l, "~1>2 ~2>3 ~3>4 ~4>5 ~5>6 ; ");
}

static void blocking_backlog_reports_it_and_keeps_every_event(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.backlog_items_max = 1;
    handler.overflow = KI_OVERFLOW_BLOCK;
    listened_init(&l, &handler);
    listened_push_update(&l, "a", 1, 2);
    assert_false(ki_listener_blocks(&l.listener));
    listened_push_update(&l, "a", 2, 3);
    assert_true(ki_listener_blocks(&l.listener));
    listened_deliver_all(&l.listener);
    assert_false(ki_listener_blocks(&l.listener));
    listened_expect(&l, "~1>2 ~2>3 ; ");
}

static void blocking_backlog_counts_initial_objects(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.backlog_items_max = 2;
    handler.overflow = KI_OVERFLOW_BLOCK;
    listened_init(&l, &handler);
    listened_begin(&l.listener, (ki_object *[]){listened_object("a", 1, 1), listened_object("b", 2, 2)}, 2);
    assert_true(ki_listener_blocks(&l.listener));
    assert_int_equal(deliver_some(&l.listener, 1), 1);
    assert_false(ki_listener_blocks(&l.listener));
    listened_expect(&l, "+1i +2i synced ; ");
}

/* ---- options ------------------------------------------------------------------------------------------- */

static void split_replaced_is_a_delete_and_an_add(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.split_replaced = 1;
    listened_init(&l, &handler);
    listened_push(&l.listener, (ki_notification){KI_CHANGE_UPDATED, KI_EVENT_REPLACED,
                                                 listened_object("a", 2, 2), listened_object("a", 1, 1)});
    listened_push_update(&l, "a", 2, 3);
    listened_expect(&l, "-1u +2 ~2>3 ; ");
}

/* Accepts odd versions only. */
static int is_odd(const ki_object *object, void *user)
{
    (void)user;
    return object_version(object) % 2 == 1;
}

static void init_odd(listened *l)
{
    ki_handler handler = listened_handler(l);
    handler.filter = is_odd;
    listened_init(l, &handler);
}

static void filter_turns_updates_into_adds_and_deletes(void **state)
{
    (void)state;
    listened l;
    init_odd(&l);
    listened_push_add(&l, "a", 1, 0);
    listened_push_add(&l, "b", 2, 0);
    listened_push_update(&l, "a", 1, 3);
    listened_push_update(&l, "a", 3, 4);
    listened_push_update(&l, "a", 4, 6);
    listened_push_update(&l, "a", 6, 7);
    listened_push_delete(&l, "b", 2, 0);
    listened_push_delete(&l, "a", 9, 0);
    listened_expect(&l, "+1 ~1>3 -3 +7 -9 ; ");
}

static void filter_applies_to_initial_objects(void **state)
{
    (void)state;
    listened l;
    init_odd(&l);
    listened_begin(&l.listener, (ki_object *[]){listened_object("a", 1, 1), listened_object("b", 2, 2)}, 2);
    listened_expect(&l, "+1i synced ; ");
}

static void filter_applies_to_the_object_that_the_handler_knows_on_delete(void **state)
{
    (void)state;
    listened l;
    init_odd(&l);
    listened_push_add(&l, "a", 1, 0);
    listened_push(&l.listener, (ki_notification){KI_CHANGE_DELETED, 0, listened_object("a", 4, 1),
                                                 listened_object("a", 1, 1)});
    listened_push(&l.listener, (ki_notification){KI_CHANGE_DELETED, 0, listened_object("b", 5, 1),
                                                 listened_object("b", 2, 1)});
    listened_expect(&l, "+1 -4 ; ");
}

static void batch_without_an_event_has_no_end(void **state)
{
    (void)state;
    listened l;
    init_odd(&l);
    listened_push_add(&l, "a", 2, 0);
    listened_expect(&l, "");
}

static void batch_ends_after_synced(void **state)
{
    (void)state;
    listened l;
    listened_init(&l, NULL);
    listened_push_add(&l, "a", 1, 0);
    listened_push(&l.listener, (ki_notification){0});
    listened_expect(&l, "+1 synced ; ");
}

static void leave_on_delete(const ki_event *event, void *user)
{
    listened *l = user;
    listened_on_delete(event, l);
    ki_listener_close(&l->listener);
    ki_listener_drop_rest(&l->listener);
}

static void handler_removed_between_the_halves_of_a_split_update_gets_no_more(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.on_delete = leave_on_delete;
    handler.split_replaced = 1;
    listened_init(&l, &handler);
    listened_push(&l.listener, (ki_notification){KI_CHANGE_UPDATED, KI_EVENT_REPLACED,
                                                 listened_object("a", 2, 2), listened_object("a", 1, 1)});
    listened_expect(&l, "-1u ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(listener_delivers_in_order_and_ends_the_batch),
        WITH_MEMORY_CHECK(listener_begins_with_existing_objects_and_the_marker),
        WITH_MEMORY_CHECK(listener_begins_with_nothing),
        WITH_MEMORY_CHECK(listener_without_callbacks_accepts_everything),
        WITH_MEMORY_CHECK(closed_listener_delivers_nothing),
        WITH_MEMORY_CHECK(closed_listener_begins_with_nothing),
        WITH_MEMORY_CHECK(listener_can_be_closed_between_initial_objects),
        WITH_MEMORY_CHECK(waiting_events_are_freed_without_the_lock),
        WITH_MEMORY_CHECK(unbounded_backlog_keeps_every_event),
        WITH_MEMORY_CHECK(blocking_backlog_reports_it_and_keeps_every_event),
        WITH_MEMORY_CHECK(blocking_backlog_counts_initial_objects),
        WITH_MEMORY_CHECK(split_replaced_is_a_delete_and_an_add),
        WITH_MEMORY_CHECK(filter_turns_updates_into_adds_and_deletes),
        WITH_MEMORY_CHECK(filter_applies_to_initial_objects),
        WITH_MEMORY_CHECK(filter_applies_to_the_object_that_the_handler_knows_on_delete),
        WITH_MEMORY_CHECK(batch_without_an_event_has_no_end),
        WITH_MEMORY_CHECK(batch_ends_after_synced),
        WITH_MEMORY_CHECK(handler_removed_between_the_halves_of_a_split_update_gets_no_more),
    };
    return RUN_TESTS(tests);
}
