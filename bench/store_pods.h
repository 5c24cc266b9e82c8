/* SPDX-License-Identifier: Apache-2.0 */
/* store_pods - small numbered objects, for benchmarks of the store.
 *
 *   From:     bench_store.c, store_contest.c, bench_pipeline.c
 *   Not here: the content of a real pod (generate_pods.h), which a store does not read.
 */
#ifndef BENCH_STORE_PODS_H
#define BENCH_STORE_PODS_H

#include <kinformer/object.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_PODS_NAMESPACES = 100 };

struct store_pods {
    ki_object **objects;
    size_t count;
};

/* Objects 0 to count - 1 at that version, each in one of a hundred namespaces.
 * Ends the program if out of memory. */
void store_pods_init(struct store_pods *pods, size_t count, uint64_t version);
void store_pods_fini(struct store_pods *pods);

/* One of them: a new reference. Ends the program if out of memory. */
ki_object *store_pods_make(size_t number, uint64_t version);

/* The next number, in an order that the CPU's caches cannot predict. */
static inline uint64_t store_pods_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
