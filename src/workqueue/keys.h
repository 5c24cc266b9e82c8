/* SPDX-License-Identifier: Apache-2.0 */
/* keys - the entries of a work queue by their key: a table with open addressing.
 *
 *   From:     workqueue/queue.c
 *   To:       util/huge_pages.h, once it is large
 *   Locks:    the queue's mutex.
 *   Not here: what an entry means; memory of entries.
 *
 * A slot has the hash beside the pointer, so that neither looking for a key nor moving to a larger table
 * reads entries that are somewhere else: with a million keys none of them is in a cache. (util/map.h is
 * smaller, and does.)
 *
 * Invariant: from the home of an entry, which its hash says, to its slot no slot is empty. Removing one moves
 * others back to keep it; there are no tombstones.
 */
#ifndef KI_WORKQUEUE_KEYS_H
#define KI_WORKQUEUE_KEYS_H

#include "workqueue/entry.h"

typedef struct ki_work_slot {
    uint32_t hash;
    ki_work_entry *entry; /* NULL: empty */
} ki_work_slot;

/* Zeroed: empty. Read `count` freely. */
typedef struct ki_work_keys {
    ki_work_slot *slots;
    size_t slot_count; /* a power of two, or 0 before the first insert */
    size_t count;
} ki_work_keys;

/* Frees the table; the entries are the owner's. */
void ki_work_keys_fini(ki_work_keys *keys);

/* NULL: there is no such key. */
ki_work_entry *ki_work_keys_find(const ki_work_keys *keys, ki_str key, uint32_t hash);

/* Adds an entry whose key is not there, by its hash. Returns 0, or KI_ERR_NO_MEMORY with nothing changed; a
 * table that cannot grow is filled up first. */
KI_NODISCARD int ki_work_keys_insert(ki_work_keys *keys, ki_work_entry *entry);

/* Removes an entry that is there. Gives memory back when few are left of many. */
void ki_work_keys_remove(ki_work_keys *keys, const ki_work_entry *entry);

/* Has the processor fetch what the next of these calls reads. */
static inline void ki_work_keys_expect(const ki_work_keys *keys, uint32_t hash)
{
    __builtin_prefetch(&keys->slots[hash & (keys->slot_count - 1)], 1);
}

#endif
