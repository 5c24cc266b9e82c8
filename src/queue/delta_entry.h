/* SPDX-License-Identifier: Apache-2.0 */
/* delta_entry - the changes of one key that wait in a queue, oldest first; or a marker among them.
 *
 *   From:     queue/delta_fifo.c, queue/delta_queue.c
 *   To:       informer/apply.c, or the callback of ki_delta_queue_pop()
 *   Locks:    the queue's. A popped entry belongs to the consumer, and needs none.
 *   Not here: order among keys, limits.
 *
 * Invariants: `bytes` is the sum of the deltas' bytes; each delta has a reference to its object; no two
 * deletes of the same list stand next to each other. Each function below keeps them: an append adds to all
 * three at once, and replaces a delete instead of adding one; a truncate takes away what an append has added.
 */
#ifndef KI_QUEUE_DELTA_ENTRY_H
#define KI_QUEUE_DELTA_ENTRY_H

#include <kinformer/delta_queue.h>

#include "api/object/resource_version.h"
#include "util/list.h"
#include "util/map.h"

typedef struct ki_delta_entry {
    ki_list_node node;
    ki_map_node by_key; /* its hash is that of the key, also after a pop */
    ki_delta *deltas;   /* oldest first; `first` while there is one */
    uint32_t count;
    uint32_t cap;
    ki_delta first;
    size_t bytes; /* of the objects */

    /* Of a ki_delta_fifo. */
    ki_change_type marker; /* 0: the changes of one key. Else the end of list attempt `list`, at `version`; a
                            * bookmark, at `version`; a reset, from list attempt `list` on; or KI_CHANGE_SYNC,
                            * for all objects */
    uint32_t list;
    ki_resource_version version;
    ki_resource_version version_before; /* the newest version received before it was queued */
    uint64_t fresh_ns; /* the time up to which everything before it had been received; UINT64_MAX: unknown */

    /* Of a ki_delta_queue. */
    uint64_t queued_ns; /* when it began to wait; 0: unknown */
    uint32_t settled;   /* deltas before the current change, which may have to be undone */
    uint8_t is_listed;  /* its key is in the new collection of a replace */
    uint8_t is_initial; /* the queue has not synced before this is processed */

    size_t key_len;
    char key[]; /* NUL-terminated; empty for a marker */
} ki_delta_entry;

static inline ki_delta_entry *ki_delta_entry_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_delta_entry, node);
}

static inline ki_str ki_delta_entry_key(const ki_delta_entry *entry)
{
    return (ki_str){entry->key, entry->key_len};
}

/* The last delta; NULL when there is none. */
static inline const ki_delta *ki_delta_entry_last(const ki_delta_entry *entry)
{
    return entry->count == 0 ? NULL : &entry->deltas[entry->count - 1];
}

/* The object of the last delta, of which there is one. */
const ki_object *ki_delta_entry_newest(const ki_delta_entry *entry);

/* Whether the last thing known about the key is that it was deleted. */
bool ki_delta_entry_ends_deleted(const ki_delta_entry *entry);

/* An entry without a delta. NULL when out of memory. */
KI_NODISCARD ki_delta_entry *ki_delta_entry_new(ki_str key);

/* Drops its deltas and frees it. NULL is allowed. */
void ki_delta_entry_free(ki_delta_entry *entry);

/* The entry of a key among those of a map; NULL when there is none. `hash` is the key's. */
ki_delta_entry *ki_delta_entry_find(const ki_map *entries, ki_str key, uint64_t hash);

/* Room for one more delta. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_delta_entry_reserve(ki_delta_entry *entry);

/* Adds a delta after a reserve, and sets its bytes. Takes a reference to its object, which may be NULL. Of
 * two deletes in a row one remains: the later, unless it is older, or its final state is unknown and that of
 * the earlier is not. */
void ki_delta_entry_append(ki_delta_entry *entry, ki_delta delta);

/* Removes all but the first `count` deltas. */
void ki_delta_entry_truncate(ki_delta_entry *entry, uint32_t count);

#endif
