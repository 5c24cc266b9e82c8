/* SPDX-License-Identifier: Apache-2.0 */
#include "counted.h"

#include <kinformer/alloc.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_size_t held;
static atomic_size_t held_peak;

static void *note(void *memory)
{
    size_t now = atomic_fetch_add(&held, malloc_usable_size(memory)) + malloc_usable_size(memory);
    size_t peak = atomic_load(&held_peak);
    while (now > peak && !atomic_compare_exchange_weak(&held_peak, &peak, now)) {
    }
    return memory;
}

static void *counted_allocate(size_t size, void *user)
{
    (void)user;
    return note(malloc(size));
}

/* Inside realloc both the old and the new block may exist for a moment. The library cannot avoid that, and
 * the kernel moves large blocks without a copy. */
static void *counted_reallocate(void *memory, size_t size, void *user)
{
    (void)user;
    size_t before = malloc_usable_size(memory);
    void *moved = realloc(memory, size);
    if (moved == NULL) {
        return NULL;
    }
    atomic_fetch_sub(&held, before);
    return note(moved);
}

static void counted_release(void *memory, void *user)
{
    (void)user;
    atomic_fetch_sub(&held, malloc_usable_size(memory));
    free(memory);
}

bool counted_begin(void)
{
    const ki_allocator counted = {
        .allocate = counted_allocate, .reallocate = counted_reallocate, .release = counted_release};
    atomic_store(&held, 0);
    atomic_store(&held_peak, 0);
    return ki_set_allocator(&counted) == 0;
}

bool counted_end(void)
{
    size_t left = atomic_load(&held);
    if (left != 0) {
        fprintf(stderr, "%zu bytes were not freed\n", left);
    }
    return ki_set_allocator(NULL) == 0 && left == 0;
}

size_t counted_held(void)
{
    return atomic_load(&held);
}

size_t counted_peak(void)
{
    return atomic_load(&held_peak);
}

void counted_restart_peak(void)
{
    atomic_store(&held_peak, atomic_load(&held));
}
