/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue_growth - the cost of an operation in a queue of a thousand waiting keys, and of a million. */
#ifndef BENCH_WORKQUEUE_GROWTH_H
#define BENCH_WORKQUEUE_GROWTH_H

#include <stdbool.h>

/* Prints the costs and the targets. Returns false if it could not be measured;
 * clears *out_met if a target is missed. */
bool workqueue_growth_bench(bool *out_met);

#endif
