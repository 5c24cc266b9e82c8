/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue_contest - adding, getting and finishing a million keys: ours, a plain queue, client-go's. */
#ifndef BENCH_WORKQUEUE_CONTEST_H
#define BENCH_WORKQUEUE_CONTEST_H

#include <stdbool.h>
#include <stddef.h>

/* Prints the rates and the targets. Without a Go program in $KI_GO_WORKQUEUE, client-go is left out. Returns
 * false if it could not be measured; clears *out_met if a target is missed. */
bool workqueue_contest_bench(size_t keys, bool *out_met);

#endif
