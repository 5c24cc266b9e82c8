/* SPDX-License-Identifier: Apache-2.0 */
/* delta_queue - changes of objects that wait to be processed, in order, together for each key: client-go's
 * DeltaFIFO, for who builds an informer of their own. Those of the library do not need it.
 *
 * A producer says what was added, updated or deleted, or what a whole collection consists of now. A consumer
 * pops one key at a time, with everything that has happened to it since it was popped last, oldest first.
 * Keys leave in the order in which they came to wait. To find out what is missing from a new collection the
 * queue looks at the store that the consumer keeps, if there is one.
 *
 * Threads: any, for all calls, but one consumer: callbacks of two that pop at the same time overlap, also
 *          those for one key, and then nobody knows which of them came first.
 *
 * fork():  a child has the queue as it was in the parent at that moment, and may use and free it. What was
 *          being processed there waits again in the child, unless something newer waits for the key. A child
 *          that was forked inside a callback must not return from it, and a key function must not fork().
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
    ki_change_type type;
    uint32_t list; /* 0: informers use it, as the next two, for their own queues */
    uint32_t after_list;
    uint8_t is_doubtful;
    uint8_t final_state_unknown; /* a delete that nobody saw: the object is the last that was known */
    uint8_t reserved[2];
    const ki_object *object;
    size_t bytes; /* of the object when it was queued; the queue sets it */
} ki_delta;

/** What has happened to one key. Borrowed for the call. */
typedef struct ki_deltas {
    ki_str key;
    const ki_delta *items; /* oldest first, at least one */
    size_t count;
    int is_initial; /* the queue had not synced when these left it */
} ki_deltas;

/** Puts the deltas back into the queue: see ki_delta_queue_cb. */
#define KI_DELTA_QUEUE_REQUEUE 1

/**
 * Processes the deltas of one key. No lock is held, and all calls but ki_delta_queue_free() are allowed.
 *
 * Returns: 0; KI_DELTA_QUEUE_REQUEUE: the deltas go back to the end of the queue as they are, unless
 *          something newer waits for the key by now, which then stands for them; or a negative code of the
 *          callback's own, which ki_delta_queue_pop() returns: the deltas are dropped.
 */
typedef int (*ki_delta_queue_cb)(const ki_deltas *deltas, void *user);

/* ---- making one -------------------------------------------------------------------------------------- */

/** Zero means default. */
typedef struct ki_delta_queue_options {
    ki_store
        *known;    /* what the consumer has processed; written by its callback alone. Borrowed. NULL: none */
    ki_key_cb key; /* NULL: "namespace/name". The same as that of `known`. May not call the queue */
    void *user;    /* of `key` */
    size_t items_max; /* keys; 0: 10,000 */
    size_t bytes_max; /* of objects; 0: 16 MiB */
    uint64_t reserved[4];
} ki_delta_queue_options;

/** Returns: a queue to free, or NULL with KI_ERR_NO_MEMORY or KI_ERR_SYSTEM. `options` may be NULL. */
KI_API KI_NODISCARD ki_delta_queue *ki_delta_queue_new(const ki_delta_queue_options *options, ki_error *err);

/** Drops what waits. Nobody may use the queue any more. NULL is allowed. */
KI_API void ki_delta_queue_free(ki_delta_queue *queue);

/* ---- producing --------------------------------------------------------------------------------------- */

/**
 * Queues one change: KI_CHANGE_ADDED, KI_CHANGE_UPDATED or KI_CHANGE_DELETED. A delete of an object that
 * neither waits, nor is being processed, nor is in the store of known objects is left out. Of two deletes in
 * a row one stays: the later, unless it is older or only the earlier was seen.
 *
 * Returns:   0; 1: the queue is full now; KI_ERR_INVALID for another type, or for no object or one without a
 *            key; KI_ERR_TOO_LARGE for a key above KI_KEY_BYTES; KI_ERR_NO_MEMORY. Nothing changes on
 *            failure. A full queue still takes what it is given and never drops anything: who gets 1 waits
 *            for ki_delta_queue_has_room().
 * Ownership: the queue takes a reference of its own.
 */
KI_API KI_NODISCARD int ki_delta_queue_push(ki_delta_queue *queue, ki_delta delta);

/**
 * Says what the whole collection consists of. Queues, as one change: KI_CHANGE_REPLACED for each object; a
 * delete of unknown final state for each key that waits or is being processed and is not among the objects,
 * with the newest object that waits; and for each that is in the store of known objects only, with the object
 * there. A key that waits with a delete as its last delta gets no second one.
 *
 * Returns:   as ki_delta_queue_push(). Nothing changes on failure.
 * Ownership: the queue takes references of its own.
 */
KI_API KI_NODISCARD int ki_delta_queue_replace(ki_delta_queue *queue, ki_object *const *objects,
                                               size_t count);

/**
 * Queues KI_CHANGE_SYNC for each known object whose key neither waits nor is being processed. Nothing
 * without a store of known objects.
 *
 * Returns: as ki_delta_queue_push(). Nothing changes on failure.
 */
KI_API KI_NODISCARD int ki_delta_queue_resync(ki_delta_queue *queue);

/** 1 when no more than half of either limit is used: time to go on producing. */
KI_API int ki_delta_queue_has_room(ki_delta_queue *queue);

/** Wakes who waits in a pop; what is queued, now and later, is popped as before. */
KI_API void ki_delta_queue_close(ki_delta_queue *queue);

/* ---- consuming --------------------------------------------------------------------------------------- */

/**
 * Waits until something is queued, for up to `timeout_ms` (UINT64_MAX: for ever), takes the first key off the
 * queue with all its deltas, and has them processed.
 *
 * Returns: what the callback has returned; KI_ERR_TIMEOUT when nothing came; KI_ERR_STOPPED when the queue is
 *          closed and empty; KI_ERR_INVALID without a queue or a callback; KI_ERR_WOULD_DEADLOCK in a read
 *          section, and with a timeout in a callback of the library's.
 */
KI_API int ki_delta_queue_pop(ki_delta_queue *queue, ki_delta_queue_cb process, void *user,
                              uint64_t timeout_ms);

/**
 * 1 when all that the first replace has queued is processed: after the callback of the last of it has
 * returned. A push before any replace says that there will be none to wait for. Once 1, always 1.
 */
KI_API int ki_delta_queue_has_synced(ki_delta_queue *queue);

/** How many keys wait, and the bytes of their objects. */
KI_API size_t ki_delta_queue_len(ki_delta_queue *queue);
KI_API size_t ki_delta_queue_bytes(ki_delta_queue *queue);

KI_EXTERN_C_END

#endif
