/* SPDX-License-Identifier: Apache-2.0 */
/* table - pointers by a 64-bit hash: one writer, readers without a lock.
 *
 *   From:     store/content.c   (objects by key)
 *             store/index.c     (postings by value, and the objects of a posting)
 *   To:       store/reclaim.h   (arrays that are out of use)
 *   Locks:    none. The writer is one thread at a time; readers are in a read section, or keep the writer
 *             out.
 *   Not here: what the pointers mean; references; hashing.
 *
 * Open addressing with linear probing. The hash and the array's salt, which each table takes from its first
 * entry, determine where a search begins. Without a salt, filling a table in the order in which another is
 * walked would insert entries in the order of their slots: then a part of a growing array is full while the
 * rest is empty, and each insert there probes all of that part.
 *
 * What readers rely on:
 *
 *   - A slot's hash is written before its entry is published, and never changes as long as the array lives.
 *   - A slot never goes back to NULL; a removed entry becomes a tombstone, which only an entry of the same
 *     hash may take. So a probe that began earlier still ends where it must.
 *   - An entry is replaced by one store into its slot, and moves only when a whole new array is published.
 *     The old array stays as it was until the readers have left it.
 *
 * The writer may keep a number with each entry, its note, which readers never look at. It lies beside the
 * half of the hash that a search compares, so it costs no memory.
 *
 * A table of one entry has no array: most values of most indexes have one object. Once there is an array, it
 * stays until the last entry is gone, so that a walk can find out what became of the others.
 */
#ifndef KI_STORE_TABLE_H
#define KI_STORE_TABLE_H

#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "store/reclaim.h"

typedef struct ki_table_slot {
    uint32_t hash;         /* the lower half; no array is large enough to need the rest */
    uint32_t note;         /* the writer's */
    _Atomic(void *) entry; /* NULL: never taken */
} ki_table_slot;

typedef struct ki_table_array {
    ki_retired retired;
    uint32_t mask; /* slots - 1; the number of slots is a power of two */
    uint32_t salt; /* odd */
    ki_table_slot slots[];
} ki_table_array;

/* A zeroed one is empty. Entries are addresses of at least 2-byte alignment, and not NULL. */
typedef struct ki_table {
    _Atomic(void *) content; /* NULL, the only entry + 1 byte, or an array */
    uint32_t count;          /* entries; the writer's */
    uint32_t used;           /* slots that are not NULL, or the note of the only entry; the writer's */
} ki_table;

/* What the writer needs to move entries. */
typedef struct ki_table_owner {
    uint64_t (*hash)(const void *entry, const void *user);
    const void *user;
    ki_reclaim *reclaim;
} ki_table_owner;

/* The entry to find: with this hash, and `matches(entry, what, user)`. */
typedef struct ki_table_key {
    uint64_t hash;
    bool (*matches)(const void *entry, const void *what, const void *user);
    const void *what;
    const void *user;
} ki_table_key;

/* Its address marks a slot whose entry was removed. */
extern char ki_table_tombstone[2];

static inline void *ki_table_single(void *content)
{
    return ((uintptr_t)content & 1) != 0 ? (char *)content - 1 : NULL;
}

/* Where a search for this hash begins. The low bits of a product are those of its factors: when an array
 * of twice the size is filled, it is from the front to the back in both of its halves. */
static inline uint64_t ki_table_home(const ki_table_array *array, uint64_t hash)
{
    return ((uint32_t)hash * array->salt) & array->mask;
}

static inline void *ki_table_find_in(void *content, const ki_table_key *key)
{
    if (content == NULL)
        return NULL;
    void *single = ki_table_single(content);
    if (single != NULL)
        return key->matches(single, key->what, key->user) ? single : NULL;
    ki_table_array *array = content;
    for (uint64_t i = ki_table_home(array, key->hash);; i = (i + 1) & array->mask) {
        ki_table_slot *slot = &array->slots[i];
        /* Acquire: the slot's hash, and what the entry points at, were written before it was published. */
        void *entry = atomic_load_explicit(&slot->entry, memory_order_acquire);
        if (entry == NULL)
            return NULL;
        if (slot->hash == (uint32_t)key->hash && entry != ki_table_tombstone &&
            key->matches(entry, key->what, key->user))
            return entry;
    }
}

