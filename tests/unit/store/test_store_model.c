/* SPDX-License-Identifier: Apache-2.0 */
/* Random changes of a store, compared with a plain array; and each change again with every allocation failing
 * in turn. */
#include <kinformer/error.h>
#include <kinformer/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/store_check.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/random.h"

enum {
    NAMESPACES = 3,
    NAMES = 12,
    KEYS = NAMESPACES * NAMES,
    TAGS = 4,
    VARIANTS = 8,
    SEEDS = 60,
    STEPS = 150
};

static const char *const namespaces[NAMESPACES] = {"", "default", "kube-system"};
static const char *const tags[TAGS] = {"", "a", "b", "\xe4\xb8\xad"};
static const char *const variants[VARIANTS] = {"",      "a",       "b,a",   ",\xe4\xb8\xad",
                                               "a,a,a", "b,,b,a,", "!fail", "\xe4\xb8\xad,a,b,"};

/* What must be in the store. The model holds its own references. */
typedef struct model {
    ki_store *store;
    ki_object *objects[KEYS];
    bool has_tags;
    uint64_t version;
    ki_random random;
    uint64_t seed;
} model;

static void model_init(model *m, uint64_t seed)
{
    *m = (model){.store = ki_store_new(NULL, NULL), .seed = seed};
    assert_non_null(m->store);
    ki_random_init(&m->random, seed);
}

static void model_fini(model *m)
{
    for (int i = 0; i < KEYS; i++)
        (void)ki_object_unref(m->objects[i]);
    ki_store_free(m->store);
}

static size_t pick(model *m, size_t bound)
{
    return (size_t)ki_random_below(&m->random, bound);
}

static const char *key_of(size_t key, char *buffer, size_t bytes)
{
    const char *ns = namespaces[key / NAMES];
    snprintf(buffer, bytes, "%s%sname-%zu", ns, ns[0] == 0 ? "" : "/", key % NAMES);
    return buffer;
}

static ki_object *random_object(model *m, size_t key)
{
    char name[32];
    snprintf(name, sizeof(name), "name-%zu", key % NAMES);
    return store_object(namespaces[key / NAMES], name, ++m->version, variants[pick(m, VARIANTS)]);
}

/* ---- comparing ------------------------------------------------------------------------------------- */

#define expect(m, condition)                                                                                 \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("seed %llu, version %llu: %s", (unsigned long long)(m)->seed,                           \
                     (unsigned long long)(m)->version, #condition);                                          \
    } while (0)

static void compare_objects(model *m)
{
    size_t count = 0;
    ki_read_lock();
    for (size_t key = 0; key < KEYS; key++) {
        char buffer[64];
        const ki_object *found = ki_store_peek_key(m->store, ki_str_of(key_of(key, buffer, sizeof(buffer))));
        expect(m, found == m->objects[key]);
        count += m->objects[key] != NULL;
    }
    ki_read_unlock();
    expect(m, ki_store_count(m->store) == count);
}

static bool is_in(const model *m, const ki_object *object)
{
    for (size_t key = 0; key < KEYS; key++)
        if (m->objects[key] == object)
            return true;
    return false;
}

static void compare_list(model *m, const char *index, const char *value, size_t expected)
{
    ki_object_list list = {0};
    ki_str_list keys = {0};
    expect(m, ki_store_list_index(m->store, index, ki_str_of(value), &list) == 0);
    expect(m, ki_store_list_keys_index(m->store, index, ki_str_of(value), &keys) == 0);
    expect(m, list.count == expected && keys.count == expected);
    for (size_t i = 0; i < list.count; i++)
        expect(m, is_in(m, list.objects[i]));
    for (size_t i = 1; i < keys.count; i++)
        expect(m, ki_str_compare(keys.texts[i - 1], keys.texts[i]) < 0);
    ki_object_list_fini(&list);
    ki_str_list_fini(&keys);
}

