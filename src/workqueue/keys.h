/* SPDX-License-Identifier: Apache-2.0 */
/* keys - the entries of a work queue by their key: a table with open addressing.
 *
 *   From:     workqueue/queue.c
 *   To:       util/huge_pages.h, once it is large
 *   Locks:    the queue's mutex.
 *   Not here: what an entry means; memory of entries.
 *
 * A slot has the hash beside the pointer, so neither a lookup nor a move to a larger table reads other
 * entries: with a million keys these would be cache misses. (util/map.h is smaller, but reads them.)
 *
 * Invariant: no slot is empty between the home of an entry, which its hash determines, and its slot. A
 * removal moves later entries back to keep this; there are no tombstones.
 */
#ifndef KI_WORKQUEUE_KEYS_H
#define KI_WORKQUEUE_KEYS_H

#include <assert.h>

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

/* Adds an entry whose key is not in the table. Returns 0, or KI_ERR_NO_MEMORY with nothing changed; a
 * table that cannot grow is filled up first. */
KI_NODISCARD int ki_work_keys_insert(ki_work_keys *keys, ki_work_entry *entry);

/* Removes an entry of the table. Shrinks a table that has become sparse. */
void ki_work_keys_remove(ki_work_keys *keys, const ki_work_entry *entry);

/* Prefetches what the next call for this hash reads. */
static inline void ki_work_keys_expect(const ki_work_keys *keys, uint32_t hash)
{
    assert(keys->count > 0);
    __builtin_prefetch(&keys->slots[hash & (keys->slot_count - 1)], 1);
}

#endif