/* Returns the entry, or NULL. Inline, so that `matches` is. */
static inline void *ki_table_find(const ki_table *table, const ki_table_key *key)
{
    /* Acquire: an array was filled before it was published. */
    return ki_table_find_in(atomic_load_explicit(&((ki_table *)table)->content, memory_order_acquire), key);
}

/* The writer, some changes ahead: prefetches the slot where a search for this hash begins. */
static inline void ki_table_prefetch(const ki_table *table, uint64_t hash)
{
    /* Relaxed, here and below: the writer has published it itself. */
    const ki_table_array *array = atomic_load_explicit(&((ki_table *)table)->content, memory_order_relaxed);
    if (array != NULL && ki_table_single((void *)array) == NULL)
        __builtin_prefetch(&array->slots[ki_table_home(array, hash)]);
}

/* The writer, some changes later: the entry in the first slot of a search for this hash, or NULL if it has
 * another hash. A guess at what the search will find. */
static inline void *ki_table_guess(const ki_table *table, uint64_t hash)
{
    ki_table_array *array = atomic_load_explicit(&((ki_table *)table)->content, memory_order_relaxed);
    if (array == NULL || ki_table_single(array) != NULL)
        return NULL;
    ki_table_slot *slot = &array->slots[ki_table_home(array, hash)];
    return slot->hash == (uint32_t)hash ? atomic_load_explicit(&slot->entry, memory_order_relaxed) : NULL;
}

/* Whether exactly this pointer is in the table. */
bool ki_table_contains(const ki_table *table, uint64_t hash, const void *entry);

/* Visits the entries of the table; each that stays throughout is visited once. `same` compares the keys of
 * two entries: an entry that the writer has moved to another array meanwhile is visited in its current state,
 * or not at all if it was removed. NULL when the writer is excluded. */
typedef struct ki_table_walk {
    int (*visit)(void *entry, uint32_t hash, void *user);
    void *user;
    bool (*same)(const void *entry, const void *other, const void *user);
    const void *same_user;
} ki_table_walk;

/* Returns 0, or the non-zero value of the visit that ended the walk. `hash` is the lower half; a single entry
 * is visited with 0, because the table does not know its hash. */
int ki_table_visit(const ki_table *table, const ki_table_walk *walk);

/* ---- the writer ------------------------------------------------------------------------------------ */

/* Makes room, so that `extra` inserts cannot fail. Returns 0 or KI_ERR_NO_MEMORY; in both cases the entries
 * stay the same. */
KI_NODISCARD int ki_table_reserve(ki_table *table, size_t extra, const ki_table_owner *owner);

/* The key is not in the table, and there is room. Returns the note, which is 0. */
uint32_t *ki_table_insert(ki_table *table, uint64_t hash, void *entry);

/* `old` is in the table; `entry` has its key, and gets its note, which is returned. */
uint32_t *ki_table_replace(ki_table *table, uint64_t hash, const void *old, void *entry);

/* `old` is in the table. Shrinks an array that has become far too large, if there is memory to do so. */
void ki_table_remove(ki_table *table, uint64_t hash, const void *old, const ki_table_owner *owner);

/* The note of an entry that is in the table. This pointer, and the two above,
 * are good up to the next change. */
uint32_t *ki_table_note(ki_table *table, uint64_t hash, const void *entry);

/* Frees the array at once; there must be no readers. The entries belong to the caller. */
void ki_table_fini(ki_table *table);

/* Slots against counts and bounds: for tests. Returns NULL, or what is wrong. */
const char *ki_table_check(const ki_table *table);

#endif
