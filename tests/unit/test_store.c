/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store.h"

#include <kinformer/error.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store_objects.h"
#include "support/unit.h"

static ki_store *new_store(void)
{
    ki_error err = {0};
    ki_store *store = ki_store_new(NULL, &err);
    assert_non_null(store);
    return store;
}

/* Sound, then freed. */
static void end_store(ki_store *store)
{
    store_assert_sound(store);
    ki_store_free(store);
}

static uint64_t version_of(const ki_object *object)
{
    return strtoull(ki_object_resource_version(object).ptr, NULL, 10);
}

/* The version under a key, 0 when there is none. */
static uint64_t version_at(ki_store *store, const char *ns, const char *name)
{
    ki_object *object = ki_store_get(store, ns, name);
    uint64_t version = object == NULL ? 0 : version_of(object);
    (void)ki_object_unref(object);
    return version;
}

static size_t count_by_index(ki_store *store, const char *index, const char *value)
{
    ki_object_list list = {0};
    assert_int_equal(ki_store_by_index(store, index, ki_str_of(value), &list), 0);
    size_t count = list.count;
    ki_object_list_fini(&list);
    return count;
}

static void assert_texts(ki_str_list *list, const char *const *expected, size_t count)
{
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(ki_str_equal(list->texts[i], ki_str_of(expected[i])));
    ki_str_list_fini(list);
}

/* ---- objects --------------------------------------------------------------------------------------- */

static void a_put_object_is_found_by_its_key(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "one", 1, ""));
    store_put(store, store_object("", "node", 2, ""));
    assert_int_equal(version_at(store, "ns", "one"), 1);
    assert_int_equal(version_at(store, "", "node"), 2);
    assert_int_equal(version_at(store, NULL, "node"), 2);
    assert_int_equal(version_at(store, "ns", "node"), 0);
    assert_int_equal(version_at(store, "other", "one"), 0);
    ki_object *object = ki_store_get_key(store, KI_STR("ns/one"));
    assert_non_null(object);
    (void)ki_object_unref(object);
    assert_int_equal(ki_store_count(store), 2);
    end_store(store);
}

static void a_put_takes_the_place_of_the_object_with_its_key(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "one", 1, "long,tags"));
    size_t bytes = ki_store_bytes(store);
    store_put(store, store_object("ns", "one", 2, ""));
    assert_int_equal(version_at(store, "ns", "one"), 2);
    assert_int_equal(ki_store_count(store), 1);
    assert_true(ki_store_bytes(store) < bytes);
    end_store(store);
}

static void the_same_object_again_changes_nothing(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_object *object = store_object("ns", "one", 1, "");
    assert_int_equal(ki_store_put(store, object), 0);
    assert_int_equal(ki_store_put(store, object), 0);
    assert_int_equal(ki_store_count(store), 1);
    end_store(store);
    (void)ki_object_unref(object);
}

static void a_removed_object_is_gone(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "one", 1, ""));
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), 0);
    assert_int_equal(version_at(store, "ns", "one"), 0);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_count(store), 0);
    assert_int_equal(ki_store_bytes(store), 0);
    end_store(store);
}

static void a_reference_outlives_the_store(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "one", 1, ""));
    ki_object *object = ki_store_get(store, "ns", "one");
    end_store(store);
    assert_string_equal(ki_object_key(object), "ns/one");
    (void)ki_object_unref(object);
}

static void a_look_is_good_to_the_end_of_the_section_only(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "one", 1, ""));
    assert_null(ki_store_peek(store, "ns", "one"));
    assert_null(ki_store_peek_key(store, KI_STR("ns/one")));
    assert_null(ki_store_peek_one(store, KI_INDEX_NAMESPACE, KI_STR("ns")));
    ki_read_lock();
    const ki_object *object = ki_store_peek(store, "ns", "one");
    assert_non_null(object);
    assert_ptr_equal(ki_store_peek_key(store, KI_STR("ns/one")), object);
    assert_ptr_equal(ki_store_peek_one(store, KI_INDEX_NAMESPACE, KI_STR("ns")), object);
    assert_null(ki_store_peek(store, "ns", "two"));
    ki_read_unlock();
    end_store(store);
}

