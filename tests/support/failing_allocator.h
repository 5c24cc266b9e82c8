/* SPDX-License-Identifier: Apache-2.0 */
/* failing_allocator - an allocator that fails on request, and counts what was not freed.
 *
 *   From:     tests of running out of memory, and of leaks
 *   To:       ki_set_allocator(), malloc
 *   Locks:    none; the library may allocate from several threads at once.
 *
 * It exposes mistakes: a reallocation always moves, and new memory is filled with 0xa5.
 */
#ifndef KI_TESTS_SUPPORT_FAILING_ALLOCATOR_H
#define KI_TESTS_SUPPORT_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>

/* Becomes the allocator of the process, with all counts at 0 and no failure planned. The library must not
 * have allocated anything. */
void failing_allocator_install(void);

/* Restores malloc. */
void failing_allocator_remove(void);

/* The n-th allocation or reallocation from now on fails; those before and after it do not. 0: none fails. */
void failing_allocator_fail_at(size_t n);

/* From now on all larger allocations fail as well, until failing_allocator_install() or SIZE_MAX. */
void failing_allocator_limit(size_t bytes);

/* Whether the planned failure has happened. A loop over n = 1, 2, … ends when it has not. */
bool failing_allocator_has_failed(void);

/* Allocations and reallocations requested since the last failing_allocator_fail_at(). */
size_t failing_allocator_attempts(void);

/* The number of allocations not yet freed. */
size_t failing_allocator_live_count(void);
size_t failing_allocator_live_bytes(void);

/* Sets a function that is called before each release, on the thread that releases; NULL: none. Call it while
 * no other thread is inside the library. */
void failing_allocator_watch_releases(void (*released)(void *user), void *user);

/* Install and remove for cmocka_unit_test_setup_teardown();
 * the teardown fails if memory is still allocated. */
int failing_allocator_setup(void **state);
int failing_allocator_teardown(void **state);

/* A test with both, for the array of RUN_TESTS(). */
#define WITH_MEMORY_CHECK(test)                                                                              \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

#endif
