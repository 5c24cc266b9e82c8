/* SPDX-License-Identifier: Apache-2.0 */
#include "util/heap.h"

#include <kinformer/error.h>
#include <stdlib.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/list.h"
#include "util/random.h"

typedef struct timer {
    uint64_t due;
    ki_heap_node node;
} timer;

static timer *timer_of(const ki_heap_node *node)
{
    return KI_CONTAINER_OF(node, timer, node);
}

static int compare_due(const ki_heap_node *a, const ki_heap_node *b, void *user)
{
    if (user != NULL)
        ++*(int *)user;
    uint64_t x = timer_of(a)->due;
    uint64_t y = timer_of(b)->due;
    return (x > y) - (x < y);
}

static uint64_t pop_due(ki_heap *heap)
{
    ki_heap_node *node = ki_heap_pop(heap);
    assert_non_null(node);
    return timer_of(node)->due;
}

static void an_empty_heap_has_no_first(void **state)
{
    (void)state;
    ki_heap heap;
    ki_heap_init(&heap, 4, compare_due, NULL);
    assert_null(ki_heap_first(&heap));
    assert_null(ki_heap_pop(&heap));
    ki_heap_fini(&heap);
}

static void the_smallest_is_first_and_stays_in_the_heap(void **state)
{
    (void)state;
    ki_heap heap;
    timer late = {.due = 9};
    timer early = {.due = 3};
    ki_heap_init(&heap, 4, compare_due, NULL);
    assert_int_equal(ki_heap_push(&heap, &late.node), 0);
    assert_int_equal(ki_heap_push(&heap, &early.node), 0);
    assert_ptr_equal(ki_heap_first(&heap), &early.node);
    assert_int_equal(heap.count, 2);
    ki_heap_fini(&heap);
}

static void compare_gets_its_user_pointer(void **state)
{
    (void)state;
    ki_heap heap;
    timer timers[2] = {{.due = 1}, {.due = 2}};
    int calls = 0;
    ki_heap_init(&heap, 4, compare_due, &calls);
    assert_int_equal(ki_heap_push(&heap, &timers[0].node), 0);
    assert_int_equal(ki_heap_push(&heap, &timers[1].node), 0);
    assert_true(calls > 0);
    ki_heap_fini(&heap);
}

static void update_moves_a_node_either_way(void **state)
{
    (void)state;
    ki_heap heap;
    timer timers[3] = {{.due = 10}, {.due = 20}, {.due = 30}};
    ki_heap_init(&heap, 4, compare_due, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ki_heap_push(&heap, &timers[i].node), 0);
    timers[2].due = 5;
    ki_heap_update(&heap, &timers[2].node);
    assert_ptr_equal(ki_heap_first(&heap), &timers[2].node);
    timers[2].due = 15;
    ki_heap_update(&heap, &timers[2].node);
    assert_int_equal(pop_due(&heap), 10);
    assert_int_equal(pop_due(&heap), 15);
    assert_int_equal(pop_due(&heap), 20);
    ki_heap_fini(&heap);
}

static void a_removed_node_may_be_removed_again_and_pushed_again(void **state)
{
    (void)state;
    ki_heap heap;
    timer only = {.due = 1};
    ki_heap_init(&heap, 4, compare_due, NULL);
    assert_int_equal(ki_heap_push(&heap, &only.node), 0);
    ki_heap_remove(&heap, &only.node);
    assert_false(ki_heap_node_is_linked(&only.node));
    ki_heap_remove(&heap, &only.node);
    assert_int_equal(heap.count, 0);
    assert_int_equal(ki_heap_push(&heap, &only.node), 0);
    assert_int_equal(pop_due(&heap), 1);
    ki_heap_fini(&heap);
}

static void push_stops_at_the_maximum_and_continues_below_it(void **state)
{
    (void)state;
    ki_heap heap;
    timer timers[19] = {{.due = 0}};
    ki_heap_init(&heap, 18, compare_due, NULL);
    for (int i = 0; i < 18; i++)
        assert_int_equal(ki_heap_push(&heap, &timers[i].node), 0);
    assert_int_equal(ki_heap_push(&heap, &timers[18].node), KI_ERR_TOO_LARGE);
    assert_false(ki_heap_node_is_linked(&timers[18].node));
    assert_non_null(ki_heap_pop(&heap));
    assert_int_equal(ki_heap_push(&heap, &timers[18].node), 0);
    ki_heap_fini(&heap);
}

static void when_out_of_memory_push_fails_and_changes_nothing(void **state)
{
    (void)state;
    ki_heap heap;
    timer timers[64];
    ki_heap_init(&heap, 64, compare_due, NULL);
    failing_allocator_fail_at(2);
    int pushed = 0;
    int rc = 0;
    for (; pushed < 64; pushed++) {
        timers[pushed] = (timer){.due = (uint64_t)(64 - pushed)};
        rc = ki_heap_push(&heap, &timers[pushed].node);
        if (rc < 0)
            break;
    }
    assert_int_equal(rc, KI_ERR_NO_MEMORY);
    assert_false(ki_heap_node_is_linked(&timers[pushed].node));
    assert_int_equal(heap.count, pushed);
    assert_int_equal(ki_heap_push(&heap, &timers[pushed].node), 0);
    assert_int_equal(pop_due(&heap), 64 - pushed);
    ki_heap_fini(&heap);
}