static void a_text_that_went_through_unescaping_does_not_disturb_the_bytes(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_str json = KI_STR("{\"metadata\":{\"name\":\"n\"},\"data\":{\"k\":\"a\\nb\"}}");
    ki_object *object = ki_object_new(&KI_CORE_V1_CONFIGMAPS, json, NULL, NULL);
    assert_non_null(object);
    assert_int_equal(ki_store_put(store, object), 0);
    assert_int_equal(ki_object_string(object, "/data/k").len, 3);
    store_assert_sound(store);
    assert_int_equal(ki_store_remove(store, KI_STR("n")), 0);
    assert_int_equal(ki_store_bytes(store), 0);
    (void)ki_object_unref(object);
    end_store(store);
}

static void keys_too_long_are_refused(void **state)
{
    (void)state;
    ki_store *store = new_store();
    char name[KI_KEY_BYTES + 1];
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    ki_object *object = store_object("ns", name, 1, "");
    assert_int_equal(ki_store_put(store, object), KI_ERR_TOO_LARGE);
    (void)ki_object_unref(object);
    assert_null(ki_store_get(store, "ns", name));
    assert_null(ki_store_get(store, name, "x"));
    name[KI_KEY_BYTES - 3] = 0; /* the longest beside "ns/" */
    store_put(store, store_object("ns", name, 2, ""));
    assert_int_equal(version_at(store, "ns", name), 2);
    end_store(store);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_object *none[1] = {NULL};
    ki_object_list objects = {0};
    ki_str_list texts = {0};
    assert_int_equal(ki_store_put(store, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_put(NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_remove(NULL, KI_STR("a")), KI_ERR_INVALID);
    assert_int_equal(ki_store_replace(store, none, 1), KI_ERR_INVALID);
    assert_int_equal(ki_store_replace(store, NULL, 1), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index(store, NULL, store_tags_index, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index(store, "tags", NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_list(NULL, &objects), KI_ERR_INVALID);
    assert_int_equal(ki_store_keys(NULL, &texts), KI_ERR_INVALID);
    assert_int_equal(ki_store_by_index(store, NULL, KI_STR(""), &objects), KI_ERR_INVALID);
    assert_int_equal(ki_store_walk(store, NULL, NULL), KI_ERR_INVALID);
    assert_null(ki_store_get(NULL, "a", "b"));
    assert_null(ki_store_get(store, "a", NULL));
    assert_int_equal(ki_store_count(NULL), 0);
    ki_store_free(NULL);
    end_store(store);
}

/* ---- lists ----------------------------------------------------------------------------------------- */

static void lists_hold_references(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_object_list list = {0};
    assert_int_equal(ki_store_list(store, &list), 0);
    assert_int_equal(list.count, 0);
    ki_object_list_fini(&list);
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof(name), "o%d", i);
        store_put(store, store_object(i % 2 == 0 ? "even" : "odd", name, 1, ""));
    }
    assert_int_equal(ki_store_list(store, &list), 0);
    assert_int_equal(ki_store_replace(store, NULL, 0), 0);
    assert_int_equal(list.count, 50);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(version_of(list.objects[i]), 1);
    ki_object_list_fini(&list);
    end_store(store);
}

static void keys_and_values_come_in_order(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_str_list texts = {0};
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    store_put(store, store_object("b", "two", 1, "x,,\xc3\xa4"));
    store_put(store, store_object("b", "one", 1, "x"));
    store_put(store, store_object("a", "three", 1, "y"));
    assert_int_equal(ki_store_index_keys(store, KI_INDEX_NAMESPACE, KI_STR("b"), &texts), 0);
    assert_texts(&texts, (const char *const[]){"b/one", "b/two"}, 2);
    assert_int_equal(ki_store_index_values(store, "tags", &texts), 0);
    assert_texts(&texts, (const char *const[]){"", "x", "y", "\xc3\xa4"}, 4);
    assert_int_equal(ki_store_index_keys(store, "tags", KI_STR("\xc3\xa4"), &texts), 0);
    assert_texts(&texts, (const char *const[]){"b/two"}, 1);
    assert_int_equal(ki_store_index_keys(store, "tags", KI_STR(""), &texts), 0);
    assert_texts(&texts, (const char *const[]){"b/two"}, 1);
    assert_int_equal(ki_store_index_keys(store, "tags", KI_STR("none"), &texts), 0);
    assert_texts(&texts, NULL, 0);
    assert_int_equal(ki_store_keys(store, &texts), 0);
    assert_int_equal(texts.count, 3);
    ki_str_list_fini(&texts);
    end_store(store);
}

static int never(const ki_object *object, void *user)
{
    (void)object;
    (void)user;
    fail();
    return 0;
}

static void an_unknown_index_is_an_error(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_object_list objects = {0};
    ki_str_list texts = {0};
    assert_int_equal(ki_store_by_index(store, "x", KI_STR("a"), &objects), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_index_keys(store, "x", KI_STR("a"), &texts), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_index_values(store, "x", &texts), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_walk_index(store, "x", KI_STR("a"), never, NULL), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_walk_index(store, KI_INDEX_NAMESPACE, KI_STR("a"), never, NULL), 0);
    ki_read_lock();
    assert_null(ki_store_peek_one(store, "x", KI_STR("a")));
    ki_read_unlock();
    end_store(store);
}

/* ---- indexes --------------------------------------------------------------------------------------- */

static void an_index_added_later_holds_what_is_there(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "one", 1, "a,b"));
    store_put(store, store_object("ns", "two", 1, "b"));
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index(store, KI_INDEX_NAMESPACE, store_tags_index, NULL), KI_ERR_INVALID);
    assert_int_equal(count_by_index(store, "tags", "a"), 1);
    assert_int_equal(count_by_index(store, "tags", "b"), 2);
    store_put(store, store_object("ns", "one", 2, "a"));
    assert_int_equal(count_by_index(store, "tags", "b"), 1);
    end_store(store);
}

