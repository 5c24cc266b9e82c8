/* SPDX-License-Identifier: Apache-2.0 */
/* failing_allocator - an allocator that runs out of memory when told to, and knows what was never freed.
 *
 *   From:     tests of what happens without memory, and of leaks
 *   To:       ki_set_allocator(), malloc
 *   Locks:    none; the library may allocate from several threads at once.
 *
 * It is hard on mistakes: a reallocation always moves, and new memory is full of 0xa5.
 */
#ifndef KI_TESTS_SUPPORT_FAILING_ALLOCATOR_H
#define KI_TESTS_SUPPORT_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>

/* Becomes the allocator of the process, with all counts at 0 and no failure planned. Nothing of the library
 * may be allocated at that time. */
void failing_allocator_install(void);

/* Brings back malloc. */
void failing_allocator_remove(void);

/* The n-th allocation or reallocation from now on fails, those before and after it do not; 0: none fails. */
void failing_allocator_fail_at(size_t n);

/* Whether the planned failure has happened: the end of a loop over n = 1, 2, … */
bool failing_allocator_has_failed(void);

/* Allocations and reallocations that were asked for since the last failing_allocator_fail_at(). */
size_t failing_allocator_attempts(void);

/* What is allocated and not yet released. */
size_t failing_allocator_live_count(void);
size_t failing_allocator_live_bytes(void);

/* Called before each release, on the thread that releases; NULL: none. To be set while no other
 * thread is inside the library. */
void failing_allocator_watch_releases(void (*released)(void *user), void *user);

/* The same as functions of cmocka_unit_test_setup_teardown(); the teardown fails when memory is still
 * allocated. */
int failing_allocator_setup(void **state);
int failing_allocator_teardown(void **state);

/* A test with both, in the array for RUN_TESTS(). */
#define WITH_MEMORY_CHECK(test)                                                                              \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

#endif
