/* SPDX-License-Identifier: Apache-2.0 */
/* For any history and any limits, the calls of a handler are legal and end in the right state. A failing seed
 * is printed; KI_SEED=<seed> runs it alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/object/object_layout.h"
#include "support/failing_allocator.h"
#include "support/queue/deliver.h"
#include "support/queue/listened.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/random.h"

/* More objects than one push can merge. */
enum { NAMES = 3 * KI_BACKLOG_STEP, SEEDS = 300, STEPS = 60, LARGE_BYTES = 4000 };

/* ---- what the handler knows ---------------------------------------------------------------------------- */

/* The version of each object, 0 for none. */
typedef struct belief {
    uint64_t version[NAMES];
    uint64_t uid[NAMES];
    int is_synced;
} belief;

static size_t number_of(const ki_object *object)
{
    return (size_t)strtoul(ki_object_name(object).ptr + 1, NULL, 10);
}

static uint64_t uid_of(const ki_object *object)
{
    uint64_t uid = 0;
    assert_true(ki_object_uid(object).len > 0);
    for (size_t i = 0; i < ki_object_uid(object).len; i++)
        uid = uid * 31 + (unsigned char)ki_object_uid(object).ptr[i];
    return uid;
}

static void believe_add(const ki_event *event, void *user)
{
    belief *b = user;
    size_t i = number_of(event->object);
    assert_int_equal(b->version[i], 0);
    assert_false(b->is_synced && (event->flags & KI_EVENT_INITIAL) != 0);
    b->version[i] = object_version(event->object);
    b->uid[i] = uid_of(event->object);
}

static void believe_update(const ki_event *event, void *user)
{
    belief *b = user;
    size_t i = number_of(event->object);
    assert_true(b->version[i] != 0);
    assert_true(object_version(event->object) > b->version[i]);
    if (event->old != NULL)
        assert_int_equal(object_version(event->old), b->version[i]);
    else
        assert_true((event->flags & KI_EVENT_COALESCED) != 0);
    assert_int_equal((event->flags & KI_EVENT_REPLACED) != 0, uid_of(event->object) != b->uid[i]);
    b->version[i] = object_version(event->object);
    b->uid[i] = uid_of(event->object);
}

static void believe_delete(const ki_event *event, void *user)
{
    belief *b = user;
    size_t i = number_of(event->object);
    assert_true(b->version[i] != 0);
    b->version[i] = 0;
}

static void believe_synced(void *user)
{
    ((belief *)user)->is_synced = 1;
}

/* ---- the actual objects -------------------------------------------------------------------------------- */

typedef struct truth {
    ki_random random;
    uint64_t next;
    size_t names;
    int is_short_of_memory; /* some allocations fail */
    size_t initial;         /* number of objects before the handler was added */
    size_t initial_bytes;
    ki_object *objects[NAMES];
    size_t bytes[NAMES]; /* of the last event's object */
    uint64_t uid[NAMES];
} truth;

static ki_object *make(truth *t, size_t number)
{
    char name[24];
    (void)snprintf(name, sizeof(name), "n%zu", number);
    size_t more = ki_random_below(&t->random, 8) == 0 ? LARGE_BYTES : 0;
    ki_object *object = listened_large_object(name, ++t->next, t->uid[number], more);
    t->bytes[number] = ki_object_own_bytes(object);
    return object;
}

static void push(truth *t, ki_listener *listener, ki_notification what)
{
    size_t n = t->is_short_of_memory ? ki_random_below(&t->random, KI_BACKLOG_STEP) : 0;
    listened_push_failing(listener, what, n);
}

/* Changes one object at random and pushes the event. */
static void change(truth *t, ki_listener *listener)
{
    size_t i = ki_random_below(&t->random, t->names);
    ki_object *old = t->objects[i];
    if (old != NULL && ki_random_below(&t->random, 3) == 0) {
        push(t, listener, (ki_notification){KI_CHANGE_DELETED, 0, make(t, i), old});
        t->objects[i] = NULL;
        return;
    }
    int is_other = old == NULL || ki_random_below(&t->random, 4) == 0;
    t->uid[i] = is_other ? t->next + 1 : t->uid[i];
    t->objects[i] = make(t, i);
    push(t, listener,
         (ki_notification){old == NULL ? KI_CHANGE_ADDED : KI_CHANGE_UPDATED,
                           old != NULL && is_other ? KI_EVENT_REPLACED : 0, ki_object_ref(t->objects[i]),
                           old});
}

