/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages - memory of several megabytes that is read at places nowhere near each other.
 *
 *   From:     store/table.c, store/reclaim.c
 *   To:       the kernel, in huge pages if it has some; the user's allocator, if one is set
 *   Locks:    none.
 *   Not here: anything small (util/alloc.h).
 *
 * In pages of the usual size, finding the page takes longer than reading what is there. The wish for huge
 * pages belongs to addresses, and stays with them: so these are not malloc's, and end with the memory.
 */
#ifndef KI_UTIL_HUGE_PAGES_H
#define KI_UTIL_HUGE_PAGES_H

#include <kinformer/common.h>

/* From here on it is worth it: an array that spans several huge pages. */
#define KI_HUGE_PAGES_BYTES ((size_t)4 << 20)

/* Zeroed, and aligned as malloc's. NULL when memory is out. */
KI_NODISCARD void *ki_huge_pages_new(size_t bytes);

/* NULL is allowed. */
void ki_huge_pages_free(void *memory);

#endif
