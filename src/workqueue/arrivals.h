/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals - keys that were added, and are not in the table yet.
 *
 *   From:     workqueue/queue.c
 *   Locks:    the queue's mutex.
 *   Not here: what becomes of an arrival (workqueue/queue.c).
 *
 * An add reserves a slot and memory, and copies the key into a buffer. Every call whose result depends on the
 * keys first puts all arrivals into the table, so callers see no difference. This is faster for two reasons:
 * - In a table that does not fit into the processor's caches, each new slot is a cache miss, which takes
 *   longer than the rest of an add. When many keys are put into the table in a row, the misses overlap.
 * - The thread that takes keys often runs on another processor than the thread that adds them. Entries and
 *   slots then stay in the cache of the former, and only the lines of the buffer move.
 */
#ifndef KI_WORKQUEUE_ARRIVALS_H
#define KI_WORKQUEUE_ARRIVALS_H

#include <assert.h>
#include <stdalign.h>

#include "util/prefetch.h"
#include "workqueue/entry.h"

/* The buffer has space for about 340 keys of 40 bytes. For these, the part that is written five or six keys
 * later is prefetched: it was last read by the thread that took keys. */
enum { KI_WORK_ARRIVALS_BYTES = 16384, KI_WORK_ARRIVALS_AHEAD = 256 };

typedef struct ki_work_arrival {
    uint32_t hash;
    uint16_t key_len;
    uint8_t priority;
    char key[];
} ki_work_arrival;

/* A zeroed struct is empty. */
typedef struct ki_work_arrivals {
    size_t used;                           /* bytes */
    unsigned count;                        /* may be read directly */
    unsigned by_list[KI_WORK_SPARE_SIZES]; /* how many will take their entry from each list of spares */
    alignas(ki_work_arrival) char bytes[KI_WORK_ARRIVALS_BYTES];
} ki_work_arrivals;

/* The bytes that a key takes in the buffer. */
static inline size_t ki_work_arrival_bytes(size_t key_len)
{
    size_t align = alignof(ki_work_arrival);
    return (offsetof(ki_work_arrival, key) + key_len + align - 1) / align * align;
}

static inline bool ki_work_arrivals_fit(const ki_work_arrivals *arrivals, size_t key_len)
{
    return arrivals->used + ki_work_arrival_bytes(key_len) <= KI_WORK_ARRIVALS_BYTES;
}

/* There must be space for it. */
static inline void ki_work_arrivals_push(ki_work_arrivals *arrivals, ki_str key, uint32_t hash,
                                         ki_priority priority)
{
    assert(ki_work_arrivals_fit(arrivals, key.len));
    assert(ki_work_spares_list(key.len) < KI_WORK_SPARE_SIZES);
    ki_work_arrival *arrival = (ki_work_arrival *)(void *)(arrivals->bytes + arrivals->used);
    *arrival = (ki_work_arrival){.hash = hash, .key_len = (uint16_t)key.len, .priority = (uint8_t)priority};
    memcpy(arrival->key, key.ptr, key.len);
    arrivals->used += ki_work_arrival_bytes(key.len);
    ki_prefetch_write(arrivals->bytes + (arrivals->used + KI_WORK_ARRIVALS_AHEAD) % KI_WORK_ARRIVALS_BYTES);
    arrivals->by_list[ki_work_spares_list(key.len)]++;
    arrivals->count++;
}

/* Returns the arrival at `*at`, and advances `*at` to the next. Start at 0; stop at `used`. */
static inline const ki_work_arrival *ki_work_arrivals_next(const ki_work_arrivals *arrivals, size_t *at)
{
    assert(*at < arrivals->used);
    const ki_work_arrival *arrival = (const ki_work_arrival *)(const void *)(arrivals->bytes + *at);
    *at += ki_work_arrival_bytes(arrival->key_len);
    return arrival;
}

static inline void ki_work_arrivals_clear(ki_work_arrivals *arrivals)
{
    arrivals->used = 0;
    arrivals->count = 0;
    memset(arrivals->by_list, 0, sizeof(arrivals->by_list));
}

#endif
