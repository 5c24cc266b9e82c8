/* SPDX-License-Identifier: Apache-2.0 */
#include "util/alloc.h"

#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

typedef struct calls {
    int allocated;
    int reallocated;
    int released;
} calls;

static void *count_allocate(size_t size, void *user)
{
    ((calls *)user)->allocated++;
    return malloc(size);
}

static void *count_reallocate(void *memory, size_t size, void *user)
{
    ((calls *)user)->reallocated++;
    return realloc(memory, size);
}

static void count_release(void *memory, void *user)
{
    ((calls *)user)->released++;
    free(memory);
}

static int restore_malloc(void **state)
{
    (void)state;
    return ki_set_allocator(NULL);
}

static void a_custom_allocator_is_called_with_its_user_pointer(void **state)
{
    (void)state;
    calls c = {0};
    ki_allocator counting = {
        .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release, .user = &c};
    assert_int_equal(ki_set_allocator(&counting), 0);
    void *memory = ki_malloc(10);
    assert_non_null(memory);
    memory = ki_realloc(memory, 20);
    assert_non_null(memory);
    ki_free(memory);
    assert_int_equal(c.allocated, 1);
    assert_int_equal(c.reallocated, 1);
    assert_int_equal(c.released, 1);
}

static void null_restores_malloc(void **state)
{
    (void)state;
    calls c = {0};
    ki_allocator counting = {
        .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release, .user = &c};
    assert_int_equal(ki_set_allocator(&counting), 0);
    assert_int_equal(ki_set_allocator(NULL), 0);
    void *memory = ki_malloc(10);
    assert_non_null(memory);
    ki_free(memory);
    assert_int_equal(c.allocated + c.released, 0);
}

static void an_allocator_with_a_missing_function_is_refused(void **state)
{
    (void)state;
    ki_allocator no_allocate = {.reallocate = count_reallocate, .release = count_release};
    ki_allocator no_reallocate = {.allocate = count_allocate, .release = count_release};
    ki_allocator no_release = {.allocate = count_allocate, .reallocate = count_reallocate};
    assert_int_equal(ki_set_allocator(&no_allocate), KI_ERR_INVALID);
    assert_int_equal(ki_set_allocator(&no_reallocate), KI_ERR_INVALID);
    assert_int_equal(ki_set_allocator(&no_release), KI_ERR_INVALID);
}

static void calloc_returns_zeroed_memory(void **state)
{
    (void)state;
    static const char zeros[60];
    failing_allocator_install(); /* its memory is never zero by chance */
    char *memory = ki_calloc(6, 10);
    assert_non_null(memory);
    assert_memory_equal(memory, zeros, sizeof(zeros));
    ki_free(memory);
}

static void calloc_refuses_a_product_that_overflows(void **state)
{
    (void)state;
    failing_allocator_install();
    assert_null(ki_calloc(SIZE_MAX / 2, 3));
    assert_int_equal(failing_allocator_attempts(), 0);
}

static void realloc_of_null_allocates(void **state)
{
    (void)state;
    calls c = {0};
    ki_allocator counting = {
        .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release, .user = &c};
    assert_int_equal(ki_set_allocator(&counting), 0);
    void *memory = ki_realloc(NULL, 10);
    assert_non_null(memory);
    assert_int_equal(c.allocated, 1);
    assert_int_equal(c.reallocated, 0);
    ki_free(memory);
}

static void free_of_null_does_nothing(void **state)
{
    (void)state;
    calls c = {0};
    ki_allocator counting = {
        .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release, .user = &c};
    assert_int_equal(ki_set_allocator(&counting), 0);
    ki_free(NULL);
    assert_int_equal(c.released, 0);
}

static void an_announced_size_does_not_call_the_allocator(void **state)
{
    (void)state;
    calls c = {0};
    ki_allocator counting = {
        .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release, .user = &c};
    ki_alloc_expect(1000 * 1000); /* with malloc */
    assert_int_equal(ki_set_allocator(&counting), 0);
    ki_alloc_expect(1000 * 1000);
    assert_int_equal(c.allocated + c.reallocated + c.released, 0);
}

#define ALLOC_TEST(test) cmocka_unit_test_teardown(test, restore_malloc)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALLOC_TEST(a_custom_allocator_is_called_with_its_user_pointer),
        ALLOC_TEST(null_restores_malloc),
        ALLOC_TEST(an_allocator_with_a_missing_function_is_refused),
        ALLOC_TEST(calloc_returns_zeroed_memory),
        ALLOC_TEST(calloc_refuses_a_product_that_overflows),
        ALLOC_TEST(realloc_of_null_allocates),
        ALLOC_TEST(free_of_null_does_nothing),
        ALLOC_TEST(an_announced_size_does_not_call_the_allocator),
    };
    return RUN_TESTS(tests);
}
