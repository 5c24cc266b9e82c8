/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/storage.h"

#include <kinformer/error.h>

#include "support/apiserver/as_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/clock.h"

static const struct ki_as_object *find(struct as_rig *rig, const char *ns, const char *name)
{
    const char *resource = ns[0] == '\0' ? "nodes" : "configmaps";
    return as_rig_find(rig, resource, ki_str_of(ns), ki_str_of(name));
}

static bool has_history(struct as_rig *rig, const char *qualified, uint64_t version)
{
    const struct ki_as_collection *collection = as_rig_collection(rig, qualified);
    ki_as_storage_lock(rig->storage);
    bool has_one = ki_as_collection_has_history(collection, version);
    ki_as_storage_unlock(rig->storage);
    return has_one;
}

static void versions_count_all_changes(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    assert_int_equal(as_rig_version(&rig), 1000);
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "n", "1");
    as_rig_put(&rig, "a/x", "2");
    as_rig_remove(&rig, "n");
    assert_int_equal(as_rig_version(&rig), 1004);
    assert_int_equal(find(&rig, "a", "x")->version, 1003);
    assert_null(find(&rig, "", "n"));
    as_rig_fini(&rig);
}

static void versions_begin_at_the_clock(void **state)
{
    (void)state;
    uint64_t now = (uint64_t)ki_clock_wall_ns(ki_clock_real()) / 1000;
    struct ki_as_storage *storage = ki_as_storage_new(NULL);
    ki_as_storage_lock(storage);
    uint64_t version = ki_as_storage_version(storage);
    ki_as_storage_unlock(storage);
    ki_as_storage_free(storage);
    assert_in_range(version, now, now + 60000000);
}

static void every_resource_has_a_collection_and_events_of_both_groups_one(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    struct ki_as_collection *ingresses = as_rig_collection(&rig, "ingresses.networking.k8s.io");
    assert_ptr_equal(as_rig_collection(&rig, "ingresses.networking.k8s.io"), ingresses);
    assert_ptr_not_equal(as_rig_collection(&rig, "ingressclasses.networking.k8s.io"), ingresses);
    assert_ptr_equal(as_rig_collection(&rig, "events.events.k8s.io"), as_rig_collection(&rig, "events"));
    ki_as_storage_lock(rig.storage);
    assert_string_equal(ki_as_collection_resource(ingresses)->qualified, "ingresses.networking.k8s.io");
    assert_ptr_equal(
        ki_as_storage_find_collection(rig.storage, KI_STR("networking.k8s.io"), KI_STR("ingresses")),
        ingresses);
    assert_null(ki_as_storage_find_collection(rig.storage, KI_STR("example.com"), KI_STR("ingresses")));
    ki_as_storage_unlock(rig.storage);
    as_rig_fini(&rig);
}

static void the_number_of_objects_is_limited(void **state)
{
    (void)state;
    struct as_rig rig = {0};
    rig.storage = ki_as_storage_new(&(struct ki_as_storage_options){.objects_max = 1, .first_version = 5});
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/x", "2");
    struct ki_as_collection *collection = as_rig_collection(&rig, "configmaps");
    ki_as_storage_lock(rig.storage);
    struct ki_as_object *second = as_rig_object(&rig, "a/y", "1");
    assert_int_equal(ki_as_storage_put(rig.storage, collection, second), KI_ERR_TOO_LARGE);
    ki_as_storage_unlock(rig.storage);
    assert_int_equal(as_rig_version(&rig), 7);
    as_rig_remove(&rig, "a/x");
    ki_as_object_unref(second);
    as_rig_put(&rig, "a/y", "1");
    assert_non_null(find(&rig, "a", "y"));
    as_rig_fini(&rig);
}

static void history_is_a_window(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 2);
    assert_true(has_history(&rig, "configmaps", 1000));
    assert_false(has_history(&rig, "configmaps", 999));
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/x", "2");
    as_rig_put(&rig, "n", "1");
    assert_true(has_history(&rig, "configmaps", 1000));
    as_rig_put(&rig, "a/x", "3");
    assert_false(has_history(&rig, "configmaps", 1000));
    assert_true(has_history(&rig, "configmaps", 1001));
    as_rig_fini(&rig);
}

static void compaction_forgets_everything(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "n", "1");
    ki_as_storage_lock(rig.storage);
    ki_as_storage_compact(rig.storage);
    ki_as_storage_unlock(rig.storage);
    assert_false(has_history(&rig, "configmaps", 1001));
    assert_false(has_history(&rig, "pods", 1001));
    assert_true(has_history(&rig, "nodes", 1002));
    as_rig_fini(&rig);
}

