/* SPDX-License-Identifier: Apache-2.0 */
/* alloc - where the library's memory comes from. */
#ifndef KI_ALLOC_H
#define KI_ALLOC_H

#include <kinformer/common.h>

KI_EXTERN_C_BEGIN

/**
 * Three functions that work like malloc, realloc and free, each with `user` as its last argument. Sizes are
 * never 0, and pointers never NULL. The functions are called from any thread, also from several at once. The
 * first two may fail: the library then returns KI_ERR_NO_MEMORY. Some calls are made while the library holds
 * a lock, so the functions must not call the library, nor wait for a thread that does.
 */
typedef struct ki_allocator {
    void *(*allocate)(size_t size, void *user);
    void *(*reallocate)(void *memory, size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
    uint64_t reserved[2];
} ki_allocator;

/**
 * Replaces the allocator of the process; the struct is copied. NULL restores malloc. Memory is always
 * released with the current allocator. So call this before any other function of the library, or after
 * everything that the library made has been freed.
 *
 * Returns: 0, or KI_ERR_INVALID when one of the functions is missing.
 * Threads: no other thread may be using the library.
 */
KI_API KI_NODISCARD int ki_set_allocator(const ki_allocator *allocator);

KI_EXTERN_C_END

#endif
