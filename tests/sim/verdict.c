/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: the faults are over and the world stops changing.
 * Then everything must become quiet and correct. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "support/failing_allocator.h"
#include "support/store/store_check.h"

enum {
    QUIET_SECONDS_MAX = 3600,
    STILL_SECONDS = 20,
    MARKERS = 3,
    REMINDERS_MAX = 4,
    OBJECT_BYTES_MAX = 2000,
    AGE_MS_MAX = 180000 /* while nothing fails and a bookmark comes at least once a minute */
};

/* ---- becoming quiet ---------------------------------------------------------------------------------- */

/* Why a follower is not quiet; NULL if it is. */
static const char *unrest_of(const sim_follower *follower)
{
    ki_informer_status status;
    if (follower->informer == NULL)
        return NULL;
    ki_informer_read_status(follower->informer, &status);
    if (!status.has_synced)
        return "has not synced";
    if (status.phase != KI_PHASE_WATCHING)
        return "does not watch";
    if (status.queued > 0)
        return "has something in its queue";
    if (sim_number(ki_str_of(status.resource_version)) != sim_world_version(follower->run->world))
        return "is not at the version of the world";
    if (follower->informer->life.reflector.relist_ns != UINT64_MAX)
        return "is about to list again";
    for (uint32_t i = 0; i < follower->witness_count; i++) {
        ki_registration_stats stats = {0};
        ki_registration_read_stats(follower->witnesses[i].registration, &stats);
        if (stats.backlog > 0)
            return "has a backlog";
    }
    return NULL;
}

static const char *unrest(const sim_run *run, uint32_t *out_who)
{
    const char *why = NULL;
    for (*out_who = 0; *out_who < run->plan.followers; ++*out_who)
        if ((why = unrest_of(&run->followers[*out_who])) != NULL)
            return why;
    return NULL;
}

static bool is_noticed(const sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++)
        if (sim_follower_version(&run->followers[i]) > sim_world_version(run->world))
            return false;
    return true;
}

static void wait_seconds(sim_run *run, uint64_t seconds)
{
    uint64_t until_ns = ki_clock_now_ns(&run->clock) + seconds * SIM_NS_PER_S;
    while (ki_clock_now_ns(&run->clock) < until_ns && run->failure[0] == 0)
        sim_run_step(run, until_ns);
}

/* Waits until every informer that has versions of another history has noticed that. */
static void wait_until_noticed(sim_run *run)
{
    for (uint64_t waited = 0; !is_noticed(run); waited++) {
        if (run->failure[0] != 0)
            return;
        if (waited > QUIET_SECONDS_MAX)
            sim_run_fail(run, "a new history was not noticed");
        wait_seconds(run, 1);
    }
}

static void wait_until_quiet(sim_run *run, const char *when)
{
    uint32_t who = 0;
    const char *why = NULL;
    for (uint64_t waited = 0; (why = unrest(run, &who)) != NULL; waited++) {
        if (run->failure[0] != 0)
            return;
        if (waited > QUIET_SECONDS_MAX) {
            ki_informer_status status;
            ki_informer_read_status(run->followers[who].informer, &status);
            sim_run_fail(run, "%s: informer%u %s: %s at %s, world at %" PRIu64 ": %.80s", when, who, why,
                         ki_phase_name(status.phase), status.resource_version, sim_world_version(run->world),
                         status.message);
        }
        wait_seconds(run, 1);
    }
}

void sim_run_come_to_rest(sim_run *run, const char *when)
{
    wait_until_noticed(run);
    if (run->plan.touches)
        sim_world_touch_all(run->world);
    wait_until_quiet(run, when);
}

/* ---- what must hold ---------------------------------------------------------------------------------- */

