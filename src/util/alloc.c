/* SPDX-License-Identifier: Apache-2.0 */
#include "util/alloc.h"

#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

static void *system_allocate(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

static void *system_reallocate(void *memory, size_t size, void *user)
{
    (void)user;
    return realloc(memory, size);
}

static void system_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static const ki_allocator system_allocator = {system_allocate, system_reallocate, system_release, NULL};

/* Written only while no other thread is inside the library (contract of ki_set_allocator). */
static ki_allocator current = {system_allocate, system_reallocate, system_release, NULL};

int ki_set_allocator(const ki_allocator *allocator)
{
    if (allocator == NULL)
        allocator = &system_allocator;
    if (allocator->allocate == NULL || allocator->reallocate == NULL || allocator->release == NULL)
        return KI_ERR_INVALID;
    current = *allocator;
    return 0;
}

void *ki_malloc(size_t size)
{
    assert(size > 0);
    return current.allocate(size, current.user);
}

void *ki_calloc(size_t count, size_t size)
{
    assert(count > 0 && size > 0);
    if (count > SIZE_MAX / size)
        return NULL;
    /* It knows which memory is fresh from the system, and zero. */
    if (current.allocate == system_allocate)
        return calloc(count, size);
    void *memory = ki_malloc(count * size);
    if (memory != NULL)
        memset(memory, 0, count * size);
    return memory;
}

void *ki_realloc(void *memory, size_t size)
{
    assert(size > 0);
    return memory == NULL ? ki_malloc(size) : current.reallocate(memory, size, current.user);
}

void ki_free(void *memory)
{
    if (memory != NULL)
        current.release(memory, current.user);
}
