/* SPDX-License-Identifier: Apache-2.0 */
/* delta_fifo - ordered, bounded, per-key hand-over of changes between two threads.
 *
 *   From:     informer/informer_run.c (io pushes; dispatch pushes resyncs); also informer/apply.c,
 *             informer/informer.c, informer/informer_status.c
 *   To:       informer/apply.c       (dispatch pops)
 *   Locks:    one mutex, a leaf; no callback runs while it is held.
 *   Not here: add versus update; what is applied; requests to the server.
 *
 * Changes of one key wait together, at the position where the key was first queued. So the newer changes of
 * one key may leave before the older changes of another. Therefore each entry records the version that had
 * been received when it was queued. This version does not decrease from entry to entry; so after a pop,
 * everything up to the new head's `version_before` has left the queue. A change may also leave before the end
 * of a list that was queued before it. Therefore each change records the newest list that had ended when the
 * change was queued.
 *
 * The age of the consumer's state is found in the same way: each entry records the time up to which
 * everything had been received when the entry was queued. Events, bookmarks and the ends of lists show that
 * time; an item of a list proves nothing about other objects.
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
    ki_list queue; /* guarded by mu, like all members below */
    ki_map keys;
    ki_hash_key hash_key;
    size_t items;
    size_t bytes;
    size_t items_max;
    size_t bytes_max;
    ki_resource_version received; /* the newest version that was queued */
    uint32_t ended_list;          /* the newest list whose end was queued; 0: none since the last reset */
    uint64_t now_ns;              /* the receive time of what is pushed; only the producer uses it, see
                                   * ki_delta_fifo_set_now() */
    uint64_t heard_ns;            /* when the last event or bookmark arrived, or a list began; UINT64_MAX:
                                   * never */
    uint32_t begun_list;          /* the newest list of which a change was queued */
    uint64_t begun_ns;            /* when its first change was queued: a list shows the state when it began */
    _Atomic uint64_t fresh_ns;    /* see ki_delta_fifo_fresh_ns(); written under mu, or by the consumer */
    bool is_processing;           /* popped entries are still being processed */
    ki_list spare;                /* entries to use again */
    size_t spare_count;
} ki_delta_fifo;

/* The maximum number of spare entries: as many as the producer pushes before the consumer is woken. */
#define KI_DELTA_FIFO_SPARE_MAX 256

/* So few spare entries are not worth waking a thread to free them. */
#define KI_DELTA_FIFO_SPARE_FEW 8

/* Returns 0 or KI_ERR_SYSTEM. `options` may be NULL. */
KI_NODISCARD int ki_delta_fifo_init(ki_delta_fifo *fifo, const ki_delta_fifo_options *options);

/* Drops all entries. A zeroed struct is allowed. */
void ki_delta_fifo_fini(ki_delta_fifo *fifo);

/* Sets the receive time of changes that are pushed from now on,
 * so that the clock is read once for many changes. */
static inline void ki_delta_fifo_set_now(ki_delta_fifo *fifo, uint64_t now_ns)
{
    fifo->now_ns = now_ns;
}

/* Queues one change, and adds a reference to its object. `version` is the version received with the change;
 * empty if it is unknown, as for an item of a list. Returns 0; 1 if the queue is full now: stop producing
 * until ki_delta_fifo_has_space(); or, with nothing changed, KI_ERR_NO_MEMORY, or KI_ERR_TOO_LARGE for a
 * version that is too long. A full queue still accepts changes: nothing is ever dropped. */
KI_NODISCARD int ki_delta_fifo_push(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
    KI_EXCLUDES(fifo->mu);

/* Queues KI_CHANGE_SEEN, which has no object. Returns like ki_delta_fifo_push(). */
KI_NODISCARD int ki_delta_fifo_push_seen(ki_delta_fifo *fifo, ki_str key, uint32_t list)
    KI_EXCLUDES(fifo->mu);

/* Queues a marker. Returns like ki_delta_fifo_push(). */
KI_NODISCARD int ki_delta_fifo_push_marker(ki_delta_fifo *fifo, ki_change_type marker, uint32_t list,
                                           ki_str version) KI_EXCLUDES(fifo->mu);

/* The server has another history: drops the queued changes, which belong to the old history, and queues a
 * marker KI_CHANGE_RESET. A waiting resync stays, after the marker.
 * Returns 0, or KI_ERR_NO_MEMORY with nothing changed. */
KI_NODISCARD int ki_delta_fifo_begin_history(ki_delta_fifo *fifo, uint32_t list) KI_EXCLUDES(fifo->mu);

/* Whether the producer may continue: at most half of either limit is used. */
int ki_delta_fifo_has_space(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

/* Takes up to `max` entries off the queue, in order, into `out_batch` (initialised, empty). With them,
 * everything up to *out_version has left the queue; the caller clears it.
 * Returns the number of entries. Never waits. */
size_t ki_delta_fifo_pop(ki_delta_fifo *fifo, size_t max, ki_list *out_batch,
                         ki_resource_version *out_version) KI_EXCLUDES(fifo->mu);

/* Reports that all popped entries before `next` have been processed. NULL means all popped entries; report
 * this before the next pop. */
void ki_delta_fifo_report_processed(ki_delta_fifo *fifo, const ki_delta_entry *next) KI_EXCLUDES(fifo->mu);

/* Gives back popped entries that have been processed and cleared, so that pushes use them again. Otherwise
 * one thread would allocate memory for each change and another would free it,
 * and both would wait for the allocator's lock. */
void ki_delta_fifo_give_back(ki_delta_fifo *fifo, ki_list *entries) KI_EXCLUDES(fifo->mu);

/* Frees the spare entries. */
void ki_delta_fifo_trim(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

/* Whether there are enough spare entries to be worth freeing. */
bool ki_delta_fifo_has_spares(ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

/* The time up to which all received changes have been processed. This is when the oldest unprocessed change
 * was received or, if all are processed, the last one; UINT64_MAX before the end of the first list.
 * Any thread, without a lock. */
uint64_t ki_delta_fifo_fresh_ns(const ki_delta_fifo *fifo);

/* For a stop: drops all entries, and continues from `version`. Popped entries that are not finished count as
 * dropped, too. */
void ki_delta_fifo_reset(ki_delta_fifo *fifo, const ki_resource_version *version) KI_EXCLUDES(fifo->mu);

/* The number of waiting keys and markers. */
size_t ki_delta_fifo_items(const ki_delta_fifo *fifo) KI_EXCLUDES(fifo->mu);

#endif
