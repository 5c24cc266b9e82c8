/* SPDX-License-Identifier: Apache-2.0 */
/* entry - one key of a work queue, with all that the queue knows about it: a key is stored once.
 *
 *   From:     workqueue/queue.c finds and makes them; order.h, delays.h link them
 *   Locks:    the queue's mutex, but for the text of the key, which never changes.
 *   Not here: which states follow each other (workqueue/queue.c).
 */
#ifndef KI_WORKQUEUE_ENTRY_H
#define KI_WORKQUEUE_ENTRY_H

#include <kinformer/workqueue.h>
#include <stdbool.h>

#include "util/heap.h"
#include "util/list.h"
#include "util/map.h"

/* An entry exists while one of these holds: it is dirty, it is being processed, it is delayed. It is linked
 * in the order exactly when it is dirty and not being processed, and among the processed ones exactly when it
 * is being processed: one node serves both. */
typedef struct ki_work_entry {
    ki_map_node by_key;
    ki_list_node node;
    ki_heap_node delay;  /* linked: it is delayed */
    uint64_t due_ns;     /* of the delay */
    uint64_t dirty_ns;   /* since when it is dirty; with metrics only, as the next */
    uint64_t started_ns; /* since when it is processed */
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

#endif
