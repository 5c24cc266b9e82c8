/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_late - a handler added to a full store: its cost for other handlers.
 *
 *   From:     bench_pipeline.c
 *   To:       handler/fanout.c
 */
#ifndef BENCH_PIPELINE_LATE_H
#define BENCH_PIPELINE_LATE_H

#include "bench.h"

/* How long dispatch cannot apply changes. Returns false if it could not be measured. */
bool pipeline_late_bench_join(const struct bench_options *options, bool *out_met);

/* The effect on another handler. */
bool pipeline_late_bench_others(const struct bench_options *options, bool *out_met);

#endif
