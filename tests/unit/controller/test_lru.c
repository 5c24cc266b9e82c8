/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lru.h"

#include "support/failing_allocator.h"
#include "support/unit.h"

typedef struct item {
    ki_lru_node node;
    int value;
} item;

static int dropped;

static void drop(ki_lru_node *node)
{
    dropped += ((item *)node)->value;
}

static ki_lru_key key(uint64_t n)
{
    return (ki_lru_key){n, ~n};
}

static void add(ki_lru *lru, uint64_t n, int value)
{
    ki_lru_node *node = ki_lru_add(lru, key(n));
    assert_non_null(node);
    assert_int_equal(((item *)node)->value, 0);
    ((item *)node)->value = value;
}

static void the_least_recently_used_item_is_removed(void **state)
{
    (void)state;
    ki_lru lru;
    dropped = 0;
    ki_lru_init(&lru, sizeof(item), 3, drop);
    add(&lru, 1, 10);
    add(&lru, 2, 20);
    add(&lru, 3, 30);
    assert_non_null(ki_lru_find(&lru, key(1)));
    add(&lru, 4, 40);
    assert_int_equal(dropped, 20);
    assert_null(ki_lru_find(&lru, key(2)));
    assert_int_equal(((item *)ki_lru_find(&lru, key(1)))->value, 10);
    assert_int_equal(((item *)ki_lru_oldest(&lru))->value, 30);
    ki_lru_remove(&lru, ki_lru_oldest(&lru));
    assert_int_equal(dropped, 50);
    ki_lru_fini(&lru);
    assert_int_equal(dropped, 100);
}

static void keys_that_share_half_of_their_bits_differ(void **state)
{
    (void)state;
    ki_lru lru;
    ki_lru_init(&lru, sizeof(item), 3, NULL);
    assert_non_null(ki_lru_add(&lru, (ki_lru_key){7, 1}));
    assert_null(ki_lru_find(&lru, (ki_lru_key){7, 2}));
    assert_non_null(ki_lru_find(&lru, (ki_lru_key){7, 1}));
    ki_lru_fini(&lru);
}

static void when_out_of_memory_the_oldest_item_is_removed_early(void **state)
{
    (void)state;
    ki_lru lru;
    dropped = 0;
    ki_lru_init(&lru, sizeof(item), 8, drop);
    failing_allocator_fail_at(1);
    assert_null(ki_lru_add(&lru, key(1)));
    failing_allocator_fail_at(2); /* the buckets */
    assert_null(ki_lru_add(&lru, key(1)));
    failing_allocator_fail_at(0);
    add(&lru, 1, 1);
    add(&lru, 2, 2);
    failing_allocator_fail_at(1);
    add(&lru, 3, 3);
    assert_int_equal(dropped, 1);
    assert_null(ki_lru_find(&lru, key(1)));
    assert_non_null(ki_lru_find(&lru, key(3)));
    ki_lru_fini(&lru);
}

static void a_zeroed_cache_can_be_finished(void **state)
{
    (void)state;
    ki_lru lru = {0};
    ki_lru_fini(&lru);
    assert_int_equal(lru.map.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_least_recently_used_item_is_removed),
        WITH_MEMORY_CHECK(keys_that_share_half_of_their_bits_differ),
        WITH_MEMORY_CHECK(when_out_of_memory_the_oldest_item_is_removed_early),
        WITH_MEMORY_CHECK(a_zeroed_cache_can_be_finished),
    };
    return RUN_TESTS(tests);
}
