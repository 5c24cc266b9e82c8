/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages - memory of several megabytes that is accessed at random.
 *
 *   From:     store/table.c, store/reclaim.c, workqueue/
 *   To:       the kernel, as huge pages if available; the user's allocator, if one is set
 *   Locks:    none.
 *   Not here: anything small (util/alloc.h).
 *
 * With pages of the usual size, address translation takes longer than the access itself. The hint for huge
 * pages applies to an address range for as long as it is mapped. So this memory does not come from malloc,
 * and is unmapped when it is freed.
 */
#ifndef KI_UTIL_HUGE_PAGES_H
#define KI_UTIL_HUGE_PAGES_H

#include <kinformer/common.h>

/* Use huge pages for memory of at least this size, which spans several of them. */
#define KI_HUGE_PAGES_BYTES ((size_t)4 << 20)

/* Returns zeroed memory, aligned like that of malloc; NULL when out of memory. */
KI_NODISCARD void *ki_huge_pages_new(size_t bytes);

/* NULL is allowed. */
void ki_huge_pages_free(void *memory);

#endif
