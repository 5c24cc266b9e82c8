/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of keys, one by one; markers are in apply_markers.c. */
#include "informer/apply.h"

#include <assert.h>

#include "api/object/object_layout.h"
#include "informer/apply_parts.h"
#include "informer/rules.h"
#include "util/alloc.h"

void ki_apply_init(ki_apply *apply, const ki_apply_options *options)
{
    assert(apply != NULL);
    static ki_mutation_detector off; /* never written to */
    *apply = (ki_apply){.options = *options};
    if (options->detector == NULL)
        apply->options.detector = &off;
    ki_list_init(&apply->batch);
    ki_held_back_init(&apply->held);
}

/* The next change to apply is the first one of an entry. */
static void reset_progress(ki_apply *apply)
{
    assert(apply != NULL);
    apply->deltas_done = 0;
    apply->deleted = (ki_str){0};
}

/* Drops entries, but applies a RESET. The end of a history is final: once the server has passed the last
 * version of the old history, it would not show the reset again.
 * Returns whether the end of a list was dropped. */
static bool forget(ki_apply *apply, ki_list *entries)
{
    bool has_list_end = false;
    for (ki_list_node *node = ki_list_pop_front(entries); node != NULL; node = ki_list_pop_front(entries)) {
        ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, node);
        if (entry->marker == KI_CHANGE_RESET)
            ki_apply_reset(apply, entry);
        has_list_end = has_list_end || entry->marker == KI_CHANGE_LIST_END;
        ki_delta_entry_free(entry);
    }
    return has_list_end;
}

static bool forget_batch(ki_apply *apply)
{
    bool has_list_end = forget(apply, &apply->batch);
    apply->batch_count = 0;
    reset_progress(apply);
    ki_apply_plan_drop(apply);
    return has_list_end;
}

bool ki_apply_drop(ki_apply *apply)
{
    assert(apply != NULL);
    ki_list waiting;
    ki_resource_version version = {0};
    ki_list_init(&waiting);
    bool has_list_end = forget_batch(apply);
    while (ki_delta_fifo_pop(apply->options.fifo, KI_APPLY_STEP, &waiting, &version) > 0)
        has_list_end |= forget(apply, &waiting);
    ki_resource_version_clear(&version);
    ki_held_back_drop_before(&apply->held, UINT32_MAX);
    return has_list_end;
}

void ki_apply_fini(ki_apply *apply)
{
    assert(apply != NULL);
    if (apply->options.store == NULL)
        return;
    (void)forget_batch(apply);
    ki_free(apply->plan.objects);
    ki_resource_version_clear(&apply->version);
    ki_resource_version_clear(&apply->batch_version);
    ki_held_back_fini(&apply->held);
    *apply = (ki_apply){0};
}

/* ---- marks: the last list that contained an object ------------------------------------------------- */

enum {
    MARK_OTHER = 1, /* the list contains the object, but its stored state is from the previous history */
    MARK_BITS = 1
};

uint32_t ki_apply_list_of(const ki_object *object)
{
    assert(object != NULL);
    return object->mark >> MARK_BITS;
}

bool ki_apply_is_of_other_history(const ki_apply *apply, const ki_object *object)
{
    assert(apply != NULL);
    return ki_apply_list_of(object) < apply->first_list || (object->mark & MARK_OTHER) != 0;
}

static void set_mark(const ki_object *object, uint32_t mark)
{
    assert(object != NULL);
    ((ki_object *)object)->mark = mark; /* a note for the writer, not part of the const state */
}

/* Returns the number of the list to write into the mark of a change's object. For an item, this is its list.
 * For an event, it is the last list whose end was applied or, until one of this history has ended, the first
 * list of this history.
 *
 * There is one exception. An event leaves the queue at the position of its key, so it may be applied before
 * the end of a list that was received before it. That end must not remove the object. If the version is a
 * number, it shows that the object is newer than the list. Otherwise the mark has to name that list. */
static uint32_t list_behind(const ki_apply *apply, const ki_delta *delta)
{
    uint32_t list = apply->last_list > apply->first_list ? apply->last_list : apply->first_list;
    if (delta->list != 0)
        return delta->list;
    if (delta->after_list > list && !ki_rules_is_number(ki_object_resource_version(delta->object)))
        return delta->after_list;
    return list;
}