static void check_key(sim_follower *follower, uint32_t key)
{
    sim_run *run = follower->run;
    const sim_record *record = sim_world_object(run->world, key);
    sim_object text;
    sim_world_describe(run->world, record != NULL ? record : &(sim_record){.key = key}, &text);
    ki_object *stored = ki_store_get(follower->informer->store, ki_str_of(text.ns), ki_str_of(text.name));
    if (record == NULL && stored != NULL)
        sim_run_fail(run, "%s: %s/%s is gone from the world and in the store at %.*s", follower->name,
                     text.ns, text.name, KI_STR_ARGS(ki_object_resource_version(stored)));
    else if (record != NULL && stored == NULL)
        sim_run_fail(run, "%s: %s/%s is not in the store", follower->name, text.ns, text.name);
    else if (record != NULL && sim_world_find(run->world, stored) != record)
        sim_run_fail(run, "%s: %s/%s is in the store at %.*s, in the world at %s", follower->name, text.ns,
                     text.name, KI_STR_ARGS(ki_object_resource_version(stored)), text.version);
    (void)ki_object_unref(stored);
}

/* How many objects one piece of a response may bring. */
static size_t piece_objects(const sim_follower *follower)
{
    const sim_run *run = follower->run;
    int64_t page = follower->options.page_size;
    size_t keys = sim_world_key_count(run->world);
    bool is_whole = page <= 0 || follower->options.watch_list != KI_WATCH_LIST_NEVER ||
                    run->plan.server.faults.limit_ignored > 0 ||
                    sim_server_counts(run->server)->expired > 0; /* then a list comes in one page */
    return is_whole || (size_t)page > keys ? keys : (size_t)page;
}

/* A queue that has reached its limits still takes the rest of the same piece of a response, and markers. */
static void check_queue(sim_follower *follower)
{
    size_t piece = piece_objects(follower) + MARKERS;
    size_t items = follower->options.queue_items_max;
    size_t bytes = follower->options.queue_bytes_max;
    if (items > 0 && follower->items_max > items + piece)
        sim_run_fail(follower->run, "%s: its queue has grown to %zu items, its limit is %zu", follower->name,
                     follower->items_max, items);
    if (bytes > 0 && follower->bytes_max > bytes + piece * OBJECT_BYTES_MAX)
        sim_run_fail(follower->run, "%s: its queue has grown to %zu bytes, its limit is %zu", follower->name,
                     follower->bytes_max, bytes);
}

static void check_limits(sim_follower *follower)
{
    sim_run *run = follower->run;
    size_t keys = sim_world_key_count(run->world);
    for (uint32_t i = 0; i < follower->witness_count; i++) {
        const sim_witness *witness = &follower->witnesses[i];
        size_t items = witness->handler.backlog_items_max;
        size_t limit = SIZE_MAX;
        size_t most = (items > keys ? items : keys) + 1; /* the initial events start no merge */
        if (items > 0 && witness->handler.overflow == KI_OVERFLOW_COALESCE)
            limit = most + most / (witness->step - 1) + 1;
        else if (items > 0 && witness->handler.overflow == KI_OVERFLOW_BLOCK && run->plan.is_split)
            limit = items + keys + 1 + follower->deltas_max;
        if (witness->high_water > limit)
            sim_run_fail(run, "%s/%u: its backlog has grown to %" PRIu64 ", its limit is %zu", follower->name,
                         i, witness->high_water, items);
    }
}

static void check_follower(sim_follower *follower)
{
    ki_error err = {0};
    if (follower->informer == NULL)
        return;
    for (uint32_t key = 0; key < sim_world_key_count(follower->run->world); key++)
        check_key(follower, key);
    if (ki_store_count(follower->informer->store) != sim_world_count(follower->run->world))
        sim_run_fail(follower->run, "%s: the store's count is wrong", follower->name);
    int rc = store_check(follower->informer->store, &err);
    if (rc == KI_ERR_NO_MEMORY) /* this check ran out of memory, which happens at most once */
        rc = store_check(follower->informer->store, &err);
    if (rc < 0)
        sim_run_fail(follower->run, "%s: %s", follower->name, err.message);
    for (uint32_t i = 0; i < follower->witness_count; i++)
        sim_witness_check(&follower->witnesses[i]);
    check_limits(follower);
    check_queue(follower);
}

static void check_all(sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers && run->failure[0] == 0; i++)
        check_follower(&run->followers[i]);
    if (sim_server_counts(run->server)->misuse > 0)
        sim_run_fail(run, "a source was misused");
}

/* ---- lists without news ------------------------------------------------------------------------------ */

