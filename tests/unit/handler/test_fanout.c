/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/fanout.h"

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/queue/deliver.h"
#include "support/unit.h"

/* ---- subscribers that count --------------------------------------------------------------------------- */

typedef struct counting {
    ki_subscriber subscriber;
    int adds;
    int initials;
    int updates;
    int deletes;
    int syncs;
    int wakes;
} counting;

static void on_add(const ki_event *event, void *user)
{
    counting *c = user;
    c->adds++;
    c->initials += (event->flags & KI_EVENT_INITIAL) != 0;
}

static void on_update(const ki_event *event, void *user)
{
    (void)event;
    ((counting *)user)->updates++;
}

static void on_delete(const ki_event *event, void *user)
{
    (void)event;
    ((counting *)user)->deletes++;
}

static void on_synced(void *user)
{
    ((counting *)user)->syncs++;
}

static void push(ki_subscriber *subscriber, ki_list *entries)
{
    ki_listener_push_all(&subscriber->listener, entries);
    KI_CONTAINER_OF(subscriber, counting, subscriber)->wakes++;
}

static void counting_init(counting *c, const ki_handler *options)
{
    ki_handler handler = options == NULL ? (ki_handler){0} : *options;
    handler.on_add = on_add;
    handler.on_update = on_update;
    handler.on_delete = on_delete;
    handler.on_synced = on_synced;
    handler.user = c;
    *c = (counting){0};
    assert_int_equal(ki_listener_init(&c->subscriber.listener, &handler, ki_clock_real(), 1), 0);
}

static void counting_fini(counting *c)
{
    ki_fanout_leave(&c->subscriber);
    ki_listener_fini(&c->subscriber.listener);
}

static void deliver(counting *c)
{
    while (deliver_some(&c->subscriber.listener, 8) == 8)
        ;
}

static bool is_waiting(counting *c)
{
    return ki_listener_read_stats(&c->subscriber.listener).items > 0;
}

/* ---- a fan-out with a store --------------------------------------------------------------------------- */

typedef struct hall {
    ki_fanout fanout;
    ki_store *store;
    counting seats[2];
} hall;

static void hall_init(hall *h)
{
    ki_fanout_init(&h->fanout, push);
    h->store = ki_store_new(NULL, NULL);
    assert_non_null(h->store);
    for (size_t i = 0; i < 2; i++)
        counting_init(&h->seats[i], NULL);
}

static void hall_fini(hall *h)
{
    for (size_t i = 0; i < 2; i++)
        counting_fini(&h->seats[i]);
    ki_store_free(h->store);
}

static void join(hall *h, size_t seat, bool is_synced)
{
    assert_int_equal(ki_fanout_join(&h->fanout, &h->seats[seat].subscriber, h->store, is_synced), 0);
}

static void put(hall *h, const char *name)
{
    ki_object *object = apply_object(name, "1", name, NULL);
    assert_int_equal(ki_store_put(h->store, object), 0);
    (void)ki_object_unref(object);
}

static void tell(hall *h, ki_audience audience, ki_change_type type)
{
    ki_object *object = apply_object("x", "1", "x", NULL);
    ki_notification told = {.type = type, .object = object, .old = type == KI_CHANGE_ADDED ? NULL : object};
    assert_int_equal(ki_fanout_reserve(&h->fanout, audience), 0);
    ki_fanout_tell(&h->fanout, audience, &told);
    (void)ki_object_unref(object);
}

/* ---- joining and leaving ------------------------------------------------------------------------------ */

static void a_new_subscriber_gets_the_stored_objects_and_is_woken_once(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    put(&h, "a");
    put(&h, "b");
    join(&h, 0, true);
    assert_int_equal(h.seats[0].wakes, 1);
    deliver(&h.seats[0]);
    assert_int_equal(h.seats[0].adds, 2);
    assert_int_equal(h.seats[0].initials, 2);
    assert_int_equal(h.seats[0].syncs, 1);
    assert_true(ki_listener_has_synced(&h.seats[0].subscriber.listener));
    hall_fini(&h);
}

static void a_handler_added_before_the_sync_gets_synced_once_later(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, false);
    deliver(&h.seats[0]);
    assert_int_equal(h.seats[0].syncs, 0);
    assert_int_equal(ki_fanout_tell_synced(&h.fanout), 0);
    join(&h, 1, true);
    assert_int_equal(ki_fanout_tell_synced(&h.fanout), 0);
    ki_fanout_flush(&h.fanout);
    for (size_t i = 0; i < 2; i++) {
        deliver(&h.seats[i]);
        assert_int_equal(h.seats[i].syncs, 1);
    }
    hall_fini(&h);
}

