/* SPDX-License-Identifier: Apache-2.0 */
/* Key functions, read sections, batches, and many objects. */
#include "store/store.h"

#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/store_flush.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- key functions --------------------------------------------------------------------------------- */

/* "version:name", or no key for version 0. */
static ki_str version_key(const ki_object *object, char *buffer, size_t buffer_bytes, void *user)
{
    ++*(int *)user;
    ki_str version = ki_object_resource_version(object);
    ki_str name = ki_object_name(object);
    if (version.ptr[0] == '0')
        return (ki_str){0};
    int n = snprintf(buffer, buffer_bytes, "%.*s:%.*s", KI_STR_ARGS(version), KI_STR_ARGS(name));
    return (ki_str){buffer, (size_t)n};
}

static void objects_with_equal_keys_replace_each_other(void **state)
{
    (void)state;
    int calls = 0;
    ki_str_list texts = {0};
    ki_store *store = ki_store_new(&(ki_store_options){.key = version_key, .user = &calls}, NULL);
    assert_non_null(store);
    store_put(store, store_object("a", "one", 1, ""));
    store_put(store, store_object("b", "one", 1, "replaces"));
    store_put(store, store_object("b", "one", 2, ""));
    assert_true(calls > 0);
    assert_int_equal(ki_store_count(store), 2);
    assert_int_equal(ki_store_list_keys_index(store, KI_INDEX_NAMESPACE, KI_STR("b"), &texts), 0);
    store_assert_texts(&texts, (const char *const[]){"1:one", "2:one"}, 2);
    ki_object *keyless = store_object("a", "zero", 0, "");
    assert_int_equal(ki_store_put(store, keyless), KI_ERR_INVALID);
    (void)ki_object_unref(keyless);
    for (uint64_t version = 3; version < 100; version++)
        store_put(store, store_object("c", "many", version, ""));
    store_assert_sound(store);
    assert_int_equal(ki_store_remove(store, KI_STR("1:one")), 0);
    store_end(store);
}

/* Returns the length it would have needed, and writes what fits. */
static ki_str long_key(const ki_object *object, char *buffer, size_t buffer_bytes, void *user)
{
    (void)object;
    (void)user;
    int n = snprintf(buffer, buffer_bytes, "%0*d", 64 * KI_KEY_BYTES, 7);
    return (ki_str){buffer, (size_t)n};
}

static void a_key_that_did_not_fit_is_refused_and_not_read(void **state)
{
    (void)state;
    ki_store *store = ki_store_new(&(ki_store_options){.key = long_key}, NULL);
    assert_non_null(store);
    ki_object *object = store_object("a", "one", 1, "");
    assert_int_equal(ki_store_put(store, object), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_store_replace(store, &object, 1), KI_ERR_TOO_LARGE);
    (void)ki_object_unref(object);
    store_end(store);
}

/* ---- read sections --------------------------------------------------------------------------------- */

static void calls_that_wait_or_write_are_refused_in_a_read_section(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *object = store_object("ns", "one", 1, "");
    ki_object_list objects = {0};
    ki_str_list texts = {0};
    assert_int_equal(ki_store_put(store, object), 0);
    ki_read_lock();
    ki_read_lock();
    ki_read_unlock();
    assert_int_equal(ki_store_put(store, object), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_replace(store, &object, 1), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_list(store, &objects), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_list_keys(store, &texts), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_list_index(store, KI_INDEX_NAMESPACE, KI_STR("ns"), &objects),
                     KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_list_keys_index(store, KI_INDEX_NAMESPACE, KI_STR("ns"), &texts),
                     KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_list_values(store, KI_INDEX_NAMESPACE, &texts), KI_ERR_WOULD_DEADLOCK);
    ki_object *found = ki_store_get(store, KI_STR("ns"), KI_STR("one"));
    assert_ptr_equal(found, object);
    (void)ki_object_unref(found);
    ki_read_unlock();
    store_end(store);
    (void)ki_object_unref(object);
}

/* ---- batches --------------------------------------------------------------------------------------- */

