/* SPDX-License-Identifier: Apache-2.0 */
/* A backlog past its limit: every row of the table in docs/consistency.md, and merging step by step. */
#include "handler/backlog.h"

#include <stdio.h>
#include <string.h>

#include "api/object/object_layout.h"
#include "support/failing_allocator.h"
#include "support/queue/deliver.h"
#include "support/queue/listened.h"
#include "support/unit.h"

/* ---- rows of the table ------------------------------------------------------------------------------- */

/* An entry for another key comes first, so the second push exceeds the limit. */
static void begin_tight(listened *l)
{
    listened_init_tight(l);
    listened_push_add(l, "z", 9, 0);
}

static void coalescing_delivers_a_new_object_in_its_last_state(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_add(&l, "a", 1, KI_EVENT_INITIAL);
    listened_push_update(&l, "a", 1, 2);
    listened_push_update(&l, "a", 2, 3);
    listened_expect(&l, "+9 +3ic ; ");
}

static void coalescing_drops_objects_that_were_added_and_deleted(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_add(&l, "a", 1, 0);
    listened_push_delete(&l, "a", 2, 0);
    assert_int_equal(ki_listener_read_stats(&l.listener).items, 1);
    listened_expect(&l, "+9 ; ");
}

static void coalescing_updates_from_the_first_old_to_the_last_new_object(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_update(&l, "a", 1, 2);
    listened_push_update(&l, "a", 2, 3);
    listened_push_update(&l, "a", 3, 4);
    assert_int_equal(ki_listener_read_stats(&l.listener).coalesced, 2);
    listened_expect(&l, "+9 ~1>4c ; ");
}

static void coalescing_marks_another_object_with_the_same_name(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_update(&l, "a", 1, 2);
    listened_push_delete(&l, "a", 3, 0);
    listened_push(&l.listener, (ki_notification){KI_CHANGE_ADDED, 0, listened_object("a", 4, 77), NULL});
    listened_expect(&l, "+9 ~1>4rc ; ");
}

static void coalescing_deletes_what_the_handler_knows(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_update(&l, "a", 1, 2);
    listened_push_delete(&l, "a", 3, KI_EVENT_FINAL_STATE_UNKNOWN);
    listened_expect(&l, "+9 -3uc ; ");
}

static void coalescing_keeps_the_first_place_and_the_marker(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_add(&l, "a", 1, KI_EVENT_INITIAL);
    listened_push(&l.listener, (ki_notification){0});
    listened_push_add(&l, "b", 5, 0);
    listened_push_update(&l, "a", 1, 2);
    listened_expect(&l, "+9 +2ic synced +5 ; ");
}

static void coalescing_merges_events_queued_before_the_limit(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.backlog_items_max = 3;
    listened_init(&l, &handler);
    listened_push_update(&l, "a", 1, 2);
    listened_push_update(&l, "a", 2, 3);
    listened_push_update(&l, "b", 1, 2);
    assert_int_equal(ki_listener_read_stats(&l.listener).coalesced, 0);
    listened_push_update(&l, "a", 3, 4);
    assert_int_equal(ki_listener_read_stats(&l.listener).coalesced, 2);
    listened_expect(&l, "~1>4c ~1>2 ; ");
}

static void coalescing_ends_when_the_handler_has_caught_up(void **state)
{
    (void)state;
    listened l;
    begin_tight(&l);
    listened_push_update(&l, "a", 1, 2);
    listened_deliver_all(&l.listener);
    listened_push_update(&l, "a", 2, 3);
    assert_int_equal(ki_listener_read_stats(&l.listener).coalesced, 0);
    listened_expect(&l, "+9 ~1>2 ; ~2>3 ; ");
}

/* Every event exceeds the limit. */
static void begin_without_bytes(listened *l)
{
    ki_handler handler = listened_handler(l);
    handler.backlog_bytes_max = 1;
    listened_init(l, &handler);
}

static void byte_limit_drops_old_objects(void **state)
{
    (void)state;
    listened l;
    begin_without_bytes(&l);
    listened_push_update(&l, "a", 1, 2);
    listened_push_update(&l, "a", 2, 3);
    listened_expect(&l, "~0>3c ; ");
}

static void byte_limit_drops_the_old_object_of_a_single_event(void **state)
{
    (void)state;
    listened l;
    begin_without_bytes(&l);
    listened_push_update(&l, "a", 1, 2);
    listened_expect(&l, "~0>2c ; ");
}

