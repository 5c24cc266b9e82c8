/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_memory - the memory of an informer while a handler is stuck, and while it lists again.
 *
 *   From:     bench_pipeline.c
 *   To:       pipeline.h, with an allocator that counts
 */
#ifndef BENCH_PIPELINE_MEMORY_H
#define BENCH_PIPELINE_MEMORY_H

#include "bench.h"

/* Both set the library's allocator and restore it, so no object of the library may exist. They return false
 * if something could not be measured. */
bool pipeline_memory_bench_stuck(const struct bench_options *options, bool *out_met);
bool pipeline_memory_bench_relist(const struct bench_options *options, bool *out_met);

#endif
