/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim - memory that was removed from a store but may still be used by readers.
 *
 *   From:     store/table.c, store/index.c, store/content.c (the writer removes things)
 *   To:       ki_object_unref(), ki_free(), ki_huge_pages_free(), after a grace period
 *   Locks:    none; the writer's.
 *   Not here: deciding what is removed; threads; waiting for readers, except in the calls that say so.
 *
 * The writer makes a thing unreachable first and hands it over afterwards. One grace period serves everything
 * handed over so far: it begins after a number of things, after half of `bytes_max`, or when the writer is
 * idle. The writer does not wait for its end, but polls. What is handed over meanwhile is collected for the
 * next period. So a reader that stays inside a section delays only the freeing, until bytes_max is reached:
 * then there is no room, and the writer tries again later.
 *
 * Handing over never fails: memory of our own is chained through itself, and references to objects, which
 * have no room for a link, go into an array, in which room can be reserved.
 */
#ifndef KI_STORE_RECLAIM_H
#define KI_STORE_RECLAIM_H

#include <kinformer/object.h>
#include <stdbool.h>

/* The first member of memory of our own that readers see. */
typedef struct ki_retired {
    struct ki_retired *next;
} ki_retired;

/* The most things to collect before ki_reclaim_settle() begins a grace period. */
#define KI_RECLAIM_THINGS_MAX 4096

/* Built-in room, for when the array of references is not allocated, or cannot be. */
#define KI_RECLAIM_FEW 8

/* Memory, by how it is freed. */
typedef struct ki_retired_chains {
    ki_retired *blocks;
    ki_retired *large; /* blocks of ki_huge_pages_new() */
    ki_retired *whole; /* from ki_reclaim_whole() */
    size_t count;      /* of all of them */
} ki_retired_chains;

typedef struct ki_reclaim {
    ki_object **objects; /* built-in or allocated; first those that wait for the grace period */
    size_t object_count;
    size_t object_capacity;
    ki_retired_chains fresh;
    size_t bytes; /* of objects and blocks */
    size_t bytes_max;
    uint64_t grace; /* the current one; 0: none, and nothing waits for one */
    size_t waiting_objects;
    ki_retired_chains waiting;
    size_t waiting_bytes;
    uint64_t grace_periods;
    void (*free_whole)(void *block);
    bool is_private; /* there are no readers: everything is freed at once */
    ki_object *few[KI_RECLAIM_FEW];
} ki_reclaim;

/* Must not move until its end. */
void ki_reclaim_init(ki_reclaim *reclaim, size_t bytes_max);

/* For a structure that is still being built and is not shared. */
void ki_reclaim_init_private(ki_reclaim *reclaim);

/* Waits for readers if anything waits for them, and frees the array. */
void ki_reclaim_fini(ki_reclaim *reclaim);

/* The same when there are no readers any more. */
void ki_reclaim_fini_unread(ki_reclaim *reclaim);

/* Makes sure of room for one more object. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reclaim_reserve(ki_reclaim *reclaim);

/* Takes the reference, and the block of `bytes`, which ki_malloc() or ki_huge_pages_new() made. An object for
 * which there is neither room nor memory makes the call wait for readers. */
void ki_reclaim_object(ki_reclaim *reclaim, ki_object *object);
void ki_reclaim_block(ki_reclaim *reclaim, ki_retired *block, size_t bytes);
void ki_reclaim_large(ki_reclaim *reclaim, ki_retired *block, size_t bytes);

/* Takes something with its own free function, always the same one. */
void ki_reclaim_whole(ki_reclaim *reclaim, ki_retired *whole, size_t bytes, void (*free_whole)(void *block));

/* Whether nothing waits. */
bool ki_reclaim_is_empty(const ki_reclaim *reclaim);

/* At the end of a change: begins a grace period if enough was collected, and frees what has waited long
 * enough. Never waits. */
void ki_reclaim_settle(ki_reclaim *reclaim);

/* The same, however little was collected. Returns whether nothing is left. */
bool ki_reclaim_poll(ki_reclaim *reclaim);

/* Whether the writer may continue: `bytes_max` is not reached, and there is room for one more object. Tries
 * to make room, and lets other threads run for that, but does not wait for them. */
bool ki_reclaim_has_room(ki_reclaim *reclaim);

/* Waits for readers if any memory waits for them, and frees it. Never inside a read section. */
void ki_reclaim_flush(ki_reclaim *reclaim);

#endif
