/* SPDX-License-Identifier: Apache-2.0 */
/* store_bulk - the cost per object of an index that is added late, and of replacing all objects.
 *
 *   From:     bench_store.c
 *   To:       store/content.c, store/table.c
 *
 * Both fill tables in the order of another table, and the writer waits meanwhile. With these sizes the arrays
 * of the store are half full, and nearly three fifths full, where clustering in a table shows.
 */
#ifndef BENCH_STORE_BULK_H
#define BENCH_STORE_BULK_H

#include <stdbool.h>

/* Prints the costs and the targets. Returns false if it could not be measured;
 * clears *out_met if a target is missed. */
bool store_bulk_bench(bool *out_met);

#endif
