/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that verifies each call: against the calls before it, against everything that has ever existed in
 * the world, and against the store. */
#include <inttypes.h>
#include <stdlib.h>

#include "informer/registration.h"
#include "run.h"
#include "support/sim/sim_memory.h"

#define FAIL(witness, ...)                                                                                   \
    (sim_run_trace((witness)->follower->run, "%s", "the next is a failure"),                                 \
     sim_run_fail((witness)->follower->run, __VA_ARGS__))

/* ---- what is allowed --------------------------------------------------------------------------------- */

/* Equal for a handler: objects that, after a projection, differ only in the version are not reported. */
static bool is_same(const ki_object *a, const ki_object *b)
{
    return ki_str_equal(ki_object_uid(a), ki_object_uid(b)) && ki_object_equal(a, b);
}

static uint64_t version_of(const ki_object *object)
{
    return sim_number(ki_object_resource_version(object));
}

/* A version may follow a higher one if that belongs to a previous history,
 * or if the server has reported a wrong newest version. */
static bool may_follow(const sim_run *run, const ki_object *before, const ki_object *after)
{
    if (version_of(after) >= version_of(before) || sim_server_counts(run->server)->stale_quorum > 0)
        return true;
    if (sim_world_epoch(run->world) > 0 &&
        ki_json_type_of(ki_object_find(before, "/spec/value")) == KI_JSON_NONE)
        return true; /* without its value, it could belong to either history */
    const sim_record *record = sim_world_find(run->world, before);
    return record == NULL || !sim_record_is_of_epoch(record, sim_world_epoch(run->world));
}

/* A deleted object does not come back, even if a stale list still has it. There are two exceptions. A stop
 * drops what was applied beyond the version up to which the store is complete, and a watch reports it again.
 * And a history that is undone may undo the delete, whose version is not known if it was missed, or if a
 * filter turned an update into a delete. */
static bool may_come_back(const sim_follower *follower, const ki_object *gone, const ki_object *object)
{
    const sim_run *run = follower->run;
    if (gone == NULL || version_of(object) > version_of(gone) ||
        sim_server_counts(run->server)->stale_quorum > 0 ||
        sim_follower_may_repeat(follower, version_of(object), version_of(gone)))
        return true;
    const sim_record *record = sim_world_find(run->world, gone);
    bool is_delete = record != NULL && record->type == SIM_DELETED;
    return sim_world_epoch(run->world) > 0 && (!is_delete || version_of(gone) > run->common_version);
}

/* The store is at least as new as the event; but after a stop,
 * a watch may briefly bring back a deleted object. */
static void check_store(sim_witness *witness, const ki_event *event, const char *key)
{
    sim_run *run = witness->follower->run;
    const ki_store *store = ki_informer_store(witness->follower->informer);
    ki_object *stored = ki_store_get_key(store, ki_str_of(key));
    if (stored != NULL && !may_follow(run, event->object, stored) &&
        !sim_follower_may_repeat(witness->follower, version_of(stored), version_of(event->object)))
        FAIL(witness, "%s/%u: %s is reported at %" PRIu64 ", and the store is at %" PRIu64,
             witness->follower->name, witness->number, key, version_of(event->object), version_of(stored));
    (void)ki_object_unref(stored);
}

static void check_add(sim_witness *witness, const ki_event *event, uint32_t number, const char *key)
{
    if (witness->known[number] != NULL)
        FAIL(witness, "%s/%u: %s is added twice", witness->follower->name, witness->number, key);
    if (!may_come_back(witness->follower, witness->gone[number], event->object))
        FAIL(witness, "%s/%u: %s comes back at %" PRIu64 ", and was deleted at %" PRIu64,
             witness->follower->name, witness->number, key, version_of(event->object),
             version_of(witness->gone[number]));
    if ((event->flags & KI_EVENT_INITIAL) != 0 && witness->synced > 0)
        FAIL(witness, "%s/%u: %s is INITIAL after on_synced", witness->follower->name, witness->number, key);
}

static void check_old(sim_witness *witness, const ki_event *event, const ki_object *known, const char *key)
{
    const char *name = witness->follower->name;
    if (event->old == NULL && (event->flags & KI_EVENT_COALESCED) == 0)
        FAIL(witness, "%s/%u: an update of %s has no old object", name, witness->number, key);
    if (event->old != NULL && !is_same(event->old, known))
        FAIL(witness, "%s/%u: the old object of an update of %s is not the one last reported", name,
             witness->number, key);
}

