/* SPDX-License-Identifier: Apache-2.0 */
/* One allocation fails, at every place where one can: a short run of an informer is repeated while the first,
 * the second, the third allocation fails, until none does. Each time the store ends in the state of the
 * world, the handlers were called correctly, and nothing leaks.
 *
 *   sim_no_memory [SEED [N]]   all allocations of one run; one of them, with all details */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"
#include "support/failing_allocator.h"

enum { LIVES = 8, LIVES_CHECKED = 2 };

/* ---- a short life ------------------------------------------------------------------------------------ */

/* The informer's options are random; everything else is small and without faults. */
static void plan_life(sim_run *run, uint64_t seed)
{
    sim_run_init(run, seed);
    run->plan =
        (sim_plan){.followers = 1, .is_split = seed % 2 == 0, .jump_ns = SIM_NS_PER_S, .touches = true};
    run->plan.world = (sim_world_options){.seed = seed, .namespaces = 1, .names = 4};
    run->plan.server = (sim_server_options){.seed = seed,
                                            .latency_ns_max = SIM_NS_PER_MS,
                                            .bookmark_ns = 5 * SIM_NS_PER_S,
                                            .piece_bytes_max = 300};
    run->plan.first_objects = 5;
}

/* If a handler could not be added, the next start reports that; no other failure is allowed. */
static void start(sim_follower *follower)
{
    sim_run *run = follower->run;
    int rc = 0;
    follower->is_stopped = false;
    for (int i = 0; i < 3 && (rc = ki_informer_start(follower->informer, NULL)) == KI_ERR_NO_MEMORY; i++)
        continue;
    if (rc < 0)
        sim_run_fail(run, "cannot be started: %s", ki_error_text(rc));
}

static void pass(sim_run *run, uint64_t seconds, int changes)
{
    uint64_t until_ns = ki_clock_now_ns(&run->clock) + seconds * SIM_NS_PER_S;
    while (ki_clock_now_ns(&run->clock) < until_ns && run->failure[0] == 0) {
        for (; changes > 0; changes--)
            sim_world_mutate(run->world);
        sim_run_step(run, until_ns);
    }
}

/* Makes a list, a watch, a late handler, a relist, a restart, resyncs and a removal. */
static void live(sim_run *run)
{
    sim_follower *follower = &run->followers[0];
    start(follower);
    pass(run, 2, 0);
    pass(run, 1, 6);
    sim_witness_join(follower);
    pass(run, 3, 3);
    sim_world_tick_other(run->world);
    sim_world_compact(run->world);
    sim_server_cut_all(run->server);
    pass(run, 5, 2);
    ki_informer_stop(follower->informer);
    sim_world_mutate(run->world);
    sim_witness_join(follower);
    start(follower);
    pass(run, 20, 4);
    if (follower->witness_count > 0)
        sim_witness_leave(&follower->witnesses[0], true);
    pass(run, 2, 1);
}

/* The n-th allocation fails. Returns whether there was one. */
static bool run_life(sim_run *run, uint64_t seed, size_t n)
{
    failing_allocator_install();
    plan_life(run, seed);
    sim_run_open(run);
    run->is_settling = true; /* no random calls inside callbacks */
    failing_allocator_fail_at(n);
    live(run);
    if (run->failure[0] == 0)
        sim_run_settle(run);
    bool has_failed = failing_allocator_has_failed();
    sim_run_close(run);
    failing_allocator_remove();
    if (run->failure[0] != 0)
        printf("life %" PRIu64 ", allocation %zu: %s\n", seed, n, run->failure);
    return has_failed;
}

static size_t run_lives(sim_run *run, uint64_t lives, size_t *out_failed)
{
    size_t count = 0;
    for (uint64_t seed = 1; seed <= lives; seed++) {
        bool has_failed = true;
        for (size_t n = 1; has_failed; n++, count++) {
            has_failed = run_life(run, seed, n);
            *out_failed += run->failure[0] != 0;
        }
    }
    return count;
}

/* ---- setting up -------------------------------------------------------------------------------------- */

