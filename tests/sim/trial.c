/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of one kind are broken for a long time, and all others work. An informer that can stay up to date
 * by other requests does so meanwhile, and no request is sent too early. */
#include <inttypes.h>

#include "run.h"

enum {
    WAVES_MAX = 4,
    HISTORY_MIN = 1000, /* history records, so that none that is needed is dropped meanwhile */
    WAVE_SECONDS_MAX = 300,
    PROMPT_SECONDS = 600,  /* lists are at most five minutes apart, and a back-off takes one minute */
    TURNS_SECONDS = 3600,  /* two of three requests fail, or more if the others may be stale */
    SILENT_SECONDS = 3000, /* three watches last ten minutes each before they are given up */
    HASTE_SECONDS = 180,   /* until the delays have grown */
    ATTEMPTS_MAX = 65,     /* per minute: five, and one per second */
    LATER_ATTEMPTS_MAX = 12
};

static const char *name_of(sim_manner manner)
{
    static const char *const names[] = {
#define MANNER_NAME(name) #name,
        SIM_MANNERS(MANNER_NAME)
#undef MANNER_NAME
    };
    return names[manner];
}

/* ---- which informers can stay up to date ------------------------------------------------------------- */

/* What is broken, and whether all informers were watching before. */
typedef struct stage {
    sim_breakage breakage;
    bool is_synced;
} stage;

static bool is_broken(const stage *now, unsigned kind)
{
    return (now->breakage.kinds & kind) != 0;
}

/* The first stream asks for the newest version. */
static bool can_stream_always(const stage *now)
{
    return !is_broken(now, SIM_STREAMS) && (now->is_synced || !is_broken(now, SIM_NEWEST));
}

static bool can_list(const sim_follower *follower, const stage *now)
{
    ki_watch_list choice = follower->options.watch_list;
    bool is_cycle_unseen = now->breakage.manner == SIM_CYCLES && follower->options.page_size < 0;
    bool lists = !is_broken(now, SIM_LISTS) || is_cycle_unseen;
    bool streams = !is_broken(now, SIM_STREAMS);
    if (choice == KI_WATCH_LIST_ALWAYS)
        return now->breakage.kinds < SIM_NEWEST ? streams : can_stream_always(now);
    return lists || (choice == KI_WATCH_LIST_AUTO && streams && !is_broken(now, SIM_WATCHES));
}

/* An informer that watches needs no list, as long as its watch is not cut. */
static bool can_follow(const sim_follower *follower, const stage *now)
{
    if (follower->informer == NULL)
        return false;
    return can_list(follower, now) || (now->is_synced && now->breakage.kinds == SIM_LISTS);
}

static bool has_followed(const sim_follower *follower)
{
    const sim_world *world = follower->run->world;
    if (!ki_informer_has_synced(follower->informer) ||
        ki_store_count(follower->informer->store) != sim_world_count(world))
        return false;
    for (uint32_t key = 0; key < sim_world_key_count(world); key++) {
        sim_object text;
        const sim_record *record = sim_world_object(world, key);
        if (record == NULL)
            continue;
        sim_world_describe(world, record, &text);
        ki_object *stored = ki_store_get(follower->informer->store, ki_str_of(text.ns), ki_str_of(text.name));
        bool is_same = stored != NULL && sim_world_find(world, stored) == record;
        (void)ki_object_unref(stored);
        if (!is_same)
            return false;
    }
    return true;
}

/* ---- request rate ------------------------------------------------------------------------------------ */

typedef struct pace {
    uint64_t begun_ns;
    uint64_t minute_ns; /* when the current minute began */
    uint64_t attempts[SIM_FOLLOWERS_MAX];
    uint64_t requests;
} pace;

static uint64_t attempts_of(const sim_follower *follower)
{
    ki_informer_status status = {0};
    if (follower->informer == NULL)
        return 0;
    ki_informer_read_status(follower->informer, &status);
    return status.lists + status.watches;
}

static uint64_t requests_of(const sim_run *run)
{
    const sim_counts *counts = sim_server_counts(run->server);
    return counts->lists + counts->watches + counts->broken;
}

static void begin_minute(pace *p, const sim_run *run)
{
    p->minute_ns = ki_clock_now_ns(&run->clock);
    p->requests = requests_of(run);
    for (uint32_t i = 0; i < run->plan.followers; i++)
        p->attempts[i] = attempts_of(&run->followers[i]);
}

/* A list has as many pages as there are objects, and a cycle of pages is noticed in the third round. */
static void check_minute(const pace *p, sim_run *run)
{
    uint64_t now = ki_clock_now_ns(&run->clock);
    bool is_later = p->minute_ns - p->begun_ns >= HASTE_SECONDS * SIM_NS_PER_S;
    uint64_t most = is_later ? LATER_ATTEMPTS_MAX : ATTEMPTS_MAX;
    if (is_later && run->plan.trial.stale > 0)
        most *= 2; /* after a stale list, the next one is requested at once */
    uint64_t pages = 3 * (uint64_t)sim_world_key_count(run->world) + 3;
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        uint64_t attempts = attempts_of(&run->followers[i]) - p->attempts[i];
        if (attempts > most)
            sim_run_fail(run, "informer%u makes %" PRIu64 " attempts in a minute, after %" PRIu64 " s", i,
                         attempts, (now - p->begun_ns) / SIM_NS_PER_S);
    }
    if (requests_of(run) - p->requests > most * pages * run->plan.followers)
        sim_run_fail(run, "%" PRIu64 " requests in a minute", requests_of(run) - p->requests);
}

