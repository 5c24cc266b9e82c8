/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: `used` slots of the array are not NULL, which is at most three quarters of all slots, and
 * `count` of these contain an entry. Each entry is in the slot that its probe took when it was inserted, and
 * none of the slots before that on the probe has become NULL since.
 *
 * So a probe always ends: it meets the entry, or a NULL slot, of which there is always one. An insert takes
 * the first slot of its probe that is NULL or a tombstone of the same hash. A replace does not change the
 * slot's hash. A remove leaves a tombstone, so that probes for later slots continue. A rebuild inserts all
 * entries into a private array, and publishes it when it is complete. A new array is at most half full, so
 * inserts can fill at least a quarter of its slots before they need the next rebuild. */
#include "store/table.h"

#include <assert.h>
#include <kinformer/error.h>

#include "util/alloc.h"
#include "util/annotations.h"
#include "util/huge_pages.h"

/* AHEAD: how many slots ahead a walk prefetches an entry. */
enum { SLOTS_MIN = 4, SPARSE = 8, AHEAD = 24 };

/* Far more than any collection needs, and far below the number at which slot numbers or sizes overflow. */
#define SLOTS_MAX ((uint64_t)1 << 31)

char ki_table_tombstone[2];

static size_t array_bytes(uint64_t slots)
{
    assert(slots >= SLOTS_MIN && (slots & (slots - 1)) == 0);
    return sizeof(ki_table_array) + slots * sizeof(ki_table_slot);
}

static uint64_t slots_of(const ki_table_array *array)
{
    return (uint64_t)array->mask + 1;
}

/* For the writer, and for callers that exclude it. Relaxed: the caller wrote it, or has taken the lock after
 * the writer. */
static void *content_of(const ki_table *table)
{
    return atomic_load_explicit(&((ki_table *)table)->content, memory_order_relaxed);
}

static void *entry_of(const ki_table_slot *slot)
{
    return atomic_load_explicit(&((ki_table_slot *)slot)->entry, memory_order_relaxed);
}

static ki_table_array *array_of(const ki_table *table)
{
    void *content = content_of(table);
    return content == NULL || ki_table_single(content) != NULL ? NULL : content;
}

/* The parts of the invariant that are cheap to check; tests check every slot. */
static KI_DEBUG_ONLY bool is_sound(const ki_table *table)
{
    const ki_table_array *array = array_of(table);
    if (array == NULL)
        return table->count == (content_of(table) != NULL);
    return table->count <= table->used && (uint64_t)table->used * 4 <= slots_of(array) * 3;
}

/* Release: the array, or what the single entry points at, is complete before readers can find it. */
static void publish(ki_table *table, void *content)
{
    atomic_store_explicit(&table->content, content, memory_order_release);
}

/* Release: the slot's hash, and what the entry points at, come before the entry. */
static void publish_entry(ki_table_slot *slot, void *entry)
{
    atomic_store_explicit(&slot->entry, entry, memory_order_release);
}

static bool is_entry(const void *entry)
{
    return entry != NULL && entry != ki_table_tombstone;
}

static bool is_same_pointer(const void *entry, const void *what, const void *user)
{
    (void)user;
    return entry == what;
}

bool ki_table_contains(const ki_table *table, uint64_t hash, const void *entry)
{
    return ki_table_find(table, &(ki_table_key){hash, is_same_pointer, entry, NULL}) != NULL;
}

/* The slot of `entry`, which must be in the array. */
static ki_table_slot *slot_of(ki_table_array *array, uint64_t hash, const void *entry)
{
    uint64_t i = ki_table_home(array, hash);
    while (entry_of(&array->slots[i]) != entry) {
        assert(entry_of(&array->slots[i]) != NULL);
        i = (i + 1) & array->mask;
    }
    return &array->slots[i];
}

/* ---- arrays ---------------------------------------------------------------------------------------- */

/* Returns 0 if there are too many entries. */
static uint64_t slots_for(size_t entries)
{
    uint64_t slots = SLOTS_MIN;
    while (slots < SLOTS_MAX && slots / 2 < entries)
        slots *= 2;
    return slots / 2 < entries ? 0 : slots;
}