static void mark_seen(const ki_apply *apply, const ki_object *stored, const ki_delta *delta)
{
    uint32_t list = list_behind(apply, delta);
    if (list > ki_apply_list_of(stored))
        set_mark(stored, list << MARK_BITS);
}

/* The item is invalid, or not applied yet: the object exists, but nothing is known about its state. */
static void mark_alive(const ki_apply *apply, const ki_object *stored, const ki_delta *delta)
{
    assert(stored != NULL);
    bool is_of_other_history = ki_apply_is_of_other_history(apply, stored);
    mark_seen(apply, stored, delta);
    if (is_of_other_history)
        set_mark(stored, stored->mark | MARK_OTHER);
}

static void mark_put(const ki_apply *apply, const ki_delta *delta, const ki_object *former)
{
    assert(delta->object != NULL && delta->object != former);
    if (former == NULL) {
        set_mark(delta->object, list_behind(apply, delta) << MARK_BITS);
        return;
    }
    set_mark(delta->object, former->mark & ~(uint32_t)MARK_OTHER);
    mark_seen(apply, delta->object, delta);
}

/* The stored object belongs to this history, and is not older than the object of the change. */
static void mark_same(const ki_apply *apply, const ki_object *stored, const ki_delta *delta)
{
    assert(stored != NULL);
    bool is_of_other_history = ki_apply_is_of_other_history(apply, stored);
    set_mark(stored, stored->mark & ~(uint32_t)MARK_OTHER);
    if (delta->list != 0 || is_of_other_history)
        mark_seen(apply, stored, delta);
}

/* ---- one change ------------------------------------------------------------------------------------ */

static bool same_uid(const ki_object *a, const ki_object *b)
{
    assert(a != NULL && b != NULL);
    return ki_str_equal(ki_object_uid(a), ki_object_uid(b));
}

static void tell_put(ki_apply *apply, const ki_object *object, const ki_object *former)
{
    ki_notification told = {
        .type = KI_CHANGE_UPDATED, .object = (ki_object *)object, .old = (ki_object *)former};
    if (former == NULL) {
        told.type = KI_CHANGE_ADDED;
        told.flags = apply->is_synced ? 0 : KI_EVENT_INITIAL;
    } else if (!same_uid(object, former)) {
        told.flags = KI_EVENT_REPLACED;
    } else if (!apply->options.deliver_unchanged && ki_object_equal(object, former)) {
        return;
    }
    ki_fanout_tell(apply->options.fanout, KI_TO_ALL, &told);
}

static int put(ki_apply *apply, const ki_delta *delta, const ki_place *place)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    /* The object to put is never the stored one: for that one the verdict would have been KI_RULES_KEEP. */
    assert(place->object != delta->object);
    ki_object *former = place->object;
    int rc = ki_mutation_detector_add(apply->options.detector, delta->object);
    if (rc == 0)
        rc = ki_fanout_reserve(apply->options.fanout, KI_TO_ALL);
    if (rc < 0) {
        ki_mutation_detector_remove(apply->options.detector, delta->object);
        return rc;
    }
    rc = ki_store_batch_put_at(apply->options.store, delta->object, place);
    if (rc < 0) {
        ki_mutation_detector_remove(apply->options.detector, delta->object);
        return rc == KI_ERR_NO_MEMORY ? rc : 0; /* the store rejects the key: the object counts as refused */
    }
    mark_put(apply, delta, former);
    tell_put(apply, delta->object, former);
    ki_mutation_detector_remove(apply->options.detector, former);
    ki_store_batch_let_go(apply->options.store, former);
    return 0;
}

int ki_apply_remove(ki_apply *apply, const ki_place *place, const ki_object *final)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    assert(apply != NULL);
    ki_object *former = place->object;
    int rc = ki_fanout_reserve(apply->options.fanout, KI_TO_ALL);
    if (rc == 0)
        rc = ki_store_batch_reserve(apply->options.store);
    if (rc < 0)
        return rc;
    ki_store_batch_remove_at(apply->options.store, place);
    ki_notification told = {.type = KI_CHANGE_DELETED,
                            .flags = final == NULL ? KI_EVENT_FINAL_STATE_UNKNOWN : 0,
                            .object = final == NULL ? former : (ki_object *) final,
                            .old = former};
    if (!same_uid(told.object, former))
        told.flags |= KI_EVENT_REPLACED;
    ki_fanout_tell(apply->options.fanout, KI_TO_ALL, &told);
    ki_mutation_detector_remove(apply->options.detector, former);
    ki_store_batch_let_go(apply->options.store, former);
    return 0;
}

