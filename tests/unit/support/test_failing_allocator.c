/* SPDX-License-Identifier: Apache-2.0 */
#include "support/failing_allocator.h"

#include <stdalign.h>
#include <string.h>

#include "support/unit.h"
#include "util/alloc.h"
#include "util/thread.h"

static void only_the_nth_allocation_fails(void **state)
{
    (void)state;
    failing_allocator_fail_at(2);
    void *first = ki_malloc(1);
    assert_false(failing_allocator_has_failed());
    void *second = ki_malloc(1);
    assert_true(failing_allocator_has_failed());
    void *third = ki_malloc(1);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(failing_allocator_attempts(), 3);
    ki_free(first);
    ki_free(third);
}

static void a_failed_reallocation_leaves_the_block(void **state)
{
    (void)state;
    char *memory = ki_malloc(4);
    assert_non_null(memory);
    memcpy(memory, "abc", 4);
    failing_allocator_fail_at(1);
    assert_null(ki_realloc(memory, 8));
    assert_string_equal(memory, "abc");
    assert_int_equal(failing_allocator_live_bytes(), 4);
    ki_free(memory);
}

static void a_reallocation_moves_and_keeps_the_bytes(void **state)
{
    (void)state;
    char *memory = ki_malloc(4);
    assert_non_null(memory);
    memcpy(memory, "abc", 4);
    char *moved = ki_realloc(memory, 400);
    assert_non_null(moved);
    assert_string_equal(moved, "abc");
    moved = ki_realloc(moved, 2);
    assert_non_null(moved);
    assert_memory_equal(moved, "ab", 2);
    assert_int_equal(failing_allocator_live_count(), 1);
    assert_int_equal(failing_allocator_live_bytes(), 2);
    ki_free(moved);
}

static void live_counts_follow_allocations(void **state)
{
    (void)state;
    void *a = ki_malloc(10);
    void *b = ki_malloc(20);
    assert_int_equal(failing_allocator_live_count(), 2);
    assert_int_equal(failing_allocator_live_bytes(), 30);
    ki_free(a);
    assert_int_equal(failing_allocator_live_bytes(), 20);
    ki_free(b);
    assert_int_equal(failing_allocator_live_count(), 0);
}

static void blocks_are_aligned_for_any_type(void **state)
{
    (void)state;
    void *memory = ki_malloc(1);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
    ki_free(memory);
}

static void the_teardown_fails_while_a_block_is_live(void **state)
{
    void *memory = ki_malloc(1);
    assert_non_null(memory);
    int with_a_leak = failing_allocator_teardown(state);
    failing_allocator_install();
    ki_free(memory);
    failing_allocator_install(); /* counts restart at zero, so that block no longer counts */
    assert_int_not_equal(with_a_leak, 0);
}

static void allocate_and_free(void *user)
{
    (void)user;
    for (size_t size = 1; size <= 1000; size++)
        ki_free(ki_malloc(size));
}

static void counts_hold_with_several_threads(void **state)
{
    (void)state;
    ki_thread threads[4];
    ki_thread_options options = {.name = "allocate", .run = allocate_and_free};
    for (int i = 0; i < 4; i++)
        assert_int_equal(ki_thread_start(&threads[i], &options, NULL), 0);
    for (int i = 0; i < 4; i++)
        ki_thread_join(&threads[i]);
    assert_int_equal(failing_allocator_attempts(), 4000);
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_int_equal(failing_allocator_live_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(only_the_nth_allocation_fails),
        WITH_MEMORY_CHECK(a_failed_reallocation_leaves_the_block),
        WITH_MEMORY_CHECK(a_reallocation_moves_and_keeps_the_bytes),
        WITH_MEMORY_CHECK(live_counts_follow_allocations),
        WITH_MEMORY_CHECK(blocks_are_aligned_for_any_type),
        WITH_MEMORY_CHECK(the_teardown_fails_while_a_block_is_live),
        WITH_MEMORY_CHECK(counts_hold_with_several_threads),
    };
    return RUN_TESTS(tests);
}
