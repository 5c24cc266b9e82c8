/* SPDX-License-Identifier: Apache-2.0 */
/* documents - the bytes a benchmark works on, in memory: pages of a list, or runs of watch events.
 *
 *   From:     bench/generate_pods.c
 *   To:       the benchmarks; every contender sees the same bytes.
 */
#ifndef BENCH_DOCUMENTS_H
#define BENCH_DOCUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "generate_pods.h"
#include "text.h"

/* Each document is followed by REFERENCE_PADDING zero bytes that its length does not count. */
struct documents {
    struct text *items;
    size_t count;
    uint64_t bytes;
    uint64_t objects;
};

enum { DOCUMENTS_OBJECTS_EACH = 500 };

/* The collection's list in pages, or as many watch events as it has pods. Ends the program when memory
 * is out. */
void documents_init_list(struct documents *documents, const struct pod_collection *pods);
void documents_init_watch(struct documents *documents, const struct pod_collection *pods);
/* Borrows the first `count` documents of `whole`, or all when there are fewer. Not to be finished. */
struct documents documents_head(const struct documents *whole, size_t count);
void documents_fini(struct documents *documents);

#endif
