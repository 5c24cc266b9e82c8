/* SPDX-License-Identifier: Apache-2.0 */
/* apply - applies queued changes to the store and notifies handlers.
 *
 *   From:     informer/informer_run.c (dispatch runs steps, which pop from the queue); also
 *             informer/informer.c
 *   To:       handler/fanout.c (which reserves), store/store.c, then handler/fanout.c again (which tells)
 *   Locks:    none of its own; runs on dispatch. The store's are held per batch.
 *   Not here: which change counts (informer/rules.h); calling handlers; threads.
 *
 * Work is done in steps of bounded length. Each change reserves all memory it needs before it takes effect. A
 * step that runs out of memory keeps the changes it has applied, and is continued with the next one: nothing
 * is lost and nothing is delivered twice.
 */
#ifndef KI_INFORMER_APPLY_H
#define KI_INFORMER_APPLY_H

#include <stdbool.h>

#include "handler/fanout.h"
#include "informer/held_back.h"
#include "queue/delta_fifo.h"
#include "store/mutation_detector.h"
#include "store/store.h"

/* The number of queue entries, or of objects of a sweep or resync, that one step processes. */
#define KI_APPLY_STEP 256

/* How many entries ahead of a change the stored object is prefetched.
 * Its slot is prefetched twice as far ahead. */
#define KI_APPLY_AHEAD 4

typedef struct ki_apply_options {
    ki_store *store;
    ki_delta_fifo *fifo;
    ki_fanout *fanout;
    ki_mutation_detector *detector; /* NULL: none */
    bool deliver_unchanged;         /* also deliver updates that change no field that is kept */
} ki_apply_options;

/* References to the objects of a sweep or a resync; those from `next` on are still to be processed. */
typedef struct ki_apply_plan {
    ki_object **objects;
    size_t count;
    size_t capacity;
    size_t next;
} ki_apply_plan;

typedef struct ki_apply {
    ki_apply_options options;
    ki_resource_version version; /* the store is complete up to here: F of docs/consistency.md */
    bool is_synced;              /* a list has ended */
    bool owes_synced;            /* a list has ended, and handlers must be notified */
    uint32_t last_list;          /* the newest list that has ended */
    uint32_t first_list; /* the first list of this history; objects that only older lists have seen belong to
                          * another history */
    ki_list batch;       /* entries that were popped and are not finished */
    size_t batch_count;
    ki_resource_version batch_version; /* the store's version when the batch is done */
    uint32_t deltas_done;              /* number of applied changes of the batch's first entry */
    ki_str deleted;                    /* the version of the newest delete among those changes */
    ki_held_back held;                 /* changes that wait for the ends of their lists */
    uint32_t doubted_list; /* the list of which too many items are held back, or 0; the caller resets it */
    bool is_planned;       /* the plan belongs to the batch's first entry, a marker */
    ki_apply_plan plan;
} ki_apply;

void ki_apply_init(ki_apply *apply, const ki_apply_options *options);
void ki_apply_fini(ki_apply *apply);

/* Runs one step. Returns 1 if there may be more to do, 0 if the queue was empty, KI_ERR_NO_MEMORY if the step
 * must be tried again. Between two steps the caller publishes `is_synced` and `version`. */
KI_NODISCARD int ki_apply_step(ki_apply *apply);

/* For a stop, when nothing is pushed any more: drops all changes, popped or still in the queue. But a reset
 * of the history is applied. The caller then resets the queue to apply->version. Returns whether the end of a
 * list was dropped; then another list is needed for its removals and held-back items. */
bool ki_apply_drop(ki_apply *apply);

#endif
