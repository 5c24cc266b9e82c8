/* SPDX-License-Identifier: Apache-2.0 */
/* store_bulk - what an index that comes late costs, and a replacement of all objects, per object.
 *
 *   From:     bench_store.c
 *   To:       store/content.c, store/table.c
 *
 * Both fill tables in the order of another, and both keep the writer out meanwhile. Sizes are such that
 * the arrays of the store are filled to a half, and to nearly three fifths, where a table that clusters
 * shows it.
 */
#ifndef BENCH_STORE_BULK_H
#define BENCH_STORE_BULK_H

#include <stdbool.h>

/* Prints the costs and the targets. Returns false when it could not be measured; clears *out_met when a
 * target is missed. */
bool store_bulk_bench(bool *out_met);

#endif