static void a_subscriber_that_left_gets_no_events_and_may_leave_twice(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, true);
    join(&h, 1, true);
    tell(&h, KI_TO_ALL, KI_CHANGE_ADDED); /* queued, and dropped for the first subscriber */
    assert_int_equal(ki_fanout_reserve(&h.fanout, KI_TO_ALL), 0);
    ki_fanout_leave(&h.seats[0].subscriber);
    ki_fanout_leave(&h.seats[0].subscriber);
    ki_fanout_flush(&h.fanout);
    deliver(&h.seats[0]);
    deliver(&h.seats[1]);
    assert_int_equal(h.seats[0].adds, 0);
    assert_int_equal(h.seats[1].adds, 1);
    hall_fini(&h);
}

static void a_subscriber_that_has_not_joined_may_leave(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    ki_fanout_leave(&h.seats[0].subscriber);
    assert_true(ki_list_is_empty(&h.fanout.subscribers));
    hall_fini(&h);
}

/* ---- notifications ------------------------------------------------------------------------------------ */

static void a_flush_hands_over_all_events_with_one_wake(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, true);
    h.seats[0].wakes = 0;
    deliver(&h.seats[0]);
    tell(&h, KI_TO_ALL, KI_CHANGE_ADDED);
    tell(&h, KI_TO_ALL, KI_CHANGE_UPDATED);
    tell(&h, KI_TO_ALL, KI_CHANGE_DELETED);
    assert_false(is_waiting(&h.seats[0]));
    assert_int_equal(h.seats[0].wakes, 0);
    ki_fanout_flush(&h.fanout);
    assert_true(is_waiting(&h.seats[0]));
    assert_int_equal(h.seats[0].wakes, 1);
    deliver(&h.seats[0]);
    assert_int_equal(h.seats[0].adds, 1);
    assert_int_equal(h.seats[0].updates, 1);
    assert_int_equal(h.seats[0].deletes, 1);
    assert_false(is_waiting(&h.seats[0]));
    ki_fanout_flush(&h.fanout);
    assert_int_equal(h.seats[0].wakes, 1);
    hall_fini(&h);
}

static void a_fanout_without_subscribers_accepts_everything(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    tell(&h, KI_TO_ALL, KI_CHANGE_ADDED);
    tell(&h, KI_TO_RESYNCING, KI_CHANGE_UPDATED);
    assert_int_equal(ki_fanout_tell_synced(&h.fanout), 0);
    ki_fanout_flush(&h.fanout);
    assert_false(ki_fanout_is_blocked(&h.fanout));
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 0), 0);
    hall_fini(&h);
}

static void an_unused_reservation_is_used_next_time(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, false);
    assert_int_equal(ki_fanout_reserve(&h.fanout, KI_TO_ALL), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_fanout_reserve(&h.fanout, KI_TO_ALL), 0);
    assert_int_equal(ki_fanout_tell_synced(&h.fanout), 0);
    assert_int_equal(ki_fanout_reserve(&h.fanout, KI_TO_ALL), KI_ERR_NO_MEMORY);
    ki_fanout_flush(&h.fanout);
    deliver(&h.seats[0]);
    assert_int_equal(h.seats[0].syncs, 1);
    hall_fini(&h);
}

/* ---- resync ------------------------------------------------------------------------------------------- */

static void only_subscribers_that_are_due_are_resynced(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, true);
    join(&h, 1, true);
    h.seats[1].subscriber.resync = (ki_resync_turn){.period_ms = 1000, .due_ms = 1000};
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 999), 0);
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 1000), 1);
    tell(&h, KI_TO_RESYNCING, KI_CHANGE_UPDATED);
    tell(&h, KI_TO_ALL, KI_CHANGE_ADDED);
    ki_fanout_end_resync(&h.fanout);
    tell(&h, KI_TO_RESYNCING, KI_CHANGE_UPDATED);
    ki_fanout_flush(&h.fanout);
    deliver(&h.seats[0]);
    deliver(&h.seats[1]);
    assert_int_equal(h.seats[0].updates, 0);
    assert_int_equal(h.seats[1].updates, 1);
    assert_int_equal(h.seats[0].adds + h.seats[1].adds, 2);
    hall_fini(&h);
}

/* A subscriber that becomes due during a resync waits for the next check; its resync is not lost. */
static void a_resync_does_not_begin_before_the_previous_one_ends(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, true);
    join(&h, 1, true);
    h.seats[0].subscriber.resync = (ki_resync_turn){.period_ms = 1000, .due_ms = 1000};
    h.seats[1].subscriber.resync = (ki_resync_turn){.period_ms = 5000, .due_ms = 5000};
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 1000), 1);
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 5000), 0);
    assert_false(h.seats[1].subscriber.resync.is_due);
    ki_fanout_end_resync(&h.fanout);
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 6000), 2);
    hall_fini(&h);
}