/* Some objects exist before the handler is added. */
static void begin(truth *t, ki_listener *listener)
{
    ki_object *objects[NAMES];
    for (size_t i = 0; i < t->names; i++) {
        if (ki_random_below(&t->random, 3) == 0)
            continue;
        t->uid[i] = t->next + 1;
        t->objects[i] = make(t, i);
        objects[t->initial++] = ki_object_ref(t->objects[i]);
        t->initial_bytes += t->bytes[i];
    }
    listened_begin(listener, objects, t->initial);
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Past the limit there is one entry per key, and what was pushed while the others were merged: the share
 * defined in handler/backlog.h, and the events that began and ended merging, with two objects each. */
static void check_bounds(const truth *t, ki_listener *listener)
{
    const ki_backlog_limits *limits = &listener->backlog.limits;
    ki_listener_stats stats = ki_listener_read_stats(listener);
    size_t items = most(t->initial, limits->items_max) + 1;
    size_t bytes = most(t->initial_bytes, limits->bytes_max) + 2 * (LARGE_BYTES + 500);
    size_t merged_bytes = 2 * (LARGE_BYTES + 500);
    if (t->is_short_of_memory)
        return;
    for (size_t i = 0; i < t->names; i++)
        merged_bytes += t->bytes[i];
    assert_true(stats.items <= items + items / (limits->step - 1) + t->names + 1);
    assert_true(stats.bytes <= bytes + bytes / KI_BACKLOG_SHARE + merged_bytes);
}

static void check_end(truth *t, const belief *b)
{
    assert_true(b->is_synced);
    for (size_t i = 0; i < t->names; i++) {
        assert_int_equal(b->version[i], t->objects[i] == NULL ? 0 : object_version(t->objects[i]));
        (void)ki_object_unref(t->objects[i]);
    }
}

static void run(uint64_t seed)
{
    belief b = {0};
    truth t = {0};
    ki_listener listener;
    ki_random_init(&t.random, seed);
    t.names = ki_random_below(&t.random, 2) == 0 ? 5 : NAMES;
    t.is_short_of_memory = ki_random_below(&t.random, 4) == 0;
    ki_handler handler = {.on_add = believe_add,
                          .on_update = believe_update,
                          .on_delete = believe_delete,
                          .on_synced = believe_synced,
                          .user = &b};
    handler.backlog_items_max = 1 + ki_random_below(&t.random, ki_random_below(&t.random, 2) == 0 ? 8 : 200);
    handler.backlog_bytes_max = ki_random_below(&t.random, 4) == 0 ? 2000 : 0;
    assert_int_equal(ki_listener_init(&listener, &handler, ki_clock_real(), seed), 0);
    if (ki_random_below(&t.random, 2) == 0)
        listener.backlog.limits.step = 2;
    begin(&t, &listener);
    for (int step = 0; step < STEPS; step++) {
        for (uint64_t n = ki_random_below(&t.random, t.names == NAMES ? 60 : 12); n > 0; n--)
            change(&t, &listener);
        check_bounds(&t, &listener);
        deliver_some(&listener, ki_random_below(&t.random, t.names == NAMES ? 80 : 6));
    }
    listened_deliver_all(&listener);
    check_end(&t, &b);
    ki_listener_stats stats = ki_listener_read_stats(&listener);
    assert_int_equal(stats.items, 0);
    assert_int_equal(stats.bytes, 0);
    ki_listener_fini(&listener);
}

/* The seed that is running; 0: all runs have ended. */
static uint64_t running_seed;

static void run_seed(uint64_t seed)
{
    running_seed = seed;
    run(seed);
    running_seed = 0;
}

static void any_history_is_delivered_legally_and_ends_in_the_right_state(void **state)
{
    (void)state;
    const char *only = getenv("KI_SEED");
    if (only != NULL)
        run_seed(strtoull(only, NULL, 10));
    for (uint64_t seed = 1; seed <= SEEDS && only == NULL; seed++)
        run_seed(seed);
}

static int tell_seed(void **state)
{
    if (running_seed != 0)
        fprintf(stderr, "KI_SEED=%" PRIu64 "\n", running_seed);
    return failing_allocator_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_history_is_delivered_legally_and_ends_in_the_right_state,
                                        failing_allocator_setup, tell_seed),
    };
    return RUN_TESTS(tests);
}
