/* SPDX-License-Identifier: Apache-2.0 */
/* store_growth - the cost of an operation in a store of a thousand objects, and of a million. */
#ifndef BENCH_STORE_GROWTH_H
#define BENCH_STORE_GROWTH_H

#include <stdbool.h>

/* Prints the costs and the targets. Returns false if it could not be measured;
 * clears *out_met if a target is missed. */
bool store_growth_bench(bool *out_met);

#endif
