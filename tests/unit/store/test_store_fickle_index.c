/* SPDX-License-Identifier: Apache-2.0 */
/* Index functions that emit different values for an object when it is removed. Whatever they emit, no index
 * refers to an object that was removed from the store. The tests read every object that the index refers to,
 * so an address sanitizer reports those that are already freed. */
#include <kinformer/error.h>
#include <kinformer/log.h>
#include <kinformer/store.h>
#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "support/failing_allocator.h"
#include "support/store/store_flush.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/random.h"

enum { KEYS = 24, VALUES = 40, STEPS = 1500 };

/* What the function emits for an object that is removed.
 * An object that is added is indexed under its tags. */
typedef enum mind {
    ANYTHING, /* also for objects that are added */
    NOTHING,
    A_PART,
    OTHERS,
    MORE,
    FAILS,
    HAS_NO_MEMORY,
    FAILS_SOMETIMES, /* also for objects that are added */
    MINDS
} mind;

typedef struct fickle {
    mind mind;
    ki_random random;
    const ki_object *coming; /* all others are removed */
} fickle;

static int say_anything(fickle *f, ki_index_emit *emit)
{
    char value[16];
    for (uint64_t n = ki_random_below(&f->random, 4); n > 0; n--) {
        snprintf(value, sizeof(value), "v%d", (int)ki_random_below(&f->random, VALUES));
        if (ki_index_emit_value(emit, ki_str_of(value)) < 0)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

static int say_when_it_leaves(fickle *f, const ki_object *object, ki_index_emit *emit)
{
    switch (f->mind) {
    case NOTHING:
        return 0;
    case A_PART:
        return ki_index_emit_value(emit, KI_STR("all"));
    case OTHERS:
        return ki_index_emit_value(emit, KI_STR("other"));
    case MORE:
        (void)store_tags_index(object, emit, NULL);
        return ki_index_emit_value(emit, KI_STR("more"));
    case HAS_NO_MEMORY:
        return KI_ERR_NO_MEMORY;
    default:
        return KI_ERR_TYPE;
    }
}

static int fickle_index(const ki_object *object, ki_index_emit *emit, void *user)
{
    fickle *f = user;
    if (f->mind == ANYTHING)
        return say_anything(f, emit);
    if (f->mind == FAILS_SOMETIMES)
        return ki_random_below(&f->random, 2) == 0 ? KI_ERR_TYPE : store_tags_index(object, emit, NULL);
    return object == f->coming ? store_tags_index(object, emit, NULL) : say_when_it_leaves(f, object, emit);
}

/* ---- what the index refers to ------------------------------------------------------------------------ */

static int is_in_the_store(const ki_object *object, void *user)
{
    ki_store *store = user;
    assert_ptr_equal(ki_store_peek_key(store, ki_object_key_str(object)), object);
    return 0;
}

static size_t count_values(ki_store *store)
{
    ki_str_list values = {0};
    assert_int_equal(ki_store_list_values(store, "fickle", &values), 0);
    for (size_t i = 0; i < values.count; i++)
        assert_int_equal(ki_store_walk_index(store, "fickle", values.texts[i], is_in_the_store, store), 0);
    size_t count = values.count;
    ki_str_list_fini(&values);
    return count;
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static ki_object *some_object(fickle *f, uint64_t number, uint64_t version)
{
    char name[16];
    char tags[64];
    snprintf(name, sizeof(name), "n%d", (int)number);
    snprintf(tags, sizeof(tags), "all,v%d,v%d", (int)ki_random_below(&f->random, VALUES),
             (int)ki_random_below(&f->random, VALUES));
    return store_object("ns", name, version, version % 5 == 0 ? "" : tags);
}

static void change_one(ki_store *store, fickle *f, uint64_t version)
{
    char key[16];
    uint64_t number = ki_random_below(&f->random, KEYS);
    snprintf(key, sizeof(key), "ns/n%d", (int)number);
    if (ki_random_below(&f->random, 3) > 0) {
        ki_object *object = some_object(f, number, version);
        f->coming = object;
        store_put(store, object);
        f->coming = NULL;
    } else {
        int rc = ki_store_remove(store, ki_str_of(key));
        assert_true(rc == 0 || rc == KI_ERR_NOT_FOUND);
    }
}

static void remove_all(ki_store *store)
{
    char key[16];
    for (int number = 0; number < KEYS; number++) {
        snprintf(key, sizeof(key), "ns/n%d", number);
        int rc = ki_store_remove(store, ki_str_of(key));
        assert_true(rc == 0 || rc == KI_ERR_NOT_FOUND);
    }
    assert_int_equal(ki_store_count(store), 0);
}

static ki_store *store_with(fickle *f, mind m)
{
    ki_store *store = store_begin();
    *f = (fickle){.mind = m};
    ki_random_init(&f->random, 100 + (uint64_t)m);
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    assert_int_equal(ki_store_add_index(store, "fickle", fickle_index, f), 0);
    return store;
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static void no_index_refers_to_a_removed_object(void **state)
{
    (void)state;
    for (int m = 0; m < MINDS; m++) {
        fickle f;
        ki_store *store = store_with(&f, (mind)m);
        for (uint64_t step = 1; step <= STEPS; step++) {
            change_one(store, &f, step);
            if (step % 16 == 0)
                store_flush(store); /* frees removed objects */
            (void)count_values(store);
        }
        remove_all(store);
        store_flush(store);
        assert_int_equal(count_values(store), 0);
        store_end(store);
    }
}

static void a_late_index_that_fails_leaves_other_indexes_unchanged(void **state)
{
    (void)state;
    fickle f;
    ki_store *store = store_with(&f, NOTHING);
    for (uint64_t step = 1; step <= 200; step++)
        change_one(store, &f, step);
    uint64_t failures = ki_store_index_failures(store);
    size_t n = 1;
    for (int rc = KI_ERR_NO_MEMORY; rc == KI_ERR_NO_MEMORY; n += 7) {
        failing_allocator_fail_at(n);
        rc = ki_store_add_index(store, "late", store_tags_index, NULL);
        failing_allocator_fail_at(0);
        assert_int_equal(ki_store_index_failures(store), failures);
    }
    assert_true(n > 8);
    remove_all(store);
    assert_int_equal(count_values(store), 0);
    store_end(store);
}

static void a_replace_with_each_key_twice_is_safe(void **state)
{
    (void)state;
    fickle f;
    ki_store *store = store_with(&f, ANYTHING);
    for (uint64_t round = 0; round < 20; round++) {
        ki_object *objects[2 * KEYS];
        for (uint64_t i = 0; i < 2 * KEYS;
             i++) /* each key twice: the second object replaces the first at once */
            objects[i] = some_object(&f, i % KEYS, round * 100 + i);
        assert_int_equal(ki_store_replace(store, objects, 2 * KEYS), 0);
        for (size_t i = 0; i < 2 * KEYS; i++)
            (void)ki_object_unref(objects[i]);
        (void)count_values(store);
    }
    remove_all(store);
    assert_int_equal(count_values(store), 0);
    store_end(store);
}

/* ---- counting and logging ---------------------------------------------------------------------------- */

static void keep_last(const ki_log_record *record, void *user)
{
    char *text = user;
    size_t n = (size_t)snprintf(text, 300, "%s", record->message);
    for (size_t i = 0; i < record->field_count; i++)
        n += (size_t)snprintf(text + n, 300 - n, " %s=%.*s", record->fields[i].name,
                              KI_STR_ARGS(record->fields[i].value));
}

static uint64_t failures_of(mind m, char *last_line)
{
    fickle f;
    ki_store *store = store_with(&f, m);
    ki_object *object = store_object("ns", "n1", 1, "all,v1");
    f.coming = object;
    store_put(store, object);
    f.coming = NULL;
    last_line[0] = 0;
    ki_set_log(keep_last, KI_LOG_WARNING, last_line);
    assert_int_equal(ki_store_remove(store, KI_STR("ns/n1")), 0);
    ki_set_log(NULL, KI_LOG_WARNING, NULL);
    uint64_t failures = ki_store_index_failures(store);
    store_end(store);
    return failures;
}

static void a_function_that_emits_other_values_is_counted_and_logged(void **state)
{
    (void)state;
    static const mind minds[] = {NOTHING, A_PART, OTHERS, MORE, FAILS};
    char line[300];
    for (size_t i = 0; i < sizeof(minds) / sizeof(minds[0]); i++) {
        assert_int_equal(failures_of(minds[i], line), 1);
        assert_string_equal(line, "index functions have failed 1 times in all, the last one: it emitted "
                                  "different values for the same object index=fickle key=ns/n1");
    }
}

static void running_out_of_memory_in_a_removal_is_not_a_failure(void **state)
{
    (void)state;
    char line[300];
    assert_int_equal(failures_of(HAS_NO_MEMORY, line), 0);
    assert_string_equal(line, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(no_index_refers_to_a_removed_object),
        WITH_MEMORY_CHECK(a_late_index_that_fails_leaves_other_indexes_unchanged),
        WITH_MEMORY_CHECK(a_replace_with_each_key_twice_is_safe),
        WITH_MEMORY_CHECK(a_function_that_emits_other_values_is_counted_and_logged),
        WITH_MEMORY_CHECK(running_out_of_memory_in_a_removal_is_not_a_failure),
    };
    return RUN_TESTS(tests);
}
