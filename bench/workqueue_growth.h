/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue_growth - what an operation costs beside a thousand keys that wait, and beside a million. */
#ifndef BENCH_WORKQUEUE_GROWTH_H
#define BENCH_WORKQUEUE_GROWTH_H

#include <stdbool.h>

/* Prints the costs and the targets. Returns false when it could not be measured; clears *out_met when a
 * target is missed. */
bool workqueue_growth_bench(bool *out_met);

#endif
