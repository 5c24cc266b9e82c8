/* SPDX-License-Identifier: Apache-2.0 */
#include "util/buf.h"

#include <kinformer/error.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/random.h"

static void a_new_buffer_is_empty_and_allocates_nothing(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 100);
    assert_int_equal(ki_buf_str(&buf).len, 0);
    assert_int_equal(failing_allocator_attempts(), 0);
    ki_buf_fini(&buf);
}

static void appended_bytes_follow_each_other(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 100);
    assert_int_equal(ki_buf_append(&buf, "kube", 4), 0);
    assert_int_equal(ki_buf_append_byte(&buf, '-'), 0);
    assert_int_equal(ki_buf_append_str(&buf, KI_STR("system")), 0);
    assert_true(ki_str_equal(ki_buf_str(&buf), KI_STR("kube-system")));
    ki_buf_fini(&buf);
}

static void appending_nothing_is_allowed(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 100);
    assert_int_equal(ki_buf_append_str(&buf, (ki_str){0}), 0);
    assert_int_equal(ki_buf_append(&buf, NULL, 0), 0);
    assert_int_equal(buf.len, 0);
    ki_buf_fini(&buf);
}

static void reserved_space_may_be_written(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 1000);
    assert_int_equal(ki_buf_append(&buf, "a", 1), 0);
    assert_int_equal(ki_buf_reserve(&buf, 999), 0);
    assert_true(buf.cap - buf.len >= 999);
    memset(buf.data + buf.len, 'b', 999);
    buf.len += 999;
    assert_int_equal(ki_buf_str(&buf).ptr[0], 'a');
    assert_int_equal(ki_buf_str(&buf).ptr[999], 'b');
    ki_buf_fini(&buf);
}

static void a_buffer_fills_to_its_maximum_and_no_further(void **state)
{
    (void)state;
    for (size_t max = 1; max < 600; max++) {
        ki_buf buf;
        ki_buf_init(&buf, max);
        for (size_t i = 0; i < max; i++)
            assert_int_equal(ki_buf_append_byte(&buf, 'x'), 0);
        assert_int_equal(ki_buf_append_byte(&buf, 'y'), KI_ERR_TOO_LARGE);
        assert_int_equal(buf.len, max);
        assert_true(buf.cap <= max);
        ki_buf_fini(&buf);
    }
}

static void an_append_that_is_too_large_leaves_the_buffer_unchanged(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 10);
    assert_int_equal(ki_buf_append(&buf, "12345", 5), 0);
    assert_int_equal(ki_buf_append(&buf, "123456", 6), KI_ERR_TOO_LARGE);
    assert_int_equal(ki_buf_reserve(&buf, SIZE_MAX), KI_ERR_TOO_LARGE);
    assert_true(ki_str_equal(ki_buf_str(&buf), KI_STR("12345")));
    ki_buf_fini(&buf);
}

static void growing_needs_few_allocations(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 1 << 20);
    for (int i = 0; i < 1 << 20; i++)
        assert_int_equal(ki_buf_append_byte(&buf, 'x'), 0);
    assert_in_range(failing_allocator_attempts(), 1, 20);
    ki_buf_fini(&buf);
}

static void when_out_of_memory_append_fails_and_changes_nothing(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 10000);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_buf_append(&buf, "lost", 4), KI_ERR_NO_MEMORY);
    assert_int_equal(buf.len, 0);
    assert_int_equal(ki_buf_append(&buf, "kept", 4), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_buf_reserve(&buf, 5000), KI_ERR_NO_MEMORY);
    assert_true(ki_str_equal(ki_buf_str(&buf), KI_STR("kept")));
    ki_buf_fini(&buf);
}

static void reset_empties_and_keeps_small_memory(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 10000);
    assert_int_equal(ki_buf_append(&buf, "abc", 3), 0);
    ki_buf_reset(&buf, 1024);
    assert_int_equal(buf.len, 0);
    assert_int_equal(failing_allocator_live_count(), 1);
    ki_buf_fini(&buf);
}

static void reset_frees_large_memory(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, 10000);
    assert_int_equal(ki_buf_reserve(&buf, 5000), 0);
    ki_buf_reset(&buf, 1024);
    assert_int_equal(failing_allocator_live_count(), 0);
    assert_int_equal(ki_buf_append(&buf, "again", 5), 0);
    assert_true(ki_str_equal(ki_buf_str(&buf), KI_STR("again")));
    ki_buf_fini(&buf);
}

static void fini_accepts_a_zeroed_or_finished_buffer(void **state)
{
    (void)state;
    ki_buf buf = {0};
    ki_buf_fini(&buf);
    ki_buf_init(&buf, 10);
    assert_int_equal(ki_buf_append_byte(&buf, 'x'), 0);
    ki_buf_fini(&buf);
    ki_buf_fini(&buf);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.max, 10);
}

enum { MODEL_MAX = 3000 };

/* Appends, reserves and resets of random sizes, with some failing allocations,
 * compared with a plain array. */
static bool buffer_agrees_with_an_array(uint64_t seed)
{
    ki_random random;
    ki_random_init(&random, seed);
    char expected[MODEL_MAX];
    size_t expected_len = 0;
    ki_buf buf;
    ki_buf_init(&buf, MODEL_MAX);
    bool agrees = true;
    for (int step = 0; step < 60 && agrees; step++) {
        char chunk[400];
        size_t n = ki_random_below(&random, sizeof(chunk));
        memset(chunk, 'a' + step % 26, sizeof(chunk));
        failing_allocator_fail_at(ki_random_below(&random, 3));
        if (ki_random_below(&random, 20) == 0) {
            ki_buf_reset(&buf, 512);
            expected_len = 0;
        } else if (ki_buf_append(&buf, chunk, n) == 0) {
            memcpy(expected + expected_len, chunk, n);
            expected_len += n;
        } else {
            agrees = failing_allocator_has_failed() || expected_len + n > MODEL_MAX;
        }
        agrees = agrees && ki_str_equal(ki_buf_str(&buf), (ki_str){expected, expected_len});
    }
    ki_buf_fini(&buf);
    return agrees;
}

static void buffer_agrees_with_an_array_after_random_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        if (!buffer_agrees_with_an_array(seed))
            fail_msg("seed %d", (int)seed);
    assert_int_equal(failing_allocator_live_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_new_buffer_is_empty_and_allocates_nothing),
        WITH_MEMORY_CHECK(appended_bytes_follow_each_other),
        WITH_MEMORY_CHECK(appending_nothing_is_allowed),
        WITH_MEMORY_CHECK(reserved_space_may_be_written),
        WITH_MEMORY_CHECK(a_buffer_fills_to_its_maximum_and_no_further),
        WITH_MEMORY_CHECK(an_append_that_is_too_large_leaves_the_buffer_unchanged),
        WITH_MEMORY_CHECK(growing_needs_few_allocations),
        WITH_MEMORY_CHECK(when_out_of_memory_append_fails_and_changes_nothing),
        WITH_MEMORY_CHECK(reset_empties_and_keeps_small_memory),
        WITH_MEMORY_CHECK(reset_frees_large_memory),
        WITH_MEMORY_CHECK(fini_accepts_a_zeroed_or_finished_buffer),
        WITH_MEMORY_CHECK(buffer_agrees_with_an_array_after_random_steps),
    };
    return RUN_TESTS(tests);
}
