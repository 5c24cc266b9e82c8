/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/keys.h"

#include <assert.h>

#include "util/alloc.h"
#include "util/huge_pages.h"

/* At most 13 of 16 slots are used: more slots cost memory, a fuller table costs search time. A table of a few
 * pages is not worth shrinking. */
enum { SLOTS_MIN = 16, SLOTS_KEPT = 4096, USED_OF_16 = 13 };

/* The hash has no more bits to tell slots apart. */
#define SLOTS_MAX ((uint64_t)1 << 32)

static size_t bytes_of(size_t slot_count)
{
    return slot_count * sizeof(ki_work_slot);
}

static ki_work_slot *slots_new(size_t slot_count)
{
    return bytes_of(slot_count) >= KI_HUGE_PAGES_BYTES ? ki_huge_pages_new(bytes_of(slot_count))
                                                       : ki_calloc(1, bytes_of(slot_count));
}

static void slots_free(ki_work_slot *slots, size_t slot_count)
{
    if (bytes_of(slot_count) >= KI_HUGE_PAGES_BYTES)
        ki_huge_pages_free(slots);
    else
        ki_free(slots);
}

void ki_work_keys_fini(ki_work_keys *keys)
{
    slots_free(keys->slots, keys->slot_count);
    *keys = (ki_work_keys){0};
}

ki_work_entry *ki_work_keys_find(const ki_work_keys *keys, ki_str key, uint32_t hash)
{
    if (keys->slot_count == 0)
        return NULL;
    assert(keys->count < keys->slot_count);
    size_t mask = keys->slot_count - 1;
    size_t i = hash & mask;
    while (keys->slots[i].entry != NULL &&
           (keys->slots[i].hash != hash || !ki_str_equal(ki_work_entry_key(keys->slots[i].entry), key)))
        i = (i + 1) & mask;
    return keys->slots[i].entry;
}

static void put(ki_work_keys *keys, ki_work_slot slot)
{
    assert(slot.entry != NULL && slot.hash == slot.entry->hash);
    size_t mask = keys->slot_count - 1;
    size_t i = slot.hash & mask;
    while (keys->slots[i].entry != NULL)
        i = (i + 1) & mask;
    keys->slots[i] = slot;
}

/* Returns 0 or KI_ERR_NO_MEMORY with nothing changed. */
static int resize(ki_work_keys *keys, size_t slot_count)
{
    assert(slot_count >= SLOTS_MIN && (slot_count & (slot_count - 1)) == 0);
    assert(slot_count > keys->count);
    if (slot_count > SLOTS_MAX)
        return KI_ERR_NO_MEMORY;
    ki_work_keys moved = {slots_new(slot_count), slot_count, keys->count};
    if (moved.slots == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < keys->slot_count; i++)
        if (keys->slots[i].entry != NULL)
            put(&moved, keys->slots[i]);
    slots_free(keys->slots, keys->slot_count);
    *keys = moved;
    return 0;
}

/* One slot always stays empty, where a search ends. */
int ki_work_keys_insert(ki_work_keys *keys, ki_work_entry *entry)
{
    assert(ki_work_keys_find(keys, ki_work_entry_key(entry), entry->hash) == NULL);
    if ((keys->count + 1) * 16 > keys->slot_count * USED_OF_16) {
        int rc = resize(keys, keys->slot_count == 0 ? SLOTS_MIN : keys->slot_count * 2);
        if (rc < 0 && keys->count + 1 >= keys->slot_count)
            return rc;
    }
    assert(keys->count + 1 < keys->slot_count);
    put(keys, (ki_work_slot){entry->hash, entry});
    keys->count++;
    return 0;
}

/* Each later entry whose home is not between the hole and its slot moves into the hole,
 * and leaves another hole. */
static void close_hole(ki_work_keys *keys, size_t hole)
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

/* At most a quarter full after shrinking, so that the next insert does not grow it again. If this fails, the
 * table stays large. */
static void shrink(ki_work_keys *keys)
{
    if (keys->slot_count > SLOTS_KEPT && keys->count < keys->slot_count / 8)
        (void)!resize(keys, keys->slot_count / 2);
}

void ki_work_keys_remove(ki_work_keys *keys, const ki_work_entry *entry)
{
    assert(keys->count > 0);
    size_t mask = keys->slot_count - 1;
    size_t i = entry->hash & mask;
    while (keys->slots[i].entry != entry) {
        assert(keys->slots[i].entry != NULL);
        i = (i + 1) & mask;
    }
    close_hole(keys, i);
    keys->count--;
    shrink(keys);
}