static void compare_indexes(model *m)
{
    for (size_t i = 0; i < NAMESPACES; i++) {
        size_t expected = 0;
        for (size_t key = i * NAMES; key < (i + 1) * NAMES; key++)
            expected += m->objects[key] != NULL;
        compare_list(m, KI_INDEX_NAMESPACE, namespaces[i], expected);
    }
    for (size_t i = 0; i < TAGS && m->has_tags; i++) {
        size_t expected = 0;
        for (size_t key = 0; key < KEYS; key++)
            expected += m->objects[key] != NULL && store_object_has_tag(m->objects[key], ki_str_of(tags[i]));
        compare_list(m, "tags", tags[i], expected);
    }
}

static void compare(model *m)
{
    ki_error err = {0};
    if (store_check(m->store, &err) < 0)
        fail_msg("seed %llu, version %llu: %s", (unsigned long long)m->seed, (unsigned long long)m->version,
                 err.message);
    compare_objects(m);
    compare_indexes(m);
}

/* ---- steps ----------------------------------------------------------------------------------------- */

/* Each step returns the store's result and, on success, changes the model accordingly. */
static int step_put(model *m)
{
    size_t key = pick(m, KEYS);
    ki_object *object = random_object(m, key);
    int rc = ki_store_put(m->store, object);
    if (rc == 0) {
        (void)ki_object_unref(m->objects[key]);
        m->objects[key] = object;
    } else {
        (void)ki_object_unref(object);
    }
    return rc;
}

static int step_remove(model *m)
{
    char buffer[64];
    size_t key = pick(m, KEYS);
    int rc = ki_store_remove(m->store, ki_str_of(key_of(key, buffer, sizeof(buffer))));
    expect(m, rc == (m->objects[key] == NULL ? KI_ERR_NOT_FOUND : 0));
    m->objects[key] = ki_object_unref(m->objects[key]);
    return 0;
}

/* Some objects stay, some are new, some are removed. */
static int step_replace(model *m)
{
    ki_object *objects[KEYS] = {NULL};
    ki_object *content[KEYS] = {NULL};
    size_t count = 0;
    size_t density = pick(m, 4) + 1;
    for (size_t key = 0; key < KEYS; key++) {
        size_t choice = pick(m, density);
        if (choice == 0)
            objects[key] = ki_object_ref(m->objects[key]);
        else if (choice == 1)
            objects[key] = random_object(m, key);
        if (objects[key] != NULL)
            content[count++] = objects[key];
    }
    int rc = ki_store_replace(m->store, content, count);
    for (size_t key = 0; key < KEYS; key++) {
        (void)ki_object_unref(rc == 0 ? m->objects[key] : objects[key]);
        if (rc == 0)
            m->objects[key] = objects[key];
    }
    return rc;
}

static int step_add_index(model *m)
{
    int rc = ki_store_add_index(m->store, "tags", store_tags_index, NULL);
    if (m->has_tags) {
        expect(m, rc == KI_ERR_INVALID);
        return 0;
    }
    m->has_tags = rc == 0;
    return rc;
}

typedef int (*step)(model *m);

static step random_step(model *m)
{
    size_t choice = pick(m, 40);
    return choice == 0 ? step_replace : choice == 1 ? step_add_index : choice < 26 ? step_put : step_remove;
}

static void random_changes_agree_with_a_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        model m;
        model_init(&m, seed);
        for (int i = 0; i < STEPS; i++) {
            step next = random_step(&m);
            expect(&m, next(&m) == 0);
            compare(&m);
        }
        model_fini(&m);
    }
}

/* ---- out of memory --------------------------------------------------------------------------------- */

/* The object was created before, so only allocations of the store count. */
static int put_with_failure(model *m, ki_object *object, size_t n, bool *out_has_failed)
{
    failing_allocator_fail_at(n);
    int rc = ki_store_put(m->store, object);
    *out_has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    return rc;
}

static void a_put_that_runs_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        model m;
        model_init(&m, seed);
        assert_int_equal(step_add_index(&m), 0);
        for (int i = 0; i < 60; i++) {
            size_t key = pick(&m, KEYS);
            ki_object *object = random_object(&m, key);
            bool has_failed = true;
            for (size_t n = 1; has_failed; n++) {
                int rc = put_with_failure(&m, object, n, &has_failed);
                expect(&m, rc == 0 || (rc == KI_ERR_NO_MEMORY && has_failed));
                if (rc == 0) {
                    has_failed = false; /* the put succeeded without the failed allocation */
                    (void)ki_object_unref(m.objects[key]);
                    m.objects[key] = object;
                }
                compare(&m);
            }
            if (pick(&m, 3) == 0)
                (void)step_remove(&m);
        }
        model_fini(&m);
    }
}

