/* SPDX-License-Identifier: Apache-2.0 */
#include "util/map.h"

#include <kinformer/error.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/list.h"
#include "util/random.h"

typedef struct thing {
    int number;
    int is_in;
    ki_map_node node;
} thing;

static int has_number(const ki_map_node *node, const void *key)
{
    return KI_CONTAINER_OF(node, thing, node)->number == *(const int *)key;
}

static thing *find(const ki_map *map, uint64_t hash, int number)
{
    ki_map_node *node = ki_map_find(map, hash, has_number, &number);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, thing, node);
}

/* The hash of each thing is its number. */
static void insert_all(ki_map *map, thing *things, int count)
{
    for (int i = 0; i < count; i++) {
        things[i] = (thing){.number = i, .is_in = 1};
        assert_int_equal(ki_map_insert(map, &things[i].node, (uint64_t)i), 0);
    }
}

static void assert_finds_what_is_in(const ki_map *map, thing *things, int count)
{
    size_t in = 0;
    for (int i = 0; i < count; i++) {
        assert_ptr_equal(find(map, (uint64_t)i, i), things[i].is_in ? &things[i] : NULL);
        in += things[i].is_in ? 1u : 0u;
    }
    assert_int_equal(map->count, in);
}

static void an_empty_map_finds_nothing(void **state)
{
    (void)state;
    ki_map map;
    ki_map_init(&map);
    assert_null(find(&map, 1, 1));
    assert_int_equal(map.count, 0);
    assert_int_equal(failing_allocator_live_count(), 0);
    ki_map_fini(&map);
}

static void fini_accepts_a_zeroed_map(void **state)
{
    (void)state;
    ki_map map = {0};
    ki_map_fini(&map);
    assert_int_equal(map.count, 0);
}

static void fini_leaves_a_map_that_can_be_filled_again(void **state)
{
    (void)state;
    ki_map map;
    thing things[40];
    ki_map_init(&map);
    insert_all(&map, things, 40);
    ki_map_fini(&map);
    assert_null(find(&map, 3, 3));
    insert_all(&map, things, 3);
    assert_finds_what_is_in(&map, things, 3);
    ki_map_fini(&map);
}

static void things_with_the_same_hash_are_distinguished_by_their_keys(void **state)
{
    (void)state;
    ki_map map;
    thing things[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    ki_map_init(&map);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ki_map_insert(&map, &things[i].node, 77), 0);
    ki_map_remove(&map, &things[1].node);
    assert_ptr_equal(find(&map, 77, 1), &things[0]);
    assert_null(find(&map, 77, 2));
    assert_ptr_equal(find(&map, 77, 3), &things[2]);
    ki_map_fini(&map);
}

static void a_thing_is_found_by_its_own_hash_only(void **state)
{
    (void)state;
    ki_map map;
    thing only = {.number = 1};
    ki_map_init(&map);
    assert_int_equal(ki_map_insert(&map, &only.node, 5), 0);
    assert_null(find(&map, 5 + (1ull << 40), 1));
    assert_ptr_equal(find(&map, 5, 1), &only);
    ki_map_fini(&map);
}

enum { THINGS = 1000 };

static void a_map_that_grows_keeps_its_content(void **state)
{
    (void)state;
    ki_map map;
    thing things[THINGS];
    ki_map_init(&map);
    insert_all(&map, things, THINGS);
    assert_finds_what_is_in(&map, things, THINGS);
    assert_true(map.bucket_count >= THINGS);
    ki_map_fini(&map);
}

static void a_map_frees_memory_when_few_things_are_left(void **state)
{
    (void)state;
    ki_map map;
    thing things[THINGS];
    ki_map_init(&map);
    insert_all(&map, things, THINGS);
    size_t bytes = failing_allocator_live_bytes();
    for (int i = 0; i < THINGS - 3; i++) {
        things[i].is_in = 0;
        ki_map_remove(&map, &things[i].node);
    }
    assert_finds_what_is_in(&map, things, THINGS);
    assert_true(failing_allocator_live_bytes() <= bytes / 16);
    ki_map_fini(&map);
}

static void adding_and_removing_one_thing_does_not_resize_each_time(void **state)
{
    (void)state;
    ki_map map;
    thing things[THINGS];
    ki_map_init(&map);
    insert_all(&map, things, THINGS);
    for (int i = THINGS - 1; i > 0; i--) {
        ki_map_remove(&map, &things[i].node);
        failing_allocator_fail_at(0);
        for (int again = 0; again < 3; again++) {
            assert_int_equal(ki_map_insert(&map, &things[i].node, (uint64_t)i), 0);
            ki_map_remove(&map, &things[i].node);
        }
        assert_true(failing_allocator_attempts() <= 1);
    }
    ki_map_fini(&map);
}

