/* SPDX-License-Identifier: Apache-2.0 */
#include "store/table.h"

#include <kinformer/error.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/table_check.h"
#include "support/unit.h"
#include "util/random.h"

enum { KEYS = 500 };

/* An entry. Each key has two versions; the test chooses the hash. */
typedef struct thing {
    uint64_t key;
    uint64_t hash;
    int version;
} thing;

static uint64_t hash_thing(const void *entry, const void *user)
{
    (void)user;
    return ((const thing *)entry)->hash;
}

static bool has_key(const void *entry, const void *what, const void *user)
{
    (void)user;
    return ((const thing *)entry)->key == *(const uint64_t *)what;
}

static bool same_key(const void *entry, const void *other, const void *user)
{
    (void)user;
    return ((const thing *)entry)->key == ((const thing *)other)->key;
}

typedef struct fixture {
    ki_table table;
    ki_reclaim reclaim;
    ki_table_owner owner;
    thing things[2][KEYS];
    thing *model[KEYS]; /* the version in the table, or NULL */
} fixture;

static void fixture_init(fixture *f, uint64_t hash_values)
{
    memset(f, 0, sizeof(*f));
    ki_reclaim_init(&f->reclaim, SIZE_MAX);
    f->owner = (ki_table_owner){hash_thing, NULL, &f->reclaim};
    for (uint64_t key = 0; key < KEYS; key++)
        for (int version = 0; version < 2; version++)
            f->things[version][key] = (thing){key, (key * 0x9e3779b97f4a7c15u >> 8) % hash_values, version};
}

static void fixture_fini(fixture *f)
{
    ki_table_fini(&f->table);
    ki_reclaim_fini(&f->reclaim);
}

static thing *find(const fixture *f, uint64_t key)
{
    return ki_table_find(&f->table, &(ki_table_key){f->things[0][key].hash, has_key, &key, NULL});
}

static uint32_t *note_of(fixture *f, uint64_t key)
{
    return ki_table_note(&f->table, f->model[key]->hash, f->model[key]);
}

/* The table has space. The note stays until the entry is removed. */
static void insert_reserved(fixture *f, uint64_t key)
{
    uint32_t *note = ki_table_insert(&f->table, f->things[0][key].hash, &f->things[0][key]);
    f->model[key] = &f->things[0][key];
    assert_ptr_equal(note, note_of(f, key));
    assert_int_equal(*note, 0);
    *note_of(f, key) = (uint32_t)key + 1;
}

static void insert(fixture *f, uint64_t key)
{
    assert_int_equal(ki_table_reserve(&f->table, 1, &f->owner), 0);
    insert_reserved(f, key);
}

static void replace(fixture *f, uint64_t key)
{
    thing *old = f->model[key];
    f->model[key] = &f->things[1 - old->version][key];
    uint32_t *note = ki_table_replace(&f->table, old->hash, old, f->model[key]);
    assert_ptr_equal(note, note_of(f, key));
}

static void take_out(fixture *f, uint64_t key)
{
    ki_table_remove(&f->table, f->model[key]->hash, f->model[key], &f->owner);
    f->model[key] = NULL;
}

static void assert_as_model(fixture *f)
{
    const char *wrong = table_check(&f->table);
    size_t count = 0;
    if (wrong != NULL)
        fail_msg("%s", wrong);
    for (uint64_t key = 0; key < KEYS; key++) {
        assert_ptr_equal(find(f, key), f->model[key]);
        count += f->model[key] != NULL;
        assert_true(f->model[key] == NULL || *note_of(f, key) == key + 1);
    }
    assert_int_equal(f->table.count, count);
}

/* ---- one behaviour each ---------------------------------------------------------------------------- */

static void an_empty_table_finds_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    assert_as_model(&f);
    fixture_fini(&f);
}

static void one_entry_needs_no_allocation(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    insert(&f, 7);
    assert_as_model(&f);
    replace(&f, 7);
    assert_as_model(&f);
    assert_int_equal(failing_allocator_live_count(), 0);
    take_out(&f, 7);
    assert_as_model(&f);
    fixture_fini(&f);
}

static void removing_the_last_entry_frees_the_array(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    for (uint64_t key = 0; key < 20; key++)
        insert(&f, key);
    for (uint64_t key = 0; key < 20; key++)
        take_out(&f, key);
    ki_reclaim_flush(&f.reclaim);
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_as_model(&f);
    fixture_fini(&f);
}

static void a_key_added_and_removed_repeatedly_uses_one_slot(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    for (uint64_t key = 0; key < 10; key++)
        insert(&f, key);
    size_t before = failing_allocator_attempts();
    for (int i = 0; i < 1000; i++) {
        take_out(&f, 3);
        insert(&f, 3);
    }
    assert_int_equal(failing_allocator_attempts(), before);
    assert_as_model(&f);
    fixture_fini(&f);
}

