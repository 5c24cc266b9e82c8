/* SPDX-License-Identifier: Apache-2.0 */
/* delta_fifo - ordered, bounded, per-key hand-over of changes between two threads.
 *
 *   From:     informer/informer_run.c   (io pushes)
 *   To:       informer/apply.c       (dispatch pops)
 *   Locks:    one mutex, a leaf; no callback runs while it is held.
 *   Not here: deciding add versus update; what is applied; talking to the server.
 *
 * Changes of one key wait together, in the place where the key was first queued; so a key's newer changes
 * may leave before another key's older ones. Therefore each entry notes, when it is queued, the version
 * that had been received until then: what is behind it in the queue is newer than that, so after a pop
 * everything up to the new head's `version_before` has left the queue. It may also leave before the end of a
 * list that was queued before it, so each change notes the newest list that had ended by then.
 *
 * How fresh the consumer is follows the same way: each entry notes up to which moment everything had been
 * received before it. That moment is known from events, bookmarks and the ends of lists; an item of a list
 * says nothing about what else there is.
 */
#ifndef KI_QUEUE_DELTA_FIFO_H
#define KI_QUEUE_DELTA_FIFO_H

#include <stdbool.h>

#include "queue/delta_entry.h"
#include "util/annotations.h"
#include "util/hash.h"
#include "util/thread.h"

/* Zero means default. */
typedef struct ki_delta_fifo_options {
    size_t items_max; /* 10,000 keys */
    size_t bytes_max; /* 16 MiB of objects */
    const ki_hash_key
        *hash_key; /* of the store behind it, so that a key is hashed once; NULL: a random one */
} ki_delta_fifo_options;

typedef struct ki_delta_fifo {
    ki_mutex mu;
    ki_list queue; /* guarded by mu, as all below */
    ki_map keys;
    ki_hash_key hash_key;
    size_t items;
    size_t bytes;
    size_t items_max;
    size_t bytes_max;
    ki_resource_version received; /* the newest version that was queued */
    uint32_t ended_list;          /* the newest list whose end was queued; 0: none since the last reset */
    uint64_t now_ns;           /* the producer's: when it received what it pushes; ki_delta_fifo_set_now() */
    uint64_t heard_ns;         /* when the last event or bookmark came, or a list began; UINT64_MAX: never */
    uint32_t begun_list;       /* the newest list of which something was queued, */
    uint64_t begun_ns;         /* and when that was: what it tells is of then, not of when it ends */
    _Atomic uint64_t fresh_ns; /* see ki_delta_fifo_fresh_ns(); written under mu, or by the consumer */
    bool is_processing;        /* what was popped has not all been processed */
} ki_delta_fifo;

/* Returns 0 or KI_ERR_SYSTEM. `options` may be NULL. */
KI_NODISCARD int ki_delta_fifo_init(ki_delta_fifo *fifo, const ki_delta_fifo_options *options);

/* Drops what is queued. Takes a zeroed struct. */
void ki_delta_fifo_fini(ki_delta_fifo *fifo);

/* The producer received what it pushes from now on at this moment: one reading of the clock for many
 * changes. */
static inline void ki_delta_fifo_set_now(ki_delta_fifo *fifo, uint64_t now_ns)
{
    fifo->now_ns = now_ns;
}

/* Queues one change, and takes a reference to its object; `version` is what has been received with it, empty
 * when it says nothing about that (an item of a list). Returns 1 when the queue is full now: stop producing
 * until ki_delta_fifo_has_room(); 0; KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE for a version that cannot be
 * one, with nothing changed. A full queue still takes what is pushed: nothing is ever dropped. */
KI_NODISCARD int ki_delta_fifo_push(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
    KI_EXCLUDES(fifo->mu);

/* For KI_CHANGE_SEEN, which has no object. Returns as ki_delta_fifo_push. */
KI_NODISCARD int ki_delta_fifo_push_seen(ki_delta_fifo *fifo, ki_str key, uint32_t list)
    KI_EXCLUDES(fifo->mu);

/* Queues a marker. Returns as ki_delta_fifo_push. */
KI_NODISCARD int ki_delta_fifo_push_marker(ki_delta_fifo *fifo, ki_change_type marker, uint32_t list,
                                           ki_str version) KI_EXCLUDES(fifo->mu);

/* The server's history is another one: forgets what is queued, which is of the old one, and queues a marker
 * KI_CHANGE_RESET; a resync that waited does so behind it.
 * Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_delta_fifo_begin_history(ki_delta_fifo *fifo, uint32_t list) KI_EXCLUDES(fifo->mu);

/* Whether producing may go on: no more than half of either limit is used. */
int ki_delta_fifo_has_room(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

/* Takes up to `max` entries off the queue, in order, into `out_batch` (initialised, empty). *out_version is
 * the version up to which everything has left the queue with them; the caller clears it. Returns how many.
 * Never waits. */
size_t ki_delta_fifo_pop(ki_delta_fifo *fifo, size_t max, ki_list *out_batch,
                         ki_resource_version *out_version) KI_EXCLUDES(fifo->mu);

/* Says that of what was popped all before `next` has been processed; NULL: all of it. The latter comes before
 * the next pop. */
void ki_delta_fifo_reach(ki_delta_fifo *fifo, const ki_delta_entry *next) KI_EXCLUDES(fifo->mu);

/* The moment up to which everything that was received has been processed: when the oldest change that has not
 * was received, or, if none waits, the last one; UINT64_MAX before the end of the first list. Any thread,
 * without a lock. */
uint64_t ki_delta_fifo_fresh_ns(const ki_delta_fifo *fifo);

/* Forgets what is queued and takes up again from `version` (a stop, or a failure that makes the reflector
 * start over). What is popped and not finished counts as forgotten, too. */
void ki_delta_fifo_reset(ki_delta_fifo *fifo, const ki_resource_version *version) KI_EXCLUDES(fifo->mu);

/* Keys and markers that wait. */
size_t ki_delta_fifo_items(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

#endif