static void a_batch_returns_the_former_object(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *one = store_object("ns", "one", 1, "");
    ki_object *newer = store_object("ns", "one", 2, "");
    ki_object *former = newer;
    ki_store_batch_begin(store);
    assert_int_equal(ki_store_batch_put(store, one, &former), 0);
    assert_null(former);
    assert_int_equal(ki_store_batch_put(store, newer, &former), 0);
    assert_ptr_equal(former, one);
    (void)ki_object_unref(former);
    assert_int_equal(ki_store_batch_remove(store, KI_STR("ns/one"), &former), 0);
    assert_ptr_equal(former, newer);
    (void)ki_object_unref(former);
    assert_int_equal(ki_store_batch_remove(store, KI_STR("ns/one"), &former), KI_ERR_NOT_FOUND);
    ki_store_batch_end(store);
    store_flush(store);
    (void)ki_object_unref(one);
    (void)ki_object_unref(newer);
    store_end(store);
}

static void retired_memory_is_freed_after_a_second(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *one = store_object("ns", "one", 1, "");
    uint64_t due_ms = UINT64_MAX;
    assert_int_equal(ki_store_put(store, one), 0);
    (void)ki_object_unref(one);
    ki_store_flush_when_due(store, 100, &due_ms);
    assert_true(due_ms == UINT64_MAX);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), 0);
    ki_store_flush_when_due(store, 200, &due_ms);
    assert_int_equal(due_ms, 1200);
    ki_store_flush_when_due(store, 1199, &due_ms);
    assert_int_equal(due_ms, 1200);
    assert_int_equal(store->reclaim.object_count, 1);
    ki_store_flush_when_due(store, 1200, &due_ms);
    assert_true(due_ms == UINT64_MAX);
    assert_int_equal(store->reclaim.object_count, 0);
    store_end(store);
}

static void memory_freed_earlier_sets_no_deadline(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *one = store_object("ns", "one", 1, "");
    uint64_t due_ms = UINT64_MAX;
    assert_int_equal(ki_store_put(store, one), 0);
    (void)ki_object_unref(one);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), 0);
    ki_store_flush_when_due(store, 200, &due_ms);
    store_flush(store);
    ki_store_flush_when_due(store, 300, &due_ms);
    assert_true(due_ms == UINT64_MAX);
    assert_int_equal(store->reclaim.grace_periods, 1);
    store_end(store);
}

static ki_place seek(ki_store *store, const ki_object *object) KI_REQUIRES(store->mu)
{
    ki_str key = ki_object_key_str(object);
    uint64_t hash = ki_hash(ki_store_hash_key(store), key);
    ki_store_batch_expect_hash(store, hash);
    ki_store_batch_expect(store, hash, object);
    return ki_store_batch_seek(store, key, hash);
}

static void a_batch_can_put_and_remove_at_the_place_it_found(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *one = store_object("ns", "one", 1, "");
    ki_object *newer = store_object("ns", "one", 2, "");
    ki_store_batch_begin(store);
    ki_place place = seek(store, one);
    assert_null(place.object);
    assert_int_equal(ki_store_batch_put_at(store, one, &place), 0);
    place = seek(store, newer);
    assert_ptr_equal(place.object, one);
    assert_int_equal(ki_store_batch_put_at(store, newer, &place), 0);
    ki_store_batch_let_go(store, place.object);
    place = seek(store, newer);
    assert_int_equal(ki_store_batch_put_at(store, newer, &place), 0); /* no former object to release */
    assert_int_equal(ki_store_count(store), 1);
    ki_store_batch_remove_at(store, &place);
    ki_store_batch_let_go(store, place.object);
    ki_store_batch_end(store);
    assert_int_equal(ki_store_count(store), 0);
    store_flush(store);
    (void)ki_object_unref(one);
    (void)ki_object_unref(newer);
    store_end(store);
}

