/* SPDX-License-Identifier: Apache-2.0 */
/* delta_queue - a queue of changes, grouped by key: client-go's DeltaFIFO, for programs that build their own
 * informer. The library's informers do not need it.
 *
 * A producer pushes adds, updates and deletes, or replaces the whole collection. A consumer pops one key at a
 * time, with all its changes since it was last popped, oldest first. Keys leave in the order in which they
 * were queued. To find out what a new collection no longer contains, the queue reads the consumer's store, if
 * it has one.
 *
 * Threads: any, for all calls, but use one consumer: with two, callbacks overlap, even for the same key, and
 *          their order is unknown.
 *
 * fork():  a child has a copy of the queue, and may use and free it. Deltas that a thread of the parent was
 *          processing are queued again in the child, unless newer ones wait for the key. A child that was
 *          forked inside a callback must not return from it, and a key function must not fork().
 */
#ifndef KI_DELTA_QUEUE_H
#define KI_DELTA_QUEUE_H

#include <kinformer/change.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/store.h>

KI_EXTERN_C_BEGIN

typedef struct ki_delta_queue ki_delta_queue;

/* ---- deltas ------------------------------------------------------------------------------------------ */

/** One change of an object: KI_CHANGE_ADDED, _UPDATED, _DELETED, _REPLACED or _SYNC. */
typedef struct ki_delta {
    ki_change_type change_type;
    uint32_t list; /* leave list, after_list and is_doubtful at 0: only the queues of informers use them */
    uint32_t after_list;
    int is_doubtful;
    int final_state_unknown; /* the delete was missed: the object is the last known state */
    const ki_object *object;
    size_t bytes; /* size of the object when it was queued; set by the queue */
    uint64_t reserved[2];
} ki_delta;

/** The changes of one key. Borrowed for the call, objects included. */
typedef struct ki_deltas {
    ki_str key;
    const ki_delta *items; /* oldest first, at least one */
    size_t count;
    int is_initial; /* the queue had not synced when these left it */
} ki_deltas;

/** Return value that puts the deltas back into the queue: see ki_delta_queue_cb. */
#define KI_DELTA_QUEUE_REQUEUE 1

/**
 * Processes the deltas of one key, on the thread of ki_delta_queue_pop(). No lock is held; all functions
 * except ki_delta_queue_free() may be called.
 *
 * Returns: 0; KI_DELTA_QUEUE_REQUEUE: the deltas go back to the end of the queue unchanged, unless newer ones
 *          wait for the key by now: then they are dropped; or a negative code, which ki_delta_queue_pop()
 *          returns: the deltas are dropped.
 */
typedef int (*ki_delta_queue_cb)(const ki_deltas *deltas, void *user);

/* ---- making one -------------------------------------------------------------------------------------- */

/** Zero means default. */
typedef struct ki_delta_queue_options {
    const ki_store *known; /* the consumer's store, written only by its callback. Must outlive the queue.
                            * NULL: none */
    ki_key_cb key;         /* the same as that of `known`. Must not call the queue. NULL: "namespace/name" */
    void *user;            /* of `key` */
    size_t items_max;      /* keys; 0: 10,000 */
    size_t bytes_max;      /* of objects; 0: 16 MiB */
    uint64_t reserved[4];
} ki_delta_queue_options;

/** Returns: a queue to free, or NULL with KI_ERR_NO_MEMORY, KI_ERR_SYSTEM, or KI_ERR_WOULD_DEADLOCK in an
 *          index function. `options` may be NULL. */
KI_API KI_NODISCARD ki_delta_queue *ki_delta_queue_new(const ki_delta_queue_options *options, ki_error *err);

/** Drops all deltas and frees the queue, which must not be in use. NULL is allowed. */
KI_API void ki_delta_queue_free(ki_delta_queue *queue);

/* ---- producing --------------------------------------------------------------------------------------- */

/**
 * Queues one change: KI_CHANGE_ADDED, KI_CHANGE_UPDATED or KI_CHANGE_DELETED. A delete of an object that
 * neither waits, nor is being processed, nor is in the store of known objects does nothing. Of two deletes in
 * a row the first is kept; the second instead if the final state of the first is unknown.
 * ki_delta_queue_push(), ki_delta_queue_replace() and ki_delta_queue_resync() never wait.
 *
 * Returns:   0; 1: the queue is full now; KI_ERR_INVALID for another type, or for no object or one without a
 *            key; KI_ERR_TOO_LARGE for a key above KI_KEY_BYTES; KI_ERR_NO_MEMORY. Nothing changes on
 *            failure. A full queue still accepts changes and never drops any: after a 1, wait for
 *            ki_delta_queue_has_room().
 * Ownership: the queue takes a reference of its own.
 */
KI_API KI_NODISCARD int ki_delta_queue_push(ki_delta_queue *queue, ki_delta delta);

/**
 * Replaces the whole collection. Queues, in one step, KI_CHANGE_REPLACED for each object, and a delete with
 * unknown final state for each key that is not among the objects, but waits, is being processed, or is in the
 * store of known objects. The object of such a delete is the newest one queued for the key, or else the one
 * in the store. A key whose last delta is a delete gets no second one. `objects` may be NULL when `count` is
 * 0.
 *
 * Returns:   as ki_delta_queue_push(). Nothing changes on failure.
 * Ownership: the queue takes references of its own.
 */
KI_API KI_NODISCARD int ki_delta_queue_replace(ki_delta_queue *queue, ki_object *const *objects,
                                               size_t count);

/**
 * Queues KI_CHANGE_SYNC for each known object whose key neither waits nor is being processed. Does nothing
 * without a store of known objects.
 *
 * Returns: as ki_delta_queue_push(). Nothing changes on failure.
 */
KI_API KI_NODISCARD int ki_delta_queue_resync(ki_delta_queue *queue);

/** 1 when at most half of each limit, of keys and of bytes, is used: the producer may continue.
 * 0 for NULL. */
KI_API int ki_delta_queue_has_room(const ki_delta_queue *queue);

/** Wakes threads that wait in a pop, and makes a pop of the empty queue return KI_ERR_STOPPED. Deltas that
 * are queued, now or later, can still be popped. */
KI_API void ki_delta_queue_close(ki_delta_queue *queue);

/* ---- consuming --------------------------------------------------------------------------------------- */

/**
 * Waits for up to `timeout_ms` (UINT64_MAX: no limit) until something is queued, takes the first key with all
 * its deltas off the queue, and calls `process` with them.
 *
 * Returns: what the callback returned; KI_ERR_TIMEOUT when nothing was queued; KI_ERR_STOPPED when the queue
 *          is closed and empty; KI_ERR_INVALID without a queue or a callback; KI_ERR_WOULD_DEADLOCK in a read
 *          section, and, with a timeout, in a callback of the library.
 */
KI_API int ki_delta_queue_pop(ki_delta_queue *queue, uint64_t timeout_ms, ki_delta_queue_cb process,
                              void *user);

/**
 * 1 when everything that the first replace queued has been processed, that is, when the callback for the last
 * of it has returned. If something is pushed before the first replace, the queue counts as synced from then
 * on. Once 1, it stays 1. 0 for NULL.
 */
KI_API int ki_delta_queue_has_synced(const ki_delta_queue *queue);

/** The number of waiting keys, and the bytes of their objects; 0 for NULL. */
KI_API size_t ki_delta_queue_len(const ki_delta_queue *queue);
KI_API size_t ki_delta_queue_bytes(const ki_delta_queue *queue);

KI_EXTERN_C_END

#endif
