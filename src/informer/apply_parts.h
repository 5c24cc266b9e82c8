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

/* Begins another history, from the entry's list on. */
void ki_apply_reset(ki_apply *apply, const ki_delta_entry *entry);

/* Drops the rest of a marker's plan. */
void ki_apply_plan_drop(ki_apply *apply);

/* Removes the object of a slot from the store and notifies; `final` NULL: its final state is unknown. */
KI_NODISCARD int ki_apply_remove(ki_apply *apply, const ki_place *place, const ki_object *final)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu);

/* The newest list that has seen the object. */
uint32_t ki_apply_list_of(const ki_object *object);

/* One change of a key. */
typedef struct ki_apply_change {
    ki_str key;
    uint64_t hash;
    const ki_delta *delta;
    ki_str complete; /* everything up to here was in the store before it */
} ki_apply_change;

/* The verdict of the rules. */
KI_NODISCARD int ki_apply_by_rules(ki_apply *apply, const ki_apply_change *change)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu);

/* The end of the change's list decides. */
KI_NODISCARD int ki_apply_hold_back(ki_apply *apply, const ki_apply_change *change);

/* The list is valid: applies its held-back items. Returns 1 when they are in the store, 0 when there are
 * more, KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_apply_held_back(ki_apply *apply, uint32_t list);

/* Its version belongs to a history that the server no longer has, and is ignored. */
bool ki_apply_is_of_other_history(const ki_apply *apply, const ki_object *object);

#endif