static uint64_t lists_of(const sim_follower *follower)
{
    ki_informer_status status = {0};
    ki_informer_read_status(follower->informer, &status);
    return status.lists;
}

/* All informers have to list again, and no object has changed, so no handler is called. */
static void check_relist(sim_run *run)
{
    uint64_t news = run->news;
    uint64_t lists[SIM_FOLLOWERS_MAX] = {0};
    for (uint32_t i = 0; i < run->plan.followers; i++)
        lists[i] = lists_of(&run->followers[i]);
    sim_run_trace(run, "all list again");
    sim_world_tick_other(run->world);
    sim_world_compact(run->world);
    sim_server_cut_all(run->server);
    wait_until_quiet(run, "after a relist");
    for (uint32_t i = 0; i < run->plan.followers; i++)
        if (run->followers[i].informer != NULL && lists_of(&run->followers[i]) == lists[i])
            sim_run_fail(run, "informer%u has not listed again", i);
    if (run->news != news)
        sim_run_fail(run, "a list without changes has caused %" PRIu64 " events", run->news - news);
}

/* ---- resyncs ----------------------------------------------------------------------------------------- */

/* Whatever has happened before, handlers that asked for resyncs still get them. A resync may come one check
 * of the informer late, and one may be lost when memory runs out. */
static void check_reminders_of(sim_follower *follower)
{
    sim_run *run = follower->run;
    for (uint32_t i = 0; i < follower->witness_count && run->failure[0] == 0; i++) {
        const sim_witness *witness = &follower->witnesses[i];
        uint64_t period_ms = sim_witness_period_ms(witness);
        uint64_t before = witness->reminders;
        for (uint64_t waited = 0; period_ms > 0 && witness->reminders == before && run->failure[0] == 0;
             waited++) {
            if (waited > REMINDERS_MAX)
                sim_run_fail(run, "%s/%u: gets no resyncs any more", follower->name, i);
            wait_seconds(run, period_ms / 1000 + 1);
        }
    }
}

static void check_reminders(sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++)
        if (run->followers[i].informer != NULL)
            check_reminders_of(&run->followers[i]);
}

/* ---- age --------------------------------------------------------------------------------------------- */

/* All informers have listed recently, or have received a bookmark since. */
static void check_ages(sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        const sim_follower *follower = &run->followers[i];
        if (follower->informer != NULL && ki_informer_age_ms(follower->informer) > AGE_MS_MAX)
            sim_run_fail(run, "%s: the store reports an age of %" PRIu64 " ms", follower->name,
                         ki_informer_age_ms(follower->informer));
    }
}

void sim_run_settle(sim_run *run)
{
    sim_run_trace(run, "the end begins");
    run->is_settling = true;
    sim_server_set_faults(run->server, &(sim_faults){0});
    if (!run->plan.is_long) /* a long life has had enough of them, and they would take most of its time */
        sim_server_calm(run->server);
    for (uint32_t i = 0; i < run->plan.followers; i++)
        sim_follower_start(&run->followers[i]);
    sim_run_come_to_rest(run, "in the end");
    wait_seconds(run, STILL_SECONDS);
    wait_until_quiet(run, "a while later");
    check_all(run);
    if (run->failure[0] == 0)
        check_relist(run);
    check_reminders(run);
    check_all(run);
    check_ages(run);
}

/* ---- closing ----------------------------------------------------------------------------------------- */

void sim_run_close(sim_run *run)
{
    run->is_settling = true;
    for (uint32_t i = 0; i < run->plan.followers; i++)
        sim_follower_free(&run->followers[i]);
    ki_client_free(run->client);
    for (uint32_t i = 0; i < run->plan.followers; i++)
        for (uint32_t j = 0; j < run->followers[i].witness_count; j++)
            sim_witness_fini(&run->followers[i].witnesses[j]);
    if (sim_server_open_count(run->server) > 0 || sim_server_counts(run->server)->misuse > 0)
        sim_run_fail(run, "a source was misused");
    sim_server_free(run->server);
    sim_world_free(run->world);
    if (failing_allocator_live_count() > 0)
        sim_run_fail(run, "%zu blocks of memory are left", failing_allocator_live_count());
}
