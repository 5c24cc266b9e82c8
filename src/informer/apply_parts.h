/* SPDX-License-Identifier: Apache-2.0 */
/* apply_parts - what the files of apply share.
 *
 *   From:     informer/apply.c, informer/apply_held.c, informer/apply_markers.c
 *   Locks:    the store's are held where it says so.
 *   Not here: anything for others.
 */
#ifndef KI_INFORMER_APPLY_PARTS_H
#define KI_INFORMER_APPLY_PARTS_H

#include "informer/apply.h"

/* Does one step of a marker's work. Returns 1 if the work is done, 0 if there is more,
 * or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_apply_marker(ki_apply *apply, const ki_delta_entry *entry);

/* Begins a new history with the list of the entry, a RESET. */
void ki_apply_reset(ki_apply *apply, const ki_delta_entry *entry);

/* Drops the rest of a marker's plan. */
void ki_apply_plan_drop(ki_apply *apply);

/* Removes the object of `place` from the store and notifies handlers.
 * If `final` is NULL, the final state is unknown. */
KI_NODISCARD int ki_apply_remove(ki_apply *apply, const ki_place *place, const ki_object *final)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu);

/* The newest list that has seen the object. */
uint32_t ki_apply_list_of(const ki_object *object);

/* One change of a key. */
typedef struct ki_apply_change {
    ki_str key;
    uint64_t hash;
    const ki_delta *delta;
    ki_str complete; /* everything up to this version was in the store before the change */
} ki_apply_change;

/* Applies the change as the rules decide (informer/rules.h). */
KI_NODISCARD int ki_apply_by_rules(ki_apply *apply, const ki_apply_change *change)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu);

/* Keeps the change until the end of its list. */
KI_NODISCARD int ki_apply_hold_back(ki_apply *apply, const ki_apply_change *change);

/* The list is valid: applies items of it that were held back. Returns 1 if all are in the store, 0 if there
 * are more, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_apply_release_held(ki_apply *apply, uint32_t list);

/* Whether the object's version belongs to a history that the server no longer has;
 * such a version is ignored. */
bool ki_apply_is_of_other_history(const ki_apply *apply, const ki_object *object);

#endif
