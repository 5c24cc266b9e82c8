/* SPDX-License-Identifier: Apache-2.0 */
#include "store/index.h"

#include <kinformer/error.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/loop/rcu.h"

typedef struct fixture {
    ki_index *index;
    ki_keyer keyer;
    ki_reclaim reclaim;
} fixture;

static void fixture_init(fixture *f, ki_index_cb callback, void *user)
{
    memset(f, 0, sizeof(*f));
    ki_hash_key_init_seeded(&f->keyer.secret, 1);
    ki_reclaim_init(&f->reclaim, SIZE_MAX);
    f->index = ki_index_new(KI_STR("tags"), &(ki_index_function){.callback = callback, .user = user});
    assert_non_null(f->index);
}

static void fixture_fini(fixture *f)
{
    ki_index_free(f->index);
    ki_reclaim_fini(&f->reclaim);
}

static ki_index_change change_of(fixture *f, const ki_object *former, ki_object *fresh)
{
    const ki_object *object = former != NULL ? former : fresh;
    return (ki_index_change){.former = former,
                             .fresh = fresh,
                             .hash = ki_keyer_hash_object(object, &f->keyer),
                             .keyer = &f->keyer,
                             .reclaim = &f->reclaim};
}

static void apply(fixture *f, const ki_object *former, ki_object *fresh)
{
    ki_index_change change = change_of(f, former, fresh);
    assert_int_equal(ki_index_prepare(f->index, &change), 0);
    (void)ki_index_commit(f->index, &change);
}

/* Removes an object that is indexed under this many values, as the store does. */
static void remove_from(fixture *f, const ki_object *object, size_t postings)
{
    ki_index_change change = change_of(f, object, NULL);
    assert_int_equal(ki_index_prepare(f->index, &change), 0);
    size_t left = ki_index_commit(f->index, &change);
    assert_int_equal(left + (left == postings ? 0 : ki_index_purge(f->index, &change)), postings);
}

static size_t count_under(const fixture *f, const char *value)
{
    const ki_posting *posting = ki_index_find(f->index, ki_str_of(value), &f->keyer);
    return posting == NULL ? 0 : posting->objects.count;
}

static int is_under(const fixture *f, const ki_object *object, const char *value)
{
    const ki_posting *posting = ki_index_find(f->index, ki_str_of(value), &f->keyer);
    return posting != NULL &&
           ki_table_contains(&posting->objects, ki_keyer_hash_object(object, &f->keyer), object);
}

/* ---- one behaviour each ---------------------------------------------------------------------------- */

static void an_object_moves_with_its_value(void **state)
{
    (void)state;
    fixture f;
    ki_object *one = store_object("a", "one", 1, "");
    ki_object *newer = store_object("a", "one", 2, "");
    ki_object *moved = store_object("b", "one", 3, "");
    fixture_init(&f, NULL, NULL);
    f.index->function.field = ki_object_namespace;
    apply(&f, NULL, one);
    ki_index_expect(f.index, newer, ki_keyer_hash_object(newer, &f.keyer), &f.keyer);
    apply(&f, one, newer);
    assert_int_equal(count_under(&f, "a"), 1);
    assert_true(is_under(&f, newer, "a"));
    ki_index_change change = change_of(&f, newer, moved); /* with the hash of the former key */
    assert_int_equal(ki_index_prepare(f.index, &change), 0);
    ki_index_commit(f.index, &change);
    assert_int_equal(count_under(&f, "a"), 0);
    assert_int_equal(count_under(&f, "b"), 1);
    fixture_fini(&f);
    (void)ki_object_unref(one);
    (void)ki_object_unref(newer);
    (void)ki_object_unref(moved);
}

static void an_object_is_listed_once_under_each_value(void **state)
{
    (void)state;
    fixture f;
    ki_object *object = store_object("ns", "one", 1, "a,b,a,,b");
    fixture_init(&f, store_tags_index, NULL);
    apply(&f, NULL, object);
    assert_int_equal(count_under(&f, "a"), 1);
    assert_int_equal(count_under(&f, "b"), 1);
    assert_int_equal(count_under(&f, ""), 1);
    assert_int_equal(f.index->postings.count, 3);
    fixture_fini(&f);
    (void)ki_object_unref(object);
}

