/* SPDX-License-Identifier: Apache-2.0 */
/* entry - one key of a work queue, with all that the queue knows about it: a key is stored once.
 *
 *   From:     workqueue/queue.c makes them; workqueue/order.h and workqueue/delays.c link them
 *   Locks:    the queue's mutex, but for the text of the key, which never changes.
 *   Not here: which states follow each other (workqueue/queue.c).
 */
#ifndef KI_WORKQUEUE_ENTRY_H
#define KI_WORKQUEUE_ENTRY_H

#include <kinformer/workqueue.h>
#include <stdbool.h>

#include "util/heap.h"
#include "util/list.h"

/* The memory of entries that are gone, kept for the next ones: adding and finishing keys at the same time on
 * different threads would otherwise be a contest for malloc's locks. By size, and bounded. */
enum { KI_WORK_SPARE_SIZES = 8, KI_WORK_SPARE_STEP = 32, KI_WORK_SPARES_MAX = 512 };

/* Zeroed: there are none. */
typedef struct ki_work_spares {
    struct ki_work_entry *lists[KI_WORK_SPARE_SIZES];
    size_t count;
} ki_work_spares;

/* An entry exists while one of these holds: it is dirty, it is being processed, it is delayed. It is linked
 * in the order exactly when it is dirty and not being processed. While it is being processed the same node
 * links it among those, if somebody wants to know how long they take. */
typedef struct ki_work_entry {
    ki_list_node node;
    ki_heap_node delay;  /* linked: it is delayed */
    uint64_t due_ns;     /* of the delay */
    uint64_t dirty_ns;   /* since when it is dirty; with metrics only, as the next */
    uint64_t started_ns; /* since when it is processed */
    uint32_t hash;       /* of the key */
    uint16_t key_len;
    uint8_t priority;       /* while it is dirty: of the work to be done */
    uint8_t delay_priority; /* while it is delayed: of that */
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

/* An entry in no state, with a copy of the key. NULL when memory is out. */
KI_NODISCARD ki_work_entry *ki_work_entry_new(ki_work_spares *spares, ki_str key, uint32_t hash);

/* Keeps or frees the memory. */
void ki_work_entry_free(ki_work_spares *spares, ki_work_entry *entry);

void ki_work_spares_fini(ki_work_spares *spares);

#endif