static void tombstones_do_not_fill_the_table(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    insert(&f, 0);
    insert(&f, 1);
    for (uint64_t round = 0; round < 20; round++) {
        for (uint64_t key = 2; key < KEYS; key++) {
            insert(&f, key);
            take_out(&f, key);
        }
        ki_reclaim_flush(&f.reclaim);
    }
    assert_as_model(&f);
    assert_true(failing_allocator_live_bytes() < 1000);
    fixture_fini(&f);
}

static void an_array_that_is_far_too_large_is_freed(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    for (uint64_t key = 0; key < KEYS; key++)
        insert(&f, key);
    for (uint64_t key = 3; key < KEYS; key++)
        take_out(&f, key);
    ki_reclaim_flush(&f.reclaim);
    assert_as_model(&f);
    assert_true(failing_allocator_live_bytes() < 1000);
    fixture_fini(&f);
}

static void random_changes_agree_with_a_model(void **state)
{
    (void)state;
    static const uint64_t hash_values[] = {1, 7, 100, UINT64_MAX};
    ki_random random;
    ki_random_init(&random, 42);
    for (size_t i = 0; i < sizeof(hash_values) / sizeof(hash_values[0]); i++) {
        fixture f;
        fixture_init(&f, hash_values[i]);
        for (int step = 0; step < 4000; step++) {
            /* The range changes, so that the table grows and shrinks. */
            uint64_t key = ki_random_below(&random, step / 500 % 2 == 0 ? 8 : KEYS);
            if (f.model[key] == NULL)
                insert(&f, key);
            else if (ki_random_below(&random, 2) == 0)
                replace(&f, key);
            else
                take_out(&f, key);
            if (step % 37 == 0)
                assert_as_model(&f);
        }
        assert_as_model(&f);
        fixture_fini(&f);
    }
}

static void when_out_of_memory_reserve_changes_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 50);
    for (uint64_t key = 0; key < 3; key++)
        insert(&f, key);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_table_reserve(&f.table, 1000, &f.owner), KI_ERR_NO_MEMORY);
    assert_as_model(&f);
    failing_allocator_fail_at(0);
    assert_int_equal(ki_table_reserve(&f.table, KEYS, &f.owner), 0);
    size_t before = failing_allocator_attempts();
    for (uint64_t key = 3; key < KEYS; key++) {
        insert_reserved(&f, key);
    }
    assert_int_equal(failing_allocator_attempts(), before);
    assert_as_model(&f);
    fixture_fini(&f);
}

static void when_out_of_memory_the_large_array_stays(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    for (uint64_t key = 0; key < KEYS; key++)
        insert(&f, key);
    for (uint64_t key = 2; key < KEYS; key++) {
        failing_allocator_fail_at(1);
        take_out(&f, key);
    }
    assert_as_model(&f);
    fixture_fini(&f);
}

static void a_table_that_is_too_large_is_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    assert_int_equal(ki_table_reserve(&f.table, (size_t)1 << 40, &f.owner), KI_ERR_NO_MEMORY);
    assert_as_model(&f);
    fixture_fini(&f);
}

/* ---- walks ----------------------------------------------------------------------------------------- */

typedef struct walk_state {
    fixture *f;
    int seen[KEYS];
    const thing *last[KEYS];
    int visits;
    int (*meanwhile)(struct walk_state *walk);
} walk_state;

static int visit(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    walk_state *walk = user;
    const thing *t = entry;
    walk->seen[t->key]++;
    walk->last[t->key] = t;
    walk->visits++;
    return walk->meanwhile == NULL ? 0 : walk->meanwhile(walk);
}

static int run_walk(walk_state *walk)
{
    return ki_table_visit(&walk->f->table, &(ki_table_walk){visit, walk, same_key, NULL});
}

static void a_walk_sees_each_entry_once(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 10);
    walk_state walk = {.f = &f};
    for (uint64_t key = 0; key < KEYS; key += 3)
        insert(&f, key);
    take_out(&f, 0);
    assert_int_equal(run_walk(&walk), 0);
    for (uint64_t key = 0; key < KEYS; key++)
        assert_int_equal(walk.seen[key], f.model[key] != NULL);
    fixture_fini(&f);
}

static int stop_at_three(walk_state *walk)
{
    return walk->visits == 3 ? 17 : 0;
}

static void a_walk_returns_what_the_visit_returns(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    walk_state walk = {.f = &f, .meanwhile = stop_at_three};
    for (uint64_t key = 0; key < 10; key++)
        insert(&f, key);
    assert_int_equal(run_walk(&walk), 17);
    assert_int_equal(walk.visits, 3);
    fixture_fini(&f);
}