static void an_update_changes_only_values_that_differ(void **state)
{
    (void)state;
    fixture f;
    ki_object *old = store_object("ns", "one", 1, "stays,goes");
    ki_object *fresh = store_object("ns", "one", 2, "comes,stays");
    fixture_init(&f, store_tags_index, NULL);
    apply(&f, NULL, old);
    const ki_posting *stays = ki_index_find(f.index, KI_STR("stays"), &f.keyer);
    apply(&f, old, fresh);
    assert_ptr_equal(ki_index_find(f.index, KI_STR("stays"), &f.keyer), stays);
    assert_true(is_under(&f, fresh, "stays"));
    assert_true(is_under(&f, fresh, "comes"));
    assert_false(is_under(&f, old, "stays"));
    assert_null(ki_index_find(f.index, KI_STR("goes"), &f.keyer));
    fixture_fini(&f);
    (void)ki_object_unref(old);
    (void)ki_object_unref(fresh);
}

static void an_empty_posting_disappears(void **state)
{
    (void)state;
    fixture f;
    ki_object *object = store_object("ns", "one", 1, "a,b");
    fixture_init(&f, store_tags_index, NULL);
    apply(&f, NULL, object);
    apply(&f, object, NULL);
    assert_int_equal(f.index->postings.count, 0);
    fixture_fini(&f);
    (void)ki_object_unref(object);
}

static void a_cancelled_change_leaves_no_trace(void **state)
{
    (void)state;
    fixture f;
    ki_object *object = store_object("ns", "one", 1, "a,b");
    fixture_init(&f, store_tags_index, NULL);
    ki_index_change change = change_of(&f, NULL, object);
    assert_int_equal(ki_index_prepare(f.index, &change), 0);
    ki_index_cancel(f.index);
    assert_int_equal(f.index->postings.count, 0);
    assert_null(ki_index_find(f.index, KI_STR("a"), &f.keyer));
    fixture_fini(&f);
    (void)ki_object_unref(object);
}

static void a_refused_object_is_remembered_until_it_is_removed(void **state)
{
    (void)state;
    fixture f;
    ki_object *bad = store_object("ns", "one", 1, "!");
    ki_object *worse = store_object("ns", "one", 2, "!!");
    ki_object *good = store_object("ns", "one", 3, "a");
    fixture_init(&f, store_tags_index, NULL);
    apply(&f, NULL, bad);
    apply(&f, bad, worse);
    assert_int_equal(f.index->refused.count, 1);
    apply(&f, worse, good);
    assert_int_equal(f.index->refused.count, 0);
    assert_true(is_under(&f, good, "a"));
    apply(&f, good, bad);
    assert_int_equal(f.index->refused.count, 1);
    assert_int_equal(f.index->postings.count, 0);
    apply(&f, bad, NULL);
    assert_int_equal(f.index->refused.count, 0);
    fixture_fini(&f);
    (void)ki_object_unref(bad);
    (void)ki_object_unref(worse);
    (void)ki_object_unref(good);
}

/* Emits the value that `user` points at, or fails if it is NULL.
 * An index function must not change its result like this. */
static int fickle(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    const char *const *value = user;
    return *value == NULL ? KI_ERR_TYPE : ki_index_emit_value(emit, ki_str_of(*value));
}

static void no_pointer_remains_when_the_function_emits_other_values(void **state)
{
    (void)state;
    static const char *const minds[] = {"other", NULL};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        const char *value = "first";
        ki_object *object = store_object("ns", "one", 1, "");
        fixture_init(&f, fickle, &value);
        apply(&f, NULL, object);
        value = minds[i];
        remove_from(&f, object, 1);
        assert_true(f.index->plan->is_contradicted);
        assert_int_equal(f.index->postings.count, 0);
        fixture_fini(&f);
        (void)ki_object_unref(object);
    }
}

/* Ignores the error, so the index must notice it. */
static int careless(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)user;
    (void)ki_index_emit_value(emit, KI_STR("a value of some length"));
    (void)ki_index_emit_value(emit, KI_STR("another"));
    return 0;
}

