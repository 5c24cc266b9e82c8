/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and their keys: put, get, list, index and replace. */
#include "store/store.h"

#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- objects --------------------------------------------------------------------------------------- */

static void a_put_object_is_found_by_its_key(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, ""));
    store_put(store, store_object("", "node", 2, ""));
    assert_int_equal(store_version_at(store, "ns", "one"), 1);
    assert_int_equal(store_version_at(store, "", "node"), 2);
    assert_int_equal(store_version_at(store, NULL, "node"), 2);
    assert_int_equal(store_version_at(store, "ns", "node"), 0);
    assert_int_equal(store_version_at(store, "other", "one"), 0);
    ki_object *object = ki_store_get_key(store, KI_STR("ns/one"));
    assert_non_null(object);
    (void)ki_object_unref(object);
    assert_int_equal(ki_store_count(store), 2);
    store_end(store);
}

static void a_put_replaces_the_object_with_the_same_key(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, "long,tags"));
    size_t bytes = ki_store_bytes(store);
    store_put(store, store_object("ns", "one", 2, ""));
    assert_int_equal(store_version_at(store, "ns", "one"), 2);
    assert_int_equal(ki_store_count(store), 1);
    assert_true(ki_store_bytes(store) < bytes);
    store_end(store);
}

static void putting_the_same_object_again_changes_nothing(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *object = store_object("ns", "one", 1, "");
    assert_int_equal(ki_store_put(store, object), 0);
    assert_int_equal(ki_store_put(store, object), 0);
    assert_int_equal(ki_store_count(store), 1);
    store_end(store);
    (void)ki_object_unref(object);
}

static void a_removed_object_is_gone(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, ""));
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), 0);
    assert_int_equal(store_version_at(store, "ns", "one"), 0);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/one")), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_count(store), 0);
    assert_int_equal(ki_store_bytes(store), 0);
    store_end(store);
}

static void a_reference_outlives_the_store(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, ""));
    ki_object *object = ki_store_get(store, KI_STR("ns"), KI_STR("one"));
    store_end(store);
    assert_string_equal(ki_object_key(object), "ns/one");
    (void)ki_object_unref(object);
}

static void peek_works_only_in_a_read_section(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, ""));
    assert_null(ki_store_peek(store, KI_STR("ns"), KI_STR("one")));
    assert_null(ki_store_peek_key(store, KI_STR("ns/one")));
    assert_null(ki_store_peek_one(store, KI_INDEX_NAMESPACE, KI_STR("ns")));
    ki_read_lock();
    const ki_object *object = ki_store_peek(store, KI_STR("ns"), KI_STR("one"));
    assert_non_null(object);
    assert_ptr_equal(ki_store_peek_key(store, KI_STR("ns/one")), object);
    assert_ptr_equal(ki_store_peek_one(store, KI_INDEX_NAMESPACE, KI_STR("ns")), object);
    assert_null(ki_store_peek(store, KI_STR("ns"), KI_STR("two")));
    ki_read_unlock();
    store_end(store);
}

static void unescaped_text_does_not_change_the_byte_count(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_str json = KI_STR("{\"metadata\":{\"name\":\"n\"},\"data\":{\"k\":\"a\\nb\"}}");
    ki_object *object = ki_object_new(&KI_CORE_V1_CONFIGMAPS, json, NULL, NULL);
    assert_non_null(object);
    assert_int_equal(ki_store_put(store, object), 0);
    assert_int_equal(ki_object_string(object, "/data/k").len, 3);
    store_assert_sound(store);
    assert_int_equal(ki_store_remove(store, KI_STR("n")), 0);
    assert_int_equal(ki_store_bytes(store), 0);
    (void)ki_object_unref(object);
    store_end(store);
}

static void keys_too_long_are_refused(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    char name[KI_KEY_BYTES + 1];
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    ki_object *object = store_object("ns", name, 1, "");
    assert_int_equal(ki_store_put(store, object), KI_ERR_TOO_LARGE);
    (void)ki_object_unref(object);
    assert_null(ki_store_get(store, KI_STR("ns"), ki_str_of(name)));
    assert_null(ki_store_get(store, ki_str_of(name), KI_STR("x")));
    name[KI_KEY_BYTES - 3] = 0; /* the longest name that fits after "ns/" */
    store_put(store, store_object("ns", name, 2, ""));
    assert_int_equal(store_version_at(store, "ns", name), 2);
    store_end(store);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    ki_store *store = store_begin();
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
    assert_int_equal(ki_store_list_keys(NULL, &texts), KI_ERR_INVALID);
    assert_int_equal(ki_store_list_index(store, NULL, KI_STR(""), &objects), KI_ERR_INVALID);
    assert_int_equal(ki_store_walk(store, NULL, NULL), KI_ERR_INVALID);
    assert_null(ki_store_get(NULL, KI_STR("a"), KI_STR("b")));
    assert_null(ki_store_get(store, KI_STR("a"), (ki_str){0}));
    assert_int_equal(ki_store_count(NULL), 0);
    ki_store_free(NULL);
    ki_object_list_fini(NULL);
    ki_str_list_fini(NULL);
    store_end(store);
}

