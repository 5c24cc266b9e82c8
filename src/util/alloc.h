/* SPDX-License-Identifier: Apache-2.0 */
/* alloc - the memory functions that all code of the library uses.
 *
 *   From:     all code that allocates
 *   To:       the hooks of <kinformer/alloc.h>, malloc by default
 *   Locks:    none of its own.
 *   Not here: pools, arenas, accounting.
 */
#ifndef KI_UTIL_ALLOC_H
#define KI_UTIL_ALLOC_H

#include <kinformer/alloc.h>
#include <stdbool.h>

/* Each returns NULL when out of memory. A size of 0 is a programming error. */
void *ki_malloc(size_t size);
void *ki_calloc(size_t count, size_t size);
void *ki_realloc(void *memory, size_t size);

/* NULL is allowed. */
void ki_free(void *memory);

/* Returns a NUL-terminated copy, or NULL when out of memory. A NUL inside the text is copied too. */
KI_NODISCARD char *ki_str_copy(ki_str text);

/* Whether malloc is used, because the program has not set an allocator. If it has, code must not take
 * memory from the kernel directly. */
bool ki_alloc_is_system(void);

/* Announces that this thread will soon allocate about this many bytes in small pieces, and keep them. This
 * makes malloc faster; it has no effect if the program has set an allocator. */
void ki_alloc_expect(size_t bytes);

#endif
