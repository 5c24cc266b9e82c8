/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch pushes to a listener, a handler is called from it, and a third thread reads its state.
 * Run under ThreadSanitizer. */
#include "handler/listener.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/object/object_layout.h"
#include "support/failing_allocator.h"
#include "support/queue/deliver.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/alloc.h"
#include "util/random.h"

/* The handler starts with more events than the backlog may hold, and more than one push merges. */
enum { KEYS = 10 * KI_BACKLOG_STEP, ITEMS_MAX = 100, UPDATES = 20000, BATCH = 16 };

typedef struct stage {
    ki_listener listener;
    ki_object *objects[KEYS]; /* used by dispatch */
    uint64_t heard[KEYS];     /* versions; used by the handler */
    size_t adds;
    int is_wrong;
    atomic_int has_ended; /* dispatch has ended */
    atomic_int is_over;
} stage;

static size_t key_of(const ki_object *object)
{
    return (size_t)strtoul(ki_object_name(object).ptr + 1, NULL, 10);
}

static void hear(stage *s, const ki_event *event, uint64_t known)
{
    size_t key = key_of(event->object);
    if (s->heard[key] != known || object_version(event->object) <= known)
        s->is_wrong = 1;
    s->heard[key] = object_version(event->object);
}

static void on_add(const ki_event *event, void *user)
{
    ((stage *)user)->adds++;
    hear(user, event, 0);
}

static void on_update(const ki_event *event, void *user)
{
    hear(user, event, event->old == NULL ? 0 : object_version(event->old));
}

static ki_object *make(size_t key, uint64_t version)
{
    char name[24];
    (void)snprintf(name, sizeof(name), "k%zu", key);
    return object_of(name, version, 0);
}

static void begin(stage *s)
{
    ki_object_list list = {.objects = ki_calloc(KEYS, sizeof(ki_object *))};
    size_t bytes = 0;
    for (; list.count < KEYS; list.count++) {
        s->objects[list.count] = make(list.count, 1);
        list.objects[list.count] = ki_object_ref(s->objects[list.count]);
        bytes += ki_object_own_bytes(s->objects[list.count]);
    }
    ki_listener_begin(&s->listener, &list, bytes);
}

static void push_updates(void *user)
{
    stage *s = user;
    ki_random random;
    ki_list batch;
    ki_random_init(&random, 1);
    ki_list_init(&batch);
    begin(s);
    for (uint64_t i = 0; i < UPDATES; i++) {
        size_t key = ki_random_below(&random, KEYS);
        ki_backlog_entry *entry = ki_backlog_entry_new();
        ki_object *old = s->objects[key];
        s->objects[key] = make(key, i + 2);
        entry->what = (ki_notification){KI_CHANGE_UPDATED, 0, ki_object_ref(s->objects[key]), old};
        ki_list_push_back(&batch, &entry->node);
        if (i % BATCH == BATCH - 1)
            ki_listener_push_all(&s->listener, &batch);
    }
    ki_listener_push_all(&s->listener, &batch);
    atomic_store(&s->has_ended, 1);
}

static void read_stats(void *user)
{
    stage *s = user;
    uint64_t delivered = 0;
    while (!atomic_load(&s->is_over)) {
        ki_listener_stats stats = ki_listener_read_stats(&s->listener);
        if (stats.delivered < delivered)
            abort();
        delivered = stats.delivered;
        sched_yield();
    }
}

static void start(ki_thread *thread, const char *name, ki_thread_cb run, stage *s)
{
    ki_thread_options options = {.name = name, .run = run, .user = s};
    assert_int_equal(ki_thread_start(thread, &options, NULL), 0);
}

static void deliver_until_the_end(stage *s)
{
    int has_ended = 0;
    while (!has_ended) {
        has_ended = atomic_load(&s->has_ended);
        while (deliver_some(&s->listener, 64) == 64)
            ;
        sched_yield();
    }
}

static void a_handler_gets_valid_events_and_the_final_state(void **state)
{
    (void)state;
    static stage s;
    ki_thread dispatch;
    ki_thread reader;
    ki_handler handler = {
        .on_add = on_add, .on_update = on_update, .user = &s, .backlog_items_max = ITEMS_MAX};
    s = (stage){.adds = 0};
    assert_int_equal(ki_listener_init(&s.listener, &handler, ki_clock_real(), 1), 0);
    start(&dispatch, "dispatch", push_updates, &s);
    start(&reader, "reader", read_stats, &s);
    deliver_until_the_end(&s);
    atomic_store(&s.is_over, 1);
    ki_thread_join(&dispatch);
    ki_thread_join(&reader);
    assert_false(s.is_wrong);
    assert_int_equal(s.adds, KEYS);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(s.heard[i], object_version(s.objects[i]));
        (void)ki_object_unref(s.objects[i]);
    }
    assert_int_equal(ki_listener_read_stats(&s.listener).bytes, 0);
    ki_listener_fini(&s.listener);
}

static void a_handler_is_removed_while_events_arrive(void **state)
{
    (void)state;
    static stage s;
    ki_thread dispatch;
    ki_handler handler = {.on_add = on_add, .user = &s, .backlog_items_max = ITEMS_MAX};
    s = (stage){.adds = 0};
    assert_int_equal(ki_listener_init(&s.listener, &handler, ki_clock_real(), 1), 0);
    start(&dispatch, "dispatch", push_updates, &s);
    while (s.adds < KEYS / 2)
        (void)deliver_some(&s.listener, 3);
    ki_listener_close(&s.listener);
    ki_listener_drop_rest(&s.listener);
    assert_int_equal(deliver_some(&s.listener, 3), 0);
    ki_thread_join(&dispatch);
    assert_int_equal(ki_listener_read_stats(&s.listener).items, 0);
    for (size_t i = 0; i < KEYS; i++)
        (void)ki_object_unref(s.objects[i]);
    ki_listener_fini(&s.listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_handler_gets_valid_events_and_the_final_state),
        WITH_MEMORY_CHECK(a_handler_is_removed_while_events_arrive),
    };
    return RUN_TESTS(tests);
}
