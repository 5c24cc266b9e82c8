/* SPDX-License-Identifier: Apache-2.0 */
/* List items that wait for the end of their list: rules 3 and 4 of docs/consistency.md. */
#include <assert.h>

#include "informer/apply_parts.h"

int ki_apply_hold_back(ki_apply *apply, const ki_apply_change *change)
{
    assert(apply != NULL);
    int rc = ki_held_back_add(&apply->held, change->delta, change->hash);
    if (ki_held_back_count(&apply->held) > KI_HELD_BACK_MAX)
        apply->doubted_list = change->delta->list;
    return rc;
}

static int apply_one(ki_apply *apply, const ki_held *held) KI_REQUIRES(apply->options.store->mu)
    KI_REQUIRES(apply->options.store->write_mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    const ki_str nothing = {0}; /* unset, so that the rules do not take the item for an echo */
    ki_delta delta = held->delta;
    delta.is_doubtful = 0;
    if (delta.change_type == KI_CHANGE_DELETED)
        delta.list = 0; /* the rules treat it as an event */
    ki_apply_change change = {ki_object_key_str(delta.object), held->by_key.hash, &delta, nothing};
    int rc = ki_apply_by_rules(apply, &change);
    const ki_delta seen = {.change_type = KI_CHANGE_SEEN, .list = held->seen_list};
    change.delta = &seen;
    return rc < 0 || held->seen_list == 0 ? rc : ki_apply_by_rules(apply, &change);
}

int ki_apply_release_held(ki_apply *apply, uint32_t list)
{
    assert(apply != NULL);
    int rc = 0;
    ki_held *held = ki_held_back_first(&apply->held, list);
    if (held == NULL)
        return 1;
    ki_store_batch_begin(apply->options.store);
    for (int i = 0; rc == 0 && held != NULL && i < KI_APPLY_STEP; i++) {
        rc = apply_one(apply, held);
        if (rc == 0)
            ki_held_back_drop(&apply->held, held);
        held = ki_held_back_first(&apply->held, list);
    }
    ki_store_batch_end(apply->options.store);
    ki_fanout_flush(apply->options.fanout);
    ki_mutation_detector_report(apply->options.detector);
    return rc < 0 ? rc : held == NULL;
}