/* Otherwise another subscriber would get only the rest of this resync. */
static void a_resync_continues_when_its_subscriber_leaves(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, true);
    join(&h, 1, true);
    h.seats[0].subscriber.resync = (ki_resync_turn){.period_ms = 1000, .due_ms = 1000};
    h.seats[1].subscriber.resync = (ki_resync_turn){.period_ms = 5000, .due_ms = 5000};
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 1000), 1);
    ki_fanout_leave(&h.seats[0].subscriber);
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 5000), 0);
    assert_false(h.seats[1].subscriber.resync.is_due);
    ki_fanout_end_resync(&h.fanout);
    assert_int_equal(ki_fanout_begin_resync(&h.fanout, 6000), 1);
    hall_fini(&h);
}

/* ---- limits and memory -------------------------------------------------------------------------------- */

static void a_blocking_handler_blocks_the_fanout_until_it_has_caught_up(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    ki_listener_fini(&h.seats[1].subscriber.listener);
    counting_init(&h.seats[1], &(ki_handler){.overflow = KI_OVERFLOW_BLOCK, .backlog_items_max = 1});
    join(&h, 0, false);
    join(&h, 1, false);
    tell(&h, KI_TO_ALL, KI_CHANGE_ADDED);
    ki_fanout_flush(&h.fanout);
    assert_false(ki_fanout_is_blocked(&h.fanout));
    tell(&h, KI_TO_ALL, KI_CHANGE_UPDATED);
    ki_fanout_flush(&h.fanout);
    assert_true(ki_fanout_is_blocked(&h.fanout));
    deliver(&h.seats[1]);
    assert_false(ki_fanout_is_blocked(&h.fanout));
    hall_fini(&h);
}

static void a_join_that_runs_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    put(&h, "a");
    put(&h, "b");
    for (size_t n = 1; n <= 2; n++) {
        failing_allocator_fail_at(n);
        assert_int_equal(ki_fanout_join(&h.fanout, &h.seats[0].subscriber, h.store, true), KI_ERR_NO_MEMORY);
        assert_true(ki_list_is_empty(&h.fanout.subscribers));
        assert_false(is_waiting(&h.seats[0]));
        assert_int_equal(h.seats[0].wakes, 0);
    }
    failing_allocator_fail_at(0);
    join(&h, 0, true);
    deliver(&h.seats[0]);
    assert_int_equal(h.seats[0].adds, 2);
    assert_int_equal(h.seats[0].syncs, 1);
    hall_fini(&h);
}

static void synced_is_delivered_to_each_once_even_if_memory_runs_out(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        hall h;
        hall_init(&h);
        join(&h, 0, false);
        join(&h, 1, false);
        failing_allocator_fail_at(n);
        assert_int_equal(ki_fanout_tell_synced(&h.fanout), KI_ERR_NO_MEMORY);
        assert_int_equal(ki_fanout_tell_synced(&h.fanout), 0);
        ki_fanout_flush(&h.fanout);
        for (size_t i = 0; i < 2; i++) {
            deliver(&h.seats[i]);
            assert_int_equal(h.seats[i].syncs, 1);
        }
        hall_fini(&h);
    }
}

static void a_partial_reservation_is_kept_when_out_of_memory(void **state)
{
    (void)state;
    hall h;
    hall_init(&h);
    join(&h, 0, true);
    join(&h, 1, true);
    failing_allocator_fail_at(2);
    assert_int_equal(ki_fanout_reserve(&h.fanout, KI_TO_ALL), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_int_equal(ki_fanout_reserve(&h.fanout, KI_TO_ALL), 0);
    assert_int_equal(failing_allocator_attempts(), 1);
    hall_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_new_subscriber_gets_the_stored_objects_and_is_woken_once),
        WITH_MEMORY_CHECK(a_handler_added_before_the_sync_gets_synced_once_later),
        WITH_MEMORY_CHECK(a_subscriber_that_left_gets_no_events_and_may_leave_twice),
        WITH_MEMORY_CHECK(a_subscriber_that_has_not_joined_may_leave),
        WITH_MEMORY_CHECK(a_flush_hands_over_all_events_with_one_wake),
        WITH_MEMORY_CHECK(a_fanout_without_subscribers_accepts_everything),
        WITH_MEMORY_CHECK(an_unused_reservation_is_used_next_time),
        WITH_MEMORY_CHECK(only_subscribers_that_are_due_are_resynced),
        WITH_MEMORY_CHECK(a_resync_does_not_begin_before_the_previous_one_ends),
        WITH_MEMORY_CHECK(a_resync_continues_when_its_subscriber_leaves),
        WITH_MEMORY_CHECK(a_blocking_handler_blocks_the_fanout_until_it_has_caught_up),
        WITH_MEMORY_CHECK(a_join_that_runs_out_of_memory_changes_nothing),
        WITH_MEMORY_CHECK(synced_is_delivered_to_each_once_even_if_memory_runs_out),
        WITH_MEMORY_CHECK(a_partial_reservation_is_kept_when_out_of_memory),
    };
    return RUN_TESTS(tests);
}
