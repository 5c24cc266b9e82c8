/* SPDX-License-Identifier: Apache-2.0 */
/* counted - an allocator that counts the memory that the library holds.
 *
 *   From:     pipeline_memory.c, bench_store.c
 *   To:       ki_set_allocator(), malloc
 */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

/* The library's memory is counted between the two calls; the library must not hold any before or after. Both
 * return false on failure, or if memory was not freed. */
bool counted_begin(void);
bool counted_end(void);

/* Bytes now, and at the peak. */
size_t counted_held(void);
size_t counted_peak(void);

/* Resets the peak to the bytes held now. */
void counted_restart_peak(void);

#endif
