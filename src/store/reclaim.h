/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim - memory that was taken out of a store and that readers may still look at.
 *
 *   From:     store/table.c, store/index.c, store/content.c   (the writer takes things out)
 *   To:       ki_object_unref(), ki_free(), ki_huge_pages_free(), after a grace period
 *   Locks:    none; the writer's.
 *   Not here: deciding what is taken out; threads; waiting for readers, but for the calls that say so.
 *
 * The writer takes a thing out of reach first and hands it over afterwards. One grace period serves all
 * that has come together: after a number of things, after half of `bytes_max`, or when the writer has nothing
 * else to do. Nobody waits for its end: the writer looks when it comes by. What comes meanwhile is collected
 * for the next one. So a reader that stays inside a section delays nothing but the freeing, until
 * bytes_max is reached: then there is no room, and the writer comes again later.
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

/* Things that come together at the most before ki_reclaim_settle() begins a grace period. */
#define KI_RECLAIM_THINGS_MAX 4096

/* What is there before the array of references has been allocated, and when it cannot be. */
#define KI_RECLAIM_FEW 8

/* By what frees it. */
typedef struct ki_retired_chains {
    ki_retired *blocks;
    ki_retired *large; /* blocks of ki_huge_pages_new() */
    ki_retired *whole; /* what ki_reclaim_whole() took */
    size_t count;      /* of all of them */
} ki_retired_chains;

typedef struct ki_reclaim {
    ki_object **objects; /* few, or allocated; first those that wait for the grace period */
    size_t object_count;
    size_t object_capacity;
    ki_retired_chains fresh;
    size_t bytes; /* of objects and blocks */
    size_t bytes_max;
    uint64_t grace; /* that is under way; 0: none, and nothing waits for one */
    size_t waiting_objects;
    ki_retired_chains waiting;
    size_t waiting_bytes;
    uint64_t grace_periods;
    void (*free_whole)(void *block);
    bool is_private; /* nobody reads: everything is freed at once */
    ki_object *few[KI_RECLAIM_FEW];
} ki_reclaim;

/* Stays where it is until it ends. */
void ki_reclaim_init(ki_reclaim *reclaim, size_t bytes_max);

/* For a structure that is still being built and that nobody else can see. */
void ki_reclaim_init_private(ki_reclaim *reclaim);

/* Waits for readers if anything waits for them, and frees the array. */
void ki_reclaim_fini(ki_reclaim *reclaim);

/* The same when nobody reads any more. */
void ki_reclaim_fini_unread(ki_reclaim *reclaim);

/* Makes sure of room for one more object. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reclaim_reserve(ki_reclaim *reclaim);

/* Takes the reference, and the block of `bytes`, which ki_malloc() or ki_huge_pages_new() made. An object for
 * which there is neither room nor memory makes the caller wait for readers. */
void ki_reclaim_object(ki_reclaim *reclaim, ki_object *object);
void ki_reclaim_block(ki_reclaim *reclaim, ki_retired *block, size_t bytes);
void ki_reclaim_large(ki_reclaim *reclaim, ki_retired *block, size_t bytes);

/* Takes something that has a function of its own to free it, always the same one. */
void ki_reclaim_whole(ki_reclaim *reclaim, ki_retired *whole, size_t bytes, void (*free_whole)(void *block));

/* Whether nothing waits. */
bool ki_reclaim_is_empty(const ki_reclaim *reclaim);

/* At the end of a change: begins a grace period if enough has come together, and lets go of what has had its
 * own. Never waits. */
void ki_reclaim_settle(ki_reclaim *reclaim);

/* The same whatever has come together. Returns whether nothing is left. */
bool ki_reclaim_poll(ki_reclaim *reclaim);

/* Whether the writer may go on: `bytes_max` is not reached, and one more object has room. Tries to make room,
 * and lets other threads run for that, but does not wait for them. */
bool ki_reclaim_has_room(ki_reclaim *reclaim);

/* Waits for readers if anything waits for them, and lets go of it. Never inside a read section. */
void ki_reclaim_flush(ki_reclaim *reclaim);

#endif
