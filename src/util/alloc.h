/* SPDX-License-Identifier: Apache-2.0 */
/* alloc - the memory functions that all code of the library uses.
 *
 *   From:     everywhere
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

/* A NUL-terminated copy, or NULL when out of memory. A NUL inside the text is copied too. */
KI_NODISCARD char *ki_str_copy(ki_str text);

/* Whether no allocator is set. Code that takes memory from the kernel directly must not do so when one is. */
bool ki_alloc_is_system(void);

/* Announces that this thread is about to allocate about this many bytes in small pieces, and to keep them.
 * That makes the system's allocator faster; it has no effect when an allocator is set. */
void ki_alloc_expect(size_t bytes);

#endif