/* ---- lists ----------------------------------------------------------------------------------------- */

static void lists_hold_references(void **state)
{
    (void)state;
    ki_store *store = store_begin();
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
        assert_int_equal(store_object_version(list.objects[i]), 1);
    ki_object_list_fini(&list);
    store_end(store);
}

static void keys_and_values_are_sorted(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_str_list texts = {0};
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    store_put(store, store_object("b", "two", 1, "x,,\xc3\xa4"));
    store_put(store, store_object("b", "one", 1, "x"));
    store_put(store, store_object("a", "three", 1, "y"));
    assert_int_equal(ki_store_list_keys_index(store, KI_INDEX_NAMESPACE, KI_STR("b"), &texts), 0);
    store_assert_texts(&texts, (const char *const[]){"b/one", "b/two"}, 2);
    assert_int_equal(ki_store_list_values(store, "tags", &texts), 0);
    store_assert_texts(&texts, (const char *const[]){"", "x", "y", "\xc3\xa4"}, 4);
    assert_int_equal(ki_store_list_keys_index(store, "tags", KI_STR("\xc3\xa4"), &texts), 0);
    store_assert_texts(&texts, (const char *const[]){"b/two"}, 1);
    assert_int_equal(ki_store_list_keys_index(store, "tags", KI_STR(""), &texts), 0);
    store_assert_texts(&texts, (const char *const[]){"b/two"}, 1);
    assert_int_equal(ki_store_list_keys_index(store, "tags", KI_STR("none"), &texts), 0);
    store_assert_texts(&texts, NULL, 0);
    assert_int_equal(ki_store_list_keys(store, &texts), 0);
    assert_int_equal(texts.count, 3);
    ki_str_list_fini(&texts);
    store_end(store);
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
    ki_store *store = store_begin();
    ki_object_list objects = {0};
    ki_str_list texts = {0};
    assert_int_equal(ki_store_list_index(store, "x", KI_STR("a"), &objects), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_list_keys_index(store, "x", KI_STR("a"), &texts), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_list_values(store, "x", &texts), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_walk_index(store, "x", KI_STR("a"), never, NULL), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_store_walk_index(store, KI_INDEX_NAMESPACE, KI_STR("a"), never, NULL), 0);
    ki_read_lock();
    assert_null(ki_store_peek_one(store, "x", KI_STR("a")));
    ki_read_unlock();
    store_end(store);
}

/* ---- indexes --------------------------------------------------------------------------------------- */

static void an_index_added_later_contains_existing_objects(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, "a,b"));
    store_put(store, store_object("ns", "two", 1, "b"));
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_store_add_index(store, KI_INDEX_NAMESPACE, store_tags_index, NULL), KI_ERR_INVALID);
    assert_int_equal(store_count_by_index(store, "tags", "a"), 1);
    assert_int_equal(store_count_by_index(store, "tags", "b"), 2);
    store_put(store, store_object("ns", "one", 2, "a"));
    assert_int_equal(store_count_by_index(store, "tags", "b"), 1);
    store_end(store);
}

static void a_failed_index_function_is_counted(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "bad", 1, "!"));
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    assert_int_equal(ki_store_index_failures(store), 1);
    store_put(store, store_object("ns", "bad", 2, "!"));
    assert_int_equal(ki_store_index_failures(store), 2);
    assert_int_equal(store_version_at(store, "ns", "bad"), 2);
    assert_int_equal(store_count_by_index(store, KI_INDEX_NAMESPACE, "ns"), 1);
    store_assert_sound(store);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/bad")), 0);
    store_end(store);
}

typedef struct failure_log {
    int lines;
    char key[64];
    char message[128];
} failure_log;

static void note_failure(const ki_log_record *record, void *user)
{
    failure_log *log = user;
    log->lines++;
    for (size_t i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].name, "key") == 0)
            snprintf(log->key, sizeof(log->key), "%.*s", KI_STR_ARGS(record->fields[i].value));
    snprintf(log->message, sizeof(log->message), "%s", record->message);
}

