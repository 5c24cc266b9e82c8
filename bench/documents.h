/* SPDX-License-Identifier: Apache-2.0 */
/* documents - the bytes that a benchmark works on, in memory: pages of a list, or runs of watch events.
 *
 *   From:     reference_contender.h, proto_encode.h; every contender reads the same bytes
 *   To:       generate_pods.h
 */
#ifndef BENCH_DOCUMENTS_H
#define BENCH_DOCUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "generate_pods.h"
#include "text.h"

/* Each document is followed by REFERENCE_PADDING zero bytes, which its length does not include. */
struct documents {
    struct text *items;
    size_t count;
    uint64_t bytes;
    uint64_t objects;
};

enum { DOCUMENTS_OBJECTS_EACH = 500 };

/* The collection's list in pages, or as many watch events as it has pods.
 * Ends the program if out of memory. */
void documents_init_list(struct documents *documents, const struct pod_collection *pods);
void documents_init_watch(struct documents *documents, const struct pod_collection *pods);
/* Borrows the first `count` documents of `whole`, or all if there are fewer. The result is not freed. */
struct documents documents_head(const struct documents *whole, size_t count);
void documents_fini(struct documents *documents);

#endif
