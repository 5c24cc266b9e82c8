/* SPDX-License-Identifier: Apache-2.0 */
/* keys - the entries of a work queue by their key: a table with open addressing.
 *
 *   From:     workqueue/queue.c, workqueue/queue_life.c
 *   To:       util/huge_pages.h, for a large table
 *   Locks:    the queue's mutex.
 *   Not here: what an entry means; memory of entries.
 *
 * The functions that each add and each done call are inline: calls would cost a fifth of the queue's time.
 *
 * A slot holds the hash beside the pointer, so neither a lookup nor a move to a larger table reads other
 * entries: with a million keys these would be cache misses. (util/map.h is smaller, but reads them.)
 *
 * Invariant: no slot is empty between the home of an entry, which its hash determines, and its slot. A
 * removal moves later entries back to keep this; there are no tombstones.
 */
#ifndef KI_WORKQUEUE_KEYS_H
#define KI_WORKQUEUE_KEYS_H

#include <assert.h>

#include "util/prefetch.h"
#include "workqueue/entry.h"

/* At most 13 of 16 slots are used: more slots cost memory, a fuller table costs search time. */
enum { KI_WORK_KEYS_KEPT = 4096, KI_WORK_KEYS_USED_OF_16 = 13 };

typedef struct ki_work_slot {
    uint32_t hash;
    ki_work_entry *entry; /* NULL: empty */
} ki_work_slot;

/* A zeroed struct is empty. `count` may be read directly. */
typedef struct ki_work_keys {
    ki_work_slot *slots;
    size_t slot_count; /* a power of two, or 0 before the first insert */
    size_t count;
} ki_work_keys;

/* Frees the table, but not the entries. */
void ki_work_keys_fini(ki_work_keys *keys);

/* ki_work_keys_grow() doubles the table, and returns 0, or KI_ERR_NO_MEMORY with nothing changed.
 * ki_work_keys_shrink() halves it if there is memory for that. */
KI_NODISCARD int ki_work_keys_grow(ki_work_keys *keys);
void ki_work_keys_shrink(ki_work_keys *keys);

/* Whether the table is larger than a processor's first caches; a smaller one is not worth shrinking. */
static inline bool ki_work_keys_is_large(const ki_work_keys *keys)
{
    return keys->slot_count > KI_WORK_KEYS_KEPT;
}

/* Prefetches the slot that the next call for this hash reads. */
static inline void ki_work_keys_expect(const ki_work_keys *keys, uint32_t hash)
{
    assert(keys->slot_count > 0);
    ki_prefetch_write(&keys->slots[hash & (keys->slot_count - 1)]);
}

/* Returns NULL if there is no such key. */
static inline ki_work_entry *ki_work_keys_find(const ki_work_keys *keys, ki_str key, uint32_t hash)
{
    if (keys->slot_count == 0)
        return NULL;
    assert(keys->count < keys->slot_count);
    size_t mask = keys->slot_count - 1;
    size_t i = hash & mask;
    while (keys->slots[i].entry != NULL &&
           (keys->slots[i].hash != hash || !ki_work_entry_has_key(keys->slots[i].entry, key)))
        i = (i + 1) & mask;
    return keys->slots[i].entry;
}

static inline void ki_work_keys_put(ki_work_keys *keys, ki_work_slot slot)
{
    assert(slot.entry != NULL && slot.hash == slot.entry->hash);
    size_t mask = keys->slot_count - 1;
    size_t i = slot.hash & mask;
    while (keys->slots[i].entry != NULL)
        i = (i + 1) & mask;
    keys->slots[i] = slot;
}

/* Makes sure that `count` entries can be inserted. Returns 0, or KI_ERR_NO_MEMORY. A table that cannot grow
 * is filled until one slot is left empty, at which searches end. */
KI_NODISCARD static inline int ki_work_keys_reserve(ki_work_keys *keys, size_t count)
{
    int rc = 0;
    while (rc == 0 && (keys->count + count) * 16 > keys->slot_count * KI_WORK_KEYS_USED_OF_16)
        rc = ki_work_keys_grow(keys);
    return keys->count + count < keys->slot_count ? 0 : rc;
}

/* Adds an entry whose key is not in the table; a slot was reserved for it. */
static inline void ki_work_keys_insert(ki_work_keys *keys, ki_work_entry *entry)
{
    assert(keys->count + 1 < keys->slot_count);
    assert(ki_work_keys_find(keys, ki_work_entry_key(entry), entry->hash) == NULL);
    ki_work_keys_put(keys, (ki_work_slot){entry->hash, entry});
    keys->count++;
}

/* Each later entry whose home is not between the hole and its slot moves into the hole,
 * and leaves another hole. */
static inline void ki_work_keys_close_hole(ki_work_keys *keys, size_t hole)
{
    assert(hole < keys->slot_count && keys->slots[hole].entry != NULL);
    size_t mask = keys->slot_count - 1;
    for (size_t i = (hole + 1) & mask; keys->slots[i].entry != NULL; i = (i + 1) & mask) {
        size_t from_home = (i - keys->slots[i].hash) & mask;
        if (from_home >= ((i - hole) & mask)) {
            keys->slots[hole] = keys->slots[i];
            hole = i;
        }
    }
    keys->slots[hole] = (ki_work_slot){0};
}

/* Removes an entry from the table. Shrinks a table that has become sparse. The smaller table is at most a
 * quarter full, so the next insert does not grow it again. */
static inline void ki_work_keys_remove(ki_work_keys *keys, const ki_work_entry *entry)
{
    assert(keys->count > 0);
    size_t mask = keys->slot_count - 1;
    size_t i = entry->hash & mask;
    while (keys->slots[i].entry != entry) {
        assert(keys->slots[i].entry != NULL);
        i = (i + 1) & mask;
    }
    ki_work_keys_close_hole(keys, i);
    keys->count--;
    if (ki_work_keys_is_large(keys) && keys->count < keys->slot_count / 8)
        ki_work_keys_shrink(keys);
}

#endif