static bool is_large(uint64_t slots)
{
    return array_bytes(slots) >= KI_HUGE_PAGES_BYTES;
}

static ki_table_array *array_new(uint64_t slots)
{
    if (slots == 0)
        return NULL;
    ki_table_array *array =
        is_large(slots) ? ki_huge_pages_new(array_bytes(slots)) : ki_calloc(1, array_bytes(slots));
    if (array != NULL)
        array->mask = (uint32_t)(slots - 1);
    return array;
}

/* Readers do not see the array yet. */
static void array_add(ki_table_array *array, uint32_t hash, uint32_t note, void *entry)
{
    assert(is_entry(entry));
    uint64_t i = ki_table_home(array, hash);
    while (entry_of(&array->slots[i]) != NULL)
        i = (i + 1) & array->mask;
    array->slots[i].hash = hash;
    array->slots[i].note = note;
    /* Relaxed: the array as a whole is published afterwards. */
    atomic_store_explicit(&array->slots[i].entry, entry, memory_order_relaxed);
}

static void array_copy(ki_table_array *to, const ki_table_array *from)
{
    for (uint64_t i = 0; i <= from->mask; i++) {
        void *entry = entry_of(&from->slots[i]);
        if (is_entry(entry))
            array_add(to, from->slots[i].hash, from->slots[i].note, entry);
    }
}

static void array_retire(ki_table_array *array, const ki_table_owner *owner)
{
    if (array == NULL)
        return;
    size_t bytes = array_bytes(slots_of(array));
    if (is_large(slots_of(array)))
        ki_reclaim_large(owner->reclaim, &array->retired, bytes);
    else
        ki_reclaim_block(owner->reclaim, &array->retired, bytes);
}

/* The salt of a new array is that of the old array. The first array takes its salt from the only entry. If
 * there is no entry yet, the salt is 1, which does no harm: the array has space for all reserved entries, and
 * does not grow while they are inserted. */
static uint32_t salt_of(const ki_table_array *old, const void *single, const ki_table_owner *owner)
{
    if (old != NULL)
        return old->salt;
    return (single == NULL ? 0 : (uint32_t)owner->hash(single, owner->user)) | 1;
}

/* Moves all entries, without the tombstones, to a new array with space for `entries`. */
static int rebuild(ki_table *table, size_t entries, const ki_table_owner *owner)
{
    ki_table_array *old = array_of(table);
    void *single = old == NULL && content_of(table) != NULL ? ki_table_single(content_of(table)) : NULL;
    ki_table_array *array = array_new(slots_for(entries));
    if (array == NULL)
        return KI_ERR_NO_MEMORY;
    array->salt = salt_of(old, single, owner);
    if (single != NULL)
        array_add(array, (uint32_t)owner->hash(single, owner->user), table->used, single);
    if (old != NULL)
        array_copy(array, old);
    table->used = table->count;
    assert((uint64_t)table->used * 2 <= slots_of(array));
    publish(table, array);
    array_retire(old, owner);
    return 0;
}

int ki_table_reserve(ki_table *table, size_t extra, const ki_table_owner *owner)
{
    assert(is_sound(table));
    const ki_table_array *array = array_of(table);
    size_t entries = table->count + extra;
    if (extra == 0 || (array == NULL && entries <= 1))
        return 0;
    if (array != NULL && (table->used + extra) * 4 <= slots_of(array) * 3)
        return 0;
    return rebuild(table, entries, owner);
}

/* ---- changes --------------------------------------------------------------------------------------- */