static void byte_limit_keeps_an_old_object_that_is_the_new_one(void **state)
{
    (void)state;
    listened l;
    begin_without_bytes(&l);
    ki_object *object = listened_object("a", 2, 1);
    listened_push(&l.listener,
                  (ki_notification){KI_CHANGE_UPDATED, KI_EVENT_RESYNC, object, ki_object_ref(object)});
    listened_expect(&l, "~2>2s ; ");
}

static void coalescing_ends_only_at_half_the_byte_limit(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    ki_object *object = listened_object("a", 1, 1);
    size_t each = ki_object_own_bytes(object);
    handler.backlog_bytes_max = 4 * each;
    listened_init(&l, &handler);
    listened_push(&l.listener, (ki_notification){KI_CHANGE_ADDED, 0, object, NULL});
    listened_push_add(&l, "b", 2, 0);
    listened_push_add(&l, "c", 3, 0);
    listened_push_add(&l, "d", 4, 0);
    assert_false(l.listener.backlog.is_coalescing);
    listened_push_add(&l, "e", 5, 0);
    for (size_t left = 4; left > 2; left--) {
        assert_int_equal(deliver_some(&l.listener, 1), 1);
        assert_true(l.listener.backlog.is_coalescing);
    }
    assert_int_equal(deliver_some(&l.listener, 1), 1);
    assert_false(l.listener.backlog.is_coalescing);
    listened_expect(&l, "+1 +2 +3 +4 +5 ; ");
}

/* ---- initial objects ------------------------------------------------------------------------------- */

static void initial_objects_are_merged_with_later_events(void **state)
{
    (void)state;
    listened l;
    listened_init_tight(&l);
    listened_begin(
        &l.listener,
        (ki_object *[]){listened_object("a", 1, 1), listened_object("b", 2, 1), listened_object("c", 3, 1)},
        3);
    listened_push_update(&l, "b", 2, 4);
    listened_push_delete(&l, "c", 5, 0);
    assert_int_equal(ki_listener_read_stats(&l.listener).items, 3);
    listened_expect(&l, "+1i +4ic synced ; ");
}

/* ---- step by step ------------------------------------------------------------------------------------ */

/* Too many to be merged by a single push. */
enum { LATE = 3 * KI_BACKLOG_STEP };

static const char *name_of(size_t number)
{
    static char name[16];
    (void)snprintf(name, sizeof(name), "n%03zu", number);
    return name;
}

/* The objects have versions 1, 2, ... */
static void begin_late(listened *l, size_t items_max)
{
    ki_object *objects[LATE];
    ki_handler handler = listened_handler(l);
    handler.backlog_items_max = items_max;
    listened_init(l, &handler);
    for (size_t i = 0; i < LATE; i++)
        objects[i] = listened_object(name_of(i), i + 1, 1);
    listened_begin(&l->listener, objects, LATE);
}

/* "+1i +2i ... +LATEi ", with `as` in place of object number `changed`. */
static size_t expect_initial(char *text, size_t size, size_t changed, const char *as)
{
    size_t len = 0;
    for (size_t i = 0; i < LATE; i++)
        len += (size_t)(i == changed ? snprintf(text + len, size - len, "%s", as)
                                     : snprintf(text + len, size - len, "+%zui ", i + 1));
    return len;
}

static size_t merged_count(const listened *l)
{
    return l->listener.backlog.by_key.count;
}

static void a_push_merges_at_most_one_step(void **state)
{
    (void)state;
    listened l;
    begin_late(&l, 10);
    assert_int_equal(merged_count(&l), KI_BACKLOG_STEP); /* pushing the marker merged the first step */
    listened_push_update(&l, name_of(LATE - 1), LATE, 500);
    assert_int_equal(merged_count(&l), 2 * KI_BACKLOG_STEP);
    assert_int_equal(ki_listener_read_stats(&l.listener).items, LATE + 2);
    listened_fini(&l);
}

static void an_event_is_merged_when_merging_reaches_it(void **state)
{
    (void)state;
    listened l;
    char expected[1024];
    begin_late(&l, 10);
    listened_push_update(&l, name_of(LATE - 1), LATE, 500);
    for (uint64_t i = 0; i < 4; i++)
        listened_push_update(&l, name_of(0), i == 0 ? 1 : 600 + i - 1, 600 + i);
    assert_int_equal(ki_listener_read_stats(&l.listener).items, LATE + 1);
    assert_int_equal(ki_listener_read_stats(&l.listener).coalesced, 5);
    (void)expect_initial(expected, sizeof(expected), 0, "+603ic ");
    char *last = strrchr(expected, '+');
    (void)snprintf(last, sizeof(expected) - (size_t)(last - expected), "+500ic synced ; ");
    listened_expect(&l, expected);
}

