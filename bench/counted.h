/* SPDX-License-Identifier: Apache-2.0 */
/* counted - an allocator that counts what the library holds.
 *
 *   From:     pipeline_memory.c, bench_store.c
 *   To:       ki_set_allocator(), malloc
 */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

/* From here to there all memory of the library is counted; nothing of it is allocated before and behind.
 * Both return false when that does not work, or when something is left. */
bool counted_begin(void);
bool counted_end(void);

/* Bytes: now, and at the most. */
size_t counted_held(void);
size_t counted_peak(void);

/* At the most from now on. */
void counted_restart_peak(void);

#endif
