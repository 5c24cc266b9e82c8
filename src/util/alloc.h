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

/* Each returns NULL when memory is out. A size of 0 is the caller's mistake. */
void *ki_malloc(size_t size);
void *ki_calloc(size_t count, size_t size);
void *ki_realloc(void *memory, size_t size);

/* NULL is allowed. */
void ki_free(void *memory);

/* Whether no allocator is set: for who takes memory from the kernel itself, which a set one is to know of. */
bool ki_alloc_is_system(void);

/* This thread is about to allocate about so many bytes, in pieces, to keep them. Says so to the system's
 * allocator, which is faster then; to another it says nothing. */
void ki_alloc_expect(size_t bytes);

#endif
