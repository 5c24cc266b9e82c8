/* SPDX-License-Identifier: Apache-2.0 */
/* queued_entry - the changes of one key in a ki_delta_queue, oldest first.
 *
 *   From:     queue/delta_queue.c, queue/delta_queue_replace.c
 *   Locks:    the queue's. While it is being processed it does not change, and is read without one.
 *   Not here: order among keys.
 */
#ifndef KI_QUEUE_QUEUED_ENTRY_H
#define KI_QUEUE_QUEUED_ENTRY_H

#include <kinformer/delta_queue.h>

#include "util/list.h"
#include "util/map.h"

typedef struct ki_queued_entry {
    ki_list_node node;       /* among those that wait, or those that are being processed */
    ki_map_node by_key;      /* while it waits */
    ki_queued_delta *deltas; /* with their references; `first` while there is one */
    size_t count;
    size_t cap;
    ki_queued_delta first;
    size_t bytes;
    uint64_t queued_ns; /* when it began to wait; 0: nobody has said */
    size_t settled; /* deltas that were there before the change under way, which may have to be taken back */
    int is_listed;  /* its key is in the collection that replaces the former one */
    int is_initial; /* the queue has not synced before this is processed */
    size_t key_len;
    char key[];
} ki_queued_entry;

static inline ki_queued_entry *ki_queued_entry_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_queued_entry, node);
}

static inline ki_str ki_queued_entry_key(const ki_queued_entry *entry)
{
    return (ki_str){entry->key, entry->key_len};
}

/* The object of the last delta. */
static inline const ki_object *ki_queued_entry_newest(const ki_queued_entry *entry)
{
    return entry->deltas[entry->count - 1].object;
}

/* NULL when memory is out. */
KI_NODISCARD ki_queued_entry *ki_queued_entry_new(ki_str key);

/* Drops what is in it. NULL is allowed. */
void ki_queued_entry_free(ki_queued_entry *entry);

/* Takes a reference, unless the delta is superfluous. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_queued_entry_append(ki_queued_entry *entry, ki_queued_delta delta);

/* Takes back all but the first `count` deltas. */
void ki_queued_entry_truncate(ki_queued_entry *entry, size_t count);

/* Whether the last that is known of the key is that it was deleted. */
int ki_queued_entry_ends_deleted(const ki_queued_entry *entry);

#endif
