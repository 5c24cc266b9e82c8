/* SPDX-License-Identifier: Apache-2.0 */
/* held_back - what a list has told and what counts only when its end has shown that the list can be believed.
 *
 *   From:     informer/apply.c holds back, informer/apply_markers.c lets go   (dispatch)
 *   Locks:    none; dispatch's.
 *   Not here: which change is held back: informer/rules.h.
 *
 * One change for each key and attempt to list: attempts may overlap on dispatch, because changes of one key
 * wait together, and each has an end of its own, or none. Nothing is held back in a healthy list.
 *
 * Invariant: `order` and `by_key` have the same changes; each is of a list, has an object, and is the only
 * one of its key and list. A change that comes meets what is held of its key first, which drops all that is
 * not newer; so when a change is added none is left of its list, and dropping takes one out of both.
 */
#ifndef KI_INFORMER_HELD_BACK_H
#define KI_INFORMER_HELD_BACK_H

#include "queue/delta_fifo.h"

/* One more, and the attempt is to be given up for a list that can be believed from its beginning. */
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

/* Drops what is held. Takes a zeroed struct. */
void ki_held_back_fini(ki_held_back *back);

static inline size_t ki_held_back_count(const ki_held_back *back)
{
    return back->by_key.count;
}

/* A change comes. What is held of its key and is not newer, by the same list or, if it is an event, by any,
 * is dropped: the change takes its place. Returns whether something that is newer is held by the same list:
 * then the change is an echo of what was before that. */
bool ki_held_back_meet(ki_held_back *back, const ki_delta *delta, uint64_t hash);

/* Holds a change of a list back, of which nothing is held with this key; takes a reference. Returns 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_held_back_add(ki_held_back *back, const ki_delta *delta, uint64_t hash);

void ki_held_back_drop(ki_held_back *back, ki_held *held);

/* Drops what attempts before this one have told. */
void ki_held_back_drop_before(ki_held_back *back, uint32_t list);

/* The first that is of this attempt; NULL: none is. */
ki_held *ki_held_back_first(const ki_held_back *back, uint32_t list);

#endif
