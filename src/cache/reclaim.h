/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim - memory that was taken out of a store and that readers may still look at.
 *
 *   From:     cache/table.c, cache/index.c, cache/content.c   (the writer takes things out)
 *   To:       ki_object_unref(), ki_free(), ki_large_free(), after a grace period
 *   Locks:    none; the writer's. A flush waits for readers, so it is never called inside a read section.
 *   Not here: deciding what is taken out; threads.
 *
 * The writer takes a thing out of reach first and hands it over afterwards. One grace period serves all
 * that has come together: after a number of things, after `bytes_max`, or when the writer has nothing else
 * to do. Handing over never fails: memory of our own is chained through itself, and references to objects,
 * which have no room for a link, go into an array; if that cannot grow, a grace period is run at once.
 */
#ifndef KI_CACHE_RECLAIM_H
#define KI_CACHE_RECLAIM_H

#include <kinformer/object.h>
#include <stdbool.h>

/* The first member of memory of our own that readers see. */
typedef struct ki_retired {
    struct ki_retired *next;
} ki_retired;

/* Things that wait at the most before ki_reclaim_settle() runs a grace period. */
#define KI_RECLAIM_THINGS_MAX 4096

/* What is there before the array of references has been allocated, and when it cannot be. */
#define KI_RECLAIM_FEW 8

typedef struct ki_reclaim {
    ki_object **objects; /* few, or allocated */
    size_t object_count;
    size_t object_capacity;
    ki_retired *blocks;
    ki_retired *large;  /* blocks of ki_large_new() */
    size_t block_count; /* of both */
    size_t bytes;       /* of objects and blocks */
    size_t bytes_max;
    uint64_t grace_periods;
    bool is_private; /* nobody reads: everything is freed at once */
    ki_object *few[KI_RECLAIM_FEW];
} ki_reclaim;

/* Stays where it is until it ends. */
void ki_reclaim_init(ki_reclaim *reclaim, size_t bytes_max);

/* For a structure that is still being built and that nobody else can see. */
void ki_reclaim_init_private(ki_reclaim *reclaim);

/* Flushes if anything waits, and frees the array. */
void ki_reclaim_fini(ki_reclaim *reclaim);

/* Takes the reference, and the block of `bytes`, which ki_malloc() or ki_large_new() made. */
void ki_reclaim_object(ki_reclaim *reclaim, ki_object *object);
void ki_reclaim_block(ki_reclaim *reclaim, ki_retired *block, size_t bytes);
void ki_reclaim_large(ki_reclaim *reclaim, ki_retired *block, size_t bytes);

/* Whether nothing waits. */
bool ki_reclaim_is_empty(const ki_reclaim *reclaim);

/* Runs a grace period if enough has come together. */
void ki_reclaim_settle(ki_reclaim *reclaim);

/* Runs one if anything has, and lets go of it. */
void ki_reclaim_flush(ki_reclaim *reclaim);

#endif
