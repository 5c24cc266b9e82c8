/* SPDX-License-Identifier: Apache-2.0 */
/* delta_fifo - ordered, bounded, per-key hand-over of changes between two threads.
 *
 *   From:     informer/informer_run.c   (io pushes)
 *   To:       informer/apply.c       (dispatch pops)
 *   Locks:    one mutex, a leaf; no callback runs while it is held.
 *   Not here: add versus update; what is applied; requests to the server.
 *
 * Changes of one key wait together, at the position where the key was first queued; so a key's newer changes
 * may leave before another key's older ones. Therefore each entry records the version that had been received
 * when it was queued: everything after it in the queue is newer, so after a pop everything up to the new
 * head's `version_before` has left the queue. A change may also leave before the end of a list that was
 * queued before it, so each change records the newest list that had ended by then.
 *
 * The age of the consumer works the same way: each entry records the time up to which everything before it
 * had been received. That time is known from events, bookmarks and the ends of lists; an item of a list
 * proves nothing about other objects.
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
    size_t items_max;            /* 10,000 keys */
    size_t bytes_max;            /* 16 MiB of objects */
    const ki_hash_key *hash_key; /* the store's, so that a key is hashed once; NULL: a random one */
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
    uint64_t now_ns;              /* the producer's: the receive time of what it pushes;
                                   * ki_delta_fifo_set_now() */
    uint64_t heard_ns;            /* when the last event or bookmark arrived, or a list began; UINT64_MAX:
                                   * never */
    uint32_t begun_list;          /* the newest list of which something was queued, */
    uint64_t begun_ns;            /* and when: a list shows the state when it began */
    _Atomic uint64_t fresh_ns;    /* see ki_delta_fifo_fresh_ns(); written under mu, or by the consumer */
    bool is_processing;           /* popped entries are still being processed */
} ki_delta_fifo;

/* Returns 0 or KI_ERR_SYSTEM. `options` may be NULL. */
KI_NODISCARD int ki_delta_fifo_init(ki_delta_fifo *fifo, const ki_delta_fifo_options *options);

/* Drops all entries. A zeroed struct is allowed. */
void ki_delta_fifo_fini(ki_delta_fifo *fifo);

/* Sets the receive time of what is pushed from now on: one reading of the clock serves many changes. */
static inline void ki_delta_fifo_set_now(ki_delta_fifo *fifo, uint64_t now_ns)
{
    fifo->now_ns = now_ns;
}

/* Queues one change, and takes a reference to its object; `version` is the version received with it; empty
 * when unknown (an item of a list). Returns 1 when the queue is full now: stop producing until
 * ki_delta_fifo_has_room(); 0; KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE for a version that is too long, with
 * nothing changed. A full queue still accepts changes: nothing is ever dropped. */
KI_NODISCARD int ki_delta_fifo_push(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
    KI_EXCLUDES(fifo->mu);

/* For KI_CHANGE_SEEN, which has no object. Returns as ki_delta_fifo_push. */
KI_NODISCARD int ki_delta_fifo_push_seen(ki_delta_fifo *fifo, ki_str key, uint32_t list)
    KI_EXCLUDES(fifo->mu);

/* Queues a marker. Returns as ki_delta_fifo_push. */
KI_NODISCARD int ki_delta_fifo_push_marker(ki_delta_fifo *fifo, ki_change_type marker, uint32_t list,
                                           ki_str version) KI_EXCLUDES(fifo->mu);

/* The server has another history: drops the queued changes, which belong to the old one, and queues a marker
 * KI_CHANGE_RESET; a waiting resync stays, after it. Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_delta_fifo_begin_history(ki_delta_fifo *fifo, uint32_t list) KI_EXCLUDES(fifo->mu);

/* Whether the producer may continue: at most half of either limit is used. */
int ki_delta_fifo_has_room(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

/* Takes up to `max` entries off the queue, in order, into `out_batch` (initialised, empty). *out_version is
 * the version up to which everything has left the queue with them; the caller clears it. Returns how many.
 * Never waits. */
size_t ki_delta_fifo_pop(ki_delta_fifo *fifo, size_t max, ki_list *out_batch,
                         ki_resource_version *out_version) KI_EXCLUDES(fifo->mu);

/* Reports that all popped entries before `next` have been processed; NULL: all of them, required before the
 * next pop. */
void ki_delta_fifo_reach(ki_delta_fifo *fifo, const ki_delta_entry *next) KI_EXCLUDES(fifo->mu);

/* The time up to which all received changes have been processed: when the oldest unprocessed one was received
 * or, if there is none, the last one; UINT64_MAX before the end of the first list. Any thread, without a
 * lock. */
uint64_t ki_delta_fifo_fresh_ns(const ki_delta_fifo *fifo);

/* Drops all entries and continues from `version` (a stop, or a failure that makes the reflector start over).
 * Popped, unfinished entries count as dropped, too. */
void ki_delta_fifo_reset(ki_delta_fifo *fifo, const ki_resource_version *version) KI_EXCLUDES(fifo->mu);

/* The number of waiting keys and markers. */
size_t ki_delta_fifo_items(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

#endif