static void when_out_of_memory_the_first_insert_fails_and_changes_nothing(void **state)
{
    (void)state;
    ki_map map;
    thing only = {.number = 1};
    ki_map_init(&map);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_map_insert(&map, &only.node, 1), KI_ERR_NO_MEMORY);
    assert_int_equal(map.count, 0);
    assert_null(find(&map, 1, 1));
    assert_int_equal(ki_map_insert(&map, &only.node, 1), 0);
    assert_ptr_equal(find(&map, 1, 1), &only);
    ki_map_fini(&map);
}

/* When the map grows or shrinks, every allocation except the first may fail unnoticed. */
static void a_map_that_cannot_be_resized_still_works(void **state)
{
    (void)state;
    for (size_t n = 2;; n++) {
        ki_map map;
        thing things[200];
        ki_map_init(&map);
        failing_allocator_fail_at(n);
        insert_all(&map, things, 200);
        for (int i = 0; i < 190; i++) {
            things[i].is_in = 0;
            ki_map_remove(&map, &things[i].node);
        }
        assert_finds_what_is_in(&map, things, 200);
        ki_map_fini(&map);
        if (!failing_allocator_has_failed())
            return;
    }
}

static void filling_reserved_space_does_not_resize_a_map(void **state)
{
    (void)state;
    ki_map map;
    thing things[200];
    ki_map_init(&map);
    ki_map_reserve(&map, 200);
    size_t bucket_count = map.bucket_count;
    assert_true(bucket_count >= 200);
    insert_all(&map, things, 200);
    assert_int_equal(map.bucket_count, bucket_count);
    ki_map_reserve(&map, 10);
    assert_int_equal(map.bucket_count, bucket_count);
    assert_finds_what_is_in(&map, things, 200);
    ki_map_fini(&map);
}

static void reserved_space_is_kept_when_things_are_removed(void **state)
{
    (void)state;
    ki_map map;
    thing things[200];
    ki_map_init(&map);
    ki_map_reserve(&map, 20);
    size_t bucket_count = map.bucket_count;
    insert_all(&map, things, 200);
    assert_true(map.bucket_count > bucket_count);
    for (size_t i = 0; i < 200; i++)
        ki_map_remove(&map, &things[i].node);
    assert_int_equal(map.bucket_count, bucket_count);
    ki_map_fini(&map);
}

static void a_map_whose_reserve_fails_still_works(void **state)
{
    (void)state;
    ki_map map;
    thing things[200];
    ki_map_init(&map);
    failing_allocator_fail_at(1);
    ki_map_reserve(&map, 200);
    assert_int_equal(map.bucket_count, 0);
    insert_all(&map, things, 200);
    assert_finds_what_is_in(&map, things, 200);
    ki_map_fini(&map);
}

/* There are few hashes, so many things share a bucket and some share a hash. */
static void a_map_agrees_with_a_plain_array_after_random_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        ki_random random;
        ki_map map;
        thing things[THINGS] = {{.number = 0}};
        size_t in = 0;
        ki_random_init(&random, seed);
        ki_map_init(&map);
        for (int step = 0; step < 5000; step++) {
            int i = (int)ki_random_below(&random, step < 2500 ? THINGS : THINGS / 50);
            uint64_t hash = (uint64_t)i / 3 * 0x9e3779b97f4a7c15u;
            if (find(&map, hash, i) != (things[i].is_in ? &things[i] : NULL))
                fail_msg("seed %d: step %d finds the wrong thing", (int)seed, step);
            things[i].number = i;
            if (things[i].is_in)
                ki_map_remove(&map, &things[i].node);
            else
                assert_int_equal(ki_map_insert(&map, &things[i].node, hash), 0);
            things[i].is_in = !things[i].is_in;
            in = things[i].is_in ? in + 1 : in - 1;
            if (map.count != in)
                fail_msg("seed %d: step %d counts %zu, not %zu", (int)seed, step, map.count, in);
        }
        ki_map_fini(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_empty_map_finds_nothing),
        WITH_MEMORY_CHECK(fini_accepts_a_zeroed_map),
        WITH_MEMORY_CHECK(fini_leaves_a_map_that_can_be_filled_again),
        WITH_MEMORY_CHECK(things_with_the_same_hash_are_distinguished_by_their_keys),
        WITH_MEMORY_CHECK(a_thing_is_found_by_its_own_hash_only),
        WITH_MEMORY_CHECK(a_map_that_grows_keeps_its_content),
        WITH_MEMORY_CHECK(a_map_frees_memory_when_few_things_are_left),
        WITH_MEMORY_CHECK(adding_and_removing_one_thing_does_not_resize_each_time),
        WITH_MEMORY_CHECK(when_out_of_memory_the_first_insert_fails_and_changes_nothing),
        WITH_MEMORY_CHECK(a_map_that_cannot_be_resized_still_works),
        WITH_MEMORY_CHECK(filling_reserved_space_does_not_resize_a_map),
        WITH_MEMORY_CHECK(reserved_space_is_kept_when_things_are_removed),
        WITH_MEMORY_CHECK(a_map_whose_reserve_fails_still_works),
        WITH_MEMORY_CHECK(a_map_agrees_with_a_plain_array_after_random_changes),
    };
    return RUN_TESTS(tests);
}
