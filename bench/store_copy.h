/* SPDX-License-Identifier: Apache-2.0 */
/* store_copy - the cost of getting two texts of an object by an index, with one call or several.
 *
 *   From:     bench_store.c
 *   Not here: lookups by key (store_contest.h).
 */
#ifndef BENCH_STORE_COPY_H
#define BENCH_STORE_COPY_H

#include <stdbool.h>

/* Prints the figures. Returns false on failure. */
bool store_copy_bench(bool *out_met);

#endif
