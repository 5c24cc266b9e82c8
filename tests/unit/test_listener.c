/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/listener.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/objects.h"
#include "support/unit.h"
#include "util/random.h"

/* "default/<name>" at that version, with that UID. */
static ki_object *object_with(const char *name, uint64_t version, uint64_t uid)
{
    char json[256];
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%" PRIu64
                     "\",\"resourceVersion\":\"%" PRIu64 "\"}}",
                     name, uid, version);
    ki_object *object = ki_object_new(NULL, (ki_str){json, (size_t)n}, NULL, NULL);
    assert_non_null(object);
    return object;
}

/* ---- a listener whose callbacks write down what they hear ------------------------------------------------- */

typedef struct heard {
    char text[8192];
    size_t len;
    int released;
} heard;

static void say(heard *h, const char *format, uint64_t a, uint64_t b)
{
    h->len += (size_t)snprintf(h->text + h->len, sizeof(h->text) - h->len, format, a, b);
    assert_true(h->len < sizeof(h->text));
}

static void say_flags(heard *h, uint32_t flags)
{
    static const char letters[] = "isruc"; /* in the order of the flags */
    for (unsigned i = 0; i < 5; i++)
        if ((flags >> i & 1) != 0)
            h->text[h->len++] = letters[i];
    h->text[h->len++] = ' ';
    h->text[h->len] = 0;
}

/* "a+1", "a~1>2", "a-3" and the flags; the object is named by its version alone when it is "a". */
static void on_add(const ki_event *event, void *user)
{
    say(user, "+%" PRIu64, object_version(event->object), 0);
    say_flags(user, event->flags);
}

static void on_update(const ki_event *event, void *user)
{
    say(user, "~%" PRIu64 ">%" PRIu64, event->old == NULL ? 0 : object_version(event->old),
        object_version(event->object));
    say_flags(user, event->flags);
}

static void on_delete(const ki_event *event, void *user)
{
    say(user, "-%" PRIu64, object_version(event->object), 0);
    say_flags(user, event->flags);
}

static void on_synced(void *user)
{
    say(user, "synced ", 0, 0);
}

static void on_batch_end(void *user)
{
    say(user, "; ", 0, 0);
}

static ki_handler handler_of(heard *h)
{
    return (ki_handler){.on_add = on_add,
                        .on_update = on_update,
                        .on_delete = on_delete,
                        .on_synced = on_synced,
                        .on_batch_end = on_batch_end,
                        .user = h};
}

static void listener_init(ki_listener *listener, const ki_handler *handler)
{
    assert_int_equal(ki_listener_init(listener, handler, ki_clock_real(), 1), 0);
}

static void push(ki_listener *listener, ki_notification what)
{
    ki_backlog_entry *entry = ki_backlog_entry_new();
    assert_non_null(entry);
    entry->what = what;
    ki_listener_push(listener, entry);
}

static void push_add(ki_listener *listener, const char *name, uint64_t version, uint64_t uid, uint32_t flags)
{
    push(listener, (ki_notification){KI_EVENT_ADD, flags, object_with(name, version, uid), NULL});
}

static void push_update(ki_listener *listener, const char *name, uint64_t old, uint64_t version, uint64_t uid)
{
    push(listener,
         (ki_notification){KI_EVENT_UPDATE, 0, object_with(name, version, uid), object_with(name, old, 1)});
}

static void push_delete(ki_listener *listener, const char *name, uint64_t version, uint32_t flags)
{
    push(listener, (ki_notification){KI_EVENT_DELETE, flags, object_with(name, version, 1), NULL});
}

static void deliver_all(ki_listener *listener)
{
    while (ki_listener_deliver(listener, 3) == 3)
        ;
}

/* A limit of one: from the second entry on there is one per key. */
static ki_handler tight_handler_of(heard *h)
{
    ki_handler handler = handler_of(h);
    handler.backlog_items_max = 1;
    return handler;
}

/* ---- in order --------------------------------------------------------------------------------------------- */

