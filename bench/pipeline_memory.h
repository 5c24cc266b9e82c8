/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_memory - what the informer holds while a handler is stuck, and while it lists again.
 *
 *   From:     bench_pipeline.c
 *   To:       pipeline.h, with an allocator that counts
 */
#ifndef BENCH_PIPELINE_MEMORY_H
#define BENCH_PIPELINE_MEMORY_H

#include "bench.h"

/* Both set the library's allocator and put it back: nothing of the library may be there. They return false
 * when something could not be measured. */
bool pipeline_memory_bench_stuck(const struct bench_options *options, bool *out_met);
bool pipeline_memory_bench_relist(const struct bench_options *options, bool *out_met);

#endif
