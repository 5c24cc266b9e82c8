/* SPDX-License-Identifier: Apache-2.0 */
/* The work of markers: removals at the end of a list, and updates for a resync. One walk over the store plans
 * the work, which is then done in steps. */
#include <assert.h>

#include "informer/apply_parts.h"
#include "informer/rules.h"
#include "util/alloc.h"

/* ---- plans ----------------------------------------------------------------------------------------- */

void ki_apply_plan_drop(ki_apply *apply)
{
    assert(apply != NULL);
    ki_apply_plan *plan = &apply->plan;
    for (; plan->next < plan->count; plan->next++)
        (void)ki_object_unref(plan->objects[plan->next]);
    plan->next = plan->count = 0;
    if (plan->capacity > KI_APPLY_STEP) {
        ki_free(plan->objects);
        *plan = (ki_apply_plan){0};
    }
    apply->is_planned = false;
}

static int plan_add(ki_apply_plan *plan, const ki_object *object)
{
    assert(plan->count <= plan->capacity && object != NULL);
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity == 0 ? KI_APPLY_STEP : plan->capacity * 2;
        ki_object **objects = ki_realloc(plan->objects, capacity * sizeof(ki_object *));
        if (objects == NULL)
            return KI_ERR_NO_MEMORY;
        plan->objects = objects;
        plan->capacity = capacity;
    }
    plan->objects[plan->count++] = ki_object_ref(object);
    return 0;
}

typedef struct planner {
    ki_apply *apply;
    const ki_delta_entry *entry;
    bool (*is_wanted)(const struct planner *planner, const ki_object *object);
} planner;

static int plan_object(const ki_object *object, void *user)
{
    const planner *p = user;
    return p->is_wanted(p, object) ? plan_add(&p->apply->plan, object) : 0;
}

/* Returns 1 if the plan is complete, 0 if it is partial because memory ran out, or KI_ERR_NO_MEMORY if there
 * is no memory for a single object. */
static int make_plan(planner *p)
{
    int rc = ki_store_walk(p->apply->options.store, plan_object, p);
    if (rc == 0)
        return 1;
    assert(rc == KI_ERR_NO_MEMORY);
    return p->apply->plan.count > 0 ? 0 : rc;
}

/* ---- the end of a list ------------------------------------------------------------------------------ */

/* Whether neither this list nor a later one has seen the object, and it is not newer than this list. The
 * version of an object of another history is ignored. */
static bool is_gone(const planner *p, const ki_object *object)
{
    return ki_apply_list_of(object) < p->entry->list && (ki_apply_is_of_other_history(p->apply, object) ||
                                                         ki_rules_list_covers(object, &p->entry->version));
}

static int sweep_one(ki_apply *apply, const ki_object *object) KI_REQUIRES(apply->options.store->mu)
    KI_REQUIRES(apply->options.store->write_mu)
{
    KI_ASSERT_HELD(apply->options.store->mu);
    KI_ASSERT_HELD(apply->options.store->write_mu);
    ki_str key = ki_object_key_str(object);
    uint64_t hash = ki_hash(ki_store_hash_key(apply->options.store), key);
    ki_place place = ki_store_batch_seek(apply->options.store, key, hash);
    assert(place.object == object);
    return ki_apply_remove(apply, &place, NULL);
}

static int sweep_some(ki_apply *apply)
{
    assert(apply->plan.next <= apply->plan.count);
    ki_apply_plan *plan = &apply->plan;
    size_t end = plan->count - plan->next > KI_APPLY_STEP ? plan->next + KI_APPLY_STEP : plan->count;
    int rc = 0;
    ki_store_batch_begin(apply->options.store);
    while (rc == 0 && plan->next < end) {
        rc = sweep_one(apply, plan->objects[plan->next]);
        if (rc == 0)
            (void)ki_object_unref(plan->objects[plan->next++]);
    }
    ki_store_batch_end(apply->options.store);
    ki_fanout_flush(apply->options.fanout);
    ki_mutation_detector_report(apply->options.detector);
    return rc;
}

/* The next step notifies handlers, after the caller has published the state. */
static void end_list(ki_apply *apply, const ki_delta_entry *entry)
{
    assert(entry->marker == KI_CHANGE_LIST_END);
    apply->is_synced = apply->owes_synced = true;
    if (entry->list > apply->last_list)
        apply->last_list = entry->list;
    (void)ki_resource_version_advance(&apply->version, &entry->version);
}