int ki_apply_by_rules(ki_apply *apply, const ki_apply_change *change)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    assert(apply != NULL);
    const ki_delta *delta = change->delta;
    ki_place place = ki_store_batch_seek(apply->options.store, change->key, change->hash);
    const ki_object *stored = place.object;
    ki_standing standing = {.stored = stored,
                            .of_other_history = stored != NULL && ki_apply_is_of_other_history(apply, stored),
                            .complete = change->complete};
    switch (ki_rules_judge(delta, &standing)) {
    case KI_RULES_IGNORE:
        if (delta->change_type == KI_CHANGE_SEEN && ki_held_back_count(&apply->held) > 0)
            ki_held_back_see(&apply->held, change->key, change->hash, delta->list);
        break;
    case KI_RULES_KEEP:
        if (delta->change_type == KI_CHANGE_SEEN)
            mark_alive(apply, stored, delta);
        else
            mark_same(apply, stored, delta);
        break;
    case KI_RULES_PUT:
        return put(apply, delta, &place);
    case KI_RULES_REMOVE:
        return ki_apply_remove(apply, &place, delta->final_state_unknown ? NULL : delta->object);
    case KI_RULES_HOLD:
        if (stored != NULL && delta->change_type != KI_CHANGE_DELETED)
            mark_alive(apply, stored, delta);
        return ki_apply_hold_back(apply, change);
    }
    return 0;
}

static int apply_delta(ki_apply *apply, const ki_delta_entry *entry, const ki_delta *delta)
    KI_REQUIRES(apply->options.store->mu) KI_REQUIRES(apply->options.store->write_mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    ki_str before = ki_resource_version_str(&entry->version_before);
    ki_apply_change change = {
        .key = {entry->key, entry->key_len},
        .hash = entry->by_key.hash,
        .delta = delta,
        .complete = ki_resource_version_text_is_newer(apply->deleted, before) ? apply->deleted : before};
    const ki_delta seen = {.change_type = KI_CHANGE_SEEN,
                           .list = delta->list}; /* an echo only shows that the object exists */
    if (ki_held_back_count(&apply->held) > 0 && ki_held_back_meet(&apply->held, delta, change.hash))
        change.delta = &seen;
    return ki_apply_by_rules(apply, &change);
}

/* An older state of this object may arrive again after its delete. */
static void note_delete(ki_apply *apply, const ki_delta *delta)
{
    assert(delta->change_type != KI_CHANGE_DELETED || delta->object != NULL);
    if (delta->change_type == KI_CHANGE_DELETED && delta->list == 0 &&
        ki_resource_version_text_is_newer(ki_object_resource_version(delta->object), apply->deleted))
        apply->deleted = ki_object_resource_version(delta->object);
}

/* The object of a change of the entry, or NULL. */
static const ki_object *object_of(const ki_delta_entry *entry, uint32_t number)
{
    return number < entry->count ? entry->deltas[number].object : NULL;
}

static int apply_entry(ki_apply *apply, const ki_delta_entry *entry) KI_REQUIRES(apply->options.store->mu)
    KI_REQUIRES(apply->options.store->write_mu)
{
    assert(entry->marker == 0 && apply->deltas_done <= entry->count);
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    for (; apply->deltas_done < entry->count; apply->deltas_done++) {
        const ki_delta *delta = &entry->deltas[apply->deltas_done];
        ki_object_prefetch(object_of(entry, apply->deltas_done + 2));
        int rc = apply_delta(apply, entry, delta);
        if (rc < 0)
            return rc;
        note_delete(apply, delta);
    }
    reset_progress(apply);
    return 0;
}

/* ---- batches --------------------------------------------------------------------------------------- */

static ki_delta_entry *first_of(const ki_apply *apply)
{
    ki_list_node *node = ki_list_first(&apply->batch);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_delta_entry, node);
}

static void end_entry(ki_delta_entry *entry, ki_list *out_done)
{
    assert(ki_list_node_is_linked(&entry->node));
    ki_list_remove(&entry->node);
    ki_delta_entry_clear(entry);
    ki_list_push_back(out_done, &entry->node);
}

/* In a large collection the memory that a change needs is not in any CPU cache. So it is prefetched while
 * earlier changes are applied: first the slot of its key, then the object there. */