static int no_values(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)user;
    return ki_index_emit_value(emit, KI_STR("all"));
}

static void count_release(void *user)
{
    ++*(int *)user;
}

typedef struct outcome {
    int handlers; /* that were added */
    int releases;
    bool is_well;   /* no call failed */
    bool is_silent; /* a call failed without an error report */
} outcome;

/* Calls that fail return NULL or an error code, and the next call must accept that. */
static void set_up(ki_client *client, const ki_list_watch *source, outcome *out)
{
    static const char *const keep[] = {"/spec/value", NULL};
    ki_factory_options options = {.informer = {.list_watch = source, .name = "some", .resync_ms = 1000}};
    ki_informer_options other = {.list_watch = source, .keep = keep, .name = "other", .resync_ms = 1000};
    ki_handler handler = {.on_release = count_release, .user = &out->releases, .resync_ms = 2000};
    ki_factory *factory = ki_factory_new(client, &options);
    ki_informer *informers[] = {ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL),
                                ki_factory_informer(factory, &KI_CORE_V1_NODES, &other),
                                ki_factory_for_resource(factory, KI_STR("deployments"), NULL)};
    bool is_well = factory != NULL;
    for (size_t i = 0; i < sizeof(informers) / sizeof(informers[0]); i++) {
        bool is_added = ki_informer_add_handler(informers[i], &handler, NULL) != NULL;
        bool is_indexed = ki_informer_add_index(informers[i], "some", no_values, NULL) == 0;
        out->handlers += is_added;
        is_well = is_well && is_added && is_indexed;
    }
    ki_error err = {0};
    int rc = ki_factory_start(factory, &err);
    out->is_well = is_well && rc == 0;
    out->is_silent = rc < 0 ? err.code != rc || err.message[0] == 0 : !is_well;
    (void)ki_client_dispatch(client, KI_BUDGET_NONE);
    ki_factory_free(factory);
}

/* Returns whether an allocation has failed; prints what was wrong. */
static bool run_set_up(size_t n, size_t *out_failed)
{
    outcome out = {0};
    ki_clock clock;
    ki_clock_init_virtual(&clock, SIM_NS_PER_S, (int64_t)SIM_NS_PER_S);
    sim_world *world = sim_world_new(&(sim_world_options){.seed = 1});
    sim_server *server = sim_server_new(
        &(sim_server_options){.world = world, .clock = &clock, .calls = &sim_library_calls, .seed = 1});
    ki_list_watch source = sim_server_list_watch(server);
    failing_allocator_install();
    failing_allocator_fail_at(n);
    ki_client *client =
        ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &clock, 1, NULL);
    if (client != NULL)
        set_up(client, &source, &out);
    bool has_failed = failing_allocator_has_failed();
    ki_client_free(client);
    size_t left = failing_allocator_live_count();
    failing_allocator_remove();
    if (left > 0 || out.releases != out.handlers || out.is_silent || (!out.is_well && !has_failed)) {
        printf("set-up, allocation %zu: %zu blocks are left, %d of %d handlers released%s%s\n", n, left,
               out.releases, out.handlers, out.is_well ? "" : ", it failed",
               out.is_silent ? " silently" : "");
        ++*out_failed;
    }
    sim_server_free(server);
    sim_world_free(world);
    return has_failed;
}

int main(int argc, char **argv)
{
    sim_run *run = calloc(1, sizeof(*run));
    size_t failed = 0;
    size_t count = 0;
    const char *seeds = getenv("KI_SIM_SEEDS");
    if (run == NULL)
        return 2;
    if (argc > 1) {
        run->is_verbose = argc > 2;
        (void)run_life(run, strtoull(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
        failed = run->failure[0] != 0;
    } else {
        while (run_set_up(++count, &failed))
            continue;
        count += run_lives(run, seeds != NULL && strtoull(seeds, NULL, 10) < 10000 ? LIVES_CHECKED : LIVES,
                           &failed);
    }
    free(run);
    printf("%zu lives passed, %zu failed\n", count - failed, failed);
    return failed > 0;
}
