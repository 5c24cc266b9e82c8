/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/watch.h"

#include <kinformer/error.h>

#include "support/apiserver/as_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void count_wakes(void *user)
{
    ++*(int *)user;
}

static struct ki_as_watch *open_watch(struct as_rig *rig, uint64_t after, const char *labels, int *wakes)
{
    struct ki_as_watch_options options = {.resource = as_rig_resource(rig, "configmaps"), .after = after};
    struct ki_as_watch *watch = NULL;
    options.wake = count_wakes;
    options.user = wakes;
    assert_int_equal(ki_as_selector_parse(ki_str_of(labels), KI_STR(""), options.resource, &options.selector,
                                          &rig->failure),
                     0);
    assert_int_equal(ki_as_watch_open(rig->storage, &options, &watch), 0);
    return watch;
}

static void changes_are_delivered_in_order(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    struct ki_as_watch *watch = open_watch(&rig, 1001, "", &wakes);
    as_rig_put(&rig, "a/y", "1");
    as_rig_put(&rig, "n", "1");
    as_rig_put(&rig, "a/x", "2");
    as_rig_remove(&rig, "a/y");
    assert_string_equal(as_rig_events(watch), "ADDED y 1002, MODIFIED x 1004, DELETED y 1005");
    assert_string_equal(as_rig_events(watch), "");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_watch_starts_at_any_version_of_the_history(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/x", "2");
    struct ki_as_watch *all = open_watch(&rig, 1000, "", &wakes);
    struct ki_as_watch *late = open_watch(&rig, 1002, "", &wakes);
    struct ki_as_watch *never = open_watch(&rig, 999, "", &wakes);
    assert_string_equal(as_rig_events(all), "ADDED x 1001, MODIFIED x 1002");
    assert_string_equal(as_rig_events(late), "");
    assert_string_equal(as_rig_events(never), "expired");
    ki_as_watch_close(all);
    ki_as_watch_close(late);
    ki_as_watch_close(never);
    as_rig_fini(&rig);
}

static void a_watch_from_the_future_waits_for_it(void **state)
{
    (void)state;
    int wakes = 0;
    uint64_t version = 0;
    struct ki_as_event events[1];
    enum ki_as_watch_end end = KI_AS_WATCH_GONE;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch *watch = open_watch(&rig, 1001, "", &wakes);
    assert_int_equal(ki_as_watch_take(watch, events, 1, &version, &end), 0);
    assert_int_equal(version, 1000); /* and not more */
    assert_int_equal(end, KI_AS_WATCH_OPEN);
    as_rig_put(&rig, "a/x", "1");
    assert_int_equal(wakes, 0);
    as_rig_put(&rig, "a/x", "2");
    assert_int_equal(wakes, 1);
    assert_string_equal(as_rig_events(watch), "MODIFIED x 1002");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void selectors_turn_changes_into_additions_and_deletions(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch *watch = open_watch(&rig, 1000, "app=1", &wakes);
    as_rig_put(&rig, "a/x", "2");
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/x", "2");
    as_rig_remove(&rig, "a/x");
    as_rig_put(&rig, "a/x", "1");
    as_rig_remove(&rig, "a/x");
    assert_string_equal(as_rig_events(watch),
                        "ADDED x 1002, MODIFIED x 1003, DELETED x 1004, ADDED x 1006, DELETED x 1007");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void an_object_that_no_longer_matches_is_deleted_in_its_old_state(void **state)
{
    (void)state;
    int wakes = 0;
    uint64_t version = 0;
    struct ki_as_event event;
    enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    struct ki_as_watch *watch = open_watch(&rig, 1001, "app=1", &wakes);
    as_rig_put(&rig, "a/x", "2");
    assert_int_equal(ki_as_watch_take(watch, &event, 1, &version, &end), 1);
    assert_int_equal(event.type, KI_AS_DELETED);
    assert_int_equal(event.version, 1002);
    assert_true(ki_str_equal(event.object->labels[0].value, KI_STR("1")));
    ki_as_object_unref(event.object);
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_namespace_hides_the_others(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch_options options = {.resource = as_rig_resource(&rig, "configmaps"),
                                          .ns = KI_STR("b"),
                                          .after = 1000,
                                          .wake = count_wakes};
    struct ki_as_watch *watch = NULL;
    options.user = &wakes;
    assert_int_equal(ki_as_watch_open(rig.storage, &options, &watch), 0);
    assert_string_equal(as_rig_events(watch), "");
    as_rig_put(&rig, "a/x", "1");
    assert_int_equal(wakes, 0);
    as_rig_put(&rig, "b/x", "1");
    assert_int_equal(wakes, 1);
    assert_string_equal(as_rig_events(watch), "ADDED x 1002");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_watch_is_woken_once_until_it_has_read_everything(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch *watch = open_watch(&rig, 1000, "", &wakes);
    as_rig_put(&rig, "a/x", "1");
    assert_int_equal(wakes, 0);
    assert_string_equal(as_rig_events(watch), "ADDED x 1001");
    as_rig_put(&rig, "a/x", "2");
    as_rig_put(&rig, "a/x", "3");
    assert_int_equal(wakes, 1);
    assert_string_equal(as_rig_events(watch), "MODIFIED x 1002, MODIFIED x 1003");
    as_rig_put(&rig, "a/x", "4");
    assert_int_equal(wakes, 2);
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void a_slow_watch_is_expired_and_an_idle_one_is_not(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 3);
    struct ki_as_watch *slow = open_watch(&rig, 1000, "", &wakes);
    struct ki_as_watch *idle = open_watch(&rig, 1000, "app=idle", &wakes);
    assert_string_equal(as_rig_events(idle), "");
    for (int i = 0; i < 5; i++)
        as_rig_put(&rig, "a/x", "1");
    assert_string_equal(as_rig_events(slow), "expired");
    assert_string_equal(as_rig_events(idle), "");
    as_rig_put(&rig, "a/x", "idle");
    assert_string_equal(as_rig_events(idle), "ADDED x 1006");
    ki_as_watch_close(slow);
    ki_as_watch_close(idle);
    as_rig_fini(&rig);
}

static void compaction_does_not_end_watches_that_are_up_to_date(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    struct ki_as_watch *behind = open_watch(&rig, 1000, "", &wakes);
    struct ki_as_watch *ahead = open_watch(&rig, 1001, "", &wakes);
    ki_as_storage_lock(rig.storage);
    ki_as_storage_compact(rig.storage);
    ki_as_storage_unlock(rig.storage);
    as_rig_put(&rig, "a/x", "2");
    assert_string_equal(as_rig_events(behind), "expired");
    assert_string_equal(as_rig_events(ahead), "MODIFIED x 1002");
    ki_as_watch_close(behind);
    ki_as_watch_close(ahead);
    as_rig_fini(&rig);
}

static void bookmarks_have_the_version_that_was_read(void **state)
{
    (void)state;
    int wakes = 0;
    uint64_t version = 0;
    struct ki_as_event events[2];
    enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch *watch = open_watch(&rig, 1000, "", &wakes);
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/y", "1");
    as_rig_put(&rig, "n", "1");
    assert_int_equal(ki_as_watch_take(watch, events, 1, &version, &end), 1);
    assert_int_equal(version, 1001);
    ki_as_object_unref(events[0].object);
    assert_int_equal(ki_as_watch_take(watch, events, 2, &version, &end), 1);
    assert_int_equal(version, 1003);
    ki_as_object_unref(events[0].object);
    assert_int_equal(ki_as_watch_take(watch, events, 2, &version, &end), 0);
    as_rig_put(&rig, "n", "2");
    assert_int_equal(ki_as_watch_take(watch, events, 2, &version, &end), 0);
    assert_int_equal(version, 1004);
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void watches_of_an_ended_collection_get_the_rest(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch *busy = open_watch(&rig, 1000, "", &wakes);
    struct ki_as_watch *idle = open_watch(&rig, 1000, "app=2", &wakes);
    assert_string_equal(as_rig_events(idle), "");
    as_rig_put(&rig, "a/x", "1");
    struct ki_as_collection *others = as_rig_collection(&rig, "nodes");
    ki_as_storage_lock(rig.storage);
    ki_as_collection_end_watches(others);
    ki_as_storage_unlock(rig.storage);
    assert_int_equal(wakes, 0);
    struct ki_as_collection *collection = as_rig_collection(&rig, "configmaps");
    ki_as_storage_lock(rig.storage);
    ki_as_collection_end_watches(collection);
    ki_as_storage_unlock(rig.storage);
    assert_int_equal(wakes, 1);
    as_rig_put(&rig, "a/y", "2");
    assert_string_equal(as_rig_events(busy), "ADDED x 1001, gone");
    assert_string_equal(as_rig_events(idle), "gone");
    ki_as_watch_close(busy);
    ki_as_watch_close(idle);
    as_rig_fini(&rig);
}

static void a_rewind_ends_all_watches(void **state)
{
    (void)state;
    int wakes = 0;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_watch *watch = open_watch(&rig, 1000, "", &wakes);
    as_rig_put(&rig, "a/x", "1");
    assert_int_equal(as_rig_rewind(&rig, 1), 0);
    assert_string_equal(as_rig_events(watch), "gone");
    ki_as_watch_close(watch);
    as_rig_fini(&rig);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct ki_as_watch *watch = NULL;
        struct ki_as_watch_options options = {.resource = as_rig_resource(&rig, "configmaps"), .after = 1000};
        failing_allocator_fail_at(n);
        int rc = ki_as_watch_open(rig.storage, &options, &watch);
        bool has_failed = failing_allocator_has_failed();
        assert_int_equal(rc, has_failed ? KI_ERR_NO_MEMORY : 0);
        ki_as_watch_close(watch);
        failures += has_failed;
        if (!has_failed)
            break;
    }
    failing_allocator_fail_at(0);
    as_rig_fini(&rig);
    assert_int_equal(failures, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_delivered_in_order),
        cmocka_unit_test(a_watch_starts_at_any_version_of_the_history),
        cmocka_unit_test(a_watch_from_the_future_waits_for_it),
        cmocka_unit_test(selectors_turn_changes_into_additions_and_deletions),
        cmocka_unit_test(an_object_that_no_longer_matches_is_deleted_in_its_old_state),
        cmocka_unit_test(a_namespace_hides_the_others),
        cmocka_unit_test(a_watch_is_woken_once_until_it_has_read_everything),
        cmocka_unit_test(a_slow_watch_is_expired_and_an_idle_one_is_not),
        cmocka_unit_test(compaction_does_not_end_watches_that_are_up_to_date),
        cmocka_unit_test(bookmarks_have_the_version_that_was_read),
        cmocka_unit_test(watches_of_an_ended_collection_get_the_rest),
        cmocka_unit_test(a_rewind_ends_all_watches),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