static void pass_seconds(sim_run *run, pace *p, uint64_t seconds)
{
    uint64_t until_ns = ki_clock_now_ns(&run->clock) + seconds * SIM_NS_PER_S;
    while (ki_clock_now_ns(&run->clock) < until_ns && run->failure[0] == 0) {
        uint64_t minute_ns = p->minute_ns + 60 * SIM_NS_PER_S;
        sim_run_step(run, minute_ns < until_ns ? minute_ns : until_ns);
        if (ki_clock_now_ns(&run->clock) < minute_ns)
            continue;
        check_minute(p, run);
        begin_minute(p, run);
    }
}

/* ---- the trial --------------------------------------------------------------------------------------- */

static void await_followers(sim_run *run, const stage *now, pace *p)
{
    sim_manner manner = now->breakage.manner;
    bool is_silent =
        manner == SIM_IS_SILENT || manner == SIM_IS_SILENT_LATER || manner == SIM_BOOKMARKS_NOTHING;
    uint64_t most = is_silent ? SILENT_SECONDS : PROMPT_SECONDS;
    if (is_broken(now, SIM_NEWEST | SIM_CACHED))
        most = TURNS_SECONDS * (is_silent ? 3 : 1);
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        const sim_follower *follower = &run->followers[i];
        for (uint64_t waited = 0; can_follow(follower, now) && !has_followed(follower); waited += 5) {
            if (run->failure[0] != 0)
                return;
            if (waited > most)
                sim_run_fail(run, "%s does not follow while requests of kind %u are broken (%s)",
                             follower->name, now->breakage.kinds, name_of(manner));
            pass_seconds(run, p, 5);
        }
    }
}

/* The world keeps changing for a while, then stops. */
static void endure(sim_run *run, stage now)
{
    pace p = {.begun_ns = ki_clock_now_ns(&run->clock)};
    sim_run_trace(run, "requests of kind %u are broken: %s", now.breakage.kinds,
                  name_of(now.breakage.manner));
    sim_server_break(run->server, now.breakage);
    sim_server_set_faults(run->server, &(sim_faults){.stale_list = run->plan.trial.stale});
    if (run->plan.trial.compacts && is_broken(&now, SIM_NEWEST | SIM_CACHED)) {
        for (uint64_t changes = 1 + sim_below(run, 20); changes > 0; changes--)
            sim_world_mutate(run->world);
        sim_world_compact(run->world);
        sim_server_cut_all(run->server);
    }
    begin_minute(&p, run);
    if (!now.is_synced)
        await_followers(run, &now, &p);
    for (uint64_t waves = 1 + sim_below(run, WAVES_MAX); waves > 0; waves--) {
        for (uint64_t changes = 1 + sim_below(run, 5); changes > 0; changes--)
            sim_world_mutate(run->world);
        pass_seconds(run, &p, sim_below(run, WAVE_SECONDS_MAX));
    }
    await_followers(run, &now, &p);
    sim_run_trace(run, "all informers that can are up to date");
}

/* An informer that polled must be able to resume its watch. All can if the history still has the versions
 * they know, and if malformed input does not make them list. */
static bool may_turn(const sim_run *run)
{
    const stage now = {run->plan.trial.breakage, true};
    if (now.breakage.manner == SIM_MAKES_NO_SENSE || run->plan.trial.compacts)
        return false;
    if (!run->plan.trial.turns || !is_broken(&now, SIM_WATCHES) || run->failure[0] != 0)
        return false;
    for (uint32_t i = 0; i < run->plan.followers; i++)
        if (!can_list(&run->followers[i], &now))
            return false;
    return run->plan.world.history_max >= HISTORY_MIN;
}

void sim_run_try(sim_run *run)
{
    const sim_trial *trial = &run->plan.trial;
    sim_faults faults = run->plan.server.faults;
    run->is_settling = true; /* no other fault happens */
    sim_server_set_faults(run->server, &(sim_faults){0});
    for (uint32_t i = 0; i < run->plan.followers; i++)
        sim_follower_start(&run->followers[i]);
    if (!trial->is_first)
        sim_run_come_to_rest(run, "before a trial");
    if (run->failure[0] == 0)
        endure(run, (stage){trial->breakage, !trial->is_first});
    if (may_turn(run))
        endure(run, (stage){{SIM_LISTS, trial->breakage.manner}, true});
    sim_server_break(run->server, (sim_breakage){0});
    sim_server_set_faults(run->server, &faults);
    run->is_settling = false;
}