static void a_failed_index_function_is_counted(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "bad", 1, "!"));
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    assert_int_equal(ki_store_index_failures(store), 1);
    store_put(store, store_object("ns", "bad", 2, "!"));
    assert_int_equal(ki_store_index_failures(store), 2);
    assert_int_equal(version_at(store, "ns", "bad"), 2);
    assert_int_equal(count_by_index(store, KI_INDEX_NAMESPACE, "ns"), 1);
    store_assert_sound(store);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/bad")), 0);
    end_store(store);
}

static void peek_one_gives_the_newest(void **state)
{
    (void)state;
    ki_store *store = new_store();
    store_put(store, store_object("ns", "nine", 9, ""));
    store_put(store, store_object("ns", "hundred", 100, ""));
    store_put(store, store_object("ns", "ten", 10, ""));
    ki_read_lock();
    assert_int_equal(version_of(ki_store_peek_one(store, KI_INDEX_NAMESPACE, KI_STR("ns"))), 100);
    ki_read_unlock();
    end_store(store);
}

/* Asks the store from inside, as an index function should not. */
static int nosy(const ki_object *object, ki_index_emit *emit, void *user)
{
    ki_store *store = user;
    ki_object_list list = {0};
    (void)emit;
    assert_int_equal(ki_store_list(store, &list), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_put(store, object), KI_ERR_WOULD_DEADLOCK);
    assert_null(ki_store_get(store, "ns", "other"));
    return 0;
}

static void an_index_function_cannot_lock_itself_out(void **state)
{
    (void)state;
    ki_store *store = new_store();
    assert_int_equal(ki_store_add_index(store, "nosy", nosy, store), 0);
    store_put(store, store_object("ns", "one", 1, ""));
    end_store(store);
}

/* ---- replace --------------------------------------------------------------------------------------- */