static void a_value_that_cannot_be_allocated_fails_the_change(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fixture f;
        ki_object *object = store_object("ns", "one", 1, "");
        fixture_init(&f, careless, NULL);
        ki_index_change change = change_of(&f, NULL, object);
        failing_allocator_fail_at(n);
        int rc = ki_index_prepare(f.index, &change);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        if (has_failed) {
            assert_int_equal(rc, KI_ERR_NO_MEMORY);
            ki_index_cancel(f.index);
            assert_int_equal(f.index->postings.count, 0);
        } else {
            assert_int_equal(ki_index_new_postings(f.index), 2);
            (void)ki_index_commit(f.index, &change);
            assert_int_equal(f.index->postings.count, 2);
        }
        fixture_fini(&f);
        (void)ki_object_unref(object);
        if (!has_failed)
            break;
    }
}

static void a_removal_needs_no_memory(void **state)
{
    (void)state;
    fixture f;
    ki_object *object = store_object("ns", "one", 1, "a,b,c,d,e");
    fixture_init(&f, store_tags_index, NULL);
    apply(&f, NULL, object);
    for (size_t n = 1; n < 4; n++) {
        failing_allocator_fail_at(n);
        remove_from(&f, object, 5);
        assert_false(f.index->plan->is_contradicted);
        failing_allocator_fail_at(0);
        assert_int_equal(f.index->postings.count, 0);
        apply(&f, NULL, object);
    }
    fixture_fini(&f);
    (void)ki_object_unref(object);
}

static int endless(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)user;
    int rc = 0;
    while (rc == 0)
        rc = ki_index_emit_value(emit, KI_STR(""));
    return rc;
}

static void a_function_that_emits_too_much_is_refused(void **state)
{
    (void)state;
    fixture f;
    ki_object *object = store_object("ns", "one", 1, "");
    fixture_init(&f, endless, NULL);
    apply(&f, NULL, object);
    assert_int_equal(f.index->refused.count, 1);
    fixture_fini(&f);
    (void)ki_object_unref(object);
}

static int remember_section(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)emit;
    *(bool *)user = ki_rcu_is_reading();
    return 0;
}

static void the_function_runs_in_a_read_section(void **state)
{
    (void)state;
    fixture f;
    bool was_reading = false;
    ki_object *object = store_object("ns", "one", 1, "");
    fixture_init(&f, remember_section, &was_reading);
    apply(&f, NULL, object);
    assert_true(was_reading);
    assert_false(ki_rcu_is_reading());
    fixture_fini(&f);
    (void)ki_object_unref(object);
}

static void a_posting_with_thousands_of_objects_is_emptied_one_by_one(void **state)
{
    (void)state;
    enum { OBJECTS = 3000 };
    fixture f;
    static ki_object *objects[OBJECTS];
    fixture_init(&f, store_tags_index, NULL);
    for (int i = 0; i < OBJECTS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "o%d", i);
        objects[i] = store_object("ns", name, 1, "all");
        apply(&f, NULL, objects[i]);
    }
    assert_int_equal(count_under(&f, "all"), OBJECTS);
    for (int i = 0; i < OBJECTS; i++) {
        assert_true(is_under(&f, objects[i], "all"));
        apply(&f, objects[i], NULL);
        (void)ki_object_unref(objects[i]);
    }
    assert_int_equal(f.index->postings.count, 0);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_object_is_listed_once_under_each_value),
        WITH_MEMORY_CHECK(an_object_moves_with_its_value),
        WITH_MEMORY_CHECK(an_update_changes_only_values_that_differ),
        WITH_MEMORY_CHECK(an_empty_posting_disappears),
        WITH_MEMORY_CHECK(a_cancelled_change_leaves_no_trace),
        WITH_MEMORY_CHECK(a_refused_object_is_remembered_until_it_is_removed),
        WITH_MEMORY_CHECK(no_pointer_remains_when_the_function_emits_other_values),
        WITH_MEMORY_CHECK(a_value_that_cannot_be_allocated_fails_the_change),
        WITH_MEMORY_CHECK(a_removal_needs_no_memory),
        WITH_MEMORY_CHECK(a_function_that_emits_too_much_is_refused),
        WITH_MEMORY_CHECK(the_function_runs_in_a_read_section),
        WITH_MEMORY_CHECK(a_posting_with_thousands_of_objects_is_emptied_one_by_one),
    };
    return RUN_TESTS(tests);
}
