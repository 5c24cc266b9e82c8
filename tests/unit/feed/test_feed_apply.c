/* SPDX-License-Identifier: Apache-2.0 */
/* How a single change affects the destination of a feed, without a server. */
#include <kinformer.h>
#include <string.h>

#include "feed/feed.h"
#include "support/reflector/silent_source.h"
#include "support/store/objects.h"
#include "support/unit.h"

typedef struct rig {
    ki_client *client;
    ki_store *store;
    ki_feed *feed;
    int changes;
    int answer; /* the result of on_change */
    int stops;  /* on_change stops the feed */
} rig;

static int on_change(const ki_change *change, void *user)
{
    rig *r = user;
    assert_non_null(change);
    r->changes++;
    if (r->stops)
        ki_feed_stop(r->feed);
    return r->answer;
}

static void setup(rig *r, ki_change_cb callback)
{
    *r = (rig){0};
    r->client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, NULL);
    r->store = ki_store_new(NULL, NULL);
    r->feed = ki_feed_new(r->client, &KI_CORE_V1_PODS,
                          &(ki_feed_options){.informer = {.list_watch = &silent_source},
                                             .on_change = callback,
                                             .store = callback == NULL ? r->store : NULL,
                                             .user = r},
                          NULL);
    assert_non_null(r->feed);
    assert_int_equal(ki_feed_start(r->feed, NULL), 0);
    assert_int_equal(ki_client_dispatch(r->client, KI_BUDGET_NONE), 0);
}

static void teardown(rig *r)
{
    ki_feed_free(r->feed);
    ki_client_free(r->client);
    ki_store_free(r->store);
}

static int take(rig *r, ki_change_type type, const char *name, uint64_t version)
{
    ki_object *object = object_of(name, version, 0);
    ki_change change = {.change_type = type, .object = object};
    if (type == KI_CHANGE_REPLACED)
        change.list = 1;
    else
        change.version = ki_object_resource_version(object);
    int rc = ki_feed_take_change(&change, &r->feed->life);
    ki_object_unref(object);
    return rc;
}

static int take_end(rig *r, uint32_t list, const char *version)
{
    ki_change change = {.change_type = KI_CHANGE_LIST_END, .list = list, .version = ki_str_of(version)};
    return ki_feed_take_change(&change, &r->feed->life);
}

/* Returns 0 if the store does not have it. */
static uint64_t stored_version(rig *r, const char *name)
{
    ki_object *object = ki_store_get(r->store, KI_STR("default"), ki_str_of(name));
    uint64_t version = object == NULL ? 0 : object_version(object);
    ki_object_unref(object);
    return version;
}

static void assert_feed_version(const rig *r, const char *expected)
{
    char version[32];
    (void)ki_feed_last_resource_version(r->feed, version, sizeof(version));
    assert_string_equal(version, expected);
}

/* A list of version 50 with "a" at version 10 and "b" at version 20. */
static void list_two(rig *r)
{
    assert_int_equal(take(r, KI_CHANGE_REPLACED, "a", 10), 0);
    assert_int_equal(take(r, KI_CHANGE_REPLACED, "b", 20), 0);
    assert_int_equal(ki_store_count(r->store), 0);
    assert_int_equal(take_end(r, 1, "50"), 0);
    assert_int_equal(ki_store_count(r->store), 2);
    assert_feed_version(r, "50");
}

static void event_that_was_already_applied_is_ignored(void **state)
{
    (void)state;
    rig r;
    setup(&r, NULL);
    list_two(&r);
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "c", 50), 0);
    assert_int_equal(take(&r, KI_CHANGE_DELETED, "a", 49), 0);
    assert_int_equal(ki_store_count(r.store), 2);
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "c", 51), 0);
    assert_int_equal(take(&r, KI_CHANGE_UPDATED, "b", 52), 0);
    assert_int_equal(take(&r, KI_CHANGE_DELETED, "a", 53), 0);
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "a", 10), 0);
    assert_int_equal(stored_version(&r, "a"), 0);
    assert_int_equal(stored_version(&r, "b"), 52);
    assert_int_equal(stored_version(&r, "c"), 51);
    assert_feed_version(&r, "53");
    teardown(&r);
}

