/* SPDX-License-Identifier: Apache-2.0 */
/* delta_queue - the parts of a ki_delta_queue.
 *
 *   From:     queue/delta_queue.c: the public calls of <kinformer/delta_queue.h>; feed/
 *   To:       queue/delta_entry.h, the store of known objects
 *   Locks:    one mutex, a leaf; the callback of a pop runs without it, the key function may run under it.
 *   Not here: the queue of our own informers (queue/delta_fifo.h), whose lists come item by item.
 *
 * client-go processes a key while the queue is locked, so there a key is either queued or in the store. Here
 * it may also be in between. So entries that are being processed are kept in a list, which is also searched
 * to find out whether a key is known. While the mutex is held, only keys that are being processed can change
 * in the store. So a walk over the store, which takes no lock of the store,
 * sees all other keys in their current state.
 */
#ifndef KI_QUEUE_DELTA_QUEUE_H
#define KI_QUEUE_DELTA_QUEUE_H

#include "api/object/keyer.h"
#include "queue/delta_entry.h"
#include "util/annotations.h"
#include "util/fork.h"
#include "util/thread.h"

struct ki_delta_queue {
    const ki_store *known; /* constant, like the next three members; may be NULL */
    ki_keyer keyer;
    size_t items_max;
    size_t bytes_max;
    ki_fork_hook fork_hook;  /* keeps the queue consistent in a child process */
    _Atomic uint64_t now_ns; /* the receive time of what a feed pushes; 0: no feed pushes */
    ki_mutex mu;
    ki_cond changed;
    ki_list waiting; /* guarded by mu, like all members below */
    ki_list processing;
    ki_list abandoned; /* only in a child process: entries that the parent was processing, and for which newer
                        * deltas wait */
    ki_map keys;       /* of the waiting entries */
    size_t bytes;
    size_t initial_left; /* number of entries of the first replace that are not processed yet */
    int is_populated;    /* there was a push or a replace */
    int is_closed;
};

/* Finds the key of an object, which is valid as long as the buffer and the object. Returns 0, KI_ERR_INVALID
 * if the key is empty, or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_delta_queue_key_of(const ki_delta_queue *queue, const ki_object *object,
                                       ki_key_buffer *buffer, ki_str *out_key);

/* The waiting entry of a key, or NULL. */
ki_delta_entry *ki_delta_queue_find_locked(const ki_delta_queue *queue, ki_str key) KI_REQUIRES(queue->mu);

/* An entry of the key that is being processed, or NULL. */
ki_delta_entry *ki_delta_queue_find_processing_locked(const ki_delta_queue *queue, ki_str key)
    KI_REQUIRES(queue->mu);

/* Queues one delta. Returns its entry, or NULL when out of memory, with nothing changed. */
KI_NODISCARD ki_delta_entry *ki_delta_queue_append_locked(ki_delta_queue *queue, ki_str key, ki_delta delta)
    KI_REQUIRES(queue->mu);

/* Takes an entry off the queue, so that it neither waits nor counts any more. */
void ki_delta_queue_remove_locked(ki_delta_queue *queue, ki_delta_entry *entry) KI_REQUIRES(queue->mu);

/* Walks over the collection as the producer knows it: calls `callback` for the newest object of each key that
 * waits, is being processed or is in the store of known objects, unless it is deleted. The callback runs
 * under mu and must return 0. */
void ki_delta_queue_walk(ki_delta_queue *queue, ki_walk_cb callback, void *user) KI_EXCLUDES(queue->mu);

/* Sets the receive time of deltas that are pushed from now on, for ki_delta_queue_oldest_ns(). */
void ki_delta_queue_set_now(ki_delta_queue *queue, uint64_t now_ns);

/* When the key that is being processed, or else the first waiting key, was queued; UINT64_MAX if there is
 * none, or if the time is unknown. */
uint64_t ki_delta_queue_oldest_ns(ki_delta_queue *queue) KI_EXCLUDES(queue->mu);

int ki_delta_queue_is_full_locked(const ki_delta_queue *queue) KI_REQUIRES(queue->mu);

#endif