static void check_update(sim_witness *witness, const ki_event *event, const ki_object *known, const char *key)
{
    const char *name = witness->follower->name;
    bool is_replaced = !ki_str_equal(ki_object_uid(event->object), ki_object_uid(known));
    bool tells_all =
        witness->follower->options.deliver_unchanged != 0 || (event->flags & KI_EVENT_COALESCED) != 0;
    check_old(witness, event, known, key);
    /* A UID may return when an old history does; without the old object this cannot be noticed. */
    bool is_certain = event->old != NULL || sim_world_epoch(witness->follower->run->world) == 0;
    if (is_certain && is_replaced != ((event->flags & KI_EVENT_REPLACED) != 0))
        FAIL(witness, "%s/%u: REPLACED of %s is wrong", name, witness->number, key);
    if (is_replaced && witness->handler.split_replaced)
        FAIL(witness, "%s/%u: %s is replaced by an update", name, witness->number, key);
    if (!may_follow(witness->follower->run, known, event->object))
        FAIL(witness, "%s/%u: the version of %s decreases", name, witness->number, key);
    if ((event->flags & KI_EVENT_RESYNC) != 0) {
        if (!is_same(known, event->object) || witness->handler.resync_ms == 0)
            FAIL(witness, "%s/%u: a resync of %s that was not due", name, witness->number, key);
    } else if (!tells_all && is_same(known, event->object)) {
        FAIL(witness, "%s/%u: an update of %s changes nothing", name, witness->number, key);
    }
}

static void check_delete(sim_witness *witness, const ki_event *event, const ki_object *known, const char *key)
{
    const char *name = witness->follower->name;
    bool is_unknown = (event->flags & KI_EVENT_FINAL_STATE_UNKNOWN) != 0;
    if (!may_follow(witness->follower->run, known, event->object))
        FAIL(witness, "%s/%u: the version of %s decreases with its delete", name, witness->number, key);
    if (is_unknown && (event->flags & KI_EVENT_COALESCED) == 0 && !is_same(known, event->object))
        FAIL(witness, "%s/%u: the last known %s is not the one last reported", name, witness->number, key);
}

static void check_event(sim_witness *witness, const ki_event *event, uint32_t number)
{
    const ki_object *known = witness->known[number];
    const char *key = ki_object_key(event->object);
    const char *name = witness->follower->name;
    if (known == NULL && event->change_type != KI_CHANGE_ADDED)
        FAIL(witness, "%s/%u: event %d of %s, which was not added", name, witness->number,
             (int)event->change_type, key);
    else if (event->change_type == KI_CHANGE_ADDED)
        check_add(witness, event, number, key);
    else if (event->change_type == KI_CHANGE_UPDATED)
        check_update(witness, event, known, key);
    else
        check_delete(witness, event, known, key);
    if (sim_world_find(witness->follower->run->world, event->object) == NULL)
        FAIL(witness, "%s/%u: %s has never existed like this", name, witness->number, key);
    if (witness->follower->informer->life.stage != KI_STAGE_RUNNING)
        FAIL(witness, "%s/%u: %s is reported after a stop", name, witness->number, key);
    check_store(witness, event, key);
}

/* ---- callbacks --------------------------------------------------------------------------------------- */

static void trace_event(const sim_witness *witness, const ki_event *event)
{
    static const char *const names[] = {"", "add", "update", "delete"};
    static const char letters[] = "irpfc";
    char flags[8] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof(letters) - 1; i++)
        if ((event->flags & (1U << i)) != 0)
            flags[n++] = letters[i];
    sim_run_trace(witness->follower->run, "%s/%u: %s %s @%.*s uid %.*s %s", witness->follower->name,
                  witness->number, names[event->change_type], ki_object_key(event->object),
                  KI_STR_ARGS(ki_object_resource_version(event->object)), 2,
                  ki_object_uid(event->object).ptr + ki_object_uid(event->object).len - 2, flags);
}

static void mix_event(const sim_witness *witness, const ki_event *event, uint32_t key)
{
    sim_run *run = witness->follower->run;
    sim_mix(run, (uint64_t)witness->follower->number << 32 | witness->number);
    sim_mix(run, (uint64_t)event->change_type << 32 | event->flags);
    sim_mix(run, (uint64_t)key << 32 ^ version_of(event->object));
    sim_mix(run, ki_clock_now_ns(&run->clock));
}

