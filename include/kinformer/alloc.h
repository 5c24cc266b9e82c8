/* SPDX-License-Identifier: Apache-2.0 */
/* alloc - where the library's memory comes from. */
#ifndef KI_ALLOC_H
#define KI_ALLOC_H

#include <kinformer/common.h>

KI_EXTERN_C_BEGIN

/**
 * Three functions as malloc, realloc and free, each with `user` last. They are called from any thread, also
 * from several at once, and may fail: out of memory is an error like the others. Some calls are made while
 * the library holds a lock: so they neither call the library nor wait for somebody who does.
 */
typedef struct ki_allocator {
    void *(*allocate)(size_t size, void *user);
    void *(*reallocate)(void *memory, size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} ki_allocator;

/**
 * Replaces the allocator of the process; NULL brings back malloc. Memory is released by the allocator that is
 * set at that time, so call it before anything else of the library, or when nothing of the library is left.
 *
 * Returns: 0, or KI_ERR_INVALID when one of the functions is missing.
 * Threads: none other may be inside the library.
 */
KI_API KI_NODISCARD int ki_set_allocator(const ki_allocator *allocator);

KI_EXTERN_C_END

#endif
