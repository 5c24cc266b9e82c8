/* SPDX-License-Identifier: Apache-2.0 */
/* held_back - list items that are applied only when the end of the list has shown that the list is not stale.
 *
 *   From:     informer/apply.c holds back, informer/apply_markers.c releases (dispatch)
 *   Locks:    none; dispatch's.
 *   Not here: which change is held back: informer/rules.h.
 *
 * One change for each key and list attempt: attempts may overlap on dispatch, because changes of one key wait
 * together, and each has its own end, or none. Nothing is held back in a normal list.
 *
 * Invariant: `order` and `by_key` have the same changes; each is of a list, has an object, and is the only
 * one of its key and list. A change that comes meets what is held of its key first, which drops all that is
 * not newer; so when a change is added none is left of its list, and dropping takes one out of both.
 */
#ifndef KI_INFORMER_HELD_BACK_H
#define KI_INFORMER_HELD_BACK_H

#include "queue/delta_fifo.h"

/* With more than this, the attempt is abandoned for a list of the newest version, whose items are applied at
 * once. */
#define KI_HELD_BACK_MAX 10000

typedef struct ki_held {
    ki_list_node node;
    ki_map_node by_key;
    ki_delta delta; /* with a reference to its object */
} ki_held;

typedef struct ki_held_back {
    ki_list order; /* as they came */
    ki_map by_key;
} ki_held_back;

void ki_held_back_init(ki_held_back *back);

/* Drops everything. A zeroed struct is allowed. */
void ki_held_back_fini(ki_held_back *back);

static inline size_t ki_held_back_count(const ki_held_back *back)
{
    return back->by_key.count;
}

/* A change has arrived. Held-back changes of its key that are not newer, of the same list or, for an event,
 * of any, are dropped: the change replaces them. Returns whether a newer one of the same list is held back:
 * then the change is an echo of an earlier state. */
bool ki_held_back_meet(ki_held_back *back, const ki_delta *delta, uint64_t hash);

/* Holds back a change of a list that has none with this key yet; takes a reference. Returns 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_held_back_add(ki_held_back *back, const ki_delta *delta, uint64_t hash);

void ki_held_back_drop(ki_held_back *back, ki_held *held);

/* Drops the changes of earlier attempts. */
void ki_held_back_drop_before(ki_held_back *back, uint32_t list);

/* The first change of this attempt; NULL: none. */
ki_held *ki_held_back_first(const ki_held_back *back, uint32_t list);

#endif
