/* SPDX-License-Identifier: Apache-2.0 */
/* delta_entry - an entry of a queue: the waiting changes of one key, oldest first; or a marker.
 *
 *   From:     queue/delta_fifo.c, queue/delta_queue.c, queue/delta_queue_replace.c, informer/apply.c
 *   To:       informer/apply.c, or the callback of ki_delta_queue_pop()
 *   Locks:    the queue's. A popped entry belongs to the consumer, and needs none.
 *   Not here: order among keys, limits.
 *
 * Invariants: `bytes` is the sum of the deltas' bytes; each delta holds a reference to its object; no two
 * deletes of the same list follow each other. An append keeps them: it adds the delta, its bytes and its
 * reference together, and merges a second delete into the first. A truncate removes all three together.
 */
#ifndef KI_QUEUE_DELTA_ENTRY_H
#define KI_QUEUE_DELTA_ENTRY_H

#include <kinformer/delta_queue.h>

#include "api/object/resource_version.h"
#include "util/list.h"
#include "util/map.h"

typedef struct ki_delta_entry {
    ki_list_node node;
    ki_map_node by_key; /* its hash is the hash of the key, even after a pop */
    ki_delta *deltas;   /* oldest first; points to `first` until more than one is reserved */
    uint32_t count;
    uint32_t cap;
    ki_delta first;
    size_t bytes; /* of the objects */

    /* Used by ki_delta_fifo only. */
    ki_change_type marker; /* 0: the changes of one key. Otherwise LIST_END of attempt `list`, at `version`;
                            * BOOKMARK, at `version`; RESET, which begins with attempt `list`; or SYNC, for
                            * all objects */
    uint32_t list;
    ki_resource_version version;
    ki_resource_version version_before; /* the newest version received before this entry was queued */
    uint64_t fresh_ns; /* when it was queued, everything up to this time had been received; UINT64_MAX:
                        * unknown */

    /* Used by ki_delta_queue only. */
    uint64_t queued_ns; /* when the entry was queued; 0: unknown */
    uint32_t settled;   /* number of deltas before the current operation, which may have to be undone */
    uint8_t is_listed;  /* the key is in the new collection of a replace */
    uint8_t is_initial; /* the queue is not synced before this entry is processed */

    size_t key_len;
    size_t key_space; /* bytes for the key and its NUL */
    char key[];       /* NUL-terminated; empty for a marker */
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

/* The object of the last delta. The entry must have a delta. */
const ki_object *ki_delta_entry_newest(const ki_delta_entry *entry);

/* Whether the last delta is a delete. */
bool ki_delta_entry_ends_deleted(const ki_delta_entry *entry);

/* An entry without a delta. NULL when out of memory. */
KI_NODISCARD ki_delta_entry *ki_delta_entry_new(ki_str key);

/* Drops its deltas and frees it. NULL is allowed. */
void ki_delta_entry_free(ki_delta_entry *entry);

/* Empties the list, and frees its entries. */
void ki_delta_entry_free_all(ki_list *entries);

/* Drops its deltas, so that it can be used again. */
void ki_delta_entry_clear(ki_delta_entry *entry);

/* Turns a cleared entry into one for this key, if there is space for the key. */
KI_NODISCARD bool ki_delta_entry_renew(ki_delta_entry *entry, ki_str key);

/* Finds the entry of a key in a map; NULL if there is none. `hash` is the hash of the key. */
ki_delta_entry *ki_delta_entry_find(const ki_map *entries, ki_str key, uint64_t hash);

/* Reserves space for one more delta. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_delta_entry_reserve(ki_delta_entry *entry);

/* Adds a delta after a reserve, and sets its bytes. Adds a reference to its object, which may be NULL. Of two
 * deletes of the same list in a row, one remains: the later one, unless the earlier one has a known final
 * state, and the later one is older or has none. */
void ki_delta_entry_append(ki_delta_entry *entry, ki_delta delta);

/* Removes all but the first `count` deltas. */
void ki_delta_entry_truncate(ki_delta_entry *entry, uint32_t count);

#endif