/* Returns what ki_apply_marker() returns. */
static int sweep(ki_apply *apply, const ki_delta_entry *entry)
{
    if (!apply->is_planned && apply->plan.count == 0) { /* otherwise a partial plan is in progress */
        int rc = make_plan(&(planner){apply, entry, is_gone});
        if (rc < 0)
            return rc;
        apply->is_planned = rc == 1;
    }
    if (apply->plan.next < apply->plan.count) {
        int rc = sweep_some(apply);
        if (rc < 0 || apply->plan.next < apply->plan.count)
            return rc;
    }
    bool is_done = apply->is_planned; /* otherwise there was no memory to plan the rest */
    ki_apply_plan_drop(apply);
    return is_done;
}

/* Drops held-back items of older attempts, which have not ended. If this list is older than the store,
 * drops its items as well. */
static int apply_list_end(ki_apply *apply, const ki_delta_entry *entry)
{
    assert(entry->marker == KI_CHANGE_LIST_END && entry->list > 0);
    const ki_resource_version *complete = ki_resource_version_latest(&apply->version, &entry->version_before);
    bool is_stale = ki_resource_version_is_newer(complete, &entry->version);
    ki_held_back_drop_before(&apply->held, is_stale ? entry->list + 1 : entry->list);
    if (is_stale)
        return 1;
    int rc = ki_apply_release_held(apply, entry->list);
    if (rc == 1)
        rc = sweep(apply, entry);
    if (rc == 1)
        end_list(apply, entry);
    return rc;
}

/* ---- resync ----------------------------------------------------------------------------------------- */

static bool is_anything(const planner *p, const ki_object *object)
{
    (void)p;
    (void)object;
    return true;
}

static int remind_some(ki_apply *apply)
{
    assert(apply->plan.next <= apply->plan.count);
    ki_apply_plan *plan = &apply->plan;
    size_t end = plan->count - plan->next > KI_APPLY_STEP ? plan->next + KI_APPLY_STEP : plan->count;
    int rc = 0;
    while (plan->next < end && (rc = ki_fanout_reserve(apply->options.fanout, KI_TO_RESYNCING)) == 0) {
        ki_object *object = plan->objects[plan->next++];
        ki_fanout_tell(
            apply->options.fanout, KI_TO_RESYNCING,
            &(ki_notification){
                .type = KI_CHANGE_UPDATED, .flags = KI_EVENT_RESYNC, .object = object, .old = object});
        (void)ki_object_unref(object);
    }
    ki_fanout_flush(apply->options.fanout);
    return rc;
}

static int apply_resync(ki_apply *apply, const ki_delta_entry *entry)
{
    assert(entry->marker == KI_CHANGE_SYNC);
    if (!apply->is_planned) {
        int rc = make_plan(&(planner){apply, entry, is_anything});
        if (rc != 1) { /* all or nothing: a partial resync could not be continued */
            ki_apply_plan_drop(apply);
            return KI_ERR_NO_MEMORY;
        }
        apply->is_planned = true;
    }
    int rc = remind_some(apply);
    if (rc < 0 || apply->plan.next < apply->plan.count)
        return rc;
    ki_apply_plan_drop(apply);
    ki_fanout_end_resync(apply->options.fanout);
    return 1;
}

/* ---- another history -------------------------------------------------------------------------------- */

void ki_apply_reset(ki_apply *apply, const ki_delta_entry *entry)
{
    assert(entry->marker == KI_CHANGE_RESET);
    assert(apply != NULL);
    ki_held_back_drop_before(&apply->held, entry->list);
    apply->first_list = entry->list;
    ki_resource_version_clear(&apply->version);
}

/* ---- all markers ------------------------------------------------------------------------------------ */

int ki_apply_marker(ki_apply *apply, const ki_delta_entry *entry)
{
    switch (entry->marker) {
    case KI_CHANGE_LIST_END:
        return apply_list_end(apply, entry);
    case KI_CHANGE_SYNC:
        return apply_resync(apply, entry);
    case KI_CHANGE_RESET:
        ki_apply_reset(apply, entry);
        return 1;
    default: /* a bookmark needs no work: the end of its batch publishes its version */
        assert(entry->marker == KI_CHANGE_BOOKMARK);
        return 1;
    }
}