static void replace_makes_these_the_whole_content(void **state)
{
    (void)state;
    ki_store *store = new_store();
    ki_object *objects[] = {store_object("ns", "two", 5, "b"), store_object("ns", "three", 1, "!"),
                            store_object("ns", "two", 6, "c")};
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    store_put(store, store_object("ns", "one", 1, "a"));
    store_put(store, store_object("ns", "two", 1, "a"));
    assert_int_equal(ki_store_replace(store, objects, 3), 0);
    assert_int_equal(ki_store_count(store), 2);
    assert_int_equal(version_at(store, "ns", "one"), 0);
    assert_int_equal(version_at(store, "ns", "two"), 6);
    assert_int_equal(count_by_index(store, "tags", "a"), 0);
    assert_int_equal(count_by_index(store, "tags", "b"), 0);
    assert_int_equal(count_by_index(store, "tags", "c"), 1);
    assert_int_equal(ki_store_index_failures(store), 1);
    for (size_t i = 0; i < 3; i++)
        (void)ki_object_unref(objects[i]);
    end_store(store);
}

/* ---- keys of one's own ----------------------------------------------------------------------------- */

/* "version:name", or nothing for version 0. */
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

static void a_key_function_decides_what_is_one_object(void **state)
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
    assert_int_equal(ki_store_index_keys(store, KI_INDEX_NAMESPACE, KI_STR("b"), &texts), 0);
    assert_texts(&texts, (const char *const[]){"1:one", "2:one"}, 2);
    ki_object *keyless = store_object("a", "zero", 0, "");
    assert_int_equal(ki_store_put(store, keyless), KI_ERR_INVALID);
    (void)ki_object_unref(keyless);
    for (uint64_t version = 3; version < 100; version++)
        store_put(store, store_object("c", "many", version, ""));
    store_assert_sound(store);
    assert_int_equal(ki_store_remove(store, KI_STR("1:one")), 0);
    end_store(store);
}

/* Tells what it would have needed, and writes what fits. */
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
    end_store(store);
}

/* ---- read sections --------------------------------------------------------------------------------- */

static void what_waits_or_writes_is_refused_in_a_read_section(void **state)
{
    (void)state;
    ki_store *store = new_store();
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
    assert_int_equal(ki_store_keys(store, &texts), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_by_index(store, KI_INDEX_NAMESPACE, KI_STR("ns"), &objects),
                     KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_index_keys(store, KI_INDEX_NAMESPACE, KI_STR("ns"), &texts),
                     KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_index_values(store, KI_INDEX_NAMESPACE, &texts), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_check(store, NULL), KI_ERR_WOULD_DEADLOCK);
    ki_object *found = ki_store_get(store, "ns", "one");
    assert_ptr_equal(found, object);
    (void)ki_object_unref(found);
    ki_read_unlock();
    end_store(store);
    (void)ki_object_unref(object);
}

/* ---- batches --------------------------------------------------------------------------------------- */

static void a_batch_gives_out_what_was_there(void **state)
{
    (void)state;
    ki_store *store = new_store();
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
    ki_store_flush(store);
    (void)ki_object_unref(one);
    (void)ki_object_unref(newer);
    end_store(store);
}

static ki_place seek(ki_store *store, const ki_object *object) KI_REQUIRES(store->mu)
{
    ki_str key = ki_object_key_str(object);
    uint64_t hash = ki_hash(ki_store_hash_key(store), key);
    ki_store_batch_expect_hash(store, hash);
    ki_store_batch_expect(store, hash, object);
    return ki_store_batch_seek(store, key, hash);
}

static void a_batch_that_looks_first_puts_and_removes_what_it_found(void **state)
{
    (void)state;
    ki_store *store = new_store();
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
    assert_int_equal(ki_store_batch_put_at(store, newer, &place), 0); /* nothing to let go of */
    assert_int_equal(ki_store_count(store), 1);
    ki_store_batch_remove_at(store, &place);
    ki_store_batch_let_go(store, place.object);
    ki_store_batch_end(store);
    assert_int_equal(ki_store_count(store), 0);
    ki_store_flush(store);
    (void)ki_object_unref(one);
    (void)ki_object_unref(newer);
    end_store(store);
}