/* After ten entries the table is moved, then some entries are removed, some changed and some added. */
static int change_everything(walk_state *walk)
{
    fixture *f = walk->f;
    if (walk->visits != 10)
        return 0;
    for (uint64_t key = KEYS / 2; key < KEYS; key++)
        insert(f, key);
    for (uint64_t key = 0; key < 50; key++)
        take_out(f, key);
    for (uint64_t key = 50; key < 100; key++)
        replace(f, key);
    return 0;
}

static void a_walk_over_a_moved_table_sees_each_remaining_entry_once(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, UINT64_MAX);
    walk_state before = {.f = &f};
    walk_state walk = {.f = &f, .meanwhile = change_everything};
    for (uint64_t key = 0; key < KEYS / 2; key++)
        insert(&f, key);
    assert_int_equal(run_walk(&before), 0);
    assert_int_equal(run_walk(&walk), 0);
    int gone = 0;
    for (uint64_t key = 0; key < KEYS / 2; key++) {
        assert_true(walk.seen[key] <= 1);
        gone += walk.seen[key];
        if (key >= 50)
            assert_int_equal(walk.seen[key], 1);
        if (key >= 100)
            assert_ptr_equal(walk.last[key], f.model[key]);
    }
    assert_true(gone < KEYS / 2); /* at most ten of the fifty removed entries were seen before */
    assert_as_model(&f);
    fixture_fini(&f);
}

/* ---- filled from another table ---------------------------------------------------------------------- */

enum { MANY = 4800, LOOKS_MAX = 8 };

typedef struct copy_state {
    ki_table table;
    ki_table_owner owner;
    uint64_t looks; /* slots read to find each entry when it was added */
} copy_state;

static uint64_t looks_for(const ki_table *table, uint64_t hash, const void *entry)
{
    ki_table_array *array = atomic_load(&((ki_table *)table)->content);
    if (ki_table_single(array) != NULL)
        return 1;
    uint64_t i = ki_table_home(array, hash);
    uint64_t looks = 1;
    for (; atomic_load(&array->slots[i].entry) != entry; i = (i + 1) & array->mask)
        looks++;
    return looks;
}

static int copy_one(void *entry, uint32_t hash, void *user)
{
    copy_state *copy = user;
    assert_int_equal(ki_table_reserve(&copy->table, 1, &copy->owner), 0);
    ki_table_insert(&copy->table, hash, entry);
    copy->looks += looks_for(&copy->table, hash, entry);
    return 0;
}

/* This is how an index is filled that is added late. The sizes cover all loads that an array can have. */
static void a_table_filled_in_the_order_of_another_probes_little(void **state)
{
    (void)state;
    static thing things[MANY];
    ki_random random;
    ki_reclaim reclaim;
    ki_random_init(&random, 1);
    ki_reclaim_init_private(&reclaim);
    for (uint64_t key = 0; key < MANY; key++)
        things[key] = (thing){key, ki_random_next(&random), 0};
    for (uint64_t count = MANY / 2; count <= MANY; count += MANY / 16) {
        copy_state first = {.owner = {hash_thing, NULL, &reclaim}};
        copy_state second = first;
        for (uint64_t key = 0; key < count; key++)
            (void)copy_one(&things[key], (uint32_t)things[key].hash, &first);
        assert_int_equal(ki_table_visit(&first.table, &(ki_table_walk){.visit = copy_one, .user = &second}),
                         0);
        assert_int_equal(second.table.count, count);
        assert_true(first.looks < LOOKS_MAX * count);
        assert_true(second.looks < LOOKS_MAX * count);
        ki_table_fini(&first.table);
        ki_table_fini(&second.table);
    }
    ki_reclaim_fini(&reclaim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_empty_table_finds_nothing),
        WITH_MEMORY_CHECK(one_entry_needs_no_allocation),
        WITH_MEMORY_CHECK(removing_the_last_entry_frees_the_array),
        WITH_MEMORY_CHECK(a_key_added_and_removed_repeatedly_uses_one_slot),
        WITH_MEMORY_CHECK(tombstones_do_not_fill_the_table),
        WITH_MEMORY_CHECK(an_array_that_is_far_too_large_is_freed),
        WITH_MEMORY_CHECK(random_changes_agree_with_a_model),
        WITH_MEMORY_CHECK(when_out_of_memory_reserve_changes_nothing),
        WITH_MEMORY_CHECK(when_out_of_memory_the_large_array_stays),
        WITH_MEMORY_CHECK(a_table_that_is_too_large_is_refused),
        WITH_MEMORY_CHECK(a_walk_sees_each_entry_once),
        WITH_MEMORY_CHECK(a_walk_returns_what_the_visit_returns),
        WITH_MEMORY_CHECK(a_walk_over_a_moved_table_sees_each_remaining_entry_once),
        WITH_MEMORY_CHECK(a_table_filled_in_the_order_of_another_probes_little),
    };
    return RUN_TESTS(tests);
}
