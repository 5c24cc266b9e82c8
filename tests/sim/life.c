/* SPDX-License-Identifier: Apache-2.0 */
/* The rounds of a run: the world changes, informers are stopped, started and modified, time passes,
 * and a loop runs. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "support/chance.h"

enum { VERSIONS_OF_A_DEED = 64 }; /* versions that one deed adds, at most */

/* ---- helpers ----------------------------------------------------------------------------------------- */

void sim_run_fail(sim_run *run, const char *format, ...)
{
    va_list arguments;
    if (run->failure[0] != 0)
        return;
    va_start(arguments, format);
    (void)vsnprintf(run->failure, sizeof(run->failure), format, arguments);
    va_end(arguments);
    sim_run_trace(run, "FAILURE: %s", run->failure);
}

void sim_run_trace(const sim_run *run, const char *format, ...)
{
    va_list arguments;
    if (!run->is_verbose)
        return;
    uint64_t now = ki_clock_now_ns(&run->clock);
    printf("%6" PRIu64 ".%06" PRIu64 " w%" PRIu64 " ", now / SIM_NS_PER_S, now % SIM_NS_PER_S / 1000,
           run->world == NULL ? 0 : sim_world_version(run->world));
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

bool sim_chance(sim_run *run, double chance)
{
    return chance > 0 && random_fraction(&run->random) < chance;
}

uint64_t sim_below(sim_run *run, uint64_t bound)
{
    return ki_random_below(&run->random, bound);
}

uint64_t sim_number(ki_str text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return number;
}

void sim_mix(sim_run *run, uint64_t number)
{
    run->hash = (run->hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    run->hash ^= run->hash >> 29;
}

/* ---- the beginning ----------------------------------------------------------------------------------- */

void sim_run_init(sim_run *run, uint64_t seed)
{
    bool is_verbose = run->is_verbose;
    *run = (sim_run){.seed = seed, .is_verbose = is_verbose, .common_version = UINT64_MAX};
    ki_random_init(&run->random, seed);
    ki_clock_init_virtual(&run->clock, SIM_NS_PER_S, (int64_t)SIM_NS_PER_S);
    sim_plan_make(&run->plan, &run->random);
}

static void trace_plan(const sim_run *run)
{
    const sim_faults *faults = &run->plan.server.faults;
    sim_run_trace(run, "%u namespaces of %u, history %zu; latency %" PRIu64 " ns, pieces %zu; %s",
                  run->plan.world.namespaces, run->plan.world.names, run->plan.world.history_max,
                  run->plan.server.latency_ns_max, run->plan.server.piece_bytes_max,
                  run->plan.is_split ? "three loops" : "one loop");
#define TRACE_FAULT(name)                                                                                    \
    if (faults->name > 0)                                                                                    \
        sim_run_trace(run, "fault %s %.3f", #name, faults->name);
    SIM_FAULTS(TRACE_FAULT)
#undef TRACE_FAULT
}

void sim_run_open(sim_run *run)
{
    ki_error err = {0};
    ki_mode mode = run->plan.is_split ? KI_MODE_HANDLERS_ON_LOOP : KI_MODE_EVENT_LOOP;
    run->world = sim_world_new(&run->plan.world);
    sim_server_options server = run->plan.server;
    server.world = run->world;
    server.clock = &run->clock;
    server.calls = &sim_library_calls;
    run->server = sim_server_new(&server);
    trace_plan(run);
    for (uint32_t i = 0; i < run->plan.first_objects; i++)
        sim_world_mutate(run->world);
    uint64_t seed = ki_random_next(&run->random) | 1;
    run->client =
        ki_client_new_simulated(&(ki_client_options){.mode = (ki_mode)mode}, &run->clock, seed, &err);
    if (run->client == NULL) {
        sim_run_fail(run, "client: %s", err.message);
        return;
    }
    for (uint32_t i = 0; i < run->plan.followers && run->failure[0] == 0; i++) {
        run->followers[i].run = run;
        run->followers[i].number = i;
        sim_follower_open(&run->followers[i]);
    }
}

/* ---- the world --------------------------------------------------------------------------------------- */

bool sim_run_may_write(const sim_run *run, uint64_t versions)
{
    uint64_t version = sim_world_version(run->world);
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        uint64_t known = sim_follower_version(&run->followers[i]);
        if (known > version && version + versions >= known)
            return false;
    }
    return true;
}

static void trace_followers(const sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        const ki_informer *informer = run->followers[i].informer;
        if (informer != NULL)
            sim_run_trace(
                run, "informer%u: stage %d, doing %d, next %d, received %.*s, applied %.*s, %zu wait", i,
                (int)informer->life.stage, (int)informer->life.reflector.doing,
                (int)informer->life.reflector.next,
                KI_STR_ARGS(ki_resource_version_str(&informer->life.reflector.version)),
                KI_STR_ARGS(ki_resource_version_str(&informer->apply.version)), informer->fifo.items);
    }
}

static bool may_reset(const sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++)
        if (!sim_follower_is_sound(&run->followers[i]))
            return false;
    return true;
}