static void a_batch_that_looks_first_refuses_a_key_that_no_store_takes(void **state)
{
    (void)state;
    static char text[KI_KEY_BYTES + 1];
    memset(text, 'a', sizeof(text));
    ki_store *store = new_store();
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
    end_store(store);
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
    ki_store_flush(store);
    assert_int_equal(store->reclaim.bytes, 0);
    end_store(store);
}

/* ---- many ------------------------------------------------------------------------------------------ */

static int count_calls(const ki_object *object, void *user)
{
    (void)object;
    ++*(size_t *)user;
    return 0;
}

/* The limit is twice what a bench measures; here it tells a mistake from a design. */
static void a_hundred_thousand_objects_take_little_more_than_themselves(void **state)
{
    (void)state;
    enum { OBJECTS = 100000, NAMESPACES = 100, EXTRA_BYTES_MAX = 200 };
    ki_store *store = new_store();
    for (int i = 0; i < OBJECTS; i++) {
        char ns[16];
        char name[16];
        snprintf(ns, sizeof(ns), "ns-%d", i % NAMESPACES);
        snprintf(name, sizeof(name), "pod-%d", i);
        store_put(store, store_object(ns, name, 1, ""));
    }
    ki_store_flush(store);
    size_t extra = failing_allocator_live_bytes() - ki_store_bytes(store);
    assert_true(extra / OBJECTS < EXTRA_BYTES_MAX);
    size_t calls = 0;
    assert_int_equal(ki_store_walk(store, count_calls, &calls), 0);
    assert_int_equal(calls, OBJECTS);
    calls = 0;
    assert_int_equal(ki_store_walk_index(store, KI_INDEX_NAMESPACE, KI_STR("ns-7"), count_calls, &calls), 0);
    assert_int_equal(calls, OBJECTS / NAMESPACES);
    end_store(store);
}

#define WITH_ALLOCATOR(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ALLOCATOR(a_put_object_is_found_by_its_key),
        WITH_ALLOCATOR(a_put_takes_the_place_of_the_object_with_its_key),
        WITH_ALLOCATOR(the_same_object_again_changes_nothing),
        WITH_ALLOCATOR(a_removed_object_is_gone),
        WITH_ALLOCATOR(a_reference_outlives_the_store),
        WITH_ALLOCATOR(a_look_is_good_to_the_end_of_the_section_only),
        WITH_ALLOCATOR(a_text_that_went_through_unescaping_does_not_disturb_the_bytes),
        WITH_ALLOCATOR(keys_too_long_are_refused),
        WITH_ALLOCATOR(mistakes_are_refused),
        WITH_ALLOCATOR(lists_hold_references),
        WITH_ALLOCATOR(keys_and_values_come_in_order),
        WITH_ALLOCATOR(an_unknown_index_is_an_error),
        WITH_ALLOCATOR(an_index_added_later_holds_what_is_there),
        WITH_ALLOCATOR(a_failed_index_function_is_counted),
        WITH_ALLOCATOR(peek_one_gives_the_newest),
        WITH_ALLOCATOR(an_index_function_cannot_lock_itself_out),
        WITH_ALLOCATOR(replace_makes_these_the_whole_content),
        WITH_ALLOCATOR(a_key_function_decides_what_is_one_object),
        WITH_ALLOCATOR(a_key_that_did_not_fit_is_refused_and_not_read),
        WITH_ALLOCATOR(what_waits_or_writes_is_refused_in_a_read_section),
        WITH_ALLOCATOR(a_batch_gives_out_what_was_there),
        WITH_ALLOCATOR(a_batch_that_looks_first_puts_and_removes_what_it_found),
        WITH_ALLOCATOR(a_batch_that_looks_first_refuses_a_key_that_no_store_takes),
        WITH_ALLOCATOR(retired_memory_stays_below_its_limit),
        WITH_ALLOCATOR(a_hundred_thousand_objects_take_little_more_than_themselves),
    };
    return RUN_TESTS(tests);
}