static void a_remove_never_runs_out_of_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n < 8; n++) {
        model m;
        model_init(&m, n);
        assert_int_equal(step_add_index(&m), 0);
        for (int i = 0; i < 100; i++)
            assert_int_equal(step_put(&m), 0);
        for (int i = 0; i < 100; i++) {
            failing_allocator_fail_at(n);
            assert_int_equal(step_remove(&m), 0);
            failing_allocator_fail_at(0);
            compare(&m);
        }
        model_fini(&m);
    }
}

/* The objects are created before, so only allocations of the store count. */
static void a_replace_that_runs_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    model m;
    model_init(&m, 5);
    assert_int_equal(step_add_index(&m), 0);
    for (int i = 0; i < 40; i++)
        assert_int_equal(step_put(&m), 0);
    ki_object *objects[KEYS];
    for (size_t key = 0; key < KEYS; key++)
        objects[key] = random_object(&m, key);
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        failing_allocator_fail_at(n);
        int rc = ki_store_replace(m.store, objects, KEYS);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        expect(&m, rc == (has_failed ? KI_ERR_NO_MEMORY : 0));
        if (has_failed)
            compare(&m);
    }
    for (size_t key = 0; key < KEYS; key++) {
        (void)ki_object_unref(m.objects[key]);
        m.objects[key] = objects[key];
    }
    compare(&m);
    model_fini(&m);
}

static void an_index_that_runs_out_of_memory_is_not_added(void **state)
{
    (void)state;
    model m;
    model_init(&m, 6);
    for (int i = 0; i < 60; i++)
        assert_int_equal(step_put(&m), 0);
    for (size_t n = 1; !m.has_tags; n++) {
        failing_allocator_fail_at(n);
        int rc = step_add_index(&m);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        expect(&m, rc == (has_failed ? KI_ERR_NO_MEMORY : 0));
        compare(&m);
    }
    model_fini(&m);
}

static void a_list_that_runs_out_of_memory_is_empty(void **state)
{
    (void)state;
    model m;
    model_init(&m, 7);
    ki_object_list list = {0};
    ki_str_list texts = {0};
    for (int i = 0; i < 60; i++)
        assert_int_equal(step_put(&m), 0);
    for (size_t n = 1; n <= 2; n++) {
        failing_allocator_fail_at(n);
        assert_int_equal(ki_store_list_keys(m.store, &texts), KI_ERR_NO_MEMORY);
        failing_allocator_fail_at(n);
        assert_int_equal(ki_store_list_keys_index(m.store, KI_INDEX_NAMESPACE, KI_STR("default"), &texts),
                         KI_ERR_NO_MEMORY);
    }
    failing_allocator_fail_at(1);
    assert_int_equal(ki_store_list(m.store, &list), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_store_list_values(m.store, KI_INDEX_NAMESPACE, &texts), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_null(list.objects);
    assert_null(texts.texts);
    model_fini(&m);
}

static void a_store_that_runs_out_of_memory_is_not_created(void **state)
{
    (void)state;
    ki_store *store = NULL;
    for (size_t n = 1; store == NULL; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        store = ki_store_new(NULL, &err);
        assert_int_equal(err.code, store == NULL ? KI_ERR_NO_MEMORY : 0);
        assert_true(store != NULL || failing_allocator_live_count() == 0);
    }
    failing_allocator_fail_at(0);
    ki_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(random_changes_agree_with_a_model),
        WITH_MEMORY_CHECK(a_put_that_runs_out_of_memory_changes_nothing),
        WITH_MEMORY_CHECK(a_remove_never_runs_out_of_memory),
        WITH_MEMORY_CHECK(a_replace_that_runs_out_of_memory_changes_nothing),
        WITH_MEMORY_CHECK(an_index_that_runs_out_of_memory_is_not_added),
        WITH_MEMORY_CHECK(a_list_that_runs_out_of_memory_is_empty),
        WITH_MEMORY_CHECK(a_store_that_runs_out_of_memory_is_not_created),
    };
    return RUN_TESTS(tests);
}
