/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals - keys that were added to a large queue, and are not in its table yet.
 *
 *   From:     workqueue/queue.c, workqueue/workqueue.c
 *   Locks:    the queue's mutex.
 *   Not here: what becomes of an arrival (workqueue/queue.c).
 *
 * In a table that does not fit into the processor's caches, each new slot is a cache miss, which takes longer
 * than the rest of an add. So an add only prefetches the slot, and a later add reads it: the misses of a few
 * adds overlap. Every other call first puts all arrivals into the table, so callers see no difference.
 */
#ifndef KI_WORKQUEUE_ARRIVALS_H
#define KI_WORKQUEUE_ARRIVALS_H

#include <assert.h>

#include "workqueue/entry.h"

enum { KI_WORK_ARRIVALS_MAX = 4 };

typedef struct ki_work_arrival {
    ki_work_entry *entry; /* in no state */
    ki_priority priority;
} ki_work_arrival;

/* A ring. A zeroed struct is empty. `count` may be read directly. */
typedef struct ki_work_arrivals {
    ki_work_arrival ring[KI_WORK_ARRIVALS_MAX];
    unsigned first;
    unsigned count;
} ki_work_arrivals;

static inline void ki_work_arrivals_push(ki_work_arrivals *arrivals, ki_work_entry *entry,
                                         ki_priority priority)
{
    assert(arrivals->count < KI_WORK_ARRIVALS_MAX);
    unsigned last = (arrivals->first + arrivals->count++) % KI_WORK_ARRIVALS_MAX;
    arrivals->ring[last] = (ki_work_arrival){entry, priority};
}

/* Takes the oldest one. */
static inline ki_work_arrival ki_work_arrivals_pop(ki_work_arrivals *arrivals)
{
    assert(arrivals->count > 0);
    ki_work_arrival arrival = arrivals->ring[arrivals->first];
    arrivals->first = (arrivals->first + 1) % KI_WORK_ARRIVALS_MAX;
    arrivals->count--;
    return arrival;
}

#endif
