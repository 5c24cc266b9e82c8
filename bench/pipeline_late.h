/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_late - a handler that comes when the store is full: what it costs the others.
 *
 *   From:     bench_pipeline.c
 *   To:       handler/fanout.c
 */
#ifndef BENCH_PIPELINE_LATE_H
#define BENCH_PIPELINE_LATE_H

#include "bench.h"

/* How long dispatch is kept from applying. Returns false when it could not be measured. */
bool pipeline_late_bench_join(const struct bench_options *options, bool *out_met);

/* What another handler notices of it. */
bool pipeline_late_bench_others(const struct bench_options *options, bool *out_met);

#endif