static void listener_delivers_in_order_and_ends_the_batch(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    listener_init(&listener, &handler);
    push_add(&listener, "a", 1, 1, KI_EVENT_INITIAL);
    push(&listener, (ki_notification){0});
    push_update(&listener, "a", 1, 2, 1);
    push_delete(&listener, "a", 3, KI_EVENT_FINAL_STATE_UNKNOWN);
    assert_false(ki_listener_has_synced(&listener));
    deliver_all(&listener);
    assert_string_equal(h.text, "+1i synced ~1>2 -3u ; ");
    assert_true(ki_listener_has_synced(&listener));
    ki_listener_stats stats = ki_listener_read_stats(&listener);
    assert_int_equal(stats.delivered, 3);
    assert_int_equal(stats.items, 0);
    assert_int_equal(stats.bytes, 0);
    assert_int_equal(stats.items_high_water, 4);
    ki_listener_fini(&listener);
}

static void listener_without_callbacks_takes_everything(void **state)
{
    (void)state;
    ki_listener listener;
    listener_init(&listener, &(ki_handler){0});
    push_add(&listener, "a", 1, 1, 0);
    push_update(&listener, "a", 1, 2, 1);
    push_delete(&listener, "a", 2, 0);
    push(&listener, (ki_notification){0});
    assert_int_equal(ki_listener_deliver(&listener, 10), 4);
    assert_true(ki_listener_has_synced(&listener));
    ki_listener_fini(&listener);
}

static void listener_that_is_closed_delivers_nothing(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    listener_init(&listener, &handler);
    push_add(&listener, "a", 1, 1, 0);
    ki_listener_close(&listener);
    push_add(&listener, "b", 1, 2, 0);
    assert_int_equal(ki_listener_deliver(&listener, 10), 0);
    assert_false(ki_listener_is_waiting(&listener));
    assert_string_equal(h.text, "");
    ki_listener_fini(&listener);
}

static void listener_waits_until_there_is_something(void **state)
{
    (void)state;
    ki_listener listener;
    listener_init(&listener, &(ki_handler){0});
    assert_false(ki_listener_is_waiting(&listener));
    push_add(&listener, "a", 1, 1, 0);
    assert_true(ki_listener_is_waiting(&listener));
    ki_listener_fini(&listener);
}

static void begin_with(ki_list *entries, ki_notification what)
{
    ki_backlog_entry *entry = ki_backlog_entry_new();
    assert_non_null(entry);
    entry->what = what;
    ki_list_push_back(entries, &entry->node);
}

static void what_a_handler_begins_with_is_merged_with_what_comes_after_it(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = tight_handler_of(&h);
    listener_init(&listener, &handler);
    ki_list first;
    ki_list_init(&first);
    begin_with(&first, (ki_notification){KI_EVENT_ADD, KI_EVENT_INITIAL, object_with("a", 1, 1), NULL});
    begin_with(&first, (ki_notification){KI_EVENT_ADD, KI_EVENT_INITIAL, object_with("b", 2, 2), NULL});
    begin_with(&first, (ki_notification){KI_EVENT_ADD, KI_EVENT_INITIAL, object_with("c", 3, 3), NULL});
    begin_with(&first, (ki_notification){0});
    ki_listener_begin(&listener, &first);
    assert_false(listener.is_coalescing);
    push_update(&listener, "b", 2, 4, 2);
    assert_true(listener.is_coalescing);
    assert_int_equal(ki_listener_read_stats(&listener).items, 4);
    deliver_all(&listener);
    assert_string_equal(h.text, "+1i +4ic +3i synced ; ");
    ki_listener_fini(&listener);
}

/* ---- past the limit: every row of the table ---------------------------------------------------------------- */

/* An entry of another key stands first, so that the backlog is past its limit with the second push. */
static void begin_tight(ki_listener *listener, heard *h)
{
    ki_handler handler = tight_handler_of(h);
    listener_init(listener, &handler);
    push_add(listener, "z", 9, 9, 0);
}

static void expect_after_z(ki_listener *listener, heard *h, const char *expected)
{
    deliver_all(listener);
    assert_memory_equal(h->text, "+9 ", 3);
    assert_string_equal(h->text + 3, expected);
    ki_listener_fini(listener);
}

static void coalescing_tells_a_new_object_in_its_last_state(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_add(&listener, "a", 1, 1, KI_EVENT_INITIAL);
    push_update(&listener, "a", 1, 2, 1);
    push_update(&listener, "a", 2, 3, 1);
    expect_after_z(&listener, &h, "+3ic ; ");
}

static void coalescing_says_nothing_of_what_came_and_went(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_add(&listener, "a", 1, 1, 0);
    push_delete(&listener, "a", 2, 0);
    assert_int_equal(ki_listener_read_stats(&listener).items, 1);
    expect_after_z(&listener, &h, "; ");
}

