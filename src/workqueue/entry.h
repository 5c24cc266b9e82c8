/* SPDX-License-Identifier: Apache-2.0 */
/* entry - one key of a work queue, with its state. Each key is stored once.
 *
 *   From:     workqueue/queue.c makes them; workqueue/order.h and workqueue/delays.c link them; also
 *             workqueue/queue_life.c
 *   Locks:    the queue's mutex, except for the text of the key, which never changes.
 *   Not here: which states follow each other (workqueue/queue.c).
 */
#ifndef KI_WORKQUEUE_ENTRY_H
#define KI_WORKQUEUE_ENTRY_H

#include <assert.h>
#include <kinformer/workqueue.h>
#include <stdbool.h>
#include <string.h>

#include "util/alloc.h"
#include "util/heap.h"
#include "util/list.h"
#include "util/prefetch.h"

/* The memory of freed entries is kept for new ones: threads that add keys and threads that finish them would
 * otherwise contend for malloc's locks. It is sorted by size, and the number of each size is limited. */
enum { KI_WORK_SPARE_SIZES = 8, KI_WORK_SPARE_STEP = 32, KI_WORK_SPARES_MAX = 512 };

/* A zeroed struct is empty. */
typedef struct ki_work_spares {
    struct ki_work_entry *lists[KI_WORK_SPARE_SIZES];
    unsigned counts[KI_WORK_SPARE_SIZES];
} ki_work_spares;

/* An entry exists while at least one of these holds: it is dirty, it is being processed, it is delayed, it is
 * put off. It is linked in the order exactly when it is dirty and not being processed. While it is being
 * processed, the same node links it in the list of processed entries, if their times are measured.
 *
 * Work is put off if it was handed out and has to wait. If the entry becomes dirty before that has ended, it
 * is no longer put off: the work is part of what is then handed out. So an entry that is put off is neither
 * dirty nor being processed. A delay is independent of all this. */
typedef struct ki_work_entry {
    ki_list_node node;
    ki_heap_node delay; /* linked while the entry is delayed or put off */
    uint64_t due_ns;    /* when the delay ends; 0: it is not delayed */
    union {
        uint64_t dirty_ns;  /* while it is dirty, only with metrics: since when */
        uint64_t resume_ns; /* while it is put off: until when */
    };
    uint64_t started_ns; /* when its processing began; only with metrics */
    uint32_t hash;       /* of the key */
    uint16_t key_len;
    uint8_t priority;       /* while it is dirty or put off: the priority of the work */
    uint8_t delay_priority; /* while it is delayed: the priority of the delay */
    bool is_dirty;
    bool is_again; /* while it is dirty: only because work that was put off is due again */
    bool is_processing;
    bool is_put_off;
    char key[];
} ki_work_entry;

static inline ki_str ki_work_entry_key(const ki_work_entry *entry)
{
    return (ki_str){entry->key, entry->key_len};
}

static inline bool ki_work_entry_has_key(const ki_work_entry *entry, ki_str key)
{
    return entry->key_len == key.len && memcmp(entry->key, key.ptr, key.len) == 0;
}

/* Whether it is delayed or put off. */
static inline bool ki_work_entry_is_timed(const ki_work_entry *entry)
{
    return ki_heap_node_is_linked(&entry->delay);
}

/* The block sizes of malloc are eight bytes less than a multiple of the step. */
enum { KI_WORK_MALLOC_BYTES = 8 };

/* The list that has memory for a key of this length; KI_WORK_SPARE_SIZES: none, the key is too long. */
static inline size_t ki_work_spares_list(size_t key_len)
{
    size_t size = (offsetof(ki_work_entry, key) + key_len + KI_WORK_MALLOC_BYTES - 1) / KI_WORK_SPARE_STEP;
    return size < KI_WORK_SPARE_SIZES ? size : KI_WORK_SPARE_SIZES;
}

