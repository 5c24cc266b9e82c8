/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "support/chance.h"

enum { ONE_LONG_OF = 64 };

#define LATENCY_NS_MAX (300 * SIM_NS_PER_MS)

static bool roll(ki_random *random, double chance)
{
    return random_fraction(random) < chance;
}

static uint64_t below(ki_random *random, uint64_t bound)
{
    return ki_random_below(random, bound);
}

/* ---- the server -------------------------------------------------------------------------------------- */

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
            *fault(faults, i) = 0.05 * random_fraction(random);
    } else {
        while (few-- > 0) {
            double highest = roll(random, 0.2) ? 0.8 : 0.15;
            *fault(faults, (size_t)below(random, count)) = highest * random_fraction(random);
        }
    }
    if (roll(random, 0.3))
        faults->lag_records_max = 1 + (uint32_t)below(random, 30);
}

/* A fraction of the time that passes in a round: with longer latencies,
 * nothing would happen before the end. */
static uint64_t plan_latency(ki_random *random, uint64_t jump_ns)
{
    static const uint64_t parts[] = {0, 200, 20, 2};
    uint64_t part = parts[below(random, 4)];
    uint64_t latency_ns = part == 0 ? 0 : jump_ns / part;
    return latency_ns < LATENCY_NS_MAX ? latency_ns : LATENCY_NS_MAX;
}

static void plan_server(sim_server_options *server, ki_random *random, uint64_t jump_ns)
{
    static const size_t pieces[] = {0, 0, 1, 40, 300, 300, 3000, 3000};
    plan_faults(&server->faults, random);
    server->seed = ki_random_next(random);
    server->latency_ns_max = plan_latency(random, jump_ns);
    server->tells_sent = roll(random, 0.5);
    server->bookmark_ns = (1 + below(random, 60)) * SIM_NS_PER_S;
    server->piece_bytes_max = pieces[below(random, 8)];
    if (server->piece_bytes_max == 1) {
        /* With one byte per piece, each piece arrives at once; otherwise a response would take too long. */
        server->latency_ns_max = 0;
    }
}

/* ---- everything else --------------------------------------------------------------------------------- */

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
    double chance = highest * random_fraction(random);
    return is_done ? chance : 0;
}

/* Faults and calls. A short life has about as many of them as a long one. */
static void plan_incidents(sim_plan *plan, ki_random *random)
{
    double density = plan->is_long ? 1 : 4;
    plan->mutates = random_fraction(random);
    plan->ticks = sometimes(random, 0.5, 0.1);
    plan->compacts = sometimes(random, 0.3, 0.05 * density);
    plan->resets = sometimes(random, 0.3, 0.03 * density);
    plan->cuts = sometimes(random, 0.4, 0.05 * density);
    plan->deeds = sometimes(random, 0.7, 0.1 * density);
    plan->inner_deeds = sometimes(random, 0.4, 0.05 * density);
    plan->holds = sometimes(random, 0.7, 0.3);
    plan->slow = sometimes(random, 0.3, 0.3);
}

static uint32_t plan_followers(const sim_plan *plan, ki_random *random)
{
    static const uint32_t few[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3};
    return plan->is_long ? 1 + (uint32_t)below(random, SIM_FOLLOWERS_MAX) : few[below(random, 16)];
}

static void plan_trial(sim_trial *trial, ki_random *random)
{
    static const unsigned kinds[] = {SIM_WATCHES,
                                     SIM_STREAMS,
                                     SIM_LISTS,
                                     SIM_WATCHES | SIM_STREAMS,
                                     SIM_WATCHES | SIM_STREAMS,
                                     SIM_LISTS | SIM_STREAMS};
    static const unsigned versions[] = {SIM_NEWEST,
                                        SIM_CACHED,
                                        SIM_NEWEST | SIM_WATCHES,
                                        SIM_CACHED | SIM_WATCHES,
                                        SIM_NEWEST | SIM_STREAMS,
                                        SIM_CACHED | SIM_STREAMS};
    static const sim_manner manners[] = {SIM_ANSWERS_500,        SIM_ANSWERS_503, SIM_RESETS,
                                         SIM_RESETS_BEHIND_HEAD, SIM_ENDS,        SIM_IS_SILENT,
                                         SIM_IS_SILENT_LATER};
    bool is_tried = roll(random, 0.25);
    trial->breakage.kinds = kinds[below(random, sizeof(kinds) / sizeof(kinds[0]))];
    trial->breakage.manner = (sim_manner)below(random, SIM_MANNER_COUNT);
    if (roll(random, 0.5)) {
        trial->breakage.kinds = versions[below(random, sizeof(versions) / sizeof(versions[0]))];
        trial->breakage.manner = manners[below(random, sizeof(manners) / sizeof(manners[0]))];
        trial->compacts = roll(random, 0.7);
        trial->stale = roll(random, 0.5) ? 0.6 * random_fraction(random) : 0;
    }
    trial->is_first = roll(random, 0.5);
    trial->turns = roll(random, 0.5);
    if (!is_tried)
        trial->breakage.kinds = 0;
}

/* Replicas that are behind, and report so only at the end of a list. Their followers have to list often,
 * while objects are deleted. */
static void plan_replicas(sim_plan *plan, ki_random *random)
{
    sim_faults *faults = &plan->server.faults;
    if (!roll(random, 0.1))
        return;
    faults->stale_list = 0.7 * random_fraction(random);
    faults->metadata_last = random_fraction(random);
    faults->lag_records_max = (uint32_t)below(random, 30);
    plan->world.history_max = 10;
    plan->compacts = 0.3 * random_fraction(random);
    plan->cuts = 0.3 * random_fraction(random);
}

/* Most lives are short, so that more lives with more differences fit into the same time. */
void sim_plan_make(sim_plan *plan, ki_random *random)
{
    static const uint64_t jumps_ms[] = {2, 50, 1000, 5000, 40000};
    *plan = (sim_plan){0};
    plan->is_long = below(random, ONE_LONG_OF) == 0;
    plan->jump_ns = jumps_ms[below(random, 5)] * SIM_NS_PER_MS;
    plan_world(&plan->world, random);
    plan_server(&plan->server, random, plan->jump_ns);
    plan->first_objects = (uint32_t)below(random, plan->is_long ? 60 : 30);
    plan->followers = plan_followers(plan, random);
    plan->rounds = plan->is_long ? 50 + (uint32_t)below(random, 250) : 8 + (uint32_t)below(random, 40);
    plan->is_split = roll(random, 0.6);
    plan_incidents(plan, random);
    plan_trial(&plan->trial, random);
    plan_replicas(plan, random);
    plan->touches =
        roll(random, 0.5) || plan->server.faults.malformed_item > 0 || plan->server.faults.huge_item > 0;
}
