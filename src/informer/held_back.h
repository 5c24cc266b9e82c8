/* SPDX-License-Identifier: Apache-2.0 */
/* held_back - list items that are applied only when the end of the list has shown that the list is not stale.
 *
 *   From:     informer/apply_held.c holds back and releases;
 *             informer/apply.c and informer/apply_markers.c drop (dispatch)
 *   Locks:    none; dispatch's.
 *   Not here: which change is held back: informer/rules.h.
 *
 * One change for each key and list attempt. Changes of several attempts may mix on dispatch, because all
 * changes of a key leave the queue together. Each attempt has its own end, or none. Nothing is held back in a
 * normal list.
 *
 * Invariant: `order` and `by_key` contain the same changes. Each belongs to a list, has an object, and is the
 * only one of its key and list. ki_held_back_meet() is called for each change that arrives, and drops the
 * held-back changes that are not newer; if a newer one of the list remains, the change is not added. Dropping
 * removes a change from both.
 */
#ifndef KI_INFORMER_HELD_BACK_H
#define KI_INFORMER_HELD_BACK_H

#include "queue/delta_fifo.h"

/* If more changes are held back, the attempt is abandoned for a list of the newest version,
 * whose items are applied at once. */
#define KI_HELD_BACK_MAX 10000

typedef struct ki_held {
    ki_list_node node;
    ki_map_node by_key;
    ki_delta delta;     /* holds a reference to its object */
    uint32_t seen_list; /* a later list, which contains the object in a form that cannot be used; 0: none */
} ki_held;

typedef struct ki_held_back {
    ki_list order; /* in the order of arrival */
    ki_map by_key;
} ki_held_back;

void ki_held_back_init(ki_held_back *back);

/* Drops everything. A zeroed struct is allowed. */
void ki_held_back_fini(ki_held_back *back);

static inline size_t ki_held_back_count(const ki_held_back *back)
{
    return back->by_key.count;
}

/* A change has arrived. It replaces the held-back changes of its key that are not newer; these are dropped.
 * An item replaces only changes of its own list, an event those of any list. Returns whether a newer change
 * of the same list is held back; then the change is an echo of an earlier state. */
bool ki_held_back_meet(ki_held_back *back, const ki_delta *delta, uint64_t hash);

/* Holds back a change of a list, of which no change with this key is held back yet. Adds a reference to the
 * object. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_held_back_add(ki_held_back *back, const ki_delta *delta, uint64_t hash);

/* This list shows that the object of a key exists, but in a form that cannot be used. So the end of this list
 * must not remove an object whose item is held back for an earlier list. */
void ki_held_back_see(ki_held_back *back, ki_str key, uint64_t hash, uint32_t list);

void ki_held_back_drop(ki_held_back *back, ki_held *held);

/* Drops the changes of earlier attempts. */
void ki_held_back_drop_before(ki_held_back *back, uint32_t list);

/* The first held-back change of this attempt, or NULL. */
ki_held *ki_held_back_first(const ki_held_back *back, uint32_t list);

#endif