/* The bytes to allocate: as many as any key of this list needs. */
static inline size_t ki_work_spares_bytes(size_t size, size_t key_len)
{
    assert(size <= KI_WORK_SPARE_SIZES);
    return size < KI_WORK_SPARE_SIZES ? (size + 1) * KI_WORK_SPARE_STEP - KI_WORK_MALLOC_BYTES
                                      : offsetof(ki_work_entry, key) + key_len;
}

static inline void ki_work_spares_put(ki_work_spares *spares, size_t size, ki_work_entry *entry)
{
    assert(size < KI_WORK_SPARE_SIZES);
    entry->node.next = (ki_list_node *)(void *)spares->lists[size];
    spares->lists[size] = entry;
    spares->counts[size]++;
}

/* The list must not be empty. */
static inline ki_work_entry *ki_work_spares_pop(ki_work_spares *spares, size_t size)
{
    assert(size < KI_WORK_SPARE_SIZES && spares->counts[size] > 0);
    ki_work_entry *entry = spares->lists[size];
    spares->lists[size] = (ki_work_entry *)(void *)entry->node.next;
    spares->counts[size]--;
    ki_prefetch_write(spares->lists[size]); /* for the next one: another processor may have it in its cache */
    return entry;
}

static inline ki_work_entry *ki_work_spares_take(ki_work_spares *spares, size_t key_len)
{
    size_t size = ki_work_spares_list(key_len);
    assert(ki_work_spares_bytes(size, key_len) >= offsetof(ki_work_entry, key) + key_len);
    if (size == KI_WORK_SPARE_SIZES || spares->counts[size] == 0)
        return ki_malloc(ki_work_spares_bytes(size, key_len));
    return ki_work_spares_pop(spares, size);
}

/* Makes sure that the list for this key has more spares than `reserved` says of that list. Returns 0, or
 * KI_ERR_NO_MEMORY with nothing changed. The key must not be too long for the lists. */
KI_NODISCARD static inline int ki_work_spares_reserve(ki_work_spares *spares, size_t key_len,
                                                      const unsigned reserved[KI_WORK_SPARE_SIZES])
{
    size_t size = ki_work_spares_list(key_len);
    assert(size < KI_WORK_SPARE_SIZES && spares->counts[size] >= reserved[size]);
    if (spares->counts[size] > reserved[size])
        return 0;
    ki_work_entry *entry = ki_malloc(ki_work_spares_bytes(size, key_len));
    if (entry == NULL)
        return KI_ERR_NO_MEMORY;
    ki_work_spares_put(spares, size, entry);
    return 0;
}

/* An entry in no state, with a copy of the key. NULL when out of memory. */
KI_NODISCARD static inline ki_work_entry *ki_work_entry_new(ki_work_spares *spares, ki_str key, uint32_t hash)
{
    assert(key.len > 0 && key.len <= KI_WORK_KEY_BYTES_MAX);
    ki_work_entry *entry = ki_work_spares_take(spares, key.len);
    if (entry == NULL)
        return NULL;
    *entry = (ki_work_entry){.hash = hash, .key_len = (uint16_t)key.len};
    memcpy(entry->key, key.ptr, key.len);
    return entry;
}

/* Keeps the memory for another entry, or frees it. */
static inline void ki_work_entry_free(ki_work_spares *spares, ki_work_entry *entry)
{
    if (entry == NULL)
        return;
    assert(!entry->is_dirty && !entry->is_processing && !ki_work_entry_is_timed(entry));
    size_t size = ki_work_spares_list(entry->key_len);
    if (size == KI_WORK_SPARE_SIZES || spares->counts[size] >= KI_WORK_SPARES_MAX) {
        ki_free(entry);
        return;
    }
    ki_work_spares_put(spares, size, entry);
}

/* Frees the spares beyond the limit: those that were reserved and not needed. */
static inline void ki_work_spares_trim(ki_work_spares *spares)
{
    for (size_t size = 0; size < KI_WORK_SPARE_SIZES; size++)
        while (spares->counts[size] > KI_WORK_SPARES_MAX)
            ki_free(ki_work_spares_pop(spares, size));
}

void ki_work_spares_fini(ki_work_spares *spares);

#endif
