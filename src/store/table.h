/* SPDX-License-Identifier: Apache-2.0 */
/* table - pointers by a 64-bit hash: one writer, readers without a lock.
 *
 *   From:     store/content.c (objects by key), store/index.c (postings by value, and the objects of a
 *             posting), store/content_index.c; store/store_list.c and store/store_read.c (reads)
 *   To:       store/reclaim.h   (arrays that are out of use)
 *   Locks:    none. The writer is one thread at a time; readers are in a read section, or keep the writer
 *             out.
 *   Not here: what the pointers mean; references; hashing.
 *
 * Open addressing with linear probing. A search begins at a slot that depends on the hash and on the array's
 * salt, which each table takes from its first entry. The salt matters when a table is filled in the order in
 * which another is walked. Without it, entries would arrive in the order of their slots: one part of a
 * growing array would be full while the rest is empty, and each insert would probe all of the full part.
 *
 * What readers rely on:
 *
 *   - A slot's hash is written before its entry is published, and never changes as long as the array lives.
 *   - A slot never goes back to NULL; a removed entry becomes a tombstone, which only an entry of the same
 *     hash may replace. So a probe that began earlier still ends at the right slot.
 *   - An entry is replaced by one store into its slot, and moves only when a whole new array is published.
 *     The old array stays as it was until the readers have left it.
 *
 * The writer may keep a number with each entry, its note, which readers never read. Only half of the hash is
 * stored, and the note takes the place of the other half, so it costs no memory.
 *
 * A table with one entry has no array, since most values of most indexes have one object. Once there is an
 * array, the table has one until the last entry is gone, so that a walk can look up the current state of
 * other entries.
 */
#ifndef KI_STORE_TABLE_H
#define KI_STORE_TABLE_H

#include <kinformer/common.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "store/reclaim.h"

typedef struct ki_table_slot {
    uint32_t hash;         /* the lower half; no array is large enough to need the other half */
    uint32_t note;         /* the writer's */
    _Atomic(void *) entry; /* NULL: never used */
} ki_table_slot;

typedef struct ki_table_array {
    ki_retired retired;
    uint32_t mask; /* slots - 1; the number of slots is a power of two */
    uint32_t salt; /* odd */
    ki_table_slot slots[];
} ki_table_array;

/* A zeroed table is empty. Entries are not NULL, and aligned to at least 2 bytes. */
typedef struct ki_table {
    _Atomic(void *) content; /* NULL, the only entry + 1 byte, or an array */
    uint32_t count;          /* entries; only the writer uses it */
    uint32_t used;           /* slots that are not NULL, or the note of the only entry; only the writer uses
                              * it */
} ki_table;

/* What the writer needs to move entries. */
typedef struct ki_table_owner {
    uint64_t (*hash)(const void *entry, const void *user);
    const void *user;
    ki_reclaim *reclaim;
} ki_table_owner;

/* Describes the entry to find: it has this hash, and `matches(entry, what, user)` is true. */
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

/* The slot where a search for this hash begins. The low bits of a product depend only on the low bits of its
 * factors. So the entries that begin at one slot of an array begin at one of two slots in an array of twice
 * the size, one in each half. Moving all entries in order fills both halves from front to back. */
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

/* Returns the entry, or NULL. Inline, so that the compiler can inline `matches`. */
static inline void *ki_table_find(const ki_table *table, const ki_table_key *key)
{
    /* Acquire: an array was filled before it was published. */
    return ki_table_find_in(atomic_load_explicit(&((ki_table *)table)->content, memory_order_acquire), key);
}

/* For the writer, some changes ahead: prefetches the slot where a search for this hash begins. */
static inline void ki_table_prefetch(const ki_table *table, uint64_t hash)
{
    /* Relaxed, here and below: the writer has published the array itself. */
    const ki_table_array *array = atomic_load_explicit(&((ki_table *)table)->content, memory_order_relaxed);
    if (array != NULL && ki_table_single((void *)array) == NULL)
        __builtin_prefetch(&array->slots[ki_table_home(array, hash)]);
}

/* For the writer, some changes after it prefetched the slot: guesses what a search for this hash will find.
 * Returns the entry of the first slot, or NULL if that has another hash. */
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

/* How to visit the entries of a table. An entry that stays in the table during the walk is visited once.
 * `same` compares the keys of two entries: if the writer has moved the entries to another array meanwhile,
 * the walk uses it to visit the current entry of a key, or none if it was removed.
 * `same` is NULL if the writer is excluded. */
typedef struct ki_table_walk {
    int (*visit)(void *entry, uint32_t hash, void *user);
    void *user;
    bool (*same)(const void *entry, const void *other, const void *user);
    const void *same_user;
} ki_table_walk;

/* Returns 0, or the non-zero value of the visit that ended the walk. `hash` is the lower half. It is 0 for
 * the only entry of a table without an array, which does not know its hash. */
int ki_table_visit(const ki_table *table, const ki_table_walk *walk);

/* ---- the writer ------------------------------------------------------------------------------------ */

/* Reserves space, so that `extra` inserts cannot fail. Returns 0 or KI_ERR_NO_MEMORY;
 * in both cases the entries stay the same. */
KI_NODISCARD int ki_table_reserve(ki_table *table, size_t extra, const ki_table_owner *owner);

/* The key is not in the table, and there is space. Returns the note, which is 0. */
uint32_t *ki_table_insert(ki_table *table, uint64_t hash, void *entry);

/* `old` is in the table. `entry` has the same key, and gets the note of `old`, which is returned. */
uint32_t *ki_table_replace(ki_table *table, uint64_t hash, const void *old, void *entry);

/* `old` is in the table. Shrinks an array that has become far too large, if there is memory to do so. */
void ki_table_remove(ki_table *table, uint64_t hash, const void *old, const ki_table_owner *owner);

/* The note of an entry that is in the table. This pointer, and those that insert and replace return, are
 * valid up to the next change. */
uint32_t *ki_table_note(ki_table *table, uint64_t hash, const void *entry);

/* Frees the array at once; there must be no readers. The entries belong to the caller. */
void ki_table_fini(ki_table *table);

#endif
