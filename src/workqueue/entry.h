/* SPDX-License-Identifier: Apache-2.0 */
/* entry - one key of a work queue, with its state. Each key is stored once.
 *
 *   From:     workqueue/queue.c makes them; workqueue/order.h and workqueue/delays.c link them
 *   Locks:    the queue's mutex, except for the text of the key, which never changes.
 *   Not here: which states follow each other (workqueue/queue.c).
 */
#ifndef KI_WORKQUEUE_ENTRY_H
#define KI_WORKQUEUE_ENTRY_H

#include <kinformer/workqueue.h>
#include <stdbool.h>

#include "util/heap.h"
#include "util/list.h"

/* The memory of freed entries, kept for new ones: threads that add keys and threads that finish them would
 * otherwise contend for malloc's locks. Sorted by size, and bounded. */
enum { KI_WORK_SPARE_SIZES = 8, KI_WORK_SPARE_STEP = 32, KI_WORK_SPARES_MAX = 512 };

/* Zeroed: there are none. */
typedef struct ki_work_spares {
    struct ki_work_entry *lists[KI_WORK_SPARE_SIZES];
    size_t count;
} ki_work_spares;

/* An entry exists while one of these holds: it is dirty, it is being processed, it is delayed. It is linked
 * in the order exactly when it is dirty and not being processed. While it is being processed, the same node
 * links it in the list of processed entries, if their times are measured. */
typedef struct ki_work_entry {
    ki_list_node node;
    ki_heap_node delay;  /* linked: it is delayed */
    uint64_t due_ns;     /* of the delay */
    uint64_t dirty_ns;   /* when it became dirty; with metrics only, like the next */
    uint64_t started_ns; /* when its processing began */
    uint32_t hash;       /* of the key */
    uint16_t key_len;
    uint8_t priority;       /* while it is dirty: that of the work */
    uint8_t delay_priority; /* while it is delayed: that of the delay */
    bool is_dirty;
    bool is_processing;
    char key[];
} ki_work_entry;

static inline ki_str ki_work_entry_key(const ki_work_entry *entry)
{
    return (ki_str){entry->key, entry->key_len};
}

static inline bool ki_work_entry_is_delayed(const ki_work_entry *entry)
{
    return ki_heap_node_is_linked(&entry->delay);
}

/* An entry in no state, with a copy of the key. NULL when out of memory. */
KI_NODISCARD ki_work_entry *ki_work_entry_new(ki_work_spares *spares, ki_str key, uint32_t hash);

/* Keeps or frees the memory. */
void ki_work_entry_free(ki_work_spares *spares, ki_work_entry *entry);

void ki_work_spares_fini(ki_work_spares *spares);

#endif