typedef struct lookahead {
    ki_list_node *far;
    ki_list_node *near;
} lookahead;

static void fetch_place(ki_apply *apply, lookahead *ahead) KI_REQUIRES(apply->options.store->mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    const ki_delta_entry *entry = KI_CONTAINER_OF(ahead->far, ki_delta_entry, node);
    if (entry->marker == 0) {
        ki_store_batch_expect_hash(apply->options.store, entry->by_key.hash);
        ki_object_prefetch(object_of(entry, 0));
        ki_object_prefetch(object_of(entry, 1));
    }
    ahead->far = ki_list_next(&apply->batch, ahead->far);
}

static void fetch_object(ki_apply *apply, lookahead *ahead) KI_REQUIRES(apply->options.store->mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    const ki_delta_entry *entry = KI_CONTAINER_OF(ahead->near, ki_delta_entry, node);
    if (entry->marker == 0)
        ki_store_batch_expect(apply->options.store, entry->by_key.hash, entry->deltas[0].object);
    ahead->near = ki_list_next(&apply->batch, ahead->near);
}

static lookahead begin_lookahead(ki_apply *apply) KI_REQUIRES(apply->options.store->mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    lookahead ahead = {ki_list_first(&apply->batch), ki_list_first(&apply->batch)};
    for (int i = 0; i < 2 * KI_APPLY_AHEAD && ahead.far != NULL; i++)
        fetch_place(apply, &ahead);
    for (int i = 0; i < KI_APPLY_AHEAD && ahead.near != NULL; i++)
        fetch_object(apply, &ahead);
    return ahead;
}

/* Applies the changes at the head of the batch, up to the first marker. */
static int apply_changes(ki_apply *apply)
{
    assert(!ki_list_is_empty(&apply->batch) && first_of(apply)->marker == 0);
    int rc = 0;
    ki_list done;
    ki_list_init(&done);
    ki_store_batch_begin(apply->options.store);
    lookahead ahead = begin_lookahead(apply);
    ki_delta_entry *entry = first_of(apply);
    while (rc == 0 && entry != NULL && entry->marker == 0) {
        if (ahead.far != NULL)
            fetch_place(apply, &ahead);
        if (ahead.near != NULL)
            fetch_object(apply, &ahead);
        rc = apply_entry(apply, entry);
        if (rc == 0)
            end_entry(entry, &done);
        entry = first_of(apply);
    }
    ki_store_batch_end(apply->options.store);
    ki_delta_fifo_give_back(apply->options.fifo, &done);
    ki_fanout_flush(apply->options.fanout);
    ki_mutation_detector_report(apply->options.detector);
    return rc;
}

/* Everything up to batch_version has been applied. */
static void end_batch(ki_apply *apply)
{
    assert(ki_list_is_empty(&apply->batch) && apply->deltas_done == 0 && apply->batch_count > 0);
    (void)ki_resource_version_advance(&apply->version, &apply->batch_version);
    ki_delta_fifo_report_processed(apply->options.fifo, NULL);
    apply->batch_count = 0;
}

static int tell_synced(ki_apply *apply)
{
    assert(apply->is_synced && apply->owes_synced);
    int rc = ki_fanout_tell_synced(apply->options.fanout);
    ki_fanout_flush(apply->options.fanout);
    apply->owes_synced = rc < 0;
    return rc;
}

int ki_apply_step(ki_apply *apply)
{
    assert(apply != NULL);
    if (apply->owes_synced && tell_synced(apply) < 0)
        return KI_ERR_NO_MEMORY;
    if (apply->batch_count == 0) {
        apply->batch_count =
            ki_delta_fifo_pop(apply->options.fifo, KI_APPLY_STEP, &apply->batch, &apply->batch_version);
        if (apply->batch_count == 0)
            return 0;
    }
    ki_delta_entry *entry = first_of(apply);
    int rc = entry->marker == 0 ? apply_changes(apply) : ki_apply_marker(apply, entry);
    if (rc < 0)
        return rc;
    if (rc == 1) { /* a marker is done */
        ki_list_remove(&entry->node);
        ki_delta_entry_free(entry);
    }
    if (ki_list_is_empty(&apply->batch))
        end_batch(apply);
    else
        ki_delta_fifo_report_processed(apply->options.fifo, first_of(apply));
    return 1;
}
