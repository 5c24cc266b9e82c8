/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are passed to a listener as one batch. */
#include "handler/listener.h"
#include "support/failing_allocator.h"
#include "support/queue/deliver.h"
#include "support/store/objects.h"
#include "support/unit.h"

enum { EVENTS = 5 };

typedef struct heard {
    uint64_t versions[EVENTS];
    size_t count;
} heard;

static void on_update(const ki_event *event, void *user)
{
    heard *h = user;
    assert_true(h->count < EVENTS);
    h->versions[h->count++] = object_version(event->object);
}

/* Updates of one object, from version 1 on. */
static void make_events(ki_list *out_events)
{
    ki_list_init(out_events);
    for (uint64_t version = 1; version <= EVENTS; version++) {
        ki_backlog_entry *entry = ki_backlog_entry_new();
        assert_non_null(entry);
        entry->what = (ki_notification){.type = KI_CHANGE_UPDATED,
                                        .object = object_of("a", version, 0),
                                        .old = object_of("a", version - 1, 0)};
        ki_list_push_back(out_events, &entry->node);
    }
}

static void listener_init(ki_listener *listener, heard *h, size_t items_max)
{
    ki_handler handler = {.on_update = on_update, .user = h, .backlog_items_max = items_max};
    assert_int_equal(ki_listener_init(listener, &handler, ki_clock_real(), 1), 0);
}

static void all_events_are_accepted_and_delivered_in_order(void **state)
{
    (void)state;
    heard h = {.count = 0};
    ki_listener listener;
    ki_list events;
    listener_init(&listener, &h, 0);
    make_events(&events);
    ki_listener_push_all(&listener, &events);
    assert_true(ki_list_is_empty(&events));
    assert_int_equal(ki_listener_read_stats(&listener).items, EVENTS);
    assert_int_equal(deliver_some(&listener, 100), EVENTS);
    for (uint64_t i = 0; i < EVENTS; i++)
        assert_int_equal(h.versions[i], i + 1);
    assert_int_equal(ki_listener_read_stats(&listener).items, 0);
    ki_listener_fini(&listener);
}

static void an_empty_batch_delivers_nothing(void **state)
{
    (void)state;
    heard h = {.count = 0};
    ki_listener listener;
    ki_list events;
    listener_init(&listener, &h, 0);
    ki_list_init(&events);
    ki_listener_push_all(&listener, &events);
    assert_int_equal(ki_listener_read_stats(&listener).items, 0);
    ki_listener_fini(&listener);
}

static void events_past_the_limit_are_merged_like_single_ones(void **state)
{
    (void)state;
    heard h = {.count = 0};
    ki_listener listener;
    ki_list events;
    listener_init(&listener, &h, 1);
    make_events(&events);
    ki_listener_push_all(&listener, &events);
    assert_int_equal(deliver_some(&listener, 100), 1);
    assert_int_equal(h.versions[0], EVENTS);
    ki_listener_fini(&listener);
}

static void a_closed_listener_drops_a_batch_and_has_nothing_waiting(void **state)
{
    (void)state;
    heard h = {.count = 0};
    ki_listener listener;
    ki_list events;
    listener_init(&listener, &h, 0);
    make_events(&events);
    ki_listener_push_all(&listener, &events);
    ki_listener_close(&listener);
    ki_listener_drop_rest(&listener);
    assert_int_equal(ki_listener_read_stats(&listener).items, 0);
    make_events(&events);
    ki_listener_push_all(&listener, &events);
    assert_true(ki_list_is_empty(&events));
    assert_int_equal(ki_listener_read_stats(&listener).items, 0);
    assert_int_equal(deliver_some(&listener, 100), 0);
    assert_int_equal(h.count, 0);
    ki_listener_fini(&listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(all_events_are_accepted_and_delivered_in_order),
        WITH_MEMORY_CHECK(an_empty_batch_delivers_nothing),
        WITH_MEMORY_CHECK(events_past_the_limit_are_merged_like_single_ones),
        WITH_MEMORY_CHECK(a_closed_listener_drops_a_batch_and_has_nothing_waiting),
    };
    return RUN_TESTS(tests);
}
