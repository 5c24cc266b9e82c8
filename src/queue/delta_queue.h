/* SPDX-License-Identifier: Apache-2.0 */
/* delta_queue - the parts of a ki_delta_queue.
 *
 *   From:     the public calls of <kinformer/delta_queue.h>
 *   To:       queue/delta_entry.h, the store of known objects
 *   Locks:    one mutex, a leaf; the callback of a pop runs without it, the key function may run under it.
 *   Not here: the queue of our own informers (queue/delta_fifo.h), whose lists come item by item.
 *
 * client-go processes a key while the queue is locked, so there a key is either queued or in the store. Here
 * it may also be in between. So entries that are being processed are kept in a list, which is searched as
 * well to find out whether a key is known. While the mutex is held only keys that are being processed change
 * in the store, and a walk without a lock sees all others as they are.
 */
#ifndef KI_QUEUE_DELTA_QUEUE_H
#define KI_QUEUE_DELTA_QUEUE_H

#include "api/object/keyer.h"
#include "queue/delta_entry.h"
#include "util/annotations.h"
#include "util/fork.h"
#include "util/thread.h"

struct ki_delta_queue {
    const ki_store *known; /* constant, as the next three; may be NULL */
    ki_keyer keyer;
    size_t items_max;
    size_t bytes_max;
    ki_fork_hook fork_hook;  /* keeps it consistent in a child */
    _Atomic uint64_t now_ns; /* receive time of what a feed pushes; 0: not pushed by a feed */
    ki_mutex mu;
    ki_cond changed;
    ki_list waiting; /* guarded by mu, as all below */
    ki_list processing;
    ki_list abandoned; /* in a child: was being processed in the parent, and newer deltas wait */
    ki_map keys;       /* of what waits */
    size_t bytes;
    size_t initial_left; /* entries of the first replace that are not processed */
    int is_populated;    /* by a push or a replace */
    int is_closed;
};

/* The key of an object: 0, KI_ERR_INVALID when it is empty, KI_ERR_TOO_LARGE. Valid as long as the buffer. */
KI_NODISCARD int ki_delta_queue_key_of(const ki_delta_queue *queue, const ki_object *object,
                                       ki_key_buffer *buffer, ki_str *out_key);

/* The entry of a key that waits; NULL when none does. */
ki_delta_entry *ki_delta_queue_find_locked(const ki_delta_queue *queue, ki_str key) KI_REQUIRES(queue->mu);

/* An entry of the key that is being processed; NULL when none is. */
ki_delta_entry *ki_delta_queue_find_processing_locked(const ki_delta_queue *queue, ki_str key)
    KI_REQUIRES(queue->mu);

/* Queues one delta. Returns its entry; or NULL when out of memory, with nothing changed. */
KI_NODISCARD ki_delta_entry *ki_delta_queue_append_locked(ki_delta_queue *queue, ki_str key, ki_delta delta)
    KI_REQUIRES(queue->mu);

/* Takes an entry off the queue: it neither waits nor counts any more. */
void ki_delta_queue_remove_locked(ki_delta_queue *queue, ki_delta_entry *entry) KI_REQUIRES(queue->mu);

/* Calls `callback` for the newest object of each key that waits, is being processed or is in the store of
 * known objects, unless it is deleted: the collection as the producer knows it. The callback runs under mu
 * and returns 0. */
void ki_delta_queue_walk(ki_delta_queue *queue, ki_walk_cb callback, void *user) KI_EXCLUDES(queue->mu);

/* Sets the receive time of what is pushed from now on, for the next function. */
void ki_delta_queue_set_now(ki_delta_queue *queue, uint64_t now_ns);

/* When the key that is being processed, or is next, was queued; UINT64_MAX: none waits, or unknown. */
uint64_t ki_delta_queue_oldest_ns(ki_delta_queue *queue) KI_EXCLUDES(queue->mu);

int ki_delta_queue_is_full_locked(const ki_delta_queue *queue) KI_REQUIRES(queue->mu);

#endif