static void an_event_that_is_not_yet_merged_follows_its_object(void **state)
{
    (void)state;
    listened l;
    char expected[1024];
    begin_late(&l, 10);
    listened_push_update(&l, name_of(LATE - 1), LATE, 500);
    size_t len = expect_initial(expected, sizeof(expected), LATE, "");
    (void)snprintf(expected + len, sizeof(expected) - len, "synced ~%d>500 ; ", LATE);
    listened_expect(&l, expected);
}

static void an_event_of_a_delivered_object_is_delivered_by_itself(void **state)
{
    (void)state;
    listened l;
    begin_late(&l, 10);
    assert_int_equal(deliver_some(&l.listener, 2), 2);
    for (uint64_t version = 500; version < 504; version++)
        listened_push_update(&l, name_of(0), version == 500 ? 1 : version - 1, version);
    listened_deliver_all(&l.listener);
    assert_non_null(strstr(l.text, "synced ~1>503c ; "));
    listened_fini(&l);
}

static void a_handler_faster_than_the_merging_gets_all_events_in_order(void **state)
{
    (void)state;
    listened l;
    char expected[1024];
    begin_late(&l, 10);
    assert_int_equal(deliver_some(&l.listener, KI_BACKLOG_STEP + 3), KI_BACKLOG_STEP + 3);
    listened_push_update(&l, name_of(0), 1, 500);
    size_t len = expect_initial(expected, sizeof(expected), LATE, "");
    (void)snprintf(expected + len, sizeof(expected) - len, "synced ~1>500 ; ");
    listened_expect(&l, expected);
}

/* The limit is so high that half of it is reached while initial adds still follow merged entries. */
static void the_end_of_coalescing_keeps_the_order(void **state)
{
    (void)state;
    listened l;
    char expected[1024];
    begin_late(&l, LATE); /* the marker exceeds the limit */
    assert_int_equal(merged_count(&l), KI_BACKLOG_STEP);
    for (size_t i = 0; i < LATE; i++)
        assert_int_equal(deliver_some(&l.listener, 1), 1);
    assert_false(l.listener.backlog.is_coalescing);
    assert_int_equal(l.listener.backlog.by_key.bucket_count, 0);
    size_t len = expect_initial(expected, sizeof(expected), LATE, "");
    (void)snprintf(expected + len, sizeof(expected) - len, "synced ; ");
    listened_expect(&l, expected);
}

static void events_queued_before_the_limit_are_merged_step_by_step(void **state)
{
    (void)state;
    listened l;
    ki_handler handler = listened_handler(&l);
    handler.backlog_items_max = LATE;
    listened_init(&l, &handler);
    for (uint64_t version = 1; version <= LATE; version++)
        listened_push_update(&l, "a", version, version + 1);
    listened_push_update(&l, "a", LATE + 1, LATE + 2);
    assert_int_equal(ki_listener_read_stats(&l.listener).items, LATE + 1 - (KI_BACKLOG_STEP - 1));
    for (uint64_t version = LATE + 2; version <= LATE + 4; version++)
        listened_push_update(&l, "a", version, version + 1);
    char expected[32];
    (void)snprintf(expected, sizeof(expected), "~1>%dc ; ", LATE + 5);
    listened_expect(&l, expected);
}

/* Many small events wait, and merging is far from the large ones.
 * Each large object is a tenth of the limit. */
static void large_events_do_not_accumulate_behind_small_ones(void **state)
{
    (void)state;
    enum { SMALL = 2000, LARGE_BYTES = 100000, BYTES_MAX = 10 * LARGE_BYTES };
    listened l;
    ki_handler handler = {.backlog_bytes_max = BYTES_MAX};
    listened_init(&l, &handler);
    for (size_t i = 0; i < SMALL; i++)
        listened_push_add(&l, name_of(i), i + 1, 0);
    assert_int_equal(ki_listener_read_stats(&l.listener).coalesced, 0);
    for (uint64_t version = 2; version < 100; version++) {
        listened_push(&l.listener,
                      (ki_notification){KI_CHANGE_UPDATED, 0,
                                        listened_large_object("z", version, 1, LARGE_BYTES),
                                        listened_large_object("z", version - 1, 1, LARGE_BYTES)});
        assert_true(ki_listener_read_stats(&l.listener).bytes <
                    BYTES_MAX + BYTES_MAX / KI_BACKLOG_SHARE + 5 * LARGE_BYTES / 2);
    }
    assert_int_equal(ki_listener_read_stats(&l.listener).items, SMALL + 1);
    listened_fini(&l);
}