static void list_that_is_too_old_changes_nothing(void **state)
{
    (void)state;
    rig r;
    setup(&r, NULL);
    list_two(&r);
    assert_int_equal(take_end(&r, 2, "49"), 0);
    assert_int_equal(ki_store_count(r.store), 2);
    assert_feed_version(&r, "50");
    assert_int_equal(take_end(&r, 3, "50"), 0);
    assert_int_equal(ki_store_count(r.store), 0);
    teardown(&r);
}

static void new_history_may_begin_at_a_lower_version(void **state)
{
    (void)state;
    rig r;
    setup(&r, NULL);
    list_two(&r);
    ki_change reset = {.change_type = KI_CHANGE_RESET, .list = 1};
    assert_int_equal(ki_feed_take_change(&reset, r.feed), 0);
    assert_feed_version(&r, "");
    assert_int_equal(take(&r, KI_CHANGE_REPLACED, "a", 5), 0);
    assert_int_equal(take_end(&r, 1, "7"), 0);
    assert_int_equal(ki_store_count(r.store), 1);
    assert_int_equal(stored_version(&r, "a"), 5);
    assert_feed_version(&r, "7");
    teardown(&r);
}

static void object_deleted_during_its_list_is_not_part_of_it(void **state)
{
    (void)state;
    rig r;
    setup(&r, NULL);
    ki_object *object = object_of("a", 11, 0);
    ki_change gone = {.change_type = KI_CHANGE_DELETED, .object = object};
    assert_int_equal(take(&r, KI_CHANGE_REPLACED, "a", 10), 0);
    assert_int_equal(take(&r, KI_CHANGE_REPLACED, "b", 20), 0);
    assert_int_equal(ki_feed_take_change(&gone, r.feed), 0);
    assert_int_equal(take_end(&r, 1, "50"), 0);
    assert_int_equal(ki_store_count(r.store), 1);
    assert_int_equal(stored_version(&r, "b"), 20);
    ki_object_unref(object);
    teardown(&r);
}

static void bookmark_changes_only_the_version(void **state)
{
    (void)state;
    rig r;
    setup(&r, NULL);
    list_two(&r);
    ki_change bookmark = {.change_type = KI_CHANGE_BOOKMARK, .version = KI_STR("70")};
    assert_int_equal(ki_feed_take_change(&bookmark, r.feed), 0);
    assert_feed_version(&r, "70");
    assert_int_equal(ki_store_count(r.store), 2);
    teardown(&r);
}

static void nothing_is_delivered_after_a_stop_in_the_callback(void **state)
{
    (void)state;
    rig r;
    setup(&r, on_change);
    r.stops = 1;
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "a", 10), 0);
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "b", 11), 0);
    assert_int_equal(r.changes, 1);
    assert_feed_version(&r, "10"); /* so that the second change is delivered again */
    teardown(&r);
}

static void space_lasts_until_the_next_change_reports_full(void **state)
{
    (void)state;
    rig r;
    setup(&r, on_change);
    r.answer = 1;
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "a", 10), 1);
    ki_feed_resume(r.feed);
    r.answer = 0;
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "b", 11), 0);
    assert_true(r.feed->is_full && r.feed->has_space);
    r.answer = 1;
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "c", 12), 1);
    assert_true(r.feed->is_full);
    assert_false(r.feed->has_space);
    teardown(&r);
}

static void change_whose_callback_fails_is_not_applied(void **state)
{
    (void)state;
    rig r;
    setup(&r, on_change);
    r.answer = KI_ERR_TOO_LARGE;
    assert_int_equal(take(&r, KI_CHANGE_ADDED, "a", 10), KI_ERR_NO_MEMORY);
    assert_feed_version(&r, "");
    teardown(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_that_was_already_applied_is_ignored),
        cmocka_unit_test(list_that_is_too_old_changes_nothing),
        cmocka_unit_test(new_history_may_begin_at_a_lower_version),
        cmocka_unit_test(object_deleted_during_its_list_is_not_part_of_it),
        cmocka_unit_test(bookmark_changes_only_the_version),
        cmocka_unit_test(nothing_is_delivered_after_a_stop_in_the_callback),
        cmocka_unit_test(space_lasts_until_the_next_change_reports_full),
        cmocka_unit_test(change_whose_callback_fails_is_not_applied),
    };
    return RUN_TESTS(tests);
}
