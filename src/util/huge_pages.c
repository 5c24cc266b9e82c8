/* SPDX-License-Identifier: Apache-2.0 */
#include "util/huge_pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "util/alloc.h"

enum { HUGE_PAGE_BYTES = 2 << 20 };

/* Precedes the memory. It is as large as a cache line, so that the memory is aligned to cache lines. */
typedef union large_header {
    size_t bytes; /* header included */
    char line[64];
} large_header;

/* Functions of LeakSanitizer, NULL if the program is built without it. Pointers in a registered region
 * count as references. */
#if defined(__GNUC__)
#pragma weak __lsan_register_root_region
#pragma weak __lsan_unregister_root_region
#endif
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void __lsan_register_root_region(const void *begin, size_t bytes);
void __lsan_unregister_root_region(const void *begin, size_t bytes);
/* NOLINTEND(bugprone-reserved-identifier) */

/* Maps memory that starts at the boundary of a huge page. NULL when out of memory. */
static char *map_aligned(size_t bytes)
{
    size_t all = bytes + HUGE_PAGE_BYTES;
    char *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE_BYTES - (uintptr_t)map % HUGE_PAGE_BYTES) % HUGE_PAGE_BYTES;
    size_t behind = all - before - bytes;
    if (before > 0)
        (void)munmap(map, before);
    if (behind > 0)
        (void)munmap(map + before + bytes, behind);
    return map + before;
}

/* These are only hints. All pages will be written, in random order. Without the second hint, a page that is
 * read before it is written would cause two page faults, the first for the shared zero page. */
static void ask_for_pages(void *memory, size_t bytes)
{
    int was = errno;
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    (void)madvise(memory, bytes, MADV_POPULATE_WRITE);
#endif
    errno = was;
}

void *ki_huge_pages_new(size_t bytes)
{
    if (!ki_alloc_is_system())
        return ki_calloc(1, bytes);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t all = (sizeof(large_header) + bytes + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
    large_header *header = (large_header *)map_aligned(all);
    if (header == NULL)
        return NULL;
    ask_for_pages(header, all);
    header->bytes = all;
    if (__lsan_register_root_region != NULL)
        __lsan_register_root_region(header, all);
    return header + 1;
}

void ki_huge_pages_free(void *memory)
{
    if (memory == NULL || !ki_alloc_is_system()) {
        ki_free(memory);
        return;
    }
    large_header *header = (large_header *)memory - 1;
    if (__lsan_unregister_root_region != NULL)
        __lsan_unregister_root_region(header, header->bytes);
    (void)munmap(header, header->bytes);
}
