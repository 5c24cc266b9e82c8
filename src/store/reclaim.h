/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim - memory that was removed from a store but may still be used by readers.
 *
 *   From:     store/table.c, store/index.c, store/content.c (the writer removes things); also
 *             store/content_index.c, store/store.c, store/store_public_write.c
 *   To:       ki_object_unref(), ki_free(), ki_huge_pages_free(), after a grace period
 *   Locks:    none; the writer's.
 *   Not here: deciding what is removed; threads; waiting for readers, except in the calls that say so.
 *
 * The writer first makes memory unreachable, then hands it over. A grace period covers everything handed over
 * before it begins. It begins after a number of hand-overs, when half of `bytes_max` is reached, or when the
 * writer is idle. The writer does not wait for the end of the period, but polls. Memory that is handed over
 * meanwhile is collected for the next period. So a reader that stays in a section only delays the freeing of
 * memory, until bytes_max is reached. Then the writer must wait, and tries again later.
 *
 * Handing over never fails. The store's own blocks contain a link for a chain. Objects have no such link,
 * so references to them go into an array, in which a place can be reserved.
 */
#ifndef KI_STORE_RECLAIM_H
#define KI_STORE_RECLAIM_H

#include <kinformer/object.h>
#include <stdbool.h>

/* The first member of every block of the store that readers can see. */
typedef struct ki_retired {
    struct ki_retired *next;
} ki_retired;

/* After this many objects and blocks, ki_reclaim_settle() begins a grace period. */
#define KI_RECLAIM_THINGS_MAX 4096

/* The size of the built-in array of references, which is used until a larger one is allocated,
 * or if that fails. */
#define KI_RECLAIM_FEW 8

/* Chains of memory, one for each way to free it. */
typedef struct ki_retired_chains {
    ki_retired *blocks;
    ki_retired *large; /* blocks of ki_huge_pages_new() */
    ki_retired *whole; /* handed over to ki_reclaim_whole() */
    size_t count;      /* of all of them */
} ki_retired_chains;

typedef struct ki_reclaim {
    ki_object **objects; /* built-in or allocated; those that wait for the grace period come first */
    size_t object_count;
    size_t object_capacity;
    ki_retired_chains fresh;
    size_t bytes; /* of objects and blocks */
    size_t bytes_max;
    uint64_t grace; /* the current grace period; 0: none, and nothing waits for one */
    size_t waiting_objects;
    ki_retired_chains waiting;
    size_t waiting_bytes;
    uint64_t grace_periods;
    void (*free_whole)(void *block);
    bool is_private; /* there are no readers: everything is freed at once */
    ki_object *few[KI_RECLAIM_FEW];
} ki_reclaim;

/* The struct must not move until ki_reclaim_fini(). */
void ki_reclaim_init(ki_reclaim *reclaim, size_t bytes_max);

/* For a structure that is being built and that readers cannot see yet. */
void ki_reclaim_init_private(ki_reclaim *reclaim);

/* Waits for readers if any memory waits for them, frees it, and frees the array. */
void ki_reclaim_fini(ki_reclaim *reclaim);

/* The same without waiting: there are no readers any more. */
void ki_reclaim_fini_unread(ki_reclaim *reclaim);

/* Reserves a place for one more object. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reclaim_reserve(ki_reclaim *reclaim);

/* Take the reference to an object; a block of `bytes` from ki_malloc(); and a block from ki_huge_pages_new().
 * If no place is free for an object, and no memory can be allocated, the call waits for readers. */
void ki_reclaim_object(ki_reclaim *reclaim, ki_object *object);
void ki_reclaim_block(ki_reclaim *reclaim, ki_retired *block, size_t bytes);
void ki_reclaim_large(ki_reclaim *reclaim, ki_retired *block, size_t bytes);

/* Takes a structure that is freed by `free_whole`, which must be the same in every call. */
void ki_reclaim_whole(ki_reclaim *reclaim, ki_retired *whole, size_t bytes, void (*free_whole)(void *block));

/* Whether everything has been freed. */
bool ki_reclaim_is_empty(const ki_reclaim *reclaim);

/* Called at the end of a change: frees memory whose grace period has passed, and begins a new period if
 * enough was collected. Never waits. */
void ki_reclaim_settle(ki_reclaim *reclaim);

/* The same, even if little was collected. Returns whether nothing is left. */
bool ki_reclaim_poll(ki_reclaim *reclaim);

/* Whether the writer may continue: `bytes_max` is not reached, and there is a place for one more object.
 * Tries to free memory, and lets other threads run for that, but does not wait for them. */
bool ki_reclaim_has_space(ki_reclaim *reclaim);

/* Waits for readers if any memory waits for them, and frees it. Never call it inside a read section. */
void ki_reclaim_flush(ki_reclaim *reclaim);

#endif