/* ---- out of memory ----------------------------------------------------------------------------------- */

static ki_notification update_of_a(uint64_t version)
{
    return (ki_notification){KI_CHANGE_UPDATED, 0, listened_object("a", version, 1),
                             listened_object("a", version - 1, 1)};
}

static void a_backlog_works_without_memory_for_its_table(void **state)
{
    (void)state;
    for (size_t n = 1; n < 4; n++) {
        listened l;
        listened_init_tight(&l);
        listened_push(&l.listener, update_of_a(2));
        listened_push_failing(&l.listener, update_of_a(3), n);
        listened_deliver_all(&l.listener);
        assert_true(strcmp(l.text, "~1>3c ; ") == 0 || strcmp(l.text, "~1>2 ~2>3 ; ") == 0);
        listened_fini(&l);
    }
}

static void merging_continues_when_memory_is_available_again(void **state)
{
    (void)state;
    for (size_t n = 1; n < KI_BACKLOG_STEP + 4; n++) {
        listened l;
        char expected[1024];
        begin_late(&l, 10);
        listened_push_failing(&l.listener, update_of_a(3), n);
        assert_int_equal(merged_count(&l),
                         KI_BACKLOG_STEP + (n <= KI_BACKLOG_STEP ? n - 1 : KI_BACKLOG_STEP));
        for (uint64_t version = 4; version < 10; version++)
            listened_push(&l.listener, update_of_a(version));
        size_t len = expect_initial(expected, sizeof(expected), LATE, "");
        (void)snprintf(expected + len, sizeof(expected) - len, "synced ~2>9c ; ");
        listened_expect(&l, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(coalescing_delivers_a_new_object_in_its_last_state),
        WITH_MEMORY_CHECK(coalescing_drops_objects_that_were_added_and_deleted),
        WITH_MEMORY_CHECK(coalescing_updates_from_the_first_old_to_the_last_new_object),
        WITH_MEMORY_CHECK(coalescing_marks_another_object_with_the_same_name),
        WITH_MEMORY_CHECK(coalescing_deletes_what_the_handler_knows),
        WITH_MEMORY_CHECK(coalescing_keeps_the_first_place_and_the_marker),
        WITH_MEMORY_CHECK(coalescing_merges_events_queued_before_the_limit),
        WITH_MEMORY_CHECK(coalescing_ends_when_the_handler_has_caught_up),
        WITH_MEMORY_CHECK(byte_limit_drops_old_objects),
        WITH_MEMORY_CHECK(byte_limit_drops_the_old_object_of_a_single_event),
        WITH_MEMORY_CHECK(byte_limit_keeps_an_old_object_that_is_the_new_one),
        WITH_MEMORY_CHECK(coalescing_ends_only_at_half_the_byte_limit),
        WITH_MEMORY_CHECK(initial_objects_are_merged_with_later_events),
        WITH_MEMORY_CHECK(a_push_merges_at_most_one_step),
        WITH_MEMORY_CHECK(an_event_is_merged_when_merging_reaches_it),
        WITH_MEMORY_CHECK(an_event_that_is_not_yet_merged_follows_its_object),
        WITH_MEMORY_CHECK(an_event_of_a_delivered_object_is_delivered_by_itself),
        WITH_MEMORY_CHECK(a_handler_faster_than_the_merging_gets_all_events_in_order),
        WITH_MEMORY_CHECK(the_end_of_coalescing_keeps_the_order),
        WITH_MEMORY_CHECK(events_queued_before_the_limit_are_merged_step_by_step),
        WITH_MEMORY_CHECK(large_events_do_not_accumulate_behind_small_ones),
        WITH_MEMORY_CHECK(a_backlog_works_without_memory_for_its_table),
        WITH_MEMORY_CHECK(merging_continues_when_memory_is_available_again),
    };
    return RUN_TESTS(tests);
}