/* No callback runs after a removal or after on_release. */
static void begin_call(sim_witness *witness, const char *what)
{
    if (witness->registration == NULL || witness->released > 0)
        FAIL(witness, "%s/%u: %s after its removal", witness->follower->name, witness->number, what);
    if (witness->is_inside)
        FAIL(witness, "%s/%u: %s inside another callback", witness->follower->name, witness->number, what);
    witness->is_inside = true;
}

/* Makes calls that are allowed inside a callback; may take some time. */
static void end_call(sim_witness *witness)
{
    sim_run *run = witness->follower->run;
    if (!run->is_settling && run->failure[0] == 0) {
        if (sim_chance(run, run->plan.slow))
            ki_clock_advance_ns(&run->clock, sim_below(run, 3 * SIM_NS_PER_MS));
        if (sim_chance(run, run->plan.inner_deeds))
            sim_follower_deed(witness->follower, witness);
    }
    witness->is_inside = false;
}

static void on_event(const ki_event *event, void *user)
{
    sim_witness *witness = user;
    sim_run *run = witness->follower->run;
    uint32_t key =
        sim_world_key(run->world, ki_object_namespace(event->object), ki_object_name(event->object));
    trace_event(witness, event);
    begin_call(witness, "an event");
    if (run->failure[0] == 0)
        check_event(witness, event, key);
    mix_event(witness, event, key);
    run->events++;
    if ((event->flags & KI_EVENT_RESYNC) == 0) {
        run->news++;
        witness->news++;
    } else {
        witness->reminders++;
    }
    witness->is_in_batch = true;
    if (event->change_type == KI_CHANGE_DELETED) {
        (void)ki_object_unref(witness->gone[key]);
        witness->gone[key] = ki_object_ref(event->object);
    }
    (void)ki_object_unref(witness->known[key]);
    witness->known[key] = event->change_type == KI_CHANGE_DELETED ? NULL : ki_object_ref(event->object);
    end_call(witness);
}

static void on_synced(void *user)
{
    sim_witness *witness = user;
    sim_run_trace(witness->follower->run, "%s/%u: synced", witness->follower->name, witness->number);
    begin_call(witness, "on_synced");
    if (++witness->synced > 1)
        FAIL(witness, "%s/%u: synced twice", witness->follower->name, witness->number);
    if (!ki_informer_has_synced(witness->follower->informer) ||
        (witness->registration != NULL && !ki_registration_has_synced(witness->registration)))
        FAIL(witness, "%s/%u: on_synced before the sync", witness->follower->name, witness->number);
    witness->is_in_batch = true;
    end_call(witness);
}

static void on_batch_end(void *user)
{
    sim_witness *witness = user;
    if (witness->released > 0 || !witness->is_in_batch)
        FAIL(witness, "%s/%u: the end of a batch without an event", witness->follower->name, witness->number);
    witness->is_in_batch = false;
}

static void on_release(void *user)
{
    sim_witness *witness = user;
    sim_run_trace(witness->follower->run, "%s/%u: released", witness->follower->name, witness->number);
    if (witness->registration != NULL)
        FAIL(witness, "%s/%u: released without a removal", witness->follower->name, witness->number);
    if (++witness->released > 1)
        FAIL(witness, "%s/%u: released twice", witness->follower->name, witness->number);
    sim_mix(witness->follower->run, witness->number);
}

/* Accepts half of the values, or half of the UIDs where the value was not kept. */
static int passes(const ki_object *object, void *user)
{
    (void)user;
    ki_str text = ki_object_uid(object);
    ki_json value = ki_object_find(object, "/spec/value");
    if (ki_json_type_of(value) == KI_JSON_STRING)
        text = (ki_str){value.raw.ptr, value.raw.len - 1}; /* without the closing quote */
    return text.len > 0 && (text.ptr[text.len - 1] & 1) == 0;
}

/* ---- adding and removing ----------------------------------------------------------------------------- */

static ki_handler random_handler(sim_run *run, sim_witness *witness)
{
    static const size_t backlogs[] = {0, 1, 3, 10, 40};
    static const size_t bytes[] = {0, 0, 600, 5000};
    ki_handler handler = {.on_add = on_event,
                          .on_update = on_event,
                          .on_delete = on_event,
                          .on_synced = on_synced,
                          .on_batch_end = on_batch_end,
                          .on_release = on_release,
                          .user = witness};
    if (sim_chance(run, 0.3))
        handler.filter = passes;
    handler.split_replaced = sim_chance(run, 0.3);
    handler.overflow = (ki_overflow)sim_below(run, 3);
    handler.backlog_items_max = backlogs[sim_below(run, 5)];
    handler.backlog_bytes_max = bytes[sim_below(run, 4)];
    uint64_t resync_ms = sim_chance(run, 0.3) ? 500 + sim_below(run, 20000) : 0;
    handler.resync_ms = witness->follower->options.resync_ms == 0 ? 0 : resync_ms;
    return handler;
}

