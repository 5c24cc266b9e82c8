/* SPDX-License-Identifier: Apache-2.0 */
#include "support/failing_allocator.h"

#include <kinformer/alloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Precedes every block; as wide as the strictest alignment, so that the block has the alignment of malloc. */
typedef union block_header {
    size_t size;
    max_align_t alignment;
} block_header;

static atomic_size_t attempts;
static atomic_size_t fail_at;
static atomic_size_t size_max = SIZE_MAX;
static atomic_size_t live_count;
static atomic_size_t live_bytes;

/* Set only while no other thread is inside the library. */
static void (*released_cb)(void *user);
static void *released_user;

static void *allocate(size_t size, void *user)
{
    (void)user;
    if (atomic_fetch_add(&attempts, 1) + 1 == atomic_load(&fail_at))
        return NULL;
    if (size > SIZE_MAX - sizeof(block_header) || size > atomic_load(&size_max))
        return NULL;
    block_header *block = malloc(sizeof(block_header) + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    memset(block + 1, 0xa5, size);
    atomic_fetch_add(&live_count, 1);
    atomic_fetch_add(&live_bytes, size);
    return block + 1;
}

static void release(void *memory, void *user)
{
    (void)user;
    block_header *block = (block_header *)memory - 1;
    if (released_cb != NULL)
        released_cb(released_user);
    atomic_fetch_sub(&live_count, 1);
    atomic_fetch_sub(&live_bytes, block->size);
    free(block);
}

static void *reallocate(void *memory, size_t size, void *user)
{
    void *moved = allocate(size, user);
    if (moved == NULL)
        return NULL;
    size_t before = ((block_header *)memory - 1)->size;
    memcpy(moved, memory, before < size ? before : size);
    release(memory, user);
    return moved;
}

static void replace_allocator(const ki_allocator *allocator)
{
    if (ki_set_allocator(allocator) != 0)
        abort();
}

void failing_allocator_install(void)
{
    failing_allocator_fail_at(0);
    failing_allocator_limit(SIZE_MAX);
    atomic_store(&live_count, 0);
    atomic_store(&live_bytes, 0);
    replace_allocator(&(ki_allocator){.allocate = allocate, .reallocate = reallocate, .release = release});
}

void failing_allocator_remove(void)
{
    replace_allocator(NULL);
}

void failing_allocator_watch_releases(void (*released)(void *user), void *user)
{
    released_cb = released;
    released_user = user;
}

void failing_allocator_fail_at(size_t n)
{
    atomic_store(&attempts, 0);
    atomic_store(&fail_at, n);
}

void failing_allocator_limit(size_t bytes)
{
    atomic_store(&size_max, bytes);
}

bool failing_allocator_has_failed(void)
{
    size_t n = atomic_load(&fail_at);
    return n > 0 && atomic_load(&attempts) >= n;
}

size_t failing_allocator_attempts(void)
{
    return atomic_load(&attempts);
}

size_t failing_allocator_live_count(void)
{
    return atomic_load(&live_count);
}

size_t failing_allocator_live_bytes(void)
{
    return atomic_load(&live_bytes);
}

int failing_allocator_setup(void **state)
{
    (void)state;
    failing_allocator_install();
    return 0;
}

int failing_allocator_teardown(void **state)
{
    (void)state;
    size_t blocks = failing_allocator_live_count();
    if (blocks > 0)
        fprintf(stderr, "%zu blocks (%zu bytes) were not freed\n", blocks, failing_allocator_live_bytes());
    failing_allocator_remove();
    return blocks > 0 ? -1 : 0;
}
