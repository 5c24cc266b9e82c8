/* SPDX-License-Identifier: Apache-2.0 */
/* apply - brings the store up to date with what was queued, and says what became of it.
 *
 *   From:     informer/informer_run.c   (dispatch, with what it pops from the queue)
 *   To:       store/store.c, then handler/fanout.c
 *   Locks:    none of its own; dispatch's. The store's are held per batch.
 *   Not here: which change counts (informer/rules.h); calling handlers; threads.
 *
 * Work is done in steps of bounded length. What a step needs in memory it reserves before it changes
 * anything, so a step that fails for lack of memory can simply be tried again: nothing is lost and nothing
 * comes twice.
 */
#ifndef KI_INFORMER_APPLY_H
#define KI_INFORMER_APPLY_H

#include <stdbool.h>

#include "handler/fanout.h"
#include "informer/held_back.h"
#include "queue/delta_fifo.h"
#include "store/mutation_detector.h"
#include "store/store.h"

/* Entries of the queue, objects of a sweep or of a resync that one step deals with. */
#define KI_APPLY_STEP 256

/* How many entries before a change what is there is fetched from memory; where, twice as many. */
#define KI_APPLY_AHEAD 4

typedef struct ki_apply_options {
    ki_store *store;
    ki_delta_fifo *fifo;
    ki_fanout *fanout;
    ki_mutation_detector *detector; /* NULL: none */
    bool deliver_unchanged;         /* also updates that change nothing of what is kept */
} ki_apply_options;

/* Objects that a sweep or a resync still has to look at; references. */
typedef struct ki_apply_plan {
    ki_object **objects;
    size_t count;
    size_t capacity;
    size_t next;
} ki_apply_plan;

typedef struct ki_apply {
    ki_apply_options options;
    ki_resource_version version; /* the store is complete up to here: F */
    bool is_synced;              /* a list has ended */
    bool owes_synced;            /* and the handlers are to be told */
    uint32_t last_list;          /* the newest that has ended */
    uint32_t first_list; /* of this history of the server's: what only older ones have met is of another */
    ki_list batch;       /* popped and not done yet */
    size_t batch_count;
    ki_resource_version batch_version; /* the store's, when the batch is done */
    uint32_t deltas_done;              /* of the batch's first entry */
    ki_str deleted;                    /* the version of the newest delete among those, the entry's */
    ki_held_back held;                 /* until the ends of their lists */
    uint32_t doubted_list; /* of which more is held back than should be; the caller unsets it. 0: none */
    bool is_planned;       /* the plan is of the batch's first entry, a marker */
    ki_apply_plan plan;
} ki_apply;

void ki_apply_init(ki_apply *apply, const ki_apply_options *options);
void ki_apply_fini(ki_apply *apply);

/* One step. Returns 1 when there may be more to do, 0 when the queue was empty, KI_ERR_NO_MEMORY when it has
 * to be tried again. Between two steps the caller publishes `is_synced` and `version`. */
KI_NODISCARD int ki_apply_step(ki_apply *apply);

/* Forgets what was popped and is not done, and what waits: a stop, when nothing is pushed any more. That
 * another history has begun is not forgotten. The queue is to be reset to apply->version then. Returns
 * whether the end of a list was forgotten: what it would have swept away, or let in, is left until another
 * list ends. */
bool ki_apply_drop(ki_apply *apply);

#endif