static void coalescing_updates_from_the_first_old_to_the_last_new(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_update(&listener, "a", 1, 2, 1);
    push_update(&listener, "a", 2, 3, 1);
    push_update(&listener, "a", 3, 4, 1);
    assert_int_equal(ki_listener_read_stats(&listener).coalesced, 2);
    expect_after_z(&listener, &h, "~1>4c ; ");
}

static void coalescing_marks_another_object_of_the_same_name(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_update(&listener, "a", 1, 2, 1);
    push_delete(&listener, "a", 3, 0);
    push_add(&listener, "a", 4, 77, 0);
    expect_after_z(&listener, &h, "~1>4rc ; ");
}

static void coalescing_deletes_what_the_handler_knows(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_update(&listener, "a", 1, 2, 1);
    push_delete(&listener, "a", 3, KI_EVENT_FINAL_STATE_UNKNOWN);
    expect_after_z(&listener, &h, "-3uc ; ");
}

static void coalescing_keeps_the_first_place_and_the_marker(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_add(&listener, "a", 1, 1, KI_EVENT_INITIAL);
    push(&listener, (ki_notification){0});
    push_add(&listener, "b", 5, 2, 0);
    push_update(&listener, "a", 1, 2, 1);
    expect_after_z(&listener, &h, "+2ic synced +5 ; ");
}

static void coalescing_joins_what_was_queued_before_the_limit(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    handler.backlog_items_max = 3;
    listener_init(&listener, &handler);
    push_update(&listener, "a", 1, 2, 1);
    push_update(&listener, "a", 2, 3, 1);
    push_update(&listener, "b", 1, 2, 1);
    assert_int_equal(ki_listener_read_stats(&listener).coalesced, 0);
    push_update(&listener, "a", 3, 4, 1);
    assert_int_equal(ki_listener_read_stats(&listener).coalesced, 2);
    deliver_all(&listener);
    assert_string_equal(h.text, "~1>4c ~1>2 ; ");
    ki_listener_fini(&listener);
}

static void coalescing_ends_when_the_handler_has_caught_up(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    begin_tight(&listener, &h);
    push_update(&listener, "a", 1, 2, 1);
    deliver_all(&listener);
    push_update(&listener, "a", 2, 3, 1);
    assert_int_equal(ki_listener_read_stats(&listener).coalesced, 0);
    deliver_all(&listener);
    assert_string_equal(h.text, "+9 ~1>2 ; ~2>3 ; ");
    ki_listener_fini(&listener);
}

static void byte_limit_lets_old_objects_go(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    handler.backlog_bytes_max = 1;
    listener_init(&listener, &handler);
    push_update(&listener, "a", 1, 2, 1);
    push_update(&listener, "a", 2, 3, 1);
    deliver_all(&listener);
    assert_string_equal(h.text, "~0>3c ; ");
    ki_listener_fini(&listener);
}

static void unbounded_backlog_keeps_every_event(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = tight_handler_of(&h);
    handler.overflow = KI_OVERFLOW_UNBOUNDED;
    listener_init(&listener, &handler);
    for (uint64_t version = 1; version < 6; version++)
        push_update(&listener, "a", version, version + 1, 1);
    assert_false(ki_listener_blocks(&listener));
    deliver_all(&listener);
    assert_string_equal(h.text, "~1>2 ~2>3 ~3>4 ~4>5 ~5>6 ; ");
    ki_listener_fini(&listener);
}

static void blocking_backlog_says_so_and_keeps_every_event(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = tight_handler_of(&h);
    handler.overflow = KI_OVERFLOW_BLOCK;
    listener_init(&listener, &handler);
    push_update(&listener, "a", 1, 2, 1);
    assert_false(ki_listener_blocks(&listener));
    push_update(&listener, "a", 2, 3, 1);
    assert_true(ki_listener_blocks(&listener));
    deliver_all(&listener);
    assert_false(ki_listener_blocks(&listener));
    assert_string_equal(h.text, "~1>2 ~2>3 ; ");
    ki_listener_fini(&listener);
}

/* ---- options ---------------------------------------------------------------------------------------------- */

static void split_replaced_is_a_delete_and_an_add(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    handler.split_replaced = 1;
    listener_init(&listener, &handler);
    push(&listener, (ki_notification){KI_EVENT_UPDATE, KI_EVENT_REPLACED, object_with("a", 2, 2),
                                      object_with("a", 1, 1)});
    push_update(&listener, "a", 2, 3, 1);
    deliver_all(&listener);
    assert_string_equal(h.text, "-1u +2 ~2>3 ; ");
    ki_listener_fini(&listener);
}