uint32_t *ki_table_insert(ki_table *table, uint64_t hash, void *entry)
{
    assert(is_sound(table));
    ki_table_array *array = array_of(table);
    assert(is_entry(entry) && ((uintptr_t)entry & 1) == 0);
    table->count++;
    if (array == NULL) {
        assert(table->count == 1);
        table->used = 0;
        publish(table, (char *)entry + 1);
        return &table->used;
    }
    uint64_t i = ki_table_home(array, hash);
    while (entry_of(&array->slots[i]) != NULL &&
           (entry_of(&array->slots[i]) != ki_table_tombstone || array->slots[i].hash != (uint32_t)hash))
        i = (i + 1) & array->mask;
    if (entry_of(&array->slots[i]) == NULL) {
        array->slots[i].hash = (uint32_t)hash;
        table->used++;
    }
    array->slots[i].note = 0;
    assert(table->used <= array->mask);
    publish_entry(&array->slots[i], entry);
    return &array->slots[i].note;
}

uint32_t *ki_table_replace(ki_table *table, uint64_t hash, const void *old, void *entry)
{
    assert(is_sound(table));
    ki_table_array *array = array_of(table);
    if (array == NULL) {
        assert(ki_table_single(content_of(table)) == old);
        publish(table, (char *)entry + 1);
        return &table->used;
    }
    assert(is_entry(entry) && ((uintptr_t)entry & 1) == 0);
    ki_table_slot *slot = slot_of(array, hash, old);
    publish_entry(slot, entry);
    return &slot->note;
}

static void remove_last(ki_table *table, const ki_table_owner *owner)
{
    assert(table->count == 1);
    ki_table_array *array = array_of(table);
    publish(table, NULL);
    table->count = 0;
    table->used = 0;
    array_retire(array, owner);
}

void ki_table_remove(ki_table *table, uint64_t hash, const void *old, const ki_table_owner *owner)
{
    assert(ki_table_contains(table, hash, old));
    if (table->count == 1) {
        remove_last(table, owner);
        return;
    }
    ki_table_array *array = array_of(table);
    publish_entry(slot_of(array, hash, old), ki_table_tombstone);
    table->count--;
    if (array->mask >= SLOTS_MIN && table->count < slots_of(array) / SPARSE)
        (void)rebuild(table, table->count, owner); /* if out of memory, the large array stays */
}

uint32_t *ki_table_note(ki_table *table, uint64_t hash, const void *entry)
{
    assert(is_sound(table));
    ki_table_array *array = array_of(table);
    return array == NULL ? &table->used : &slot_of(array, hash, entry)->note;
}

void ki_table_fini(ki_table *table)
{
    ki_table_array *array = array_of(table);
    if (array != NULL && is_large(slots_of(array)))
        ki_huge_pages_free(array);
    else
        ki_free(array);
    *table = (ki_table){.content = NULL};
}

/* ---- walks ----------------------------------------------------------------------------------------- */

/* Finds the current entry with the key of `entry`, which is from an array that the table has replaced. */
static void *refresh(const ki_table *table, const ki_table_slot *slot, void *entry, const ki_table_walk *walk)
{
    return ki_table_find(table, &(ki_table_key){slot->hash, walk->same, entry, walk->same_user});
}

int ki_table_visit(const ki_table *table, const ki_table_walk *walk)
{
    /* Acquire, here and below: as in ki_table_find(). */
    void *content = atomic_load_explicit(&((ki_table *)table)->content, memory_order_acquire);
    if (content == NULL)
        return 0;
    void *single = ki_table_single(content);
    if (single != NULL)
        return walk->visit(single, 0, walk->user);
    ki_table_array *array = content;
    int rc = 0;
    for (uint64_t i = 0; i <= array->mask && rc == 0; i++) {
        ki_table_slot *slot = &array->slots[i];
        void *entry = atomic_load_explicit(&slot->entry, memory_order_acquire);
        __builtin_prefetch(entry_of(&array->slots[(i + AHEAD) & array->mask]));
        if (!is_entry(entry))
            continue;
        /* Relaxed: the pointer is only compared. The search acquires what it reads through the other
         * array. */
        if (walk->same != NULL &&
            atomic_load_explicit(&((ki_table *)table)->content, memory_order_relaxed) != content)
            entry = refresh(table, slot, entry, walk);
        if (entry != NULL)
            rc = walk->visit(entry, slot->hash, walk->user);
    }
    return rc;
}