static void free_notes(sim_witness *witness)
{
    for (uint32_t key = 0; key < sim_world_key_count(witness->follower->run->world); key++) {
        (void)ki_object_unref(witness->known[key]);
        (void)ki_object_unref(witness->gone[key]);
    }
    free(witness->known);
    free(witness->gone);
}

void sim_witness_join(sim_follower *follower)
{
    sim_run *run = follower->run;
    if (follower->witness_count == SIM_WITNESSES_MAX || follower->informer == NULL)
        return;
    sim_witness *witness = &follower->witnesses[follower->witness_count];
    *witness = (sim_witness){.follower = follower, .number = follower->witness_count};
    witness->handler = random_handler(run, witness);
    witness->known = sim_array(sim_world_key_count(run->world), sizeof(ki_object *));
    witness->gone = sim_array(sim_world_key_count(run->world), sizeof(ki_object *));
    witness->registration = ki_informer_add_handler(follower->informer, &witness->handler, NULL);
    if (witness->registration == NULL) {
        free_notes(witness);
        return;
    }
    /* With so few keys, the usual step would merge everything at once. */
    witness->step = sim_chance(run, 0.5) ? KI_BACKLOG_STEP : 2 + sim_below(run, 3);
    witness->registration->subscriber.listener.backlog.limits.step = witness->step;
    follower->witness_count++;
    sim_run_trace(run, "%s/%u: added; overflow %d at %zu, %zu bytes%s%s, resync %" PRIu64, follower->name,
                  witness->number, witness->handler.overflow, witness->handler.backlog_items_max,
                  witness->handler.backlog_bytes_max, witness->handler.filter != NULL ? ", filters" : "",
                  witness->handler.split_replaced ? ", splits" : "", witness->handler.resync_ms);
}

void sim_witness_leave(sim_witness *witness, bool waits)
{
    sim_run *run = witness->follower->run;
    ki_registration *registration = witness->registration;
    if (registration == NULL)
        return;
    sim_run_trace(run, "%s/%u: removed", witness->follower->name, witness->number);
    witness->registration = NULL;
    if (!waits)
        ki_registration_remove(registration);
    else if (ki_registration_remove_and_wait(registration) < 0 || witness->released != 1)
        FAIL(witness, "%s/%u: not released after waiting for it", witness->follower->name, witness->number);
}

void sim_witness_fini(sim_witness *witness)
{
    if (witness->released != 1)
        FAIL(witness, "%s/%u: not released in the end", witness->follower->name, witness->number);
    free_notes(witness);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

void sim_witness_check(sim_witness *witness)
{
    sim_run *run = witness->follower->run;
    const ki_store *store = ki_informer_store(witness->follower->informer);
    const char *name = witness->follower->name;
    if (witness->registration == NULL)
        return;
    if (witness->synced != 1 || !ki_registration_has_synced(witness->registration))
        FAIL(witness, "%s/%u: has not synced", name, witness->number);
    for (uint32_t key = 0; key < sim_world_key_count(run->world); key++) {
        sim_object text;
        sim_world_describe(run->world, &(sim_record){.key = key}, &text);
        ki_object *stored = ki_store_get(store, ki_str_of(text.ns), ki_str_of(text.name));
        const ki_object *known = witness->known[key];
        bool is_for_it = stored != NULL && (witness->handler.filter == NULL || passes(stored, NULL));
        if (is_for_it != (known != NULL) || (is_for_it && !is_same(stored, known)))
            FAIL(witness, "%s/%u: the last event of %s/%s does not match the store", name, witness->number,
                 text.ns, text.name);
        (void)ki_object_unref(stored);
    }
}

uint64_t sim_witness_period_ms(const sim_witness *witness)
{
    if (witness->registration == NULL)
        return 0;
    for (uint32_t key = 0; key < sim_world_key_count(witness->follower->run->world); key++)
        if (witness->known[key] != NULL)
            return witness->registration->subscriber.resync.period_ms;
    return 0;
}