static void a_batch_refuses_to_put_at_the_place_of_an_invalid_key(void **state)
{
    (void)state;
    static char text[KI_KEY_BYTES + 1];
    memset(text, 'a', sizeof(text));
    ki_store *store = store_begin();
    ki_object *one = store_object("ns", "one", 1, "");
    ki_str keys[] = {{text, 0}, {text, sizeof(text)}};
    ki_store_batch_begin(store);
    ki_place none = ki_store_batch_seek(store, keys[0], ki_hash(ki_store_hash_key(store), keys[0]));
    ki_place large = ki_store_batch_seek(store, keys[1], ki_hash(ki_store_hash_key(store), keys[1]));
    assert_int_equal(ki_store_batch_put_at(store, one, &none), KI_ERR_INVALID);
    assert_int_equal(ki_store_batch_put_at(store, one, &large), KI_ERR_TOO_LARGE);
    ki_store_batch_end(store);
    assert_int_equal(ki_store_count(store), 0);
    (void)ki_object_unref(one);
    store_end(store);
}

static void retired_memory_stays_below_its_limit(void **state)
{
    (void)state;
    enum { LIMIT = 4000 };
    ki_store *store = ki_store_new(&(ki_store_options){.retired_bytes_max = LIMIT}, NULL);
    assert_non_null(store);
    for (uint64_t version = 1; version < 500; version++) {
        store_put(store, store_object("ns", "one", version, "some,more,text"));
        assert_true(store->reclaim.bytes < LIMIT);
    }
    assert_true(store->reclaim.grace_periods > 10 && store->reclaim.grace_periods < 100);
    store_flush(store);
    assert_int_equal(store->reclaim.bytes, 0);
    store_end(store);
}

/* ---- many ------------------------------------------------------------------------------------------ */

static int count_calls(const ki_object *object, void *user)
{
    (void)object;
    ++*(size_t *)user;
    return 0;
}

/* The limit is twice what the benchmark measures, so only a serious mistake exceeds it. */
static void a_hundred_thousand_objects_need_little_extra_memory(void **state)
{
    (void)state;
    enum { OBJECTS = 100000, NAMESPACES = 100, EXTRA_BYTES_MAX = 200 };
    ki_store *store = store_begin();
    for (int i = 0; i < OBJECTS; i++) {
        char ns[16];
        char name[16];
        snprintf(ns, sizeof(ns), "ns-%d", i % NAMESPACES);
        snprintf(name, sizeof(name), "pod-%d", i);
        store_put(store, store_object(ns, name, 1, ""));
    }
    store_flush(store);
    size_t extra = failing_allocator_live_bytes() - ki_store_bytes(store);
    assert_true(extra / OBJECTS < EXTRA_BYTES_MAX);
    size_t calls = 0;
    assert_int_equal(ki_store_walk(store, count_calls, &calls), 0);
    assert_int_equal(calls, OBJECTS);
    calls = 0;
    assert_int_equal(ki_store_walk_index(store, KI_INDEX_NAMESPACE, KI_STR("ns-7"), count_calls, &calls), 0);
    assert_int_equal(calls, OBJECTS / NAMESPACES);
    store_end(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(objects_with_equal_keys_replace_each_other),
        WITH_MEMORY_CHECK(a_key_that_did_not_fit_is_refused_and_not_read),
        WITH_MEMORY_CHECK(calls_that_wait_or_write_are_refused_in_a_read_section),
        WITH_MEMORY_CHECK(a_batch_returns_the_former_object),
        WITH_MEMORY_CHECK(retired_memory_is_freed_after_a_second),
        WITH_MEMORY_CHECK(memory_freed_earlier_sets_no_deadline),
        WITH_MEMORY_CHECK(a_batch_can_put_and_remove_at_the_place_it_found),
        WITH_MEMORY_CHECK(a_batch_refuses_to_put_at_the_place_of_an_invalid_key),
        WITH_MEMORY_CHECK(retired_memory_stays_below_its_limit),
        WITH_MEMORY_CHECK(a_hundred_thousand_objects_need_little_extra_memory),
    };
    return RUN_TESTS(tests);
}