static void a_rewind_lowers_later_versions_to_the_new_one(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "a/y", "1");
    as_rig_put(&rig, "n", "1");
    assert_int_equal(as_rig_rewind(&rig, 2), 0);
    assert_int_equal(as_rig_version(&rig), 1001);
    assert_int_equal(find(&rig, "a", "x")->version, 1001);
    assert_int_equal(find(&rig, "a", "y")->version, 1001);
    assert_int_equal(find(&rig, "", "n")->version, 1001);
    as_rig_put(&rig, "a/y", "2");
    assert_int_equal(find(&rig, "a", "y")->version, 1002);
    assert_int_equal(as_rig_rewind(&rig, 2000), KI_ERR_RANGE);
    as_rig_fini(&rig);
}

static void a_walk_continues_after_a_removed_object(void **state)
{
    (void)state;
    struct as_rig rig;
    as_rig_init(&rig, 0);
    as_rig_put(&rig, "a/x", "1");
    as_rig_put(&rig, "b/x", "1");
    as_rig_put(&rig, "b/y", "1");
    as_rig_put(&rig, "c/x", "1");
    const struct ki_as_collection *collection = as_rig_collection(&rig, "configmaps");
    ki_as_storage_lock(rig.storage);
    struct ki_as_object *first = ki_as_object_ref(ki_as_collection_next(collection, KI_STR("b"), NULL));
    ki_as_storage_unlock(rig.storage);
    as_rig_remove(&rig, "b/x");
    ki_as_storage_lock(rig.storage);
    const struct ki_as_object *second = ki_as_collection_next(collection, KI_STR("b"), first);
    assert_true(ki_str_equal(second->name, KI_STR("y")));
    assert_null(ki_as_collection_next(collection, KI_STR("b"), second));
    assert_non_null(ki_as_collection_next(collection, KI_STR(""), second));
    ki_as_storage_unlock(rig.storage);
    ki_as_object_unref(first);
    as_rig_fini(&rig);
}

/* Uses the whole storage until something fails. */
static int do_all_locked(struct as_rig *rig, const struct ki_as_resource *configmaps)
{
    struct ki_as_collection *collection = ki_as_storage_collection(rig->storage, configmaps);
    if (collection == NULL)
        return KI_ERR_NO_MEMORY;
    for (int i = 0; i < 3; i++) {
        uint64_t before = ki_as_storage_version(rig->storage);
        struct ki_as_object *object = as_rig_object(rig, i == 1 ? "a/x" : "a/y", "1");
        int rc = object == NULL ? KI_ERR_NO_MEMORY : ki_as_storage_put(rig->storage, collection, object);
        ki_as_object_unref(object);
        assert_int_equal(ki_as_storage_version(rig->storage), rc == 0 ? before + 1 : before);
        if (rc < 0)
            return rc;
    }
    struct ki_as_object *last = as_rig_object(rig, "a/x", "1");
    int rc = last == NULL ? KI_ERR_NO_MEMORY : ki_as_storage_remove(rig->storage, collection, last);
    ki_as_object_unref(last);
    struct ki_as_page page = {0};
    struct ki_as_page_request request = {.version = 1001, .limit = 1};
    if (rc == 0 && ki_as_storage_page(rig->storage, collection, &request, &page, &rig->failure) < 0)
        rc = KI_ERR_NO_MEMORY;
    ki_as_page_fini(&page);
    return rc < 0 ? rc : ki_as_storage_rewind(rig->storage, 3);
}

static int do_all(struct as_rig *rig)
{
    const struct ki_as_resource *configmaps = as_rig_resource(rig, "configmaps");
    ki_as_storage_lock(rig->storage);
    int rc = do_all_locked(rig, configmaps);
    ki_as_storage_unlock(rig->storage);
    return rc;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct as_rig rig = {0};
        failing_allocator_fail_at(n);
        rig.storage = ki_as_storage_new(&(struct ki_as_storage_options){.first_version = 1000});
        int rc = rig.storage == NULL ? KI_ERR_NO_MEMORY : do_all(&rig);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(rc < 0, has_failed);
        ki_as_failure_fini(&rig.failure);
        ki_as_storage_free(rig.storage);
        failures += has_failed;
        if (!has_failed)
            break;
    }
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_count_all_changes),
        cmocka_unit_test(versions_begin_at_the_clock),
        cmocka_unit_test(every_resource_has_a_collection_and_events_of_both_groups_one),
        cmocka_unit_test(the_number_of_objects_is_limited),
        cmocka_unit_test(history_is_a_window),
        cmocka_unit_test(compaction_forgets_everything),
        cmocka_unit_test(a_rewind_lowers_later_versions_to_the_new_one),
        cmocka_unit_test(a_walk_continues_after_a_removed_object),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