/* Wants odd versions only. */
static int is_odd(const ki_object *object, void *user)
{
    (void)user;
    return object_version(object) % 2 == 1;
}

static void filter_turns_updates_into_adds_and_deletes(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    handler.filter = is_odd;
    listener_init(&listener, &handler);
    push_add(&listener, "a", 1, 1, 0);
    push_add(&listener, "b", 2, 1, 0);
    push_update(&listener, "a", 1, 3, 1);
    push_update(&listener, "a", 3, 4, 1);
    push_update(&listener, "a", 4, 6, 1);
    push_update(&listener, "a", 6, 7, 1);
    push_delete(&listener, "b", 2, 0);
    push_delete(&listener, "a", 9, 0);
    deliver_all(&listener);
    assert_string_equal(h.text, "+1 ~1>3 -3 +7 -9 ; ");
    ki_listener_fini(&listener);
}

static void filter_judges_a_delete_by_what_the_handler_knows(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    handler.filter = is_odd;
    listener_init(&listener, &handler);
    push_add(&listener, "a", 1, 1, 0);
    push(&listener, (ki_notification){KI_EVENT_DELETE, 0, object_with("a", 4, 1), object_with("a", 1, 1)});
    push(&listener, (ki_notification){KI_EVENT_DELETE, 0, object_with("b", 5, 1), object_with("b", 2, 1)});
    deliver_all(&listener);
    assert_string_equal(h.text, "+1 -4 ; ");
    ki_listener_fini(&listener);
}

static void batch_without_an_event_has_no_end(void **state)
{
    (void)state;
    heard h = {0};
    ki_listener listener;
    ki_handler handler = handler_of(&h);
    handler.filter = is_odd;
    listener_init(&listener, &handler);
    push_add(&listener, "a", 2, 1, 0);
    push(&listener, (ki_notification){0});
    deliver_all(&listener);
    assert_string_equal(h.text, "synced ");
    ki_listener_fini(&listener);
}

typedef struct leaver {
    heard heard;
    ki_listener *listener;
} leaver;

static void leave_on_delete(const ki_event *event, void *user)
{
    leaver *l = user;
    on_delete(event, &l->heard);
    ki_listener_close(l->listener);
}

static void handler_that_leaves_in_half_of_a_split_update_hears_no_more(void **state)
{
    (void)state;
    ki_listener listener;
    leaver l = {.listener = &listener};
    ki_handler handler = {.on_add = on_add, .on_delete = leave_on_delete, .user = &l, .split_replaced = 1};
    listener_init(&listener, &handler);
    push(&listener, (ki_notification){KI_EVENT_UPDATE, KI_EVENT_REPLACED, object_with("a", 2, 2),
                                      object_with("a", 1, 1)});
    deliver_all(&listener);
    assert_string_equal(l.heard.text, "-1u ");
    ki_listener_fini(&listener);
}

/* ---- against a model -------------------------------------------------------------------------------------- */

enum { NAMES = 5 };

/* What a handler believes: the version of each object, 0 for none. */
typedef struct belief {
    uint64_t version[NAMES];
    uint64_t uid[NAMES];
} belief;