static void a_failed_index_function_is_logged_at_growing_intervals(void **state)
{
    (void)state;
    failure_log log = {0};
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    ki_set_log(note_failure, KI_LOG_WARNING, &log);
    store_put(store, store_object("ns", "good", 1, "a"));
    assert_int_equal(log.lines, 0);
    store_put(store, store_object("ns", "bad", 1, "!"));
    assert_int_equal(log.lines, 1);
    assert_string_equal(log.key, "ns/bad");
    for (uint64_t i = 2; i <= 1000; i++)
        store_put(store, store_object("ns", "bad", i, "!"));
    assert_int_equal(log.lines, 10);
    assert_non_null(strstr(log.message, "512 times"));
    ki_set_log(NULL, KI_LOG_WARNING, NULL);
    store_end(store);
}

static void peek_one_gives_the_newest(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "nine", 9, ""));
    store_put(store, store_object("ns", "hundred", 100, ""));
    store_put(store, store_object("ns", "ten", 10, ""));
    ki_read_lock();
    assert_int_equal(store_object_version(ki_store_peek_one(store, KI_INDEX_NAMESPACE, KI_STR("ns"))), 100);
    ki_read_unlock();
    store_end(store);
}

/* Calls the store it belongs to, which an index function should not do. */
static int nosy(const ki_object *object, ki_index_emit *emit, void *user)
{
    ki_store *store = user;
    ki_object_list list = {0};
    (void)emit;
    assert_int_equal(ki_store_list(store, &list), KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(ki_store_put(store, object), KI_ERR_WOULD_DEADLOCK);
    assert_null(ki_store_get(store, KI_STR("ns"), KI_STR("other")));
    return 0;
}

static void an_index_function_cannot_deadlock(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index(store, "nosy", nosy, store), 0);
    store_put(store, store_object("ns", "one", 1, ""));
    store_end(store);
}

/* ---- replace --------------------------------------------------------------------------------------- */

static void replace_sets_the_whole_content(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    ki_object *objects[] = {store_object("ns", "two", 5, "b"), store_object("ns", "three", 1, "!"),
                            store_object("ns", "two", 6, "c")};
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    store_put(store, store_object("ns", "one", 1, "a"));
    store_put(store, store_object("ns", "two", 1, "a"));
    assert_int_equal(ki_store_replace(store, objects, 3), 0);
    assert_int_equal(ki_store_count(store), 2);
    assert_int_equal(store_version_at(store, "ns", "one"), 0);
    assert_int_equal(store_version_at(store, "ns", "two"), 6);
    assert_int_equal(store_count_by_index(store, "tags", "a"), 0);
    assert_int_equal(store_count_by_index(store, "tags", "b"), 0);
    assert_int_equal(store_count_by_index(store, "tags", "c"), 1);
    assert_int_equal(ki_store_index_failures(store), 1);
    for (size_t i = 0; i < 3; i++)
        (void)ki_object_unref(objects[i]);
    store_end(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_put_object_is_found_by_its_key),
        WITH_MEMORY_CHECK(a_put_replaces_the_object_with_the_same_key),
        WITH_MEMORY_CHECK(putting_the_same_object_again_changes_nothing),
        WITH_MEMORY_CHECK(a_removed_object_is_gone),
        WITH_MEMORY_CHECK(a_reference_outlives_the_store),
        WITH_MEMORY_CHECK(peek_works_only_in_a_read_section),
        WITH_MEMORY_CHECK(unescaped_text_does_not_change_the_byte_count),
        WITH_MEMORY_CHECK(keys_too_long_are_refused),
        WITH_MEMORY_CHECK(mistakes_are_refused),
        WITH_MEMORY_CHECK(lists_hold_references),
        WITH_MEMORY_CHECK(keys_and_values_are_sorted),
        WITH_MEMORY_CHECK(an_unknown_index_is_an_error),
        WITH_MEMORY_CHECK(an_index_added_later_contains_existing_objects),
        WITH_MEMORY_CHECK(a_failed_index_function_is_counted),
        WITH_MEMORY_CHECK(a_failed_index_function_is_logged_at_growing_intervals),
        WITH_MEMORY_CHECK(peek_one_gives_the_newest),
        WITH_MEMORY_CHECK(an_index_function_cannot_deadlock),
        WITH_MEMORY_CHECK(replace_sets_the_whole_content),
    };
    return RUN_TESTS(tests);
}
