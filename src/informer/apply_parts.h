/* SPDX-License-Identifier: Apache-2.0 */
/* apply_parts - what apply.c, apply_held.c and apply_markers.c share.
 *
 *   Locks:    the store's are held where it says so.
 *   Not here: anything for others.
 */
#ifndef KI_INFORMER_APPLY_PARTS_H
#define KI_INFORMER_APPLY_PARTS_H

#include "informer/apply.h"

/* One step of a marker's work. Returns 1 when it is done, 0 when there is more, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_apply_marker(ki_apply *apply, const ki_delta_entry *entry);

/* From here on, and from the entry's list on, versions are of another history. */
void ki_apply_reset(ki_apply *apply, const ki_delta_entry *entry);

/* Lets go of what a marker has still planned. */
void ki_apply_plan_drop(ki_apply *apply);

/* Takes the object of a place out of the store and says so; `final` NULL: nobody saw its final state. */
KI_NODISCARD int ki_apply_remove(ki_apply *apply, const ki_place *place, const ki_object *final)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu);

/* The newest list that has met the object. */
uint32_t ki_apply_list_of(const ki_object *object);

/* One change of a key. */
typedef struct ki_apply_change {
    ki_str key;
    uint64_t hash;
    const ki_delta *delta;
    ki_str complete; /* all up to here was in the store before it */
} ki_apply_change;

/* What the rules make of it. */
KI_NODISCARD int ki_apply_by_rules(ki_apply *apply, const ki_apply_change *change)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu);

/* The end of the change's list decides. */
KI_NODISCARD int ki_apply_hold_back(ki_apply *apply, const ki_apply_change *change);

/* The list can be believed, and so can what was held back of it. Returns 1 when that is in the store, 0 when
 * there is more, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_apply_let_in(ki_apply *apply, uint32_t list);

/* Its version is of a history that the server does not have any more, and says nothing. */
bool ki_apply_is_of_other_history(const ki_apply *apply, const ki_object *object);

#endif
