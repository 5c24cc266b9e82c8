/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

static bool roll(ki_random *random, double chance)
{
    return ki_random_double(random) < chance;
}

static uint64_t below(ki_random *random, uint64_t bound)
{
    return ki_random_below(random, bound);
}

/* ---- the server -------------------------------------------------------------------------------------------- */

static double *fault(sim_faults *faults, size_t number)
{
    double *const all[] = {
#define FAULT_PLACE(name) &faults->name,
        SIM_FAULTS(FAULT_PLACE)
#undef FAULT_PLACE
    };
    return number < sizeof(all) / sizeof(all[0]) ? all[number] : NULL;
}

static size_t fault_count(void)
{
    sim_faults faults;
    size_t count = 0;
    while (fault(&faults, count) != NULL)
        count++;
    return count;
}

/* Most runs have a few faults, some none, some all. */
static void plan_faults(sim_faults *faults, ki_random *random)
{
    size_t count = fault_count();
    uint64_t kind = below(random, 10);
    uint64_t few = 1 + below(random, 5);
    if (kind == 0)
        return;
    if (kind == 1) {
        for (size_t i = 0; i < count; i++)
            *fault(faults, i) = 0.05 * ki_random_double(random);
    } else {
        while (few-- > 0) {
            double highest = roll(random, 0.2) ? 0.8 : 0.15;
            *fault(faults, (size_t)below(random, count)) = highest * ki_random_double(random);
        }
    }
    if (roll(random, 0.3))
        faults->lag_records_max = 1 + (uint32_t)below(random, 30);
}

static uint64_t plan_latency(ki_random *random)
{
    static const uint64_t choices[] = {0, 1, 20, 300};
    return choices[below(random, 4)] * SIM_NS_PER_MS;
}

static void plan_server(sim_server_options *server, ki_random *random)
{
    static const size_t pieces[] = {0, 1, 40, 300, 3000};
    plan_faults(&server->faults, random);
    server->seed = ki_random_next(random);
    server->latency_ns_max = plan_latency(random);
    server->bookmark_ns = (1 + below(random, 60)) * SIM_NS_PER_S;
    server->piece_bytes_max = pieces[below(random, 5)];
    if (server->piece_bytes_max == 1) {
        /* A byte at a time: so that time goes on, it comes at once. */
        server->latency_ns_max = 0;
    }
}

/* ---- the rest ---------------------------------------------------------------------------------------------- */

static void plan_world(sim_world_options *world, ki_random *random)
{
    static const size_t histories[] = {1000, 1000, 60, 10};
    world->seed = ki_random_next(random);
    world->namespaces = 1 + (uint32_t)below(random, 3);
    world->names = 1 + (uint32_t)below(random, roll(random, 0.3) ? 4 : 14);
    world->first_version = 1 + below(random, 120);
    world->history_max = histories[below(random, 4)];
    world->jumps = roll(random, 0.5) ? 0.3 : 0;
}

static double sometimes(ki_random *random, double how_often, double highest)
{
    bool is_done = roll(random, how_often);
    double chance = highest * ki_random_double(random);
    return is_done ? chance : 0;
}

void sim_plan_make(sim_plan *plan, ki_random *random)
{
    static const uint64_t jumps_ms[] = {2, 50, 1000, 5000, 40000};
    *plan = (sim_plan){0};
    plan_world(&plan->world, random);
    plan_server(&plan->server, random);
    plan->first_objects = (uint32_t)below(random, 60);
    plan->followers = 1 + (uint32_t)below(random, SIM_FOLLOWERS_MAX);
    plan->rounds = 50 + (uint32_t)below(random, 250);
    plan->is_split = roll(random, 0.6);
    plan->mutates = ki_random_double(random);
    plan->ticks = sometimes(random, 0.5, 0.1);
    plan->compacts = sometimes(random, 0.3, 0.05);
    plan->resets = sometimes(random, 0.3, 0.03);
    plan->cuts = sometimes(random, 0.4, 0.05);
    plan->deeds = sometimes(random, 0.7, 0.1);
    plan->inner_deeds = sometimes(random, 0.4, 0.05);
    plan->holds = sometimes(random, 0.7, 0.3);
    plan->slow = sometimes(random, 0.3, 0.3);
    plan->jump_ns = jumps_ms[below(random, 5)] * SIM_NS_PER_MS;
    plan->touches =
        roll(random, 0.5) || plan->server.faults.malformed_item > 0 || plan->server.faults.huge_item > 0;
}