static size_t number_of(const ki_object *object)
{
    return (size_t)(ki_object_name(object).ptr[0] - 'a');
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

typedef struct truth {
    ki_random random;
    uint64_t next;
    ki_object *objects[NAMES];
    uint64_t uid[NAMES];
} truth;

/* Changes one object at random and pushes the event of it. */
static void change(truth *t, ki_listener *listener)
{
    size_t i = ki_random_below(&t->random, NAMES);
    char name[2] = {(char)('a' + i), 0};
    ki_object *old = t->objects[i];
    uint64_t version = ++t->next;
    if (old != NULL && ki_random_below(&t->random, 3) == 0) {
        push(listener, (ki_notification){KI_EVENT_DELETE, 0, object_with(name, version, t->uid[i]), old});
        t->objects[i] = NULL;
        return;
    }
    int is_other = old == NULL || ki_random_below(&t->random, 4) == 0;
    t->uid[i] = is_other ? version : t->uid[i];
    t->objects[i] = object_with(name, version, t->uid[i]);
    push(listener, (ki_notification){old == NULL ? KI_EVENT_ADD : KI_EVENT_UPDATE,
                                     old != NULL && is_other ? KI_EVENT_REPLACED : 0,
                                     ki_object_ref(t->objects[i]), old});
}

static void run_model(uint64_t seed)
{
    belief b = {0};
    truth t = {0};
    ki_listener listener;
    ki_random_init(&t.random, seed);
    ki_handler handler = {
        .on_add = believe_add, .on_update = believe_update, .on_delete = believe_delete, .user = &b};
    handler.backlog_items_max = 1 + ki_random_below(&t.random, 8);
    handler.backlog_bytes_max = ki_random_below(&t.random, 4) == 0 ? 2000 : 0;
    listener_init(&listener, &handler);
    for (int step = 0; step < 60; step++) {
        for (uint64_t n = ki_random_below(&t.random, 12); n > 0; n--)
            change(&t, &listener);
        assert_true(ki_listener_read_stats(&listener).items <= handler.backlog_items_max + NAMES);
        ki_listener_deliver(&listener, ki_random_below(&t.random, 6));
    }
    deliver_all(&listener);
    for (size_t i = 0; i < NAMES; i++) {
        assert_int_equal(b.version[i], t.objects[i] == NULL ? 0 : object_version(t.objects[i]));
        ki_object_unref(t.objects[i]);
    }
    assert_int_equal(ki_listener_read_stats(&listener).bytes, 0);
    ki_listener_fini(&listener);
}

static void any_history_ends_in_the_truth_and_is_legal_on_the_way(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        run_model(seed);
}

static void backlog_survives_without_memory_for_its_table(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40; n++) {
        heard h = {0};
        ki_listener listener;
        ki_handler handler = tight_handler_of(&h);
        listener_init(&listener, &handler);
        push_update(&listener, "a", 1, 2, 1);
        ki_backlog_entry *entry = ki_backlog_entry_new();
        entry->what = (ki_notification){KI_EVENT_UPDATE, 0, object_with("a", 3, 1), object_with("a", 2, 1)};
        failing_allocator_fail_at(n);
        ki_listener_push(&listener, entry);
        failing_allocator_fail_at(0);
        deliver_all(&listener);
        assert_true(strcmp(h.text, "~1>3c ; ") == 0 || strcmp(h.text, "~1>2 ~2>3 ; ") == 0);
        ki_listener_fini(&listener);
    }
}

#define MEMORY_TEST(name)                                                                                    \
    cmocka_unit_test_setup_teardown(name, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(listener_delivers_in_order_and_ends_the_batch),
        MEMORY_TEST(listener_without_callbacks_takes_everything),
        MEMORY_TEST(listener_that_is_closed_delivers_nothing),
        MEMORY_TEST(listener_waits_until_there_is_something),
        MEMORY_TEST(what_a_handler_begins_with_is_merged_with_what_comes_after_it),
        MEMORY_TEST(coalescing_tells_a_new_object_in_its_last_state),
        MEMORY_TEST(coalescing_says_nothing_of_what_came_and_went),
        MEMORY_TEST(coalescing_updates_from_the_first_old_to_the_last_new),
        MEMORY_TEST(coalescing_marks_another_object_of_the_same_name),
        MEMORY_TEST(coalescing_deletes_what_the_handler_knows),
        MEMORY_TEST(coalescing_keeps_the_first_place_and_the_marker),
        MEMORY_TEST(coalescing_joins_what_was_queued_before_the_limit),
        MEMORY_TEST(coalescing_ends_when_the_handler_has_caught_up),
        MEMORY_TEST(byte_limit_lets_old_objects_go),
        MEMORY_TEST(unbounded_backlog_keeps_every_event),
        MEMORY_TEST(blocking_backlog_says_so_and_keeps_every_event),
        MEMORY_TEST(split_replaced_is_a_delete_and_an_add),
        MEMORY_TEST(filter_turns_updates_into_adds_and_deletes),
        MEMORY_TEST(filter_judges_a_delete_by_what_the_handler_knows),
        MEMORY_TEST(batch_without_an_event_has_no_end),
        MEMORY_TEST(handler_that_leaves_in_half_of_a_split_update_hears_no_more),
        MEMORY_TEST(any_history_ends_in_the_truth_and_is_legal_on_the_way),
        MEMORY_TEST(backlog_survives_without_memory_for_its_table),
    };
    return RUN_TESTS(tests);
}