static void a_push_after_a_reserve_needs_no_memory(void **state)
{
    (void)state;
    ki_heap heap;
    timer timers[40];
    ki_heap_init(&heap, 64, compare_due, NULL);
    assert_int_equal(ki_heap_reserve(&heap, 40), 0);
    assert_int_equal(heap.count, 0);
    failing_allocator_fail_at(1);
    for (int i = 0; i < 40; i++) {
        timers[i] = (timer){.due = (uint64_t)(40 - i)};
        assert_int_equal(ki_heap_push(&heap, &timers[i].node), 0);
    }
    assert_int_equal(failing_allocator_attempts(), 0);
    assert_int_equal(pop_due(&heap), 1);
    ki_heap_fini(&heap);
}

static void reserving_one_place_more_each_time_is_cheap(void **state)
{
    (void)state;
    ki_heap heap;
    ki_heap_init(&heap, 1000, compare_due, NULL);
    failing_allocator_fail_at(0);
    for (size_t count = 1; count <= 1000; count++)
        assert_int_equal(ki_heap_reserve(&heap, count), 0);
    assert_in_range(failing_allocator_attempts(), 1, 10);
    ki_heap_fini(&heap);
}

static void reserve_fails_above_the_maximum_and_when_out_of_memory(void **state)
{
    (void)state;
    ki_heap heap;
    timer only = {.due = 1};
    ki_heap_init(&heap, 20, compare_due, NULL);
    assert_int_equal(ki_heap_push(&heap, &only.node), 0);
    assert_int_equal(ki_heap_reserve(&heap, 21), KI_ERR_TOO_LARGE);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_heap_reserve(&heap, 20), KI_ERR_NO_MEMORY);
    assert_int_equal(ki_heap_reserve(&heap, 20), 0);
    assert_int_equal(heap.capacity, 20);
    assert_int_equal(pop_due(&heap), 1);
    ki_heap_fini(&heap);
}

static void fini_removes_the_nodes_from_the_heap(void **state)
{
    (void)state;
    ki_heap heap;
    timer only = {.due = 1};
    ki_heap_init(&heap, 4, compare_due, NULL);
    assert_int_equal(ki_heap_push(&heap, &only.node), 0);
    ki_heap_fini(&heap);
    assert_false(ki_heap_node_is_linked(&only.node));
    assert_int_equal(heap.count, 0);
}

static void fini_accepts_a_zeroed_heap(void **state)
{
    (void)state;
    ki_heap heap = {0};
    ki_heap_fini(&heap);
    assert_int_equal(heap.count, 0);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { TIMERS = 300 };

static void push_all(ki_heap *heap, timer *timers, ki_random *random)
{
    ki_heap_init(heap, TIMERS, compare_due, NULL);
    for (int i = 0; i < TIMERS; i++) {
        timers[i] = (timer){.due = ki_random_below(random, 100)};
        assert_int_equal(ki_heap_push(heap, &timers[i].node), 0);
    }
}

/* Removes about a third of the timers and changes about a third.
 * The remaining times are written to `out_dues`, sorted. */
static size_t disturb(ki_heap *heap, timer *timers, ki_random *random, uint64_t *out_dues)
{
    size_t left = 0;
    for (int i = 0; i < TIMERS; i++) {
        uint64_t choice = ki_random_below(random, 3);
        if (choice == 0) {
            ki_heap_remove(heap, &timers[i].node);
            continue;
        }
        if (choice == 1) {
            timers[i].due = ki_random_below(random, 100);
            ki_heap_update(heap, &timers[i].node);
        }
        out_dues[left++] = timers[i].due;
    }
    qsort(out_dues, left, sizeof(out_dues[0]), compare_numbers);
    return left;
}

static void heap_pops_in_order_after_random_removals_and_updates(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        ki_random random;
        ki_heap heap;
        timer timers[TIMERS];
        uint64_t expected[TIMERS];
        ki_random_init(&random, seed);
        push_all(&heap, timers, &random);
        size_t left = disturb(&heap, timers, &random, expected);
        if (heap.count != left)
            fail_msg("seed %d: %zu left, not %zu", (int)seed, heap.count, left);
        for (size_t i = 0; i < left; i++)
            if (pop_due(&heap) != expected[i])
                fail_msg("seed %d: wrong at %zu", (int)seed, i);
        ki_heap_fini(&heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_empty_heap_has_no_first),
        WITH_MEMORY_CHECK(the_smallest_is_first_and_stays_in_the_heap),
        WITH_MEMORY_CHECK(compare_gets_its_user_pointer),
        WITH_MEMORY_CHECK(update_moves_a_node_either_way),
        WITH_MEMORY_CHECK(a_removed_node_may_be_removed_again_and_pushed_again),
        WITH_MEMORY_CHECK(push_stops_at_the_maximum_and_continues_below_it),
        WITH_MEMORY_CHECK(when_out_of_memory_push_fails_and_changes_nothing),
        WITH_MEMORY_CHECK(a_push_after_a_reserve_needs_no_memory),
        WITH_MEMORY_CHECK(reserving_one_place_more_each_time_is_cheap),
        WITH_MEMORY_CHECK(reserve_fails_above_the_maximum_and_when_out_of_memory),
        WITH_MEMORY_CHECK(fini_removes_the_nodes_from_the_heap),
        WITH_MEMORY_CHECK(fini_accepts_a_zeroed_heap),
        WITH_MEMORY_CHECK(heap_pops_in_order_after_random_removals_and_updates),
    };
    return RUN_TESTS(tests);
}
