/* SPDX-License-Identifier: Apache-2.0 */
#include "util/alloc.h"

#include <assert.h>
#include <errno.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static const ki_allocator system_allocator = {
    .allocate = system_allocate, .reallocate = system_reallocate, .release = system_release};

/* Written only by ki_set_allocator(), which must not run while another thread uses the library. */
static ki_allocator current = {
    .allocate = system_allocate, .reallocate = system_reallocate, .release = system_release};

int ki_set_allocator(const ki_allocator *allocator)
{
    if (allocator == NULL)
        allocator = &system_allocator;
    if (allocator->allocate == NULL || allocator->reallocate == NULL || allocator->release == NULL)
        return KI_ERR_INVALID;
    current = *allocator;
    return 0;
}

bool ki_alloc_is_system(void)
{
    return current.allocate == system_allocate;
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
    /* calloc need not clear memory that is fresh from the system. */
    if (ki_alloc_is_system())
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

char *ki_str_copy(ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    char *copy = ki_malloc(text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return copy;
}

/* In glibc, a thread's heap grows by a page or two at a time. This is nearly one system call for each
 * object of a list, and every thread that frees memory of that heap waits meanwhile. Allocating one large
 * block makes the heap grow once for many objects. The block is freed at once, but its memory stays in the
 * heap, because the mmap threshold and the trim threshold are both 128 KiB. */
enum { GROW_BYTES = 96 * 1024 };

/* Populates all pages with one call. Otherwise each page would cause a page fault inside malloc, while
 * malloc holds its lock. A kernel without MADV_POPULATE_WRITE returns an error, which is harmless. Pages
 * that this thread has populated before are left out: in a watch, objects replace others, and the heap does
 * not grow. If malloc has returned such pages to the kernel meanwhile, each of them causes a page fault. */
static void populate(char *block)
{
#ifdef MADV_POPULATE_WRITE
    static _Thread_local uintptr_t first, end; /* the populated range that grew last */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)block + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)block + GROW_BYTES) / page * page;
    int was = errno;
    if (from < first || from > end)
        first = end = from;
    if (to > end) {
        (void)madvise(block + (end - (uintptr_t)block), to - end, MADV_POPULATE_WRITE);
        end = to;
    }
    errno = was;
#else
    (void)block;
#endif
}

void ki_alloc_expect(size_t bytes)
{
    static _Thread_local size_t expected;
    expected += bytes;
    if (expected < GROW_BYTES)
        return;
    expected = 0;
    if (!ki_alloc_is_system())
        return;
    char *volatile block = malloc(GROW_BYTES); /* volatile: keeps the compiler from removing it */
    if (block != NULL)
        populate(block);
    free(block);
}