static void change_world(sim_run *run)
{
    const sim_plan *plan = &run->plan;
    if (sim_chance(run, plan->mutates)) {
        uint64_t count = sim_chance(run, 0.1) ? sim_below(run, 30) : 1;
        while (count-- > 0 && sim_run_may_write(run, VERSIONS_OF_A_DEED))
            sim_world_mutate(run->world);
    }
    if (sim_chance(run, plan->ticks) && sim_run_may_write(run, VERSIONS_OF_A_DEED))
        sim_world_tick_other(run->world);
    if (sim_chance(run, plan->compacts)) {
        sim_run_trace(run, "compact");
        sim_world_compact(run->world);
    }
    if (sim_chance(run, plan->resets) && may_reset(run)) {
        sim_world_reset_history(run->world, sim_below(run, 40));
        if (sim_world_version(run->world) < run->common_version)
            run->common_version = sim_world_version(run->world);
        sim_run_trace(run, "another history");
        trace_followers(run);
    }
    if (sim_chance(run, plan->cuts)) {
        sim_run_trace(run, "cut");
        sim_server_cut_all(run->server);
    }
}

/* ---- time -------------------------------------------------------------------------------------------- */

static ki_loop *loop_of(const sim_run *run, uint32_t number)
{
    ki_loop *const loops[SIM_LOOPS] = {run->client->handlers, run->client->dispatch, run->client->io};
    return loops[number];
}

static uint32_t loop_count(const sim_run *run)
{
    return run->plan.is_split ? SIM_LOOPS : 1;
}

static bool is_held(sim_run *run, uint32_t number)
{
    uint64_t now = ki_clock_now_ns(&run->clock);
    if (run->is_settling)
        return false;
    if (run->held_until_ns[number] <= now && sim_chance(run, run->plan.holds))
        run->held_until_ns[number] = now + sim_below(run, run->plan.jump_ns * 20);
    return run->held_until_ns[number] > now;
}

static void run_loops(sim_run *run)
{
    uint32_t count = loop_count(run);
    uint32_t first = (uint32_t)sim_below(run, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = (first + i) % count;
        if (is_held(run, number))
            continue;
        uint64_t budget_ns = run->is_settling ? 0 : sim_below(run, 2);
        (void)ki_loop_step(loop_of(run, number), budget_ns);
    }
}

/* A loop that is held may have work when it is released. */
static uint64_t next_ns(sim_run *run, uint64_t limit_ns)
{
    uint64_t now = ki_clock_now_ns(&run->clock);
    uint64_t next = sim_server_next_ns(run->server);
    for (uint32_t i = 0; i < loop_count(run); i++) {
        uint64_t due = ki_loop_next_ns(loop_of(run, i));
        if (!run->is_settling && run->held_until_ns[i] > now && due < run->held_until_ns[i])
            due = run->held_until_ns[i];
        next = due < next ? due : next;
    }
    return next < limit_ns ? next : limit_ns;
}

void sim_run_step(sim_run *run, uint64_t limit_ns)
{
    sim_server_step(run->server);
    for (uint32_t i = 0; i < run->plan.followers; i++)
        sim_follower_look(&run->followers[i]);
    run_loops(run);
    uint64_t next = next_ns(run, limit_ns);
    if (next > ki_clock_now_ns(&run->clock))
        ki_clock_set_now_ns(&run->clock, next);
}

/* ---- rounds ------------------------------------------------------------------------------------------ */

static void do_deeds(sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        sim_follower *follower = &run->followers[i];
        if (follower->is_stopped && ki_clock_now_ns(&run->clock) >= follower->start_ns)
            sim_follower_start(follower);
        if (sim_chance(run, run->plan.deeds))
            sim_follower_deed(follower, NULL);
    }
}

void sim_run_live(sim_run *run)
{
    for (uint32_t i = 0; i < run->plan.followers; i++) {
        if (run->plan.trial.is_first || sim_chance(run, 0.8))
            sim_follower_start(&run->followers[i]);
        else {
            run->followers[i].is_stopped = true; /* started later */
            run->followers[i].start_ns = sim_below(run, 60) * SIM_NS_PER_S;
        }
    }
    for (uint32_t round = 0; round < run->plan.rounds && run->failure[0] == 0; round++) {
        change_world(run);
        do_deeds(run);
        sim_run_step(run, ki_clock_now_ns(&run->clock) + 1 + sim_below(run, run->plan.jump_ns));
    }
}

uint64_t sim_run_whole(sim_run *run, uint64_t seed)
{
    sim_run_init(run, seed);
    sim_run_open(run);
    bool is_tried = run->plan.trial.breakage.kinds != 0;
    if (run->failure[0] == 0 && is_tried && run->plan.trial.is_first)
        sim_run_try(run);
    if (run->failure[0] == 0)
        sim_run_live(run);
    if (run->failure[0] == 0 && is_tried && !run->plan.trial.is_first)
        sim_run_try(run);
    if (run->failure[0] == 0)
        sim_run_settle(run);
    sim_run_close(run);
    return run->hash;
}
